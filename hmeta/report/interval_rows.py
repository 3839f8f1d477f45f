"""Rows of intervals: a name on the left, marks on one axis, columns of numbers on the right.

Heights are inches above the lowest row.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from hmeta.report.style import (
    GRAY,
    INK,
    LIGHT,
    SMALL,
    TEXT,
    WARNING_INCHES,
    Head,
    axes_at,
    letters_in,
    new_figure,
    shorten,
    words_above,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROW = 0.148
"""Inches of a row."""

ABOVE, FOOT = 0.2, 0.42
NAMES_SHARE = 0.36
"""Most of the width that names may take."""

NARROWEST = 1.15
"""Inches that the axes keep where names can be shortened for it."""

WIDE = 1.08
"""Names in capitals and digits are wider than the letters that `letters_in` counts on."""


class Numbers(NamedTuple):
    """One column of numbers right of the axes."""

    head: str
    end: float  # inches right of the axes
    texts: Sequence[str]  # one a row


def rows_figure(
    width: float,
    head: Head,
    labels: Sequence[str],
    tallest: float,
    *,
    numbers: float,
    converged: bool,
    above: float = ABOVE,
) -> tuple[Figure, Axes, list[str]]:
    """Return a figure with axes for rows, and the labels as short as they have to be.

    Parameters
    ----------
    width : float
    head : Head
        What stands above.
    labels : sequence of str
        Names of the rows.
    tallest : float
        Height of the uppermost row.
    numbers : float
        Inches that the columns of numbers take.
    converged : bool
        Without it the warning is written below.
    above : float
        Inches between the head and the rows, for heads of columns.
    """
    room = max(min(NAMES_SHARE * width, width - numbers - NARROWEST), 0.6)
    short = shorten(labels, letters_in(room, WIDE * TEXT))
    names = max((len(label) for label in short), default=0) / letters_in(1.0, WIDE * TEXT) + 0.1
    foot = FOOT + (0.0 if converged else WARNING_INCHES)
    height = tallest + 1.2 * ROW
    figure = new_figure(width, head.height + above + height + foot)
    axes = axes_at(figure, names, foot, width - names - max(numbers, 0.06), height)
    axes.set_ylim(-0.6 * ROW, tallest + 0.6 * ROW)
    words_above(figure, head, converged=converged)
    return figure, axes, short


def name_rows(axes: Axes, heights: Sequence[float], labels: Sequence[str], *, colors: Sequence[str] = ()) -> None:
    """Write the names of rows, and take away all of the frame but the lower axis."""
    axes.set_yticks(list(heights), list(labels), fontsize=TEXT)
    for i, tick in enumerate(axes.get_yticklabels()):
        tick.set_color(colors[i] if len(colors) else INK)
    axes.tick_params(axis="y", length=0, pad=3)
    axes.tick_params(axis="x", labelsize=SMALL, color=GRAY, labelcolor=INK, width=0.6, length=2.5, pad=2)
    for side in ("left", "right", "top"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(GRAY)
    axes.spines["bottom"].set_linewidth(0.6)
    axes.grid(axis="x", color=LIGHT, linewidth=0.5, zorder=-1)
    axes.set_axisbelow(True)


def write_numbers(axes: Axes, heights: Sequence[float], columns: Sequence[Numbers]) -> None:
    """Write columns of numbers right of the axes, each under its head."""
    inches = inches_of(axes)
    for column in columns:
        x = 1 + column.end / inches[0]
        text = {"fontsize": TEXT, "va": "center_baseline", "ha": "right", "color": INK}
        for y, words in zip(heights, column.texts, strict=True):
            axes.text(x, y, words, transform=axes.get_yaxis_transform(), **text)
        above = {"fontsize": SMALL, "va": "baseline", "ha": "right", "color": INK, "linespacing": 1.0}
        axes.text(x, 1 + 0.06 / inches[1], column.head, transform=axes.transAxes, **above)


def inches_of(axes: Axes) -> tuple[float, float]:
    """Return width and height of axes in inches."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    width, height = figure.get_size_inches()
    place = axes.get_position()
    return float(place.width * width), float(place.height * height)


def share_text(p: float) -> str:
    """Write a probability so that rounding never makes it 0 or 1.

    Examples
    --------
    >>> share_text(0.4321), share_text(1.0), share_text(0.001)
    ('0.43', '>0.99', '<0.01')
    """
    if p != p:
        return "–"
    return ">0.99" if p >= 0.995 else "<0.01" if p < 0.005 else f"{p:.2f}"


def signed(value: float) -> str:
    """Write a difference with its sign, and none where it rounds to 0.

    Examples
    --------
    >>> signed(0.123), signed(-0.5), signed(-0.001)
    ('+0.12', '−0.50', '0.00')
    """
    return "0.00" if abs(value) < 0.005 else minus(f"{value:+.2f}")


def minus(text: str) -> str:
    """Write the minus signs of numbers as such, not as hyphens.

    Examples
    --------
    >>> minus("-0.05 to 0.05")
    '−0.05 to 0.05'
    """
    return re.sub(r"(?<![\w.])-(?=[\d.])", "−", text)
