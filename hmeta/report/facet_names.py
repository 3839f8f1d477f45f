"""Names above facets: on one line where all fit, else on two, broken where the parts of a name meet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from hmeta.report.facet_words import WIDE_LETTERS
from hmeta.report.style import INK, SMALL, TALLEST, TINY, Grid, letters_in, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ENDS_OF_PARTS = "/-_@ ·:,"

LINE_INCHES = 1.12 / 72
"""Inches of a line of a name for each point of its font size."""


class Names(NamedTuple):
    """Names above facets, their font size, and how many lines the longest has."""

    texts: list[str]
    size: float
    lines: int

    @property
    def extra(self) -> float:
        """Inches that names take above their first line."""
        return (self.lines - 1) * LINE_INCHES * self.size


def facet_names(labels: Sequence[str], inches: float) -> Names:
    """Return names that fit above facets of some inches: on one line, else smaller, else broken in two.

    Names lose the folder of a vendor where that leaves them distinct.
    """
    distinct = without_folder(labels)
    longest = max(map(len, distinct), default=0)
    for size in (SMALL, TINY):
        if longest <= letters_in(inches, WIDE_LETTERS * size):
            return Names(distinct, size, 1)
    texts, lines = broken_names(distinct, letters_in(inches, WIDE_LETTERS * TINY))
    return Names(texts, TINY, lines)


def not_too_tall(grid: Grid) -> Grid:
    """Return a grid whose facets are a little lower where names on two lines would make the figure too tall."""
    excess = max(grid.height - TALLEST, 0.0) / grid.rows
    return grid._replace(cell_height=grid.cell_height - 1.001 * excess)


def without_folder(labels: Sequence[str]) -> list[str]:
    """Return names without the folder of a vendor, where that leaves them distinct.

    Examples
    --------
    >>> without_folder(["zai/glm-5", "o1"])
    ['glm-5', 'o1']
    """
    short = [label.rsplit("/", 1)[-1] or label for label in labels]
    return short if len(set(short)) == len(set(labels)) else list(labels)


def name_above(axes: Axes, name: str, size: float) -> None:
    """Write the name of a facet above it."""
    axes.set_title(name, fontsize=size, color=INK, pad=2.5, loc="left", linespacing=1.0)


def broken_names(names: Sequence[str], letters: int) -> tuple[list[str], int]:
    r"""Return names of at most `letters` a line, and how many lines the longest has, 1 or 2.

    Where names do not fit on two lines they lose what is before their last "/", then letters, as `shorten` does;
    names that are not told apart by so few are numbered, and end where there is room.

    Examples
    --------
    >>> broken_names(["ant", "vendor/a-long-model-name"], 14)
    (['ant', 'vendor/a-long-\nmodel-name'], 2)
    """
    letters = max(letters, 4)
    if max(map(len, names), default=0) <= letters:
        return list(names), 1
    distinct = without_folder(names)
    numbered = [f"{i} {name}" for i, name in enumerate(distinct, start=1)]
    cut = [name if len(name) < 2 * letters else f"{name[: 2 * letters - 2]}…" for name in numbered]
    for candidate in (list(names), distinct, shorten(distinct, 2 * letters - 1), cut):
        broken = ["\n".join(_halves(name, letters)) for name in candidate]
        if max(len(line) for name in broken for line in name.split("\n")) <= letters:
            break
    return broken, 2


def _halves(name: str, letters: int) -> tuple[str, ...]:
    """Return a name on one line, or on two that both fit where that can be."""
    if len(name) <= letters:
        return (name,)
    fit = list(range(max(1, len(name) - letters), min(letters, len(name) - 1) + 1))
    at_parts = [i for i in fit if name[i - 1] in ENDS_OF_PARTS or (name[i - 1].islower() and name[i].isupper())]
    place = max(at_parts or fit or [len(name) // 2])
    return name[:place].rstrip(), name[place:].lstrip()
