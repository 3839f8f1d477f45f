"""Confidence ladders and the rows that read them: occupied levels only, nothing binned, nothing padded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hmeta.spec.design import distinct, label
from hmeta.spec.plan import CriteriaPlan, Floats, Ints, Prior, RowTable

SIDES: dict[str, tuple[tuple[int, ...], ...]] = {"binary": ((0, 2), (1, 3)), "mafc": ((0, 1),), "open": ((0, 1),)}
"""By task, the outcomes that read each ladder of a criteria group: for `binary` one a response."""

NAMED = 10
"""How many groups a note names before it only counts."""


@dataclass(frozen=True)
class Counts:
    """The occupied (cell, outcome, confidence) combinations, as count_table gives them."""

    cell: Ints
    outcome: Ints
    confidence: Floats
    count: Floats


class CriteriaPriors(NamedTuple):
    """Priors of log gaps (or their mean), of the spread of pooled ones, and of anchors."""

    gap: Prior
    sd: Prior | None
    anchor: Prior | None


class Laddered(NamedTuple):
    """The criteria of a model, its rows, and what the user should know."""

    criteria: CriteriaPlan
    rows: RowTable
    n_informative: int  # criteria groups with two or more occupied levels in a ladder
    notes: tuple[str, ...]


def build_ladders(
    task: str,
    cells: pd.DataFrame,
    counts: Counts,
    *,
    columns: Sequence[str],
    formula: str,
    pooled: bool,
    priors: CriteriaPriors,
    headline: str,
) -> Laddered:
    """Find the occupied levels of every ladder and place each row on its ladder.

    Parameters
    ----------
    task : str
    cells : DataFrame
        (cell, column).
    counts : Counts
    columns : sequence of str
        The columns that define a criteria group.
    formula : str
    pooled : bool
        Give every ladder of a side the union of the side's levels.
    priors : CriteriaPriors
        With a prior of anchors the ladders have no least value.
    headline : str
        What groups that use one level say nothing about.
    """
    groups, group_of_cell = distinct(cells, columns)
    sides = SIDES[task]
    side_of_outcome = np.array([next(i for i, s in enumerate(sides) if o in s) for o in range(2 * len(sides))])
    key = group_of_cell[counts.cell] * len(sides) + side_of_outcome[counts.outcome]
    keys, ladder = np.unique(key, return_inverse=True)
    side = keys % len(sides)
    pool = side if pooled else np.arange(len(keys))
    values = [np.unique(counts.confidence[pool[ladder] == p]) for p in range(pool.max() + 1)]
    level_values = tuple(values[p] for p in pool)
    n_levels = np.array([len(v) for v in level_values], dtype=np.int64)
    rows = _rows(counts, ladder.astype(np.int64), level_values)
    free = priors.anchor is not None
    ladder_of, step = np.repeat(np.arange(len(keys)), n_levels - 1), _steps(n_levels)
    gaps = step > 0 if free else step >= 0
    anchored = np.flatnonzero(n_levels > 1) if free else np.zeros(0, dtype=np.int64)
    criteria = CriteriaPlan(
        formula=formula,
        groups=groups,
        ladder_group=(keys // len(sides)).astype(np.int64),
        ladder_outcomes=tuple(sides[s] for s in side),
        n_levels=n_levels,
        level_values=level_values,
        gap_ladder=ladder_of[gaps],
        gap_step=step[gaps],
        pooled=pooled,
        prior=priors.gap,
        sd_prior=priors.sd,
        lowest=-np.inf if free else 0.0,
        anchor_ladder=anchored,
        anchor_level=_middle_levels(rows, pool, n_levels)[anchored],
        anchor_prior=priors.anchor,
    )
    informed = _informed(criteria, rows)
    return Laddered(criteria, rows, int(informed.sum()), _uninformative(groups[~informed], headline))


def _steps(n_levels: Ints) -> Ints:
    """Return the 0-based position of every criterion in its ladder, (criterion,)."""
    return np.concatenate([np.arange(n - 1) for n in n_levels]).astype(np.int64)


def _middle_levels(rows: RowTable, pool: Ints, n_levels: Ints) -> Ints:
    """Return the level above the criterion that halves the answers best, (ladder,); pooled ladders have one for all.

    The data say most about that criterion, so that the others can be told as distances from it.
    """
    counts = np.zeros((int(pool.max()) + 1, int(n_levels.max())))
    np.add.at(counts, (pool[rows.ladder], rows.level), rows.count)
    counts = counts[pool]
    share = np.cumsum(counts, axis=1) / counts.sum(axis=1, keepdims=True)
    share[np.arange(share.shape[1]) >= n_levels[:, None] - 1] = np.inf  # above the top level there is no criterion
    return np.abs(share - 0.5).argmin(axis=1) + 1


def _rows(counts: Counts, ladder: Ints, level_values: tuple[Floats, ...]) -> RowTable:
    """Sort the rows by cell, outcome and level, and give each its position on its ladder."""
    start = np.concatenate([[0], np.cumsum([len(v) for v in level_values])])
    flat = np.concatenate(level_values)
    # One search over (ladder, value) pairs, made sortable by ranking all values of the data together.
    ranked = np.unique(counts.confidence)
    owner = np.repeat(np.arange(len(level_values)), np.diff(start))
    ladder_keys = owner * len(ranked) + np.searchsorted(ranked, flat)
    row_keys = ladder * len(ranked) + np.searchsorted(ranked, counts.confidence)
    level = np.searchsorted(ladder_keys, row_keys) - start[ladder]
    order = np.lexsort((level, counts.outcome, counts.cell))
    return RowTable(
        cell=counts.cell[order].astype(np.int64),
        outcome=counts.outcome[order].astype(np.int64),
        ladder=ladder[order],
        level=level[order].astype(np.int64),
        count=counts.count[order].astype(np.float64),
    )


def _informed(criteria: CriteriaPlan, rows: RowTable) -> NDArray[np.bool_]:
    """Say of every criteria group whether answers of one ladder differ in confidence."""
    used = np.unique(np.column_stack([rows.ladder, rows.level]), axis=0)[:, 0]
    occupied = np.bincount(used, minlength=len(criteria.n_levels))
    informed = np.zeros(len(criteria.groups), dtype=bool)
    informed[criteria.ladder_group[occupied > 1]] = True
    return informed


def _uninformative(groups: pd.DataFrame, headline: str) -> tuple[str, ...]:
    """Name the criteria groups in which every answer has the same confidence."""
    names = [label(row) for row in groups.itertuples(index=False, name=None)]
    if not names:
        return ()
    shown = ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")
    what = f"{headline} is the prior's (shrunk) in {len(names)} groups"
    return (f"uninformative: one confidence level used, {what}: {shown}",)
