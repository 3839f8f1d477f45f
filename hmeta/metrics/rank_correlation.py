"""Weighted correlations of two columns, by value and by rank: ties count as ties, weights as repeated rows.

Functions of arrays, without cards: the measures of judges and of measurement stand on them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hmeta.metrics.measure import Columns, Floats, Need

BIT_IS_SLOWER = 10
"""How many pairs of levels are gone through in the time of one row and one bit, as measured."""


def varies(name: str) -> Need:
    """Return the condition that a column takes two values or more."""

    def condition(columns: Columns, weights: Floats) -> str:
        return "" if len(np.unique(columns[name][weights > 0])) > 1 else f"{name} takes one value only"

    return condition


def pearson(x: Floats, y: Floats, weights: Floats) -> Floats:
    """Return the product-moment correlation; NaN where either column takes one value only.

    Parameters
    ----------
    x, y : (..., row)
    weights : (..., row)

    Returns
    -------
    (...,)
    """
    total = weights.sum(axis=-1, keepdims=True)
    share = weights / np.where(total > 0, total, 1.0)
    dx = x - (share * x).sum(axis=-1, keepdims=True)
    dy = y - (share * y).sum(axis=-1, keepdims=True)
    product = (share * dx * dy).sum(axis=-1)
    size = np.sqrt((share * dx**2).sum(axis=-1)) * np.sqrt((share * dy**2).sum(axis=-1))
    # A column that does not vary leaves a residue of rounding, not an exact 0.
    fine = _spread(x, weights) & _spread(y, weights) & (size > 0)
    return np.where(fine, np.clip(product / np.where(fine, size, 1.0), -1.0, 1.0), np.nan)


def spearman(x: Floats, y: Floats, weights: Floats) -> Floats:
    """Return the product-moment correlation of the average ranks.

    Parameters
    ----------
    x, y : (row,)
    weights : (..., row)

    Returns
    -------
    (...,)
    """
    return pearson(average_ranks(x, weights), average_ranks(y, weights), weights)


def average_ranks(values: Floats, weights: Floats) -> Floats:
    """Return the rank of each row among the weighted rows, ties at their average, up to a constant.

    A level of weight w with weight b below it holds the ranks b + 1 … b + w, on average b + (w + 1)/2; the
    constant 1/2 is left out.

    Returns
    -------
    (..., row)
    """
    at_level, level = _by_level(values, weights)
    return (np.cumsum(at_level, axis=-1) - at_level / 2)[..., level]


def kendall_tau_b(x: Floats, y: Floats, weights: Floats) -> Floats:
    """Return τ_b = (P − Q)/√((N − T_x)(N − T_y)), NaN where either column takes one value only.

    P and Q are the weights of concordant and discordant pairs, N of all pairs, T of the pairs tied in a column.
    Work grows with the smaller of (levels of the one column) × (levels of the other) and (rows) × (logarithm of the
    levels).

    Parameters
    ----------
    x, y : (row,)
    weights : (..., row)

    Returns
    -------
    (...,)
    """
    coarse, fine = sorted((x, y), key=lambda column: len(np.unique(column)))
    fine_total, fine_level = _by_level(fine, weights)
    coarse_total, coarse_level = _by_level(coarse, weights)
    n_coarse = coarse_total.shape[-1]
    few = fine_total.shape[-1] * n_coarse < len(x) * n_coarse.bit_length() * BIT_IS_SLOWER
    net = (_net_by_level if few else _net_by_bit)(coarse_level, fine_level, weights)
    untied = [_untied_pairs(total) for total in (fine_total, coarse_total)]
    defined = np.logical_and(*((total > 0).sum(axis=-1) > 1 for total in (fine_total, coarse_total)))
    size = np.sqrt(untied[0]) * np.sqrt(untied[1])
    return np.where(defined, np.clip(net / np.where(defined, size, 1.0), -1.0, 1.0), np.nan)


def _net_by_level(coarse: NDArray[np.intp], fine: NDArray[np.intp], weights: Floats) -> Floats:
    """Return the weight of concordant less discordant pairs, coarse level by coarse level."""
    n_fine = int(fine.max(initial=-1)) + 1
    net = np.zeros(weights.shape[:-1])
    # Weight below minus weight above each fine level, among rows of lower coarse levels.
    standing = np.zeros((*weights.shape[:-1], n_fine))
    for level in range(int(coarse.max(initial=-1)) + 1):
        rows = np.flatnonzero(coarse == level)
        here = sum_by(fine[rows], weights[..., rows], n_fine)
        net = net + (here * standing).sum(axis=-1)
        standing += 2 * np.cumsum(here, axis=-1) - here - here.sum(axis=-1, keepdims=True)
    return net


def _net_by_bit(coarse: NDArray[np.intp], fine: NDArray[np.intp], weights: Floats) -> Floats:
    """Return the same by the highest bit in which the coarse levels of a pair differ: work is n log n."""
    net = np.zeros(weights.shape[:-1])
    for bit in range(int(coarse.max(initial=0)).bit_length()):
        group = coarse >> (bit + 1)
        order = np.lexsort((fine, group))
        upper = (coarse[order] >> bit) & 1 == 1
        w = weights[..., order]
        lower = np.insert(np.cumsum(np.where(upper, 0.0, w), axis=-1), 0, 0.0, axis=-1)
        first, last = _runs(group[order][upper], group[order])
        # Levels of one group in their order: where the finer column ties within the group.
        start, end = _runs(*(group[order][at] * (fine.max() + 1) + fine[order][at] for at in (upper, slice(None))))
        before = lower[..., start] - lower[..., first]
        after = lower[..., last] - lower[..., end]
        net = net + (w[..., upper] * (before - after)).sum(axis=-1)
    return net


def _runs(values: NDArray[np.intp], within: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return where the run of each value starts and ends in a sorted array."""
    return np.searchsorted(within, values, side="left"), np.searchsorted(within, values, side="right")


def sum_by(level: NDArray[np.intp], weights: Floats, n_levels: int) -> Floats:
    """Return the weights summed by level, ``(..., level)``."""
    order = np.argsort(level, kind="stable")
    there, start = np.unique(level[order], return_index=True)
    out = np.zeros((*weights.shape[:-1], n_levels))
    if len(there):
        picked = weights[..., order]
        out[..., there] = picked if len(there) == len(order) else np.add.reduceat(picked, start, axis=-1)
    return out


def _by_level(values: Floats, weights: Floats) -> tuple[Floats, NDArray[np.intp]]:
    """Return the weight of each distinct value, ``(..., level)``, and the level of each row."""
    distinct, level = np.unique(values, return_inverse=True)
    return sum_by(level, weights, len(distinct)), level


def _untied_pairs(total: Floats) -> Floats:
    """Return the weight of pairs at different levels; pairs are counted by what lies below, so nothing cancels."""
    return (total * (np.cumsum(total, axis=-1) - total)).sum(axis=-1)


def _spread(values: Floats, weights: Floats) -> NDArray[np.bool_]:
    """Return whether the rows of weight above 0 hold two values or more."""
    used = weights > 0
    low = np.where(used, values, np.inf).min(axis=-1, initial=np.inf)
    high = np.where(used, values, -np.inf).max(axis=-1, initial=-np.inf)
    return low < high
