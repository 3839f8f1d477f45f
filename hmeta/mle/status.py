"""Why a cell has no estimate, and what to doubt in one that has."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hmeta.mle.fit import SMALLEST_D, Fits
from hmeta.mle.table import TOO_MANY, Ratings, outcome_counts
from hmeta.mle.zroc import Z_95

Floats = NDArray[np.float64]

OK, FLAGGED, UNDEFINED, FAILED = "ok", "flagged", "undefined", "failed"
ONE_LEVEL, D_ZERO = "one confidence level used", "d = 0: M undefined"

PAD_TOLERANCE = 0.05
"""Relative change of M by padding beyond which it is flagged."""

D_CLEAR = 1.0
"""d from which a negative meta_d points to reversed ratings."""


def _binary_reasons(n: Floats) -> list[tuple[NDArray[np.bool_], str]]:
    s0r0, s0r1, s1r0, s1r1 = n.T
    return [
        (s0r0 + s0r1 == 0, "no S1 trials"),
        (s1r0 + s1r1 == 0, "no S2 trials"),
        (s0r0 + s1r0 == 0, "no S1 responses"),
        (s0r1 + s1r1 == 0, "no S2 responses"),
        (s0r1 + s1r0 == 0, "no wrong answers"),
        (s0r0 + s1r1 == 0, "no correct answers"),
    ]


def _one_sided(n: Floats) -> list[tuple[NDArray[np.bool_], str]]:
    names = ("no S1 response to S1", "no S2 response to S1", "no S1 response to S2", "no S2 response to S2")
    return [(n[:, code] == 0, f"d infinite: {name}") for code, name in enumerate(names)]


def type1_reasons(task: str, before: Floats, after: Floats | None = None) -> list[str]:
    """Return for every cell why there is no finite d, or an empty string.

    Parameters
    ----------
    task : {"binary", "mafc"}
    before, after : (cell, outcome)
        Counts without and with padding; the same where there is none.
    """
    checks = [(before.sum(1) == 0, "no trials")]
    if task == "binary":
        checks += _binary_reasons(before) + _one_sided(before if after is None else after)
    else:
        checks += [(before[:, 0] == 0, "no wrong answers"), (before[:, 1] == 0, "no correct answers")]
    return _first(checks, len(before))


def _first(checks: list[tuple[NDArray[np.bool_], str]], n_cells: int) -> list[str]:
    """Return the first reason that holds, for every cell."""
    found = np.full(n_cells, "", dtype=object)
    for failed, reason in reversed(checks):
        found[failed] = reason
    return list(found)


def undefined_reasons(
    raw: Ratings, used: Ratings, informative: NDArray[np.bool_], too_many: NDArray[np.bool_]
) -> list[str]:
    """Return for every cell why meta_d is undefined, or an empty string.

    Parameters
    ----------
    raw, used : Ratings
        Without and with padding. Padding never makes a cell defined that has no errors, no variety of
        responses, or one confidence level; it may stand in for a single empty outcome.
    informative : (cell,)
        Whether some criteria of the raw counts separate right from wrong.
    too_many : (cell,)
        Whether the counts used have more levels than can be fitted.
    """
    before, after = outcome_counts(raw), outcome_counts(used)
    type1 = type1_reasons(raw.task, before, after)
    found = np.where(informative, np.where(too_many, TOO_MANY, ""), ONE_LEVEL)
    return [reason or str(text) for reason, text in zip(type1, found, strict=True)]


def blank_failed(fits: Fits, undefined: list[str]) -> list[str]:
    """Set estimates that are not maxima to NaN; return the reason of every cell, or an empty string."""
    reasons = list(undefined)
    unfinished = np.array([not reason for reason in undefined], dtype=bool) & (fits.infinite | ~fits.converged)
    for cell in np.flatnonzero(unfinished):
        if fits.infinite[cell]:
            reasons[cell] = f"no finite maximum: meta_d goes to {'+' if fits.meta_d[cell] > 0 else '-'}infinity"
        else:
            reasons[cell] = "not converged" if np.isfinite(fits.meta_d[cell]) else "d = 0: relative meta_c undefined"
    for cell in np.flatnonzero([bool(reason) for reason in reasons]):
        fits.meta_d[cell] = fits.log_likelihood[cell] = np.nan
        fits.covariance[cell, 1, :] = fits.covariance[cell, :, 1] = np.nan
        fits.criteria.pop(int(cell), None)
    return reasons


def doubts(fits: Fits, auroc: Floats, change: Floats, slope: Floats | None) -> list[list[str]]:
    """Return for every cell what to doubt in its estimate.

    Parameters
    ----------
    fits : Fits
    auroc : (cell,)
    change : (cell,)
        Relative change of M by padding; NaN where there is none.
    slope : (cell, 3) or None
        z-ROC slope with the ends of its 95 % interval.
    """
    d, meta_d = fits.type1.d, fits.meta_d
    error = np.sqrt(fits.type1.covariance[:, 0, 0])
    with np.errstate(invalid="ignore"):
        reversed_order = (d > D_CLEAR) & (meta_d < -Z_95 * np.sqrt(fits.covariance[:, 1, 1]))
        checks = [
            (np.abs(d) < SMALLEST_D, D_ZERO),
            ((d <= -SMALLEST_D) & (auroc < 0.5), "d negative: stimulus coding probably inverted"),
            ((d <= -SMALLEST_D) & ~(auroc < 0.5), "d negative"),
            ((np.abs(d) >= SMALLEST_D) & (np.abs(d) < Z_95 * error), "d not clear of 0: M unstable"),
            ((d > D_CLEAR) & (meta_d < 0) & ~reversed_order, "meta_d negative while d > 1"),
            (reversed_order, "meta_d negative while d > 1: rating order probably reversed"),
            (np.abs(change) > PAD_TOLERANCE, "padding changes M by more than 5 %"),
        ]
        if slope is not None:
            checks.append(((slope[:, 1] > 1.0) | (slope[:, 2] < 1.0), "z-ROC slope excludes 1: unequal variances"))
    return [[text for mask, text in checks if mask[cell]] for cell in range(len(d))]
