"""Ratings of many cells as one long table, and its ragged occupied levels as padded blocks.

The long table has the columns cell, side (0, or the response for `binary`), ladder (which set of
levels), outcome, value (the confidence, larger = surer) and count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

N_OUTCOMES = {"binary": 4, "mafc": 2}
LEVEL_SIZES = (2, 4, 8, 16, 32, 64, 128)
CELL_SIZES = (1, 16, 128, 1024)
FEW_CELLS, WIDEST_TOGETHER = 256, 128
"""So few cells of at most so many levels are padded to one width: compiling another costs more than padding."""

LARGEST_BLOCK = 4_000_000
"""Numbers in the Hessians of one block."""

LARGEST_TABLE = 1_000_000
"""Entries of the long table at once, about 200 MB with what is sorted."""

MOST_LEVELS = 500
"""Levels in use by one response beyond which a cell is not fitted. Memory grows with their square and time with their
cube: at 500 a cell takes 60 to 80 MB beside compiled code, and 0.2 to 0.7 s; at 20,000 it would take 58 GB."""

TOO_MANY = f"more than {MOST_LEVELS:,} confidence levels: too many for a maximum-likelihood fit; bin or round them"


@dataclass(frozen=True)
class Ratings:
    """Counts of every (cell, outcome, confidence value).

    Attributes
    ----------
    task : str
    n_cells : int
    table : DataFrame
        Columns cell, side, ladder, outcome, value, count; zero counts say that a level exists.
    n_options, sd_ratio : (cell,)
    """

    task: str
    n_cells: int
    table: pd.DataFrame
    n_options: Floats
    sd_ratio: Floats


def side_of(task: str, outcome: Ints) -> Ints:
    """Return which set of criteria an outcome reads: the response for `binary`, one for all else."""
    return outcome % 2 if task == "binary" else np.zeros_like(outcome)


def ratings(
    task: str, cells: pd.DataFrame, columns: dict[str, NDArray[Any]], *, sd_ratio: float, ladder: Ints | None = None
) -> Ratings:
    """Build the long table from row columns cell, outcome, value and count."""
    side = side_of(task, columns["outcome"])
    table = pd.DataFrame({**columns, "side": side, "ladder": side if ladder is None else ladder})
    n = len(cells)
    options = cells["n_options"].to_numpy(float) if task == "mafc" else np.full(n, 2.0)
    return Ratings(task, n, table, options, np.full(n, float(sd_ratio)))


def spans(weights: Floats) -> Iterator[slice]:
    """Part the cells of weights ``(cell, row)`` so that the long table of each part has a bounded size."""
    step = max(1, LARGEST_TABLE // max(1, weights.shape[1]))
    return (slice(first, first + step) for first in range(0, len(weights), step))


def from_weights(task: str, outcome: Floats, value: Floats, weights: Floats, n_options: Floats) -> Ratings:
    """Read many weightings of the same rows, one a cell.

    Parameters
    ----------
    task : str
    outcome, value : (row,)
    weights : (cell, row)
    n_options : (cell,)
    """
    cell, row = np.nonzero(weights > 0.0)
    codes = outcome.astype(np.int64)[row]
    side = side_of(task, codes)
    columns = {"cell": cell, "outcome": codes, "value": value[row], "count": weights[cell, row]}
    table = pd.DataFrame({**columns, "side": side, "ladder": side})
    return Ratings(task, len(weights), table, n_options, np.ones(len(weights)))


class CountTable(Protocol):
    """Counts by cell, outcome and confidence, as `trials` makes them."""

    @property
    def task(self) -> str: ...  # noqa: D102
    @property
    def cells(self) -> pd.DataFrame: ...  # noqa: D102
    @property
    def cell(self) -> Ints: ...  # noqa: D102
    @property
    def outcome(self) -> Ints: ...  # noqa: D102
    @property
    def confidence(self) -> Floats: ...  # noqa: D102
    @property
    def count(self) -> Floats: ...  # noqa: D102


def from_counts(counts: CountTable) -> Ratings:
    """Read a count table: task, cells, and row arrays cell, outcome, confidence and count."""
    columns = {"cell": counts.cell, "outcome": counts.outcome, "value": counts.confidence, "count": counts.count}
    return ratings(counts.task, counts.cells, columns, sd_ratio=1.0)


def padded(data: Ratings, amount: float | None) -> Ratings:
    """Add `amount` to every outcome at every level of its ladder; None is 1/(2K) for a ladder of K levels."""
    table, n_out = data.table, N_OUTCOMES[data.task]
    levels = table[["ladder", "value"]].drop_duplicates()
    size = levels.groupby("ladder")["value"].transform("size")
    levels = levels.assign(pad=1.0 / (2.0 * size) if amount is None else amount)
    outcomes = np.arange(n_out)
    codes = pd.DataFrame({"outcome": outcomes, "side": side_of(data.task, outcomes)})
    grid = table[["cell", "side", "ladder"]].drop_duplicates().merge(codes, on="side").merge(levels, on="ladder")
    full = grid.merge(table, on=["cell", "side", "ladder", "outcome", "value"], how="left")
    full["count"] = full["count"].fillna(0.0) + full.pop("pad")
    return replace(data, table=full[table.columns])


def outcome_counts(data: Ratings) -> Floats:
    """Return the number of trials of each outcome, ``(cell, outcome)``."""
    n_out = N_OUTCOMES[data.task]
    flat = data.table["cell"].to_numpy() * n_out + data.table["outcome"].to_numpy()
    total = np.bincount(flat, weights=data.table["count"].to_numpy(float), minlength=data.n_cells * n_out)
    return total.reshape(data.n_cells, n_out)


def is_correct(task: str, outcome: Ints) -> NDArray[np.bool_]:
    """Return whether outcome codes are right answers."""
    return (outcome // 2 == outcome % 2) if task == "binary" else outcome == 1


def auroc2(data: Ratings) -> Floats:
    """Return P(confidence of a right answer > that of a wrong one) + P(tie)/2, ``(cell,)``; NaN where undefined."""
    table = data.table
    right = is_correct(data.task, table["outcome"].to_numpy())
    count = table["count"].to_numpy(float)
    split = pd.DataFrame(
        {
            "cell": table["cell"],
            "value": table["value"],
            "right": count * right,
            "wrong": count * ~right,
        }
    )
    by = split.groupby(["cell", "value"], sort=True)[["right", "wrong"]].sum().reset_index()
    below = by.groupby("cell")["wrong"].cumsum() - 0.5 * by["wrong"]
    cell = by["cell"].to_numpy()

    def total(weight: pd.Series) -> Floats:
        return np.bincount(cell, weights=weight.to_numpy(float), minlength=data.n_cells)

    pairs = total(by["right"]) * total(by["wrong"])
    with np.errstate(invalid="ignore"):
        return np.where(pairs > 0.0, total(by["right"] * below) / np.where(pairs > 0.0, pairs, 1.0), np.nan)


@dataclass(frozen=True)
class Occupied:
    """Occupied levels of every cell and side, flat.

    Attributes
    ----------
    n_levels : (cell, side)
    informative : (cell,)
        Whether some side has two or more levels, and both right and wrong answers.
    cell, side, which, level, count : (entry,)
        `which` is 0 or 1: the lower or the higher outcome code of the side; `level` counts from 0.
    """

    n_levels: Ints
    informative: NDArray[np.bool_]
    cell: Ints
    side: Ints
    which: Ints
    level: Ints
    count: Floats

    @property
    def too_many(self) -> NDArray[np.bool_]:
        """Whether a side has more than `MOST_LEVELS` levels, ``(cell,)``."""
        return self.n_levels.max(axis=1) > MOST_LEVELS


def occupied(data: Ratings) -> Occupied:
    """Find the levels that hold any answer, and number them within each cell and side."""
    n_sides = 2 if data.task == "binary" else 1
    table = data.table[data.table["count"] > 0.0]
    cell, side, outcome = (table[name].to_numpy(np.int64) for name in ("cell", "side", "outcome"))
    which = outcome // 2 if data.task == "binary" else outcome
    key = cell * n_sides + side
    pairs, at = np.unique(np.stack([key.astype(float), table["value"].to_numpy(float)]), axis=1, return_inverse=True)
    owner = pairs[0].astype(np.int64)
    n_levels = np.bincount(owner, minlength=data.n_cells * n_sides)
    level = at - (np.cumsum(n_levels) - n_levels)[key]
    both = np.ones(data.n_cells * n_sides, dtype=bool)
    for code in (0, 1):
        both &= np.bincount(key, weights=which == code, minlength=both.size) > 0
    informative = (both & (n_levels >= 2)).reshape(-1, n_sides).any(axis=1)
    count = table["count"].to_numpy(float)
    return Occupied(n_levels.reshape(-1, n_sides), informative, cell, side, which, level, count)


@dataclass(frozen=True)
class Block:
    """Cells of similar size: positions in the whole table and their padded counts."""

    cells: Ints  # (cell,), without the padding
    counts: Floats  # (cell, side, 2, level), padded with empty cells
    n_levels: Ints  # (cell, side)


def blocks(
    levels: Occupied, chosen: NDArray[np.bool_], room: Callable[[int, int], int] | None = None
) -> Iterator[Block]:
    """Group the chosen cells by number of levels, so that few shapes are compiled and little is padded.

    Parameters
    ----------
    levels : Occupied
    chosen : (cell,)
        Those with more than `MOST_LEVELS` levels are left out all the same.
    room : callable, optional
        From sides and levels to how many cells may be held at once; by default by the size of their Hessians.
    """
    chosen = chosen & ~levels.too_many
    most = np.maximum(levels.n_levels.max(axis=1), 2)
    sizes = np.array([*LEVEL_SIZES, *range(160, max(int(most.max()) + 32, 161), 32)])
    size = sizes[np.searchsorted(sizes, most)]
    if 0 < chosen.sum() <= FEW_CELLS and size[chosen].max() <= WIDEST_TOGETHER:
        size[chosen] = size[chosen].max()
    n_sides = levels.n_levels.shape[1]
    for width in np.unique(size[chosen]):
        members = np.flatnonzero(chosen & (size == width))
        most_cells = max(1, (room or _room)(n_sides, int(width)))
        step = max(s for s in CELL_SIZES if s <= most_cells)
        for first in range(0, len(members), step):
            yield _block(levels, members[first : first + step], int(width))


def _room(n_sides: int, width: int) -> int:
    return LARGEST_BLOCK // (1 + n_sides * (width - 1)) ** 2


def _block(levels: Occupied, cells: Ints, width: int) -> Block:
    n = next(s for s in CELL_SIZES if s >= len(cells))
    n_sides = levels.n_levels.shape[1]
    place = np.full(len(levels.n_levels), -1)
    place[cells] = np.arange(len(cells))
    mine = place[levels.cell] >= 0
    counts = np.zeros((n, n_sides, 2, width))
    at = (place[levels.cell[mine]], levels.side[mine], levels.which[mine], levels.level[mine])
    np.add.at(counts, at, levels.count[mine])
    n_levels = np.full((n, n_sides), 1)
    n_levels[: len(cells)] = levels.n_levels[cells]
    return Block(cells, counts, n_levels)
