"""Isotonic regression: the best non-decreasing step function."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from hmeta.calibrate.levels import Floats, levels

WORDS = "isotonic regression: the best non-decreasing function of the confidence, linear between its knots"
REFERENCE = "Zadrozny & Elkan (2002), KDD"
TILT = 1e-3
"""Share of the raw confidence that breaks ties: large enough to survive single precision on 101 levels."""


def fit(
    probability: Floats, correct: Floats, weights: Floats, *, ties: Literal["keep", "raw"] = "keep"
) -> dict[str, Any]:
    """Fit by the pool-adjacent-violators algorithm (scipy), with the interpolation that scikit-learn uses.

    Levels in the wrong order are pooled, so different confidences get the same output. These ties change AUROC2.

    Parameters
    ----------
    probability, correct, weights : (row,)
    ties : {"keep", "raw"}
        `raw` mixes in 0.1 % of the raw confidence, so that the output keeps its order.

    Returns
    -------
    dict
        `knots` and `values`, lists of equal length, and `tilt`, the share of the raw confidence.

    Raises
    ------
    CannotFit
        With one outcome or one level.
    """
    from scipy.optimize import isotonic_regression

    found = levels(probability, correct, weights)
    value = isotonic_regression(found.right / found.total, weights=found.total).x
    step = np.diff(value) > 0
    ends = np.concatenate([[True], step]) | np.concatenate([step, [True]])
    return {
        "knots": [float(x) for x in found.value[ends]],
        "values": [float(y) for y in np.clip(value[ends], 0.0, 1.0)],
        "tilt": TILT if ties == "raw" else 0.0,
    }


def apply(parameters: Any, probability: Floats) -> Floats:
    """Return the value at each confidence; beyond the outermost knots their value holds."""
    value = np.interp(probability, parameters["knots"], parameters["values"])
    return (1 - parameters["tilt"]) * value + parameters["tilt"] * probability
