"""Permutation: conditions swapped within pairs, or shuffled over answers; confidence shuffled over answers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from hmeta.resample.design import LARGEST_CHUNK, Sparse

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Pair = tuple[Floats, Floats]


def swap_pairs(
    rng: np.random.Generator, first: Sparse, second: Sparse, multiplicity: Ints, size: int
) -> Iterator[Pair]:
    """Exchange the two conditions within each pair with probability 1/2.

    Parameters
    ----------
    first, second : (pattern, row)
        What a pair of each pattern adds under the one and under the other condition.
    multiplicity : (pattern,)
        Pairs that are alike; how many of them are swapped is one binomial draw.
    size : int

    Yields
    ------
    first, second : (replicate, row)
        Weights, in chunks.
    """
    exchange = second - first
    base = tuple(np.asarray(multiplicity @ side, dtype=np.float64) for side in (first, second))
    for n in _chunks(size, max(first.shape)):
        moved = rng.binomial(multiplicity, 0.5, size=(n, len(multiplicity))) @ exchange
        yield base[0] + moved, base[1] - moved


def shuffle_groups(
    rng: np.random.Generator, first: Ints, second: Ints, size: int, *, width: int | None = None
) -> Iterator[Pair]:
    """Deal the answers of two conditions out again, each condition keeping its number of answers.

    Parameters
    ----------
    first, second : (row,)
        Counts under the two conditions.
    width : int, optional
        Numbers that a replicate holds together with others drawn beside it; sets the length of the chunks.
    """
    pooled = first + second
    for n in _chunks(size, len(pooled) if width is None else width):
        drawn = rng.multivariate_hypergeometric(pooled, int(first.sum()), size=n, method="marginals")
        yield drawn.astype(np.float64), (pooled - drawn).astype(np.float64)


def shuffle_outcomes(rng: np.random.Generator, wrong: Ints, right: Ints, size: int) -> Iterator[Pair]:
    """Deal confidences out again over the answers: tables of confidence × correctness with the same margins.

    Parameters
    ----------
    wrong, right : (level,)

    Yields
    ------
    wrong, right : (replicate, level)
    """
    yield from ((w, r) for r, w in shuffle_groups(rng, right, wrong, size))


def p_value(null: Floats, observed: float) -> float:
    """Return the two-sided p-value (1 + b)/(1 + B) of a difference whose null is symmetric about 0.

    b counts the permutations whose absolute value reaches the observed one; undefined ones are left out.

    Examples
    --------
    >>> p_value(np.array([0.1, -0.3, 0.2]), 0.25)
    0.5
    """
    defined = null[~np.isnan(null)]
    if np.isnan(observed) or not len(defined):
        return np.nan
    reached = np.abs(defined) >= np.abs(observed) * (1 - 1e-12)  # a permutation that is the data themselves counts
    return float((1 + reached.sum()) / (1 + len(defined)))


def p_above(null: Floats, observed: float) -> float:
    """Return the one-sided p-value (1 + b)/(1 + B), b counting the permutations at or above the observed value."""
    defined = null[~np.isnan(null)]
    if np.isnan(observed) or not len(defined):
        return np.nan
    return float((1 + np.sum(defined >= observed - 1e-12 * abs(observed))) / (1 + len(defined)))


def _chunks(size: int, width: int) -> Iterator[int]:
    step = max(1, LARGEST_CHUNK // max(width, 1))
    for first in range(0, size, step):
        yield min(step, size - first)
