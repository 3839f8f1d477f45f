"""Binormal signal detection of two classes of answers over ordered categories, for many tables at once.

With evidence N(0, 1) for the first class and N(m, s²) for the second, the z-transformed ROC is a line of slope 1/s.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray

from hmeta.mle.newton import Derivatives, ascend
from hmeta.sdt.noise import NOISES

LARGEST_M = 12.0


class Categories(NamedTuple):
    """Counts of answers."""

    counts: Array  # (..., 2, category): by class, in the order of the evidence
    n: Array  # (...,), how many categories exist


class Binormal(NamedTuple):
    """Maxima of the likelihood; numbers of cells that did not converge mean nothing."""

    m: NDArray[np.float64]  # (cell,)
    log_s: NDArray[np.float64]  # (cell,)
    covariance: NDArray[np.float64]  # (cell, 2, 2) of (m, log s)
    converged: NDArray[np.bool_]  # (cell,)

    @property
    def d_a(self) -> NDArray[np.float64]:
        """Distance of the means in units of the root mean square of the standard deviations."""
        return self.m * np.sqrt(2.0 / (1.0 + np.exp(2.0 * self.log_s)))


def _log_likelihood(theta: Array, data: Categories) -> Array:
    """Log likelihood at theta = (m, log s, first edge, log gaps)."""
    form = NOISES["normal"]
    edges = jnp.concatenate([theta[2:3], theta[2] + jnp.cumsum(jnp.exp(theta[3:]))])
    category = jnp.arange(data.counts.shape[1])
    lowest, highest = category == 0, category == data.n - 1
    lo = jnp.concatenate([edges[:1] - 1.0, edges])
    hi = jnp.concatenate([edges, edges[-1:] + 1.0])
    total = jnp.zeros(())
    for which, (loc, scale) in enumerate(((0.0, 1.0), (theta[0], jnp.exp(theta[1])))):
        a, b = (lo - loc) / scale, (hi - loc) / scale
        log_p = jnp.where(lowest, form.log_cdf(b), jnp.where(highest, form.log_sf(a), form.log_interval(a, b)))
        total += (data.counts[which] * jnp.where(category < data.n, log_p, 0.0)).sum()
    return total


@jax.jit
def _fit(data: Categories) -> tuple[Array, Array, Array]:
    def one(cell: Categories) -> tuple[Array, Array, Array]:
        free = jnp.concatenate([jnp.ones(3), jnp.arange(cell.counts.shape[1] - 2) < cell.n - 2.0])

        def slope(theta: Array) -> tuple[Array, tuple[Array, Array]]:
            value, gradient = jax.value_and_grad(_log_likelihood)(theta, cell)
            return gradient, (value, gradient)

        def evaluate(theta: Array) -> Derivatives:
            hessian, (value, gradient) = jax.jacfwd(slope, has_aux=True)(theta)
            hessian = hessian * free * free[:, None] - jnp.diag(1.0 - free)
            return Derivatives(value, gradient * free, hessian, jnp.zeros((len(theta), 0)))

        end = ascend(evaluate, _start(cell), LARGEST_M)
        return end.theta[:2], jnp.linalg.inv(-end.at.hessian)[:2, :2], end.converged

    return jax.vmap(one)(data)


def _start(cell: Categories) -> Array:
    pooled = cell.counts.sum(0)
    below = jnp.clip(jnp.cumsum(pooled)[:-1] / pooled.sum(), 1e-4, 1.0 - 1e-4)
    edge = 0.5 + 1.3 * jax.scipy.special.ndtri(below)
    gaps = jnp.where(jnp.arange(len(edge) - 1) < cell.n - 2, jnp.log(jnp.maximum(jnp.diff(edge), 1e-3)), 0.0)
    return jnp.concatenate([jnp.array([1.0, 0.0]), edge[:1], gaps])


def fit_binormal(counts: NDArray[np.float64], n_categories: NDArray[np.int64]) -> Binormal:
    """Fit m and s with criteria of each table's own.

    Parameters
    ----------
    counts : (cell, 2, category)
        By class, categories in the order of the evidence; those beyond `n_categories` are empty.
    n_categories : (cell,)
        At least three where the slope is to be identified.
    """
    theta, covariance, converged = _fit(Categories(jnp.asarray(counts), jnp.asarray(n_categories)))
    place = np.asarray(theta)
    spread = np.asarray(covariance)
    proper = np.asarray(converged) & (spread[:, 0, 0] > 0.0) & (spread[:, 1, 1] > 0.0)
    return Binormal(place[:, 0], place[:, 1], spread, proper)
