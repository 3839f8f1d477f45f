"""Weighted correlations of two columns, by value and by rank: ties count as ties, weights as repeated rows.

Functions of arrays, without cards: the measures of judges and of measurement stand on them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hmeta.metrics.measure import Columns, Floats, Need

PRODUCT_IS_FASTER = 50
"""How many pairs of rows a matrix product goes through in the time of one pair of levels, as measured."""

MOST_COLUMNS = 1000
"""Columns of the matrix of signs that are held at once."""


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
    Work grows with the smaller of (levels of the one column) × (levels of the other) and (pairs of rows).

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
    sizes = fine_total.shape[-1] * coarse_total.shape[-1]
    if sizes * PRODUCT_IS_FASTER < len(x) ** 2:
        net = _net_by_level(coarse_level, fine_level, weights)
    else:
        net = _net_by_pair(x, y, weights)
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


def _net_by_pair(x: Floats, y: Floats, weights: Floats) -> Floats:
    """Return the same as a product with the signs of all pairs, some columns of the matrix at a time."""
    net = np.zeros(weights.shape[:-1])
    for start in range(0, len(x), MOST_COLUMNS):
        part = slice(start, start + MOST_COLUMNS)
        sign = np.sign(x[:, None] - x[part]) * np.sign(y[:, None] - y[part])  # (row, part)
        net = net + ((weights @ sign) * weights[..., part]).sum(axis=-1) / 2
    return net


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
