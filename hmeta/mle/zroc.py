"""The slope of the type-1 z-ROC: ordinal signal detection with unequal variances, per cell.

Responses and ratings together order the answers from sure S1 to sure S2. With evidence N(0, 1) for S1
and N(m, s²) for S2 the z-ROC is a line of slope 1/s; equal variances give slope 1.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray

from hmeta.mle.newton import Derivatives, ascend
from hmeta.mle.table import Occupied, blocks
from hmeta.sdt.noise import NOISES

LARGEST_M = 12.0
Z_95 = 1.959963984540054


class _Categories(NamedTuple):
    counts: Array  # (2, category): by stimulus, from sure S1 to sure S2
    n: Array  # how many categories exist


def _log_likelihood(theta: Array, data: _Categories) -> Array:
    """Log likelihood at theta = (m, log s, first edge, log gaps)."""
    form = NOISES["normal"]
    edges = jnp.concatenate([theta[2:3], theta[2] + jnp.cumsum(jnp.exp(theta[3:]))])
    category = jnp.arange(data.counts.shape[1])
    lowest, highest = category == 0, category == data.n - 1
    lo = jnp.concatenate([edges[:1] - 1.0, edges])
    hi = jnp.concatenate([edges, edges[-1:] + 1.0])
    total = jnp.zeros(())
    for stimulus, (loc, scale) in enumerate(((0.0, 1.0), (theta[0], jnp.exp(theta[1])))):
        a, b = (lo - loc) / scale, (hi - loc) / scale
        log_p = jnp.where(lowest, form.log_cdf(b), jnp.where(highest, form.log_sf(a), form.log_interval(a, b)))
        total += (data.counts[stimulus] * jnp.where(category < data.n, log_p, 0.0)).sum()
    return total


@jax.jit
def _fit(data: _Categories) -> tuple[Array, Array, Array]:
    def one(cell: _Categories) -> tuple[Array, Array, Array]:
        free = jnp.concatenate([jnp.ones(3), jnp.arange(cell.counts.shape[1] - 2) < cell.n - 2.0])

        def slope(theta: Array) -> tuple[Array, tuple[Array, Array]]:
            value, gradient = jax.value_and_grad(_log_likelihood)(theta, cell)
            return gradient, (value, gradient)

        def evaluate(theta: Array) -> Derivatives:
            hessian, (value, gradient) = jax.jacfwd(slope, has_aux=True)(theta)
            hessian = hessian * free * free[:, None] - jnp.diag(1.0 - free)
            return Derivatives(value, gradient * free, hessian, jnp.zeros((len(theta), 0)))

        end = ascend(evaluate, _start(cell), LARGEST_M)
        return end.theta[1], jnp.linalg.inv(-end.at.hessian)[1, 1], end.converged

    return jax.vmap(one)(data)


def _start(cell: _Categories) -> Array:
    pooled = cell.counts.sum(0)
    below = jnp.clip(jnp.cumsum(pooled)[:-1] / pooled.sum(), 1e-4, 1.0 - 1e-4)
    edge = 0.5 + 1.3 * jax.scipy.special.ndtri(below)
    gaps = jnp.where(jnp.arange(len(edge) - 1) < cell.n - 2, jnp.log(jnp.maximum(jnp.diff(edge), 1e-3)), 0.0)
    return jnp.concatenate([jnp.array([1.0, 0.0]), edge[:1], gaps])


def zroc_slopes(levels: Occupied, chosen: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return slope, lower and upper end of its 95 % interval (Wald, on the log scale), ``(cell, 3)``.

    NaN for cells not chosen, with fewer than three categories, or without a finite maximum.
    """
    out = np.full((len(levels.n_levels), 3), np.nan)
    enough = chosen & (levels.n_levels.sum(axis=1) >= 3)
    for block in blocks(levels, enough):
        counts = _in_order(block.counts, block.n_levels)
        log_s, variance, converged = (
            np.asarray(x) for x in _fit(_Categories(jnp.asarray(counts), jnp.asarray(block.n_levels.sum(axis=1))))
        )
        n = len(block.cells)
        with np.errstate(invalid="ignore"):
            half = Z_95 * np.sqrt(variance[:n])
        found = np.exp(np.stack([-log_s[:n], -log_s[:n] - half, -log_s[:n] + half], axis=1))
        out[block.cells] = np.where((converged[:n] & (variance[:n] > 0))[:, None], found, np.nan)
    return out


def _in_order(counts: NDArray[np.float64], n_levels: NDArray[np.int64]) -> NDArray[np.float64]:
    """Line the ratings up from sure S1 to sure S2, ``(cell, stimulus, category)``."""
    n, _, _, width = counts.shape
    out = np.zeros((n, 2, 2 * width))
    cell, level = np.ogrid[:n, :width]
    place = n_levels[:, :1] - 1 - level
    mirrored = np.where(place >= 0, place, 2 * width - 1)
    for stimulus in (0, 1):
        np.add.at(out[:, stimulus], (cell, mirrored), counts[:, 0, stimulus])
        np.add.at(out[:, stimulus], (cell, np.minimum(n_levels[:, :1] + level, 2 * width - 1)), counts[:, 1, stimulus])
    return out
