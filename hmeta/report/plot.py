"""One figure of one input, as a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from hmeta.core.errors import DataError
from hmeta.core.files import check_output
from hmeta.report.card import Drawing, Options
from hmeta.report.figure_file import check_suffix, save_figure
from hmeta.report.figures import drawing_of
from hmeta.report.inputs import FitInput, Input, MetricsInput, ResultsInput, read_inputs
from hmeta.report.style import width_of

READS: dict[str, type] = {"fit": FitInput, "fits": FitInput, "results": ResultsInput, "metrics": MetricsInput}
WORDS = {
    "fit": "a fit, written by hmeta fit",
    "fits": "two or more fits, written by hmeta fit",
    "results": "a results file, written by hmeta import",
    "metrics": "a table of measures, written by hmeta metrics -o table.nc",
}


def plot(
    name: str,
    inputs: Sequence[str | Path],
    path: str | Path,
    *,
    width: str = "page",
    overwrite: bool = False,
    **chosen: Any,
) -> str:
    """Draw one figure and save it.

    Parameters
    ----------
    name : str
        As ``hmeta list figures`` shows it.
    inputs : sequence of str or Path
        One file; several fits for a figure that compares them.
    path : str or Path
        Where the figure goes; ``.png``, ``.pdf`` or ``.svg``.
    width : {"column", "half", "page"}
        89, 120 or 183 mm.
    overwrite : bool
        Replace an existing file.
    **chosen
        Fields of `hmeta.report.card.Options`; those that are None stay as they are.

    Returns
    -------
    str
        The caption.

    Raises
    ------
    HmetaError
        For an unknown figure, width or option, an input of another kind, or an output that cannot be written.
    """
    drawing, inches = drawing_of(name), width_of(width)
    check_output(path, inputs=inputs, overwrite=overwrite)
    check_suffix(path)
    options = _options(name, drawing, chosen)
    read = read_inputs(inputs)
    for one in read:
        _check_kind(name, drawing, one)
    if drawing.CARD.reads != "fits" and len(read) != 1:
        raise DataError(f"{name} shows one file", received=f"{len(read)} files", mend="draw them one by one")
    content = drawing.read(read if drawing.CARD.reads == "fits" else read[0], options)
    save_figure(lambda: drawing.draw(content, inches), path)
    return drawing.describe(content).caption


def describe(name: str) -> dict[str, Any]:
    """Return what ``hmeta list figures`` says of a figure."""
    card = drawing_of(name).CARD
    return {"name": name, "summary": card.summary, "reads": WORDS[card.reads], "settings": list(card.options)}


def _options(name: str, drawing: Drawing, chosen: dict[str, Any]) -> Options:
    set_ones = {key: value for key, value in chosen.items() if value is not None}
    for key in set_ones:
        if key not in drawing.CARD.options:
            raise DataError(
                f"figure {name} has no option {key}",
                received=f"--{key}",
                allowed=[f"--{option}" for option in drawing.CARD.options] or "none",
            )
    return replace(Options(), **set_ones)


def _check_kind(name: str, drawing: Drawing, one: Input) -> None:
    wanted = drawing.CARD.reads
    if not isinstance(one, READS[wanted]):
        held = next(words for kind, words in WORDS.items() if type(one) is READS[kind])
        raise DataError(
            f"figure {name} is drawn from {WORDS[wanted]}",
            where=one.file,
            received=held,
            mend="hmeta list figures shows what each is drawn from",
        )
