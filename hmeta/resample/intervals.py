"""Bootstrap intervals: percentile and bias-corrected accelerated."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

Floats = NDArray[np.float64]
Kind = Literal["percentile", "bca"]
KINDS: tuple[Kind, ...] = ("bca", "percentile")
NAMES = {"bca": "BCa", "percentile": "percentile"}


class Interval(NamedTuple):
    """Ends of an interval, the standard error and bias of the resamples, and how many were defined."""

    lower: float
    upper: float
    standard_error: float
    bias: float
    n_defined: int


UNDEFINED = Interval(np.nan, np.nan, np.nan, np.nan, 0)


def percentile(replicates: Floats, estimate: float, level: float) -> Interval:
    """Return the percentile interval (Efron & Tibshirani 1993, ch. 13) over the defined replicates.

    Parameters
    ----------
    replicates : (replicate,)
        NaN where undefined; such replicates are left out and counted.
    estimate : float
    level : float
        Coverage aimed at, in (0, 1).
    """
    defined = replicates[~np.isnan(replicates)]
    if not len(defined) or np.isnan(estimate):
        return UNDEFINED
    return _between(defined, estimate, (1 - level) / 2, (1 + level) / 2)


def bca(
    replicates: Floats, estimate: float, level: float, left_out: Floats, multiplicity: NDArray[np.int64]
) -> Interval:
    """Return the BCa interval (Efron 1987; Efron & Tibshirani 1993, eq. 14.9–14.15).

    Parameters
    ----------
    replicates, estimate, level
        As for `percentile`.
    left_out : (pattern,)
        The estimate without one unit of each pattern.
    multiplicity : (pattern,)
        How many units are alike.

    Returns
    -------
    Interval
        With NaN ends where every replicate lies on one side of the estimate: the correction for bias is infinite.
    """
    defined = replicates[~np.isnan(replicates)]
    if not len(defined) or np.isnan(estimate):
        return UNDEFINED
    below = (np.sum(defined < estimate) + 0.5 * np.sum(defined == estimate)) / len(defined)
    kept = np.isfinite(left_out)
    values, n = left_out[kept], multiplicity[kept]
    from_mean = np.average(values, weights=n) - values if n.sum() else np.zeros(0)
    cubes, squares = np.sum(n * from_mean**3), np.sum(n * from_mean**2)
    acceleration = cubes / (6 * squares**1.5) if squares > 0 else 0.0
    if not 0 < below < 1:
        return _between(defined, estimate, np.nan, np.nan)
    shift = ndtri(below)
    ends = shift + ndtri(np.array([(1 - level) / 2, (1 + level) / 2]))
    lower, upper = ndtr(shift + ends / (1 - acceleration * ends))
    return _between(defined, estimate, float(lower), float(upper))


def _between(defined: Floats, estimate: float, lower: float, upper: float) -> Interval:
    """Return the order statistics at two probabilities; they exist for infinite replicates, too."""
    low = high = np.nan
    if np.isfinite(lower) and np.isfinite(upper):
        low, high = (float(q) for q in np.quantile(defined, [lower, upper], method="inverted_cdf"))
    with np.errstate(invalid="ignore"):
        spread = float(defined.std(ddof=1)) if len(defined) > 1 else np.nan
        return Interval(low, high, spread, float(defined.mean() - estimate), len(defined))
