"""Words in and around facets: what the shared axes measure, counts, and why a facet is empty."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hmeta.report.style import GRAY, INK, SMALL, TEXT, WARNING_INCHES, Grid

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDE_LETTERS = 1.06
"""Digits and capitals are wider than the letters that `letters_in` counts on."""


def letter_inches(size: float) -> float:
    """Return the inches that a letter of a font size takes."""
    return 0.0083 * WIDE_LETTERS * size


def name_axes(figure: Figure, grid: Grid, x: Sequence[str], y: Sequence[str], *, converged: bool) -> None:
    """Write once what the axes of all facets measure: of several wordings, the first that fits."""
    width, height = figure.get_size_inches()
    across = grid.columns * (grid.cell_width + grid.between_x) - grid.between_x
    down = grid.height - grid.top - grid.bottom
    middle, centre = grid.left + across / 2, grid.bottom + down / 2
    low = 0.05 + (0.0 if converged else WARNING_INCHES)
    words = first_that_fits(x, 2 * min(middle, width - middle) - 0.1)
    figure.text(middle / width, low / height, words, fontsize=TEXT, color=INK, ha="center", va="bottom")
    words = first_that_fits(y, down + 2 * min(grid.between_y, grid.bottom) - 0.1)
    figure.text(0.05 / width, centre / height, words, fontsize=TEXT, color=INK, ha="left", va="center", rotation=90)


def say_empty(axes: Axes, reason: str) -> None:
    """Write in an empty facet why it is empty."""
    style = {"transform": axes.transAxes, "fontsize": SMALL, "color": GRAY, "ha": "center", "va": "center"}
    axes.text(0.5, 0.6, reason, **style)


def count(n: int, word: str) -> str:
    """Return a number and its noun: "1 unit", "3 units"."""
    return f"{n:,} {word}" if n == 1 else f"{n:,} {word}s"


def first_that_fits(wordings: Sequence[str], inches: float) -> str:
    """Return the first of several wordings that fits in some inches, or the last."""
    return next((words for words in wordings if len(words) * letter_inches(TEXT) <= inches), wordings[-1])


def noise_words(noise: str) -> str:
    """Return a noise as it is written within a sentence: "normal noise, m = 4", but "Gumbel noise", as it is a name.

    Examples
    --------
    >>> noise_words("Normal noise, m = 2"), noise_words("Gumbel noise")
    ('normal noise, m = 2', 'Gumbel noise')
    """
    return noise if noise.startswith("Gumbel") else noise[:1].lower() + noise[1:]
