"""From linear predictors to quantities: the inverse of each link."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def inverse_link(link: str, x: Floats) -> Floats:
    """Return the quantity of a linear predictor.

    Parameters
    ----------
    link : {"identity", "log", "logit", "auroc"}
        "auroc" makes a d_a the area under its binormal curve, Φ(d_a / √2) (hmeta/sdt/type2.py).
    x : array
    """
    if link in ("logit", "auroc"):
        from scipy.special import expit, ndtr  # verbs on a fit stay quick where they need no SciPy

        return expit(x) if link == "logit" else ndtr(x / np.sqrt(2.0))
    return {"identity": lambda: x, "log": lambda: np.exp(x)}[link]()
