"""Sums over bins of stated probability: what every binned calibration error starts from.

The outcome may be any number in [0, 1]: right or wrong, or the share of a graded answer.

Letters: ``row`` counts trials or distinct rows, ``level`` distinct probabilities, ``bin`` bins, ``...`` any
leading axes of the weights (each bootstrap replicate has its own equal-mass bins).
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from hmeta.core.errors import DataError
from hmeta.metrics.measure import Floats
from hmeta.metrics.tally import ratio

Mass = Literal["equal_width", "equal_mass"]
"""Bins of equal width on [0, 1], or with equal shares of the answers."""

Edges = Literal["left", "right"]
"""Which edge belongs to a bin: (a, b], as Guo et al. (2017) and scikit-learn, or [a, b), as numpy.histogram."""

ON_EDGE = 1e-6
"""A probability this near to an edge is on it: 0.7 is 0.69999999 in single precision, 0.3/0.1 is 2.9999999999999996."""

ON_RANK = 1e-9
"""The same for shares of the answers, which are exact but for rounding; less than a step of 10⁸ answers."""

MOST_BINS = 1000


class LevelSums(NamedTuple):
    """Sums by distinct probability, lowest first."""

    value: Floats  # (level,)
    weight: Floats  # (..., level)
    outcome: Floats  # (..., level), the sum of weight times outcome


class BinSums(NamedTuple):
    """Sums by bin, lowest first; empty bins are 0 throughout."""

    weight: Floats  # (..., bin), answers
    confidence: Floats  # (..., bin), the sum of weight times probability
    outcome: Floats  # (..., bin), the sum of weight times outcome

    @property
    def gap(self) -> Floats:
        """Mean confidence less mean outcome by bin, NaN for empty ones, (..., bin)."""
        return ratio(self.confidence - self.outcome, self.weight)

    @property
    def expected_error(self) -> Floats:
        """Mean over answers of the absolute gap of their bin, NaN without answers, (...,)."""
        return ratio(np.abs(self.confidence - self.outcome).sum(axis=-1), self.weight.sum(axis=-1))

    @property
    def largest_error(self) -> Floats:
        """Largest absolute gap among the bins that hold answers, NaN without answers, (...,)."""
        gap = np.where(self.weight > 0, np.abs(self.gap), -np.inf).max(axis=-1)
        return np.where(gap >= 0, gap, np.nan)

    @property
    def rms_error(self) -> Floats:
        """Root of the mean over answers of the squared gap of their bin, NaN without answers, (...,)."""
        squared = np.where(self.weight > 0, self.weight * self.gap**2, 0.0)
        return np.sqrt(ratio(squared.sum(axis=-1), self.weight.sum(axis=-1)))


def bin_sums(
    probability: Floats,
    outcome: Floats,
    weights: Floats,
    bins: int = 10,
    mass: Mass = "equal_width",
    edges: Edges = "left",
) -> BinSums:
    """Add up answers, stated probabilities and outcomes by bin.

    Equal width
        The edges are 0, 1/B, …, 1. With ``edges="left"`` bins are [a, b) and the last one holds 1 too; with
        ``"right"`` they are (a, b] and the first one holds 0 too. A value within 1e-6 of an edge is on it.
    Equal mass
        Answers of equal probability stay together. A level whose answers stand between the shares F₋ and F₊ of all
        answers, in order of probability, goes to the bin that holds its middle (F₋ + F₊)/2; a middle on an edge goes
        by `edges`. Without ties and with a multiple of B answers, each bin gets exactly n/B. A level with more than
        1/B of the answers can leave bins beside it empty: there are then fewer than B bins, never an invented one.

    Parameters
    ----------
    probability, outcome : (row,)
    weights : (..., row)
    bins : int
        1 to 1000.
    mass : {"equal_width", "equal_mass"}
    edges : {"left", "right"}

    Returns
    -------
    BinSums
        Arrays (..., bin); with equal mass each leading index has edges from its own weights.
    """
    if not 1 <= bins <= MOST_BINS:
        raise DataError("unusable number of bins", received=str(bins), allowed=f"1 to {MOST_BINS}")
    levels = level_sums(probability, outcome, weights)
    if mass == "equal_width":
        index = bin_index(levels.value, bins, edges)
    else:
        index = bin_index(middle_ranks(levels.weight), bins, edges, ON_RANK)
    index = np.broadcast_to(index, levels.weight.shape)
    parts = (levels.weight, levels.weight * levels.value, levels.outcome)
    return BinSums(*(_by_bin(index, part, bins) for part in parts))


def level_sums(probability: Floats, outcome: Floats, weights: Floats) -> LevelSums:
    """Add up weights and outcomes at each distinct probability.

    Parameters
    ----------
    probability, outcome : (row,)
    weights : (..., row)
    """
    order = np.argsort(probability, kind="stable")
    value, start = np.unique(probability[order], return_index=True)
    w = weights[..., order]
    parts = (w, w * outcome[order])
    if len(value) < len(order):
        parts = tuple(np.add.reduceat(part, start, axis=-1) for part in parts)
    return LevelSums(value, *parts)


def middle_ranks(weight: Floats) -> Floats:
    """Return the share of answers below each level plus half of its own, 0 without answers, ``(..., level)``."""
    total = weight.sum(axis=-1, keepdims=True)
    return (np.cumsum(weight, axis=-1) - 0.5 * weight) / np.where(total > 0, total, 1.0)


def bin_index(position: Floats, bins: int, edges: Edges = "left", near: float = ON_EDGE) -> np.ndarray:
    """Return the bin, from 0, of positions in [0, 1] among `bins` equal intervals; same shape."""
    scaled = position * bins
    nearest = np.rint(scaled)
    on_edge = np.abs(position - nearest / bins) <= near
    at_edge = nearest - 1 if edges == "right" else nearest
    return np.clip(np.where(on_edge, at_edge, np.floor(scaled)), 0, bins - 1).astype(np.intp)


def _by_bin(index: np.ndarray, values: Floats, bins: int) -> Floats:
    """Return the sums of ``values (..., level)`` by their bin, ``(..., bin)``."""
    lead = values.shape[:-1]
    n_sets = int(np.prod(lead, dtype=np.intp))
    offset = np.arange(n_sets)[:, None] * bins
    flat = (index.reshape(n_sets, values.shape[-1]) + offset).ravel()
    sums = np.bincount(flat, weights=values.ravel(), minlength=n_sets * bins)
    return sums.astype(np.float64, copy=False).reshape(*lead, bins)
