"""What a report says, before it is written as HTML, PDF, LaTeX, CSV or Markdown.

A page is sections of blocks. A text is plain words with numbers and citations in between, so that every number keeps
its value and where it came from, whatever form it is written in.
"""

from __future__ import annotations

import math
import string
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import pandas as pd

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DASH = "–"
PROBABILITY = "p"
"""A style of its own: rounding must not make a probability 0 or 1."""
Tone = Literal["text", "note", "caution", "bad"]


class Number(NamedTuple):
    """A number in a text.

    Attributes
    ----------
    value : float
        In full.
    text : str
        As written.
    what : str
        What it is: "median over draws of the average of M over 198 cells".
    source : str
        File, and where in it: "fit.nc, posterior/M".
    """

    value: float
    text: str
    what: str
    source: str


class Cite(NamedTuple):
    """One reference or several in one bracket, by their keys in `hmeta.report.references` with blanks between."""

    key: str

    @property
    def keys(self) -> list[str]:
        """The keys one by one."""
        return self.key.split()


Part = str | Number | Cite
Text = tuple[Part, ...]


class Column(NamedTuple):
    """How a column of a table is written.

    Attributes
    ----------
    heading : str
    style : str
        Format of numbers, "" for text.
    lower, upper : str
        Other columns of the table. `upper` alone makes an interval with this one, "[0.52, 0.71]"; both put theirs
        behind this one, "0.62 [0.52, 0.71]".
    """

    heading: str
    style: str = ""
    lower: str = ""
    upper: str = ""


class Cell(NamedTuple):
    """A cell as written, and what it is sorted by."""

    text: str
    value: float | str


@dataclass(frozen=True)
class Paragraph:
    """A paragraph; its tone decides how it stands out."""

    text: Text
    tone: Tone = "text"


@dataclass(frozen=True)
class Listing:
    """A list of short texts."""

    items: tuple[Text, ...]


@dataclass(frozen=True)
class Table:
    """A table.

    Attributes
    ----------
    name : str
        Of its files; letters, digits, "-" and "_".
    caption : Text
    frame : DataFrame
        Numbers in full, as the CSV file gets them.
    columns : mapping of str to Column
        The columns that the page shows, in order.
    source : str
        File, and how the table came from it.
    gray : tuple of bool
        Rows to be printed dimmed.
    """

    name: str
    caption: Text
    frame: pd.DataFrame
    columns: Mapping[str, Column]
    source: str
    gray: tuple[bool, ...] = ()

    def cut(self, most: int) -> tuple[Table, str]:
        """Return the table for a form of the page that has room for `most` rows, and what that says of the others.

        The last rows stay: averages and predictions stand there.
        """
        n = len(self.frame)
        if n <= most:
            return self, ""
        first, last = most // 2, most // 6
        rows = [*range(first), *range(n - last, n)]
        gray = tuple(self.gray[i] for i in rows) if self.gray else ()
        told = f"The first {first} and the last {last} of {n:,} rows; all of them are in tables/{self.name}.csv."
        return replace(self, frame=self.frame.iloc[rows], gray=gray), told

    @property
    def headings(self) -> list[tuple[str, bool]]:
        """Each column's heading, and whether it holds numbers."""
        return [(column.heading, bool(column.style)) for column in self.columns.values()]

    def rows(self) -> Iterator[list[Cell]]:
        """Yield the rows as they are written."""
        for row in self.frame.to_dict("records"):
            yield [_cell(row, str(name), column) for name, column in self.columns.items()]


@dataclass(frozen=True)
class Picture:
    """A figure.

    Attributes
    ----------
    name : str
        Of its files.
    caption : Text
    alt : str
        What someone hears who cannot see it.
    draw : callable
        Returns the matplotlib figure.
    source : str
    """

    name: str
    caption: Text
    alt: str
    draw: Callable[[], Figure]
    source: str


@dataclass(frozen=True)
class Heading:
    """A heading inside a section."""

    words: str


@dataclass(frozen=True)
class Code:
    """A text of a file, as it stands."""

    text: str


Block = Paragraph | Listing | Table | Picture | Heading | Code


@dataclass(frozen=True)
class Section:
    """A part of the page with a title."""

    name: str
    title: str
    blocks: tuple[Block, ...]


class Missing(NamedTuple):
    """A section that the inputs do not support: what it would show, and what it needs."""

    title: str
    needs: str


@dataclass(frozen=True)
class Page:
    """The whole report.

    Attributes
    ----------
    title : str
    facts : tuple of str
        Lines below the title: the inputs, the version.
    banners : tuple of Text
        What must not be overlooked: fits that have not converged.
    sections : tuple of Section
    missing : tuple of Missing
    """

    title: str
    facts: tuple[str, ...]
    banners: tuple[Text, ...]
    sections: tuple[Section, ...]
    missing: tuple[Missing, ...] = field(default=())

    def blocks(self, kind: type) -> Iterator[Any]:
        """Yield all blocks of a kind, in order."""
        return (block for section in self.sections for block in section.blocks if isinstance(block, kind))


def say(words: str, **parts: Part | Text) -> Text:
    """Return a text with numbers and citations in their places.

    Examples
    --------
    >>> n = Number(0.8691, "0.87", "average", "fit.nc")
    >>> say("M is {m}.", m=n) == ("M is ", n, ".")
    True
    """
    out: list[Part] = []
    for literal, name, _, _ in string.Formatter().parse(words):
        if literal:
            out.append(literal)
        if name is not None:
            part = parts[name]
            out += part if isinstance(part, tuple) and not isinstance(part, Number | Cite) else (part,)
    return tuple(out)


def join(texts: list[Text], between: str = " ") -> Text:
    """Return texts one after the other."""
    out: list[Part] = []
    for i, text in enumerate(texts):
        out += ([between] if i else []) + list(text)
    return tuple(out)


def number(value: float, style: str, what: str, source: str, *, unit: str = "") -> Number:
    """Return a number written in a format, a dash where it is not defined."""
    value = float(value)
    return Number(value, written(value, style) + (unit if math.isfinite(value) else ""), what, source)


def written(value: Any, style: str) -> str:
    """Return a number in a format, an undefined one as a dash, minus as a minus sign, and text as it is."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return DASH
    if not style:
        return str(value)
    if style == PROBABILITY:
        return "<0.001" if value < 0.001 else ">0.999" if value > 0.999 else f"{value:.3f}"
    if isinstance(value, float) and math.isinf(value):
        return "∞" if value > 0 else "−∞"
    text = format(round(value, 12) if isinstance(value, float) else value, style)
    return text.replace("-", "−") if float(text.replace(",", "").rstrip("%") or 0) != 0 else text.lstrip("-")


def interval_text(lower: Any, upper: Any, style: str) -> str:
    """Return an interval as written in tables: "[0.52, 0.71]"."""
    if any(value is None or (isinstance(value, float) and math.isnan(value)) for value in (lower, upper)):
        return DASH
    return f"[{written(lower, style)}, {written(upper, style)}]"


def _cell(row: Mapping[Any, Any], name: str, column: Column) -> Cell:
    value = row[name]
    if column.lower:
        ends = interval_text(row[column.lower], row[column.upper], column.style)
        return Cell(written(value, column.style) + (f" {ends}" if ends != DASH else ""), value)
    if column.upper:
        return Cell(interval_text(value, row[column.upper], column.style), value)
    return Cell(written(value, column.style), value)
