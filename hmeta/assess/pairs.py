"""The same items under two conditions: what each pair adds to the rows of either, for all units at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray

from hmeta.assess.answers import Rows
from hmeta.assess.cells import Cell
from hmeta.assess.distinct import Distinct, distinct
from hmeta.resample.design import Design, Ints, Sparse, distinct_rows

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Unit:
    """One unit's answers under two conditions, over the distinct rows of both together."""

    levels: dict[str, str]
    rows: Distinct
    first: Floats  # (row,), counts under the condition
    second: Floats  # (row,), counts under the baseline
    span: slice  # where its rows stand among those of all units
    n_pairs: int
    n_left_out: float  # answers to items that only one of the conditions has


@dataclass(frozen=True)
class Paired:
    """All units, and what is drawn or swapped.

    Attributes
    ----------
    units : tuple of Unit
    first, second : (pattern, row of all units)
        What a pair adds under the condition and under the baseline; without pairs, None.
    multiplicity : (pattern,)
    design : Design
        Over the rows under the condition and then those under the baseline.
    """

    units: tuple[Unit, ...]
    first: Sparse
    second: Sparse
    multiplicity: Ints
    design: Design

    @property
    def n_rows(self) -> int:
        """Distinct rows of all units."""
        return self.units[-1].span.stop if self.units else 0

    def halves(self, weights: Floats) -> tuple[Floats, Floats]:
        """Split weights of the design into those of the condition and of the baseline."""
        return weights[..., : self.n_rows], weights[..., self.n_rows :]


def pair_units(
    table: Rows, cells: Sequence[Cell], is_first: NDArray[np.bool_], columns: Sequence[str], pair: str | None
) -> Paired:
    """Line up the answers of every unit under two conditions.

    Parameters
    ----------
    table : Rows
        Answers under either condition.
    cells : sequence of Cell
        The units.
    is_first : (entry,)
        Whether an answer was given under the condition and not under the baseline.
    columns : sequence of str
        What the measures read.
    pair : str or None
        The column that says which answers belong together; None for answers that are not paired.
    """
    key = _keys(table, pair)
    units, parts, start = [], [], 0
    for cell in cells:
        inside = is_first[cell.entries]
        kept = _in_both(key[cell.entries], inside) if pair is not None else np.ones(len(inside), dtype=bool)
        entries, first = cell.entries[kept], inside[kept]
        rows = distinct({name: table.columns[name][entries] for name in columns})
        count = table.count[entries]
        at_first, at_second = (np.bincount(rows.row[s], count[s], minlength=rows.n_rows) for s in (first, ~first))
        n_pairs = len(np.unique(key[entries])) if pair is not None else 0
        left_out = float(table.count[cell.entries[~kept]].sum())
        span = slice(start, start + rows.n_rows)
        units.append(Unit(cell.levels, rows, at_first, at_second, span, n_pairs, left_out))
        parts.append((key[entries], first, start + rows.row, count))
        start += rows.n_rows
    keys, first, row, count = (np.concatenate([p[i] for p in parts]) for i in range(4))
    if pair is None:
        return _unpaired(tuple(units))
    return _paired(tuple(units), keys, first.astype(bool), row.astype(np.int64), count)


def _keys(table: Rows, pair: str | None) -> Ints:
    """Return a code for each answer, −1 where it does not say to which pair it belongs."""
    if pair is None:
        return np.zeros(len(table.count), dtype=np.int64)
    return pd.factorize(table.factors[pair])[0].astype(np.int64)


def _in_both(key: Ints, first: NDArray[np.bool_]) -> NDArray[np.bool_]:
    return (key >= 0) & np.isin(key, np.intersect1d(key[first], key[~first]))


def _paired(units: tuple[Unit, ...], key: Ints, first: NDArray[np.bool_], row: Ints, count: Floats) -> Paired:
    n_rows = units[-1].span.stop
    _, pair = np.unique(key, return_inverse=True)
    n_pairs = int(pair.max()) + 1 if len(pair) else 0
    where = row + n_rows * ~first
    whole: Sparse = sp.csr_array((count, (pair, where)), shape=(n_pairs, 2 * n_rows))
    whole.sum_duplicates()
    chosen, multiplicity = distinct_rows(whole)
    patterns = whole[chosen]
    first_side, second_side = (sp.csr_array(patterns[:, half]) for half in (slice(0, n_rows), slice(n_rows, None)))
    design = Design(patterns, multiplicity, np.zeros(len(multiplicity), dtype=np.int64))
    return Paired(units, first_side, second_side, multiplicity, design)


def _unpaired(units: tuple[Unit, ...]) -> Paired:
    """Draw the answers of each unit and condition by themselves."""
    counts = np.concatenate([u.first for u in units] + [u.second for u in units])
    numbers = [np.full(u.rows.n_rows, 2 * i) for i, u in enumerate(units)]
    stratum = np.concatenate(numbers + [number + 1 for number in numbers])
    there = np.flatnonzero(counts > 0)
    patterns: Sparse = sp.csr_array(
        (np.ones(len(there)), (np.arange(len(there)), there)), shape=(len(there), len(counts))
    )
    return Paired(
        units, None, None, np.zeros(0, dtype=np.int64), Design(patterns, counts[there].astype(np.int64), stratum[there])
    )
