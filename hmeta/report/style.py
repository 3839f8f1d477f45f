"""How every figure looks: colours, sizes, widths of publication columns, and the parts that figures share.

Figures are made without pyplot, so that no display and no global state is touched.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, NamedTuple

from hmeta.core.errors import OutputError
from hmeta.core.registry import did_you_mean

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, ORANGE, GREEN, PURPLE, SKY, YELLOW = "#0072B2", "#D55E00", "#009E73", "#AA4499", "#56B4E9", "#E69F00"
GRAY, LIGHT, INK, RED = "#8A8A8A", "#E3E3E3", "#222222", "#B00020"
SERIES = (BLUE, ORANGE, GREEN, PURPLE, SKY, YELLOW)
"""Distinct for colour-blind readers (Okabe & Ito 2008; the purple Tol's), and in print."""

MM = 1 / 25.4
WIDTHS = {"column": 89 * MM, "half": 120 * MM, "page": 183 * MM}
"""Inches of one column, of one and a half, and of two columns of a journal page."""

HEADING, TEXT, SMALL, TINY = 8.5, 7.0, 6.5, 5.5
"""Font sizes in points."""

HEADING_LINE, TEXT_LINE, EDGE = 0.155, 0.125, 0.06
"""Inches of a line of the heading and of text, and beside them."""

WARNING_INCHES = 0.18
"""Room below a figure for the warning that a fit has not converged."""

TALLEST = 24.0
"""Inches; a taller figure cannot be read, or held in a page."""

WARNING = "NOT CONVERGED: do not read numbers off this figure"


class Grid(NamedTuple):
    """How facets are laid out, in inches."""

    rows: int
    columns: int
    cell_width: float
    cell_height: float
    left: float
    right: float
    top: float
    bottom: float
    between_x: float
    between_y: float

    @property
    def height(self) -> float:
        """The height of the whole figure."""
        return self.top + self.bottom + self.rows * self.cell_height + (self.rows - 1) * self.between_y


def width_of(name: str) -> float:
    """Return the inches of a named width.

    Raises
    ------
    OutputError
        For an unknown name.
    """
    if name not in WIDTHS:
        raise OutputError(
            "unknown width of a figure", received=f'"{name}"', allowed=tuple(WIDTHS), mend=did_you_mean(name, WIDTHS)
        )
    return WIDTHS[name]


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of a size in inches."""
    from matplotlib.figure import Figure

    if height > TALLEST:
        raise OutputError(
            "the figure would be too tall to be read",
            received=f"{height:.0f} inches",
            allowed=f"at most {TALLEST:.0f}",
            mend="choose a factor with fewer levels with --by",
        )
    return Figure(figsize=(width, height), dpi=300)


def axes_at(figure: Figure, left: float, bottom: float, width: float, height: float) -> Axes:
    """Add axes at a place given in inches from the lower left corner."""
    whole_width, whole_height = figure.get_size_inches()
    return figure.add_axes((left / whole_width, bottom / whole_height, width / whole_width, height / whole_height))


def layout_facets(
    n: int,
    width: float,
    *,
    narrowest: float = 0.92,
    aspect: float = 1.0,
    most_columns: int = 8,
    head: Head,
    converged: bool = True,
    between: tuple[float, float] = (0.12, 0.32),
) -> Grid:
    """Return a grid of `n` facets for a figure of some width: as few rows as leave facets readable.

    Parameters
    ----------
    n : int
    width : float
        Inches of the figure.
    narrowest : float
        Inches that a facet needs.
    aspect : float
        Height of a facet over its width.
    most_columns : int
    head : Head
        What `words_above` is to write.
    converged : bool
        Whether there is a warning below (`words_above`).
    between : (float, float)
        Inches between facets; the second holds their names.
    """
    left, right = 0.46, 0.08
    top = head.height + between[1]
    bottom = 0.44 + (0.0 if converged else WARNING_INCHES)
    room = width - left - right
    columns = max(1, min(n, most_columns, int((room + between[0]) / (narrowest + between[0]))))
    rows = math.ceil(n / columns)
    columns = math.ceil(n / rows)
    cell = min((room - between[0] * (columns - 1)) / columns, 2.4)
    return Grid(rows, columns, cell, cell * aspect, left, right, top, bottom, *between)


def facets(figure: Figure, grid: Grid, n: int) -> Iterator[tuple[int, Axes]]:
    """Yield the axes of `n` facets, row by row; only outer ones keep the labels of their ticks."""
    for i in range(n):
        row, column = divmod(i, grid.columns)
        x = grid.left + column * (grid.cell_width + grid.between_x)
        y = grid.height - grid.top - (row + 1) * grid.cell_height - row * grid.between_y
        axes = axes_at(figure, x, y, grid.cell_width, grid.cell_height)
        tidy(axes)
        axes.tick_params(labelleft=column == 0, labelbottom=i + grid.columns >= n)
        yield i, axes


def tidy(axes: Axes) -> None:
    """Take away what carries no information: the box, and all but quiet ticks."""
    for side in ("right", "top"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(GRAY)
        axes.spines[side].set_linewidth(0.6)
    axes.tick_params(labelsize=SMALL, color=GRAY, width=0.6, length=2.5, pad=2, labelcolor=INK)
    axes.set_axisbelow(True)


class Head(NamedTuple):
    """What stands above a figure, broken into lines that fit its width."""

    heading: tuple[str, ...]
    lines: tuple[str, ...]

    @property
    def height(self) -> float:
        """Inches, with a little space below."""
        return 0.06 + HEADING_LINE * len(self.heading) + TEXT_LINE * len(self.lines) + 0.08


def head_of(width: float, heading: str, lines: Sequence[str] = ()) -> Head:
    """Return the heading and the lines that explain the marks, broken where they would leave the figure."""
    room = width - 2 * EDGE
    wrapped = [part for line in lines for part in wrap(line, letters_in(room, SMALL), break_long_words=True)]
    return Head(tuple(wrap(heading, letters_in(room, 1.12 * HEADING))), tuple(wrapped))


def words_above(figure: Figure, head: Head, *, converged: bool = True) -> None:
    """Write what stands above a figure, and in red below it that a fit has not converged."""
    width, height = figure.get_size_inches()
    left, top = EDGE / width, 0.06
    for line in head.heading:
        figure.text(left, 1 - top / height, line, fontsize=HEADING, fontweight="bold", va="top", color=INK)
        top += HEADING_LINE
    for line in head.lines:
        figure.text(left, 1 - top / height, line, fontsize=SMALL, va="top", color=INK)
        top += TEXT_LINE
    if not converged:
        warning = WARNING if width > 3 else WARNING.split(":")[0]
        figure.text(left, 0.05 / height, warning, fontsize=TEXT, va="bottom", color=RED, fontweight="bold")


def shorten(labels: Sequence[str], most: int) -> list[str]:
    """Return names of at most `most` letters where they stay distinct, else as few letters as keep them so.

    Letters are left out in the middle, or nearer to an end where that is what tells the names apart.

    Examples
    --------
    >>> shorten(["anthropic/claude-sonnet", "o1"], 12)
    ['anthro…onnet', 'o1']
    """
    longest = max(map(len, labels), default=0)
    for size in range(max(most, 5), longest):
        for share in (0.5, 0.25, 0.75):
            short = [_cut(label, size, share) for label in labels]
            if len(set(short)) == len(set(labels)):
                return short
    return list(labels)


def _cut(label: str, most: int, share: float) -> str:
    """Return a name without some letters, of those kept a share from its start."""
    if len(label) <= most:
        return label
    first = max(round((most - 1) * share), 1)
    return f"{label[:first]}…{label[len(label) - (most - 1 - first) :]}"


def letters_in(inches: float, size: float = TEXT) -> int:
    """Return how many letters of a font size fit in some inches."""
    return int(inches / (0.0083 * size))
