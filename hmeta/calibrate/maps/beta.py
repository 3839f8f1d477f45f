"""Beta calibration: the two log probabilities weighted apart, without turning the order round."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit

from hmeta.calibrate.levels import CannotFit, Floats, at_edge, edge_for, levels, refuse_separated
from hmeta.calibrate.logistic import fit_logistic

WORDS = "beta calibration: logit of the probability = a × ln(confidence) − b × ln(1 − confidence) + c, with a, b ≥ 0"
REFERENCE = "Kull, Silva Filho & Flach (2017), AISTATS"
LEAST_LEVELS = 3


def fit(probability: Floats, correct: Floats, weights: Floats, *, edge: float = 0.0) -> dict[str, Any]:
    """Fit a, b and c by maximum likelihood under a, b ≥ 0 (Kull, Silva Filho & Flach 2017).

    With a = b it is Platt scaling, with a = b = 1 and c = 0 the identity. Where surer answers are not more often
    right, a = b = 0: the map is the base rate.

    Parameters
    ----------
    probability, correct, weights : (row,)
    edge : float
        Confidences nearer to 0 or 1 are moved to this distance; 0 chooses it, see `hmeta.calibrate.levels.edge_for`.

    Returns
    -------
    dict
        `a`, `b`, `c`, `edge`, `n_at_edge`.

    Raises
    ------
    CannotFit
        With one outcome or fewer than three levels, or where confidence parts right from wrong.
    """
    found = levels(probability, correct, weights)
    nearest = edge_for(found, edge)
    moved = np.clip(found.value, nearest, 1 - nearest)
    if len(np.unique(moved)) < LEAST_LEVELS:
        raise CannotFit("two confidence levels used, and beta has three parameters", mend="use platt")
    refuse_separated(found._replace(value=moved), falling=False)
    a, b, c = fit_logistic(_features(moved), found.right, found.total, np.array([0.0, 0.0, -np.inf]))
    return {
        "a": float(a),
        "b": float(b),
        "c": float(c),
        "edge": nearest,
        "n_at_edge": at_edge(found, nearest),
    }


def apply(parameters: Any, probability: Floats) -> Floats:
    """Return expit(a ln p − b ln(1 − p) + c)."""
    edge = parameters["edge"]
    coefficient = np.array([parameters[name] for name in "abc"])
    return expit(_features(np.clip(probability, edge, 1 - edge)) @ coefficient)


def _features(inside: Floats) -> Floats:
    return np.column_stack([np.log(inside), -np.log1p(-inside), np.ones_like(inside)])
