"""Type-1 estimates in closed form (or by inverting the accuracy), with their covariance."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray

from hmeta.sdt.likelihood import Likelihood
from hmeta.sdt.noise import NOISES

Floats = NDArray[np.float64]

BISECTIONS = 100
LOWEST_D, HIGHEST_D = -12.0, 15.0


class Type1(NamedTuple):
    """Type-1 estimates of every cell."""

    d: Floats  # (cell,)
    c: Floats  # (cell,), 0 for `mafc`
    covariance: Floats  # (cell, 2, 2) of (d, c); zero for c of `mafc`


def outcome_point(counts: Floats, noise: str, sd_ratio: Floats) -> tuple[Floats, Floats]:
    """Return d and c from 1 - F((c - s·d/2) / sd_s) = P(R=1 | S)."""
    s0r0, s0r1, s1r0, s1r1 = counts.T
    quantile = NOISES[noise].quantile
    at_s0 = np.asarray(quantile(jnp.asarray(s0r0 / (s0r0 + s0r1))))
    at_s1 = sd_ratio * np.asarray(quantile(jnp.asarray(s1r0 / (s1r0 + s1r1))))
    return at_s0 - at_s1, 0.5 * (at_s0 + at_s1)


@partial(jax.jit, static_argnums=0)
def invert_accuracy(likelihood: Likelihood, accuracy: Array, n_options: Array) -> Array:
    """Return the d at which P(correct) is `accuracy`, by bisection."""

    def halve(_: int, bounds: tuple[Array, Array]) -> tuple[Array, Array]:
        low, high = bounds
        middle = 0.5 * (low + high)
        params = {"d": middle, "n_options": n_options}
        reached = jnp.exp(likelihood.log_outcome(jnp.ones_like(middle, dtype=int), params)) < accuracy
        return jnp.where(reached, middle, low), jnp.where(reached, high, middle)

    ends = (jnp.full_like(accuracy, LOWEST_D), jnp.full_like(accuracy, HIGHEST_D))
    low, high = jax.lax.fori_loop(0, BISECTIONS, halve, ends)
    return 0.5 * (low + high)


def _mafc_point(likelihood: Likelihood, counts: Floats, n_options: Floats) -> Floats:
    accuracy = counts[:, 1] / counts.sum(axis=1)
    inner = (accuracy > 0.0) & (accuracy < 1.0)
    d = np.asarray(invert_accuracy(likelihood, jnp.asarray(np.where(inner, accuracy, 0.5)), jnp.asarray(n_options)))
    return np.where(inner, d, np.where(accuracy == 1.0, np.inf, np.where(accuracy == 0.0, -np.inf, np.nan)))


@partial(jax.jit, static_argnums=0)
def _information(likelihood: Likelihood, counts: Array, point: Array, held: Mapping[str, Array]) -> Array:
    """Return minus the Hessian of the type-1 log likelihood in (d, c), ``(cell, 2, 2)``."""
    codes = jnp.arange(counts.shape[1])

    def log_likelihood(x: Array, n: Array, fixed: Mapping[str, Array]) -> Array:
        params = {"d": x[0], "c": x[1], **fixed}
        return (n * jax.vmap(lambda code: likelihood.log_outcome(code, params))(codes)).sum()

    return -jax.vmap(jax.hessian(log_likelihood))(point, counts, held)


def fit_type1(likelihood: Likelihood, noise: str, counts: Floats, sd_ratio: Floats, n_options: Floats) -> Type1:
    """Estimate d and c of every cell from its outcome counts.

    Parameters
    ----------
    likelihood : Likelihood
    noise : str
    counts : (cell, outcome)
    sd_ratio, n_options : (cell,)

    Returns
    -------
    Type1
        d is infinite, and c and the covariance NaN, where a proportion is 0 or 1.
    """
    binary = likelihood.task == "binary"
    with np.errstate(invalid="ignore", divide="ignore"):
        if binary:
            d, c = outcome_point(counts, noise, sd_ratio)
        else:
            d = _mafc_point(likelihood, counts, n_options)
            c = np.zeros_like(d)
    finite = np.isfinite(d) & np.isfinite(c)
    point = np.where(finite[:, None], np.stack([d, c], axis=1), 0.0)
    held = {"sd_ratio": jnp.asarray(sd_ratio), "n_options": jnp.asarray(n_options)}
    information = np.array(_information(likelihood, jnp.asarray(counts), jnp.asarray(point), held))
    covariance = np.full_like(information, np.nan)
    used = slice(0, 2 if binary else 1)
    regular = finite & (counts.sum(axis=1) > 0)
    covariance[regular] = 0.0
    covariance[regular, used, used] = np.linalg.inv(information[regular, used, used])
    return Type1(d, c, covariance)
