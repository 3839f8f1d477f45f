"""Right and wrong answers by confidence level: what most measures of two columns start from."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hmeta.metrics.measure import Floats


class Tally(NamedTuple):
    """Weights by level, lowest first."""

    value: Floats  # (level,)
    wrong: Floats  # (..., level)
    right: Floats  # (..., level)

    @property
    def total(self) -> Floats:
        """Answers by level, (..., level)."""
        return self.wrong + self.right


def tally(confidence: Floats, correct: Floats, weights: Floats) -> Tally:
    """Add up the weights of wrong and right answers at each distinct confidence.

    Parameters
    ----------
    confidence, correct : (row,)
    weights : (..., row)
    """
    value, level = np.unique(confidence, return_inverse=True)
    n = len(value)
    return Tally(value, *(_sums(weights, level, n, correct == code) for code in (0, 1)))


def _sums(weights: Floats, level: np.ndarray, n: int, chosen: np.ndarray) -> Floats:
    """Return the sums by level over the chosen rows, ``(..., level)``."""
    rows = np.flatnonzero(chosen)
    rows = rows[np.argsort(level[rows], kind="stable")]
    out = np.zeros((*weights.shape[:-1], n))
    if not len(rows):
        return out
    there, start = np.unique(level[rows], return_index=True)
    picked = weights[..., rows]
    out[..., there] = picked if len(there) == len(rows) else np.add.reduceat(picked, start, axis=-1)
    return out


def ratio(numerator: Floats, denominator: Floats) -> Floats:
    """Return numerator / denominator, NaN where the denominator is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(denominator > 0, numerator / np.where(denominator > 0, denominator, 1.0), np.nan)
