"""Logistic regression of few unknowns on few levels, with lower bounds: the fit behind three of the maps."""

from __future__ import annotations

import numpy as np
from scipy.special import expit, log_expit, logit

from hmeta.calibrate.levels import CannotFit, Floats

MOST_STEPS = 100
TOLERANCE = 1e-10
"""Of the gradient, as a share of its own terms."""


def clipped_logit(probability: Floats, edge: float) -> Floats:
    """Return the log odds of probabilities kept `edge` away from 0 and 1."""
    return logit(np.clip(probability, edge, 1 - edge))


def fit_logistic(features: Floats, right: Floats, total: Floats, lower: Floats) -> Floats:
    """Maximise the binomial log likelihood of ``expit(features @ coefficient)`` under ``coefficient >= lower``.

    Parameters
    ----------
    features : (level, coefficient)
    right, total : (level,)
        Right answers and all answers; fractions are fine.
    lower : (coefficient,)
        −∞ where there is no bound; bounds must be at most 0, which is where the search starts.

    Returns
    -------
    (coefficient,)

    Raises
    ------
    CannotFit
        Where the search does not end, as when the best coefficient is infinite.

    Notes
    -----
    Each Newton step is a weighted least-squares problem with the same bounds (solved exactly by bvls), halved
    until the likelihood rises. The problem is concave, so the end is the one maximum.
    """
    from scipy.optimize import lsq_linear

    coefficient = np.zeros(features.shape[1])
    terms = np.abs(features).T @ total
    for _ in range(MOST_STEPS):
        line = features @ coefficient
        expected = expit(line)
        gradient = features.T @ (right - total * expected)
        free = (coefficient > lower) | (gradient > 0)
        if np.all(np.abs(gradient[free]) <= TOLERANCE * terms[free]):
            return coefficient
        root = np.sqrt(np.maximum(total * expected * (1 - expected), 1e-12 * total))
        goal = lsq_linear(
            root[:, None] * features,
            root * line + (right - total * expected) / root,
            bounds=(lower, np.inf),
            method="bvls",
            tol=1e-14,
        )
        coefficient = _uphill(coefficient, goal.x - coefficient, features, right, total)
    raise CannotFit("the fit did not converge")


def _uphill(start: Floats, step: Floats, features: Floats, right: Floats, total: Floats) -> Floats:
    """Return the end of the longest of the steps 1, 1/2, 1/4 … that does not lower the likelihood."""
    here = _log_likelihood(start, features, right, total)
    for share in 0.5 ** np.arange(40):
        there = start + share * step
        # Close to the maximum the likelihood is flat to the last digit; that is no reason to halve a step.
        if _log_likelihood(there, features, right, total) >= here - 1e-12 * abs(here):
            return there
    return start


def _log_likelihood(coefficient: Floats, features: Floats, right: Floats, total: Floats) -> float:
    line = features @ coefficient
    return float(right @ log_expit(line) + (total - right) @ log_expit(-line))
