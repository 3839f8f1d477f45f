"""Platt scaling: a straight line on the log odds."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit

from hmeta.calibrate.levels import Floats, at_edge, edge_for, levels, refuse_separated
from hmeta.calibrate.logistic import clipped_logit, fit_logistic

WORDS = "Platt scaling: logit of the probability = slope × logit of the confidence + intercept"
REFERENCE = "Platt (1999), Advances in Large Margin Classifiers"


def fit(
    probability: Floats, correct: Floats, weights: Floats, *, smoothing: bool = False, edge: float = 0.0
) -> dict[str, Any]:
    """Fit slope and intercept by maximum likelihood (Platt 1999, on the log odds of a stated probability).

    Parameters
    ----------
    probability, correct, weights : (row,)
    smoothing : bool
        Platt's targets (n₊ + 1)/(n₊ + 2) and 1/(n₋ + 2) in place of 1 and 0, which keep the slope finite.
    edge : float
        Confidences nearer to 0 or 1 are moved to this distance; 0 chooses it, see `hmeta.calibrate.levels.edge_for`.

    Returns
    -------
    dict
        `slope` (negative where surer answers are less often right), `intercept`, `edge`, `n_at_edge`.

    Raises
    ------
    CannotFit
        With one outcome or one level, or, without smoothing, where confidence parts right from wrong.
    """
    found = levels(probability, correct, weights)
    nearest = edge_for(found, edge)
    x = clipped_logit(found.value, nearest)
    right = found.right
    if smoothing:
        n_right, n_wrong = found.right.sum(), found.wrong.sum()
        right = found.right * (n_right + 1) / (n_right + 2) + found.wrong / (n_wrong + 2)
    else:
        refuse_separated(found._replace(value=x), falling=True, mend="use platt(smoothing=true)")
    slope, intercept = fit_logistic(np.column_stack([x, np.ones_like(x)]), right, found.total, np.full(2, -np.inf))
    return {
        "slope": float(slope),
        "intercept": float(intercept),
        "edge": nearest,
        "n_at_edge": at_edge(found, nearest),
    }


def apply(parameters: Any, probability: Floats) -> Floats:
    """Return expit(slope × logit(probability) + intercept)."""
    return expit(parameters["slope"] * clipped_logit(probability, parameters["edge"]) + parameters["intercept"])
