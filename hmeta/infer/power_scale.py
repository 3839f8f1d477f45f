"""Draws weighted as if a prior or the likelihood had another power: weights, their Pareto k, how far quantities move.

The weights p(θ)^(α - 1) are Pareto-smoothed (Vehtari, Simpson, Gelman, Yao & Gabry 2024, JMLR 25, 72); the distance is
the cumulative Jensen-Shannon distance for each doubling of the power, of Kallioinen, Paananen, Bürkner & Vehtari
(2024), Statistics and Computing 34, 57. Both are arviz_stats'.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

Floats = NDArray[np.float64]

ALPHAS = (0.99, 1.01)
"""Powers between which sensitivity is measured."""

SAMPLE = ("chain", "draw")


def pareto_k(log_density: Floats) -> float:
    """Return the larger Pareto k of the weights of both powers.

    Parameters
    ----------
    log_density : (chain, draw)
    """
    library = _library()
    efficiency = float(library.ess(log_density, method="tail", prob=(0.05, 0.95), relative=True))
    found = [library.psislw((1.0 - alpha) * log_density, r_eff=efficiency, axis=(-2, -1))[1] for alpha in ALPHAS]
    return max(float(k) for k in found)


def distances(draws: Floats, log_density: Floats) -> Floats:
    """Return how far the distribution of each quantity moves for each doubling of the power, (quantity,).

    Parameters
    ----------
    draws : (quantity, chain, draw)
    log_density : (chain, draw)
    """
    from arviz_stats.psense import psense

    groups = {
        "/posterior": xr.Dataset({"value": (("quantity", *SAMPLE), draws)}),
        "/log_prior": xr.Dataset({"component": (SAMPLE, log_density)}),
    }
    found: Any = psense(xr.DataTree.from_dict(groups), group="prior", alphas=ALPHAS)
    return np.asarray(found["value"].values, dtype=np.float64)


def shifts(draws: Floats, log_density: Floats) -> Floats:
    """Return how far each posterior mean moves if the power doubles, to first order, (quantity,).

    The derivative of E[q] by the power, at power 1, is Cov(q, log density); a doubling is ln 2 on the log scale.

    Parameters
    ----------
    draws : (quantity, chain, draw)
    log_density : (chain, draw)
    """
    return np.log(2.0) * (draws * (log_density - log_density.mean())).mean(axis=(-2, -1))


def _library() -> Any:
    from arviz_stats.base.array import array_stats

    return array_stats
