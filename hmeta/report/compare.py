"""Studies from their files, and the table or figure of their comparison as a file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from hmeta.core.errors import DataError, OutputError
from hmeta.core.files import write_bytes
from hmeta.core.registry import did_you_mean
from hmeta.infer.compare_tables import Comparison
from hmeta.report.figure_file import SUFFIXES as FIGURES
from hmeta.report.figure_file import save_figure
from hmeta.report.figures.compare import draw, from_comparison
from hmeta.report.inputs import FitInput, MetricsInput, read_inputs
from hmeta.report.latex import to_latex, to_markdown
from hmeta.report.sections.comparison import tables
from hmeta.report.style import width_of

TABLES = (".csv", ".json", ".tex", ".md")
THRESHOLD = "threshold"


def check_suffix(path: Path) -> None:
    """Refuse a file name whose suffix is no kind of table or figure."""
    known = (*TABLES, *FIGURES)
    if path.suffix.lower() not in known:
        raise OutputError(
            "unknown kind of file",
            where=str(path),
            received=f'"{path.suffix}"' if path.suffix else "no suffix",
            allowed=known,
            mend=did_you_mean(path.suffix, known) or f"call it {path.stem}.csv",
        )


def read_studies(paths: Sequence[Path]) -> list[FitInput]:
    """Read fits; what is no fit is refused with the reason why it cannot be compared.

    Raises
    ------
    DataError
    """
    if len(paths) < 2:
        raise DataError("a comparison needs two or more fits", received=f"{len(paths)} file")
    found = read_inputs(paths)
    for one in found:
        if isinstance(one, MetricsInput):
            raise DataError(
                "a table of measures is not compared with fits",
                where=one.file,
                received=", ".join(dict.fromkeys(one.frame["metric"])),
                mend=_about_threshold(one) or "it has no posterior; fit the answers: hmeta fit results.nc -o fit.nc",
            )
        if not isinstance(one, FitInput):
            mend = f"fit it first: hmeta fit {one.file} -o fit.nc"
            raise DataError("this is a results file, not a fit", where=one.file, mend=mend)
    return [one for one in found if isinstance(one, FitInput)]


def _about_threshold(one: MetricsInput) -> str | None:
    if not one.frame["metric"].astype(str).str.contains(THRESHOLD, regex=False).any():
        return None
    return (
        "M_threshold cuts the scale once, sets the table of right and wrong answers against itself, and divides by a "
        "d′ from elsewhere: it is no M"
    )


def write_comparison(found: Comparison, fits: Sequence[FitInput], path: Path) -> None:
    """Write the studies' table, everything as JSON, or the figure, as the suffix says."""
    suffix = path.suffix.lower()
    if suffix in FIGURES:
        save_figure(lambda: draw(from_comparison(found), width_of("page")), path)
        return
    studies = tables(found, ", ".join(fit.file for fit in fits))[0]
    text = {
        ".csv": lambda: studies.frame.to_csv(index=False, lineterminator="\n"),
        ".json": lambda: json.dumps(json.loads(found.to_json()), ensure_ascii=False, indent=1) + "\n",
        ".tex": lambda: to_latex(studies),
        ".md": lambda: to_markdown(studies),
    }[suffix]()
    write_bytes(text.encode(), path)
