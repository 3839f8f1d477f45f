"""Histogram binning: each bin's share of right answers."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from hmeta.calibrate.levels import Floats, Levels, levels
from hmeta.core.errors import DataError
from hmeta.metrics.binning import MOST_BINS

WORDS = "histogram binning: the share of right answers among the answers in the same bin of confidence"
REFERENCE = "Zadrozny & Elkan (2001), ICML"
SLACK = 1e-9
"""A confidence this near to an edge is on it, and belongs to the lower bin."""


def fit(
    probability: Floats,
    correct: Floats,
    weights: Floats,
    *,
    bins: int = 10,
    mass: Literal["equal_width", "equal_mass"] = "equal_width",
) -> dict[str, Any]:
    """Fit the share of right answers in each bin (Zadrozny & Elkan 2001).

    Bins are [a, b) and the last one holds 1 too, as in the measure `ece`. An empty bin is joined to the next
    lower one that holds answers, at the bottom to the next higher one. The map need not rise with confidence.

    Parameters
    ----------
    probability, correct, weights : (row,)
    bins : int
        1 to 1000.
    mass : {"equal_width", "equal_mass"}
        `equal_mass` parts the answers into bins of about equal numbers; one level is never divided.

    Returns
    -------
    dict
        `edges` (lower edges of all bins but the first), `values` and `counts` of the bins.

    Raises
    ------
    CannotFit
        With one outcome or one level.
    """
    if not 1 <= bins <= MOST_BINS:
        allowed = f"1 to {MOST_BINS}"
        raise DataError("unusable option", where="histogram, option bins", received=str(bins), allowed=allowed)
    found = levels(probability, correct, weights)
    edges = np.arange(1, bins) / bins if mass == "equal_width" else _equal_mass(found, bins)
    where = _bin(found.value, edges)
    total = np.bincount(where, found.total, minlength=len(edges) + 1)
    right = np.bincount(where, found.right, minlength=len(edges) + 1)
    full = np.flatnonzero(total > 0)
    return {
        "edges": [float(edges[k - 1]) for k in full[1:]],
        "values": [float(v) for v in right[full] / total[full]],
        "counts": [float(n) for n in total[full]],
    }


def apply(parameters: Any, probability: Floats) -> Floats:
    """Return the value of the bin of each confidence."""
    return np.asarray(parameters["values"], dtype=np.float64)[_bin(probability, np.asarray(parameters["edges"]))]


def _bin(probability: Floats, edges: Floats) -> np.ndarray:
    return np.searchsorted(edges - SLACK, probability, side="right")


def _equal_mass(found: Levels, bins: int) -> Floats:
    """Return edges half way between neighbouring levels, where the share of answers passes k/bins."""
    below = np.cumsum(found.total)[:-1] / found.total.sum()
    middle = (found.value[:-1] + found.value[1:]) / 2
    wanted = np.arange(1, bins) / bins
    nearest = np.abs(below[None, :] - wanted[:, None]).argmin(axis=1)
    return np.unique(middle[nearest])
