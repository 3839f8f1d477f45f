"""What the sections of a report are made from, and the parts that they share."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from hmeta.core.errors import HmetaError
from hmeta.report.card import Options
from hmeta.report.figures import drawing_of
from hmeta.report.inputs import FitInput, Input, MetricsInput, ResultsInput
from hmeta.report.page import Block, Column, Heading, Listing, Number, Paragraph, Picture, Text, number, say
from hmeta.report.scale_levels import natural_order
from hmeta.report.style import WIDTHS

Kind = TypeVar("Kind", FitInput, ResultsInput, MetricsInput)


@dataclass(frozen=True)
class Material:
    """The inputs and what the user chose."""

    inputs: tuple[Input, ...]
    options: Options

    @cached_property
    def fits(self) -> list[FitInput]:
        """The fits among the inputs."""
        return [one for one in self.inputs if isinstance(one, FitInput)]

    @cached_property
    def results(self) -> list[ResultsInput]:
        """The results files among the inputs."""
        return [one for one in self.inputs if isinstance(one, ResultsInput)]

    @cached_property
    def metrics(self) -> list[MetricsInput]:
        """The tables of measures among the inputs."""
        return [one for one in self.inputs if isinstance(one, MetricsInput)]

    def each(self, inputs: Sequence[Kind], make: Callable[[Kind], Sequence[Block]]) -> list[Block]:
        """Return the blocks of each input, under its name where there are several inputs of its kind."""
        out: list[Block] = []
        for one in inputs:
            blocks = list(make(one))
            if blocks and len(inputs) > 1:
                out.append(Heading(one.name))
            out += blocks
        return out

    def name(self, what: str, one: Input) -> str:
        """Return the name of a file for an input: distinct where there are several."""
        return what if len(self.inputs) == 1 else f"{what}-{self._slugs[one.name]}"

    @cached_property
    def _slugs(self) -> dict[str, str]:
        """A part of file names for each input, numbered where two would be the same."""
        found: dict[str, str] = {}
        for one in self.inputs:
            word = short = slug(one.name)
            n = 1
            while word in found.values():
                n += 1
                word = f"{short}-{n}"
            found[one.name] = word
        return found

    def picture(self, figure: str, one: Input, *, where: str = "", **chosen: Any) -> tuple[Picture, Any]:
        """Return a figure of an input, and what it shows.

        Raises
        ------
        HmetaError
            Where the input does not hold what the figure needs.
        """
        drawing = drawing_of(figure)
        content = drawing.read(one, replace(self.options, **chosen))
        caption, alt = drawing.describe(content)
        return Picture(
            name=self.name(where or figure, one),
            caption=(caption,),
            alt=alt,
            draw=lambda: drawing.draw(content, WIDTHS["page"]),
            source=one.file,
        ), content


def try_blocks(make: Callable[[], Sequence[Block]]) -> list[Block]:
    """Return blocks, or in their place a note that says why there are none."""
    try:
        return list(make())
    except HmetaError as error:
        mend = f" {error.mend}" if error.mend else ""
        return [Paragraph((f"Not shown: {error.what}.{mend}",), "note")]


def listed(notes: Iterable[str]) -> list[Block]:
    """Return notes as a list of sentences, none where there are none; a name at the start keeps its case."""
    items = [_sentence(" ".join(note.split())) for note in notes]
    return [Listing(tuple((item,) for item in items))] if items else []


def _sentence(note: str) -> str:
    first = note.split(" ", 1)[0]
    start = note if first.endswith((":", ",", ";")) else note[:1].upper() + note[1:]
    return start if start.endswith((".", "!", "?")) else f"{start}."


def in_order(frame: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return a table sorted by what the words of a column say, numbers by value and scales by size; else as it is."""
    words = [str(word) for word in frame[column]]
    order = natural_order(sorted(set(words)))
    if order is None:
        return frame
    place = {word: i for i, word in enumerate(order)}
    return frame.iloc[np.argsort([place[word] for word in words], kind="stable")].reset_index(drop=True)


def slug(name: str) -> str:
    """Return a name that is safe in file names, LaTeX labels and addresses.

    Examples
    --------
    >>> slug("my fit/ß 2")
    'my-fit-2'
    """
    return re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-") or "input"


def with_interval(row: Mapping[Any, Any], style: str, what: str, source: str, mass: float) -> Text:
    """Return "0.87 (94 % interval 0.84 to 0.89)" for a row with median, lower and upper."""
    parts = {
        name: number(row[name], style, f"{word} of {what}", source)
        for name, word in (
            ("median", "posterior median"),
            ("lower", f"lower end of the {mass:.0%} interval"),
            ("upper", f"upper end of the {mass:.0%} interval"),
        )
    }
    return say(f"{{median}} ({100 * mass:g}\u00a0% interval {{lower}} to {{upper}})", **parts)


def count(value: float, what: str, source: str) -> Number:
    """Return a count with thousands separated."""
    return number(value, ",.0f", what, source)


POSTERIOR = {
    "median": Column("median", ".2f"),
    "lower": Column("interval", ".2f", upper="upper"),
}
"""Columns of a posterior."""


def posterior_columns(mass: float) -> dict[str, Column]:
    """Return the columns of a posterior, the interval named by its mass."""
    return POSTERIOR | {"lower": Column(f"{100 * mass:g} % interval", ".2f", upper="upper")}


def unit_column(by: str) -> dict[str, Column]:
    """Return the column of the levels of a factor."""
    return {"level": Column(by)}
