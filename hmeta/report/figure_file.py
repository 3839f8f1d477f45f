"""Figures to files: PNG, PDF or SVG by the suffix, whole or not at all, without a display."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from hmeta.core.errors import OutputError
from hmeta.core.files import write_bytes
from hmeta.core.registry import did_you_mean

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SUFFIXES = (".png", ".pdf", ".svg")
STYLE: Any = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "svg.fonttype": "none",
    "svg.hashsalt": "hmeta",
    "path.simplify": True,
}
"""Words stay words, and the same figure is the same file."""

NO_DATE: Any = {"Date": None}

TAG = re.compile(rb"<[^>]*>")
LONG_NUMBER = re.compile(rb"(\d\.\d\d)\d+")
"""Coordinates have digits beyond hundredths of a point, which nobody sees; words between tags are never touched."""

PIXELS_PER_INCH = 300

PAGE = """#set document(date: none)
#set page(width: auto, height: auto, margin: 0pt)
#image("figure.svg")
"""
"""What Typst makes a PDF or PNG file of: a page as large as the figure."""


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


def make_figure(draw: Callable[[], Figure]) -> Figure:
    """Draw a figure in the house style."""
    with _drawing():
        return draw()


@contextmanager
def _drawing() -> Iterator[None]:
    """Draw in the house style; letters that its font lacks are left to the reader's fonts, as words stay words."""
    import matplotlib as mpl

    with mpl.rc_context(STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        yield


def to_svg(figure: Figure) -> bytes:
    """Return a figure as an SVG file; the same figure gives the same bytes."""
    content = io.BytesIO()
    with _drawing():
        figure.savefig(content, format="svg", metadata=NO_DATE, facecolor="white")
    return TAG.sub(lambda tag: LONG_NUMBER.sub(rb"\1", tag[0]), content.getvalue())


def convert(svg: bytes, suffix: str) -> bytes:
    """Return an SVG figure as the content of a file of any suffix.

    Typst takes a tenth of the time of matplotlib's own PDF and PNG, embeds TrueType fonts, and can run beside the
    drawing of the next figure.
    """
    if suffix == ".svg":
        return svg
    import typst

    with TemporaryDirectory(prefix="hmeta-") as folder:
        root = Path(folder)
        (root / "figure.svg").write_bytes(svg)
        (root / "page.typ").write_text(PAGE)
        settings: Any = {"format": suffix[1:]} | ({"ppi": PIXELS_PER_INCH} if suffix == ".png" else {})
        return typst.compile(root / "page.typ", root=root, font_paths=[fonts()], **settings)


def fonts() -> Path:
    """Return the folder of the fonts that figures are set in."""
    import matplotlib

    return Path(matplotlib.get_data_path()) / "fonts" / "ttf"


def save_figure(draw: Callable[[], Figure], path: str | Path) -> None:
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
    path = Path(path)
    write_bytes(convert(to_svg(make_figure(draw)), path.suffix.lower()), path)
