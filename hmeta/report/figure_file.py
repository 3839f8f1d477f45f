"""Figures to files: PNG, PDF or SVG by the suffix, whole or not at all, without a display."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hmeta.core.errors import OutputError
from hmeta.core.files import write_bytes
from hmeta.core.registry import did_you_mean

SUFFIXES = (".png", ".pdf", ".svg")
STYLE: Any = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
    "svg.hashsalt": "hmeta",
}
"""Words stay words in SVG and PDF, and the same figure is the same file."""

NO_DATE = {".png": {"Software": None}, ".pdf": {"CreationDate": None}, ".svg": {"Date": None}}


def check_suffix(path: str | Path) -> None:
    """Refuse a file name whose suffix is no kind of figure."""
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise OutputError(
            "unknown kind of figure",
            where=str(path),
            received=f'"{suffix}"' if suffix else "no suffix",
            allowed=SUFFIXES,
            mend=did_you_mean(suffix, SUFFIXES) or f"call it {Path(path).stem}.png",
        )


def save_figure(draw: Callable[[], Any], path: str | Path) -> None:
    """Draw a figure and save it under its whole name once its bytes are whole.

    Parameters
    ----------
    draw : callable
        Returns a matplotlib figure made without pyplot, so that no display and no global state is touched.
    path : str or Path

    Raises
    ------
    OutputError
        Where the file cannot be written.
    """
    import matplotlib as mpl

    path = Path(path)
    suffix = path.suffix.lower()
    content = io.BytesIO()
    with mpl.rc_context(STYLE):
        draw().savefig(content, format=suffix[1:], metadata=NO_DATE[suffix], facecolor="white")
    write_bytes(content.getvalue(), path)
