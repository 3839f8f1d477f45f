"""Where the templates of pages are: those that come with hmeta, or the user's own."""

from __future__ import annotations

from pathlib import Path

from hmeta.core.errors import DataError
from hmeta.core.share import share

HTML, PDF = "report.html.j2", "report.typ"


def shipped_templates() -> Path:
    """Return the folder of the templates that come with hmeta."""
    return share("reports", "templates")


def find_templates(folder: str | Path | None) -> Path:
    """Return the user's folder of templates, or the shipped one.

    Raises
    ------
    DataError
        Where the user's folder lacks one of the two templates.
    """
    if folder is None:
        return shipped_templates()
    lacking = [name for name in (HTML, PDF) if not (Path(folder) / name).is_file()]
    if lacking:
        raise DataError(
            "the folder of templates lacks a file",
            where=str(folder),
            received=f"no {' and no '.join(lacking)}",
            mend=f"copy the shipped ones and change them: mkdir -p {folder} && cp {shipped_templates()}/* {folder}/",
        )
    return Path(folder)
