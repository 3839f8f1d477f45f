"""Temperature scaling: the log odds divided by one number."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit

from hmeta.calibrate.levels import CannotFit, Floats, at_edge, edge_for, levels
from hmeta.calibrate.logistic import clipped_logit, fit_logistic

WORDS = "temperature scaling: logit of the probability = logit of the confidence ÷ temperature"
REFERENCE = "Guo, Pleiss, Sun & Weinberger (2017), ICML"


def fit(probability: Floats, correct: Floats, weights: Floats, *, edge: float = 0.0) -> dict[str, Any]:
    """Fit the temperature by maximum likelihood (Guo et al. 2017, of one stated probability).

    A confidence of one half stays one half, so confidence that is wrong on average can be made less sure but
    never less right than that: the map cannot reach a base rate below one half.

    Parameters
    ----------
    probability, correct, weights : (row,)
    edge : float
        Confidences nearer to 0 or 1 are moved to this distance; 0 chooses it, see `hmeta.calibrate.levels.edge_for`.

    Returns
    -------
    dict
        `temperature` (above 1 for overconfidence), `edge`, `n_at_edge`.

    Raises
    ------
    CannotFit
        With one outcome or one level, or where the best temperature is 0 or infinite.
    """
    found = levels(probability, correct, weights)
    nearest = edge_for(found, edge)
    x = clipped_logit(found.value, nearest)
    if not (found.wrong[x > 0].sum() > 0 or found.right[x < 0].sum() > 0):
        raise CannotFit("no answer contradicts its confidence, so the best temperature is 0")
    if x @ (found.right - found.total / 2) <= 0:
        raise CannotFit(
            "answers are no more often right where confidence is above one half, so the best temperature is infinite",
            mend="use platt or beta, which have an intercept",
        )
    (slope,) = fit_logistic(x[:, None], found.right, found.total, np.zeros(1))
    return {"temperature": float(1 / slope), "edge": nearest, "n_at_edge": at_edge(found, nearest)}


def apply(parameters: Any, probability: Floats) -> Floats:
    """Return expit(logit(probability) / temperature)."""
    return expit(clipped_logit(probability, parameters["edge"]) / parameters["temperature"])
