"""Damped Newton ascent for many small problems at once.

Each problem is a concave-like log likelihood with its own gradient and Hessian. Steps are damped as in
Levenberg & Marquardt, cut to a trust length, and taken only when the log likelihood does not fall.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

MAX_ITERATIONS = 100
STEP_TOLERANCE = 1e-9
LONGEST_STEP = 1.5
FIRST_DAMPING, SMALLEST_DAMPING, LARGEST_DAMPING = 1e-3, 1e-12, 1e12


class Derivatives(NamedTuple):
    """Log likelihood with its gradient and Hessian, and mixed second derivatives with what is held."""

    value: Array
    gradient: Array  # (parameter,)
    hessian: Array  # (parameter, parameter)
    mixed: Array  # (parameter, held)


class Ascent(NamedTuple):
    """Where one ascent stands: the best point so far and the next one to try."""

    theta: Array  # (parameter,)
    at: Derivatives
    trial: Array  # (parameter,)
    step_size: Array
    damping: Array
    iterations: Array
    converged: Array


def _propose(at: Derivatives, damping: Array) -> tuple[Array, Array]:
    """Return the damped step and its size; the size is infinite where the damped Hessian has no root."""
    scale = jnp.maximum(jnp.abs(jnp.diagonal(at.hessian)), 1e-10)
    root = jnp.linalg.cholesky(-at.hessian + damping * jnp.diag(scale))
    step = jax.scipy.linalg.cho_solve((root, True), at.gradient)
    usable = jnp.all(jnp.isfinite(step))
    step = jnp.where(usable, step, 0.0)
    size = jnp.max(jnp.abs(step))
    step = step * jnp.minimum(1.0, LONGEST_STEP / jnp.maximum(size, 1e-300))
    return step, jnp.where(usable, size, jnp.inf)


def _advance(evaluate: Callable[[Array], Derivatives], state: Ascent) -> Ascent:
    """Try the next point, keep it if the log likelihood does not fall, and propose another."""
    tried = evaluate(state.trial)
    slack = 1e-13 * (1.0 + jnp.abs(tried.value))
    better = (tried.value >= state.at.value - slack) & jnp.isfinite(state.step_size)
    better &= jnp.all(jnp.isfinite(tried.gradient)) & jnp.all(jnp.isfinite(tried.hessian))
    theta = jnp.where(better, state.trial, state.theta)
    at = jax.tree.map(lambda new, old: jnp.where(better, new, old), tried, state.at)
    damping = jnp.where(better, state.damping * 0.1, state.damping * 10.0)
    damping = jnp.clip(damping, SMALLEST_DAMPING, LARGEST_DAMPING)
    step, size = _propose(at, damping)
    converged = better & (state.step_size < STEP_TOLERANCE)
    return Ascent(theta, at, theta + step, size, damping, state.iterations + 1, converged)


def ascend(evaluate: Callable[[Array], Derivatives], start: Array, limit: float) -> Ascent:
    """Climb from `start` until steps vanish, or until the first parameter passes `limit` in size.

    Parameters
    ----------
    evaluate : callable
        ``theta -> Derivatives``; compiled once.
    start : (parameter,)
    limit : float
        Bound on ``abs(theta[0])`` beyond which the maximum is taken to be infinite.

    Returns
    -------
    Ascent
    """
    shapes = jax.eval_shape(evaluate, start)
    blank = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), shapes)
    nowhere = blank._replace(value=jnp.full_like(blank.value, -jnp.inf))
    first = Ascent(
        start, nowhere, start, jnp.asarray(1.0), jnp.asarray(FIRST_DAMPING), jnp.asarray(0), jnp.asarray(False)
    )

    def unfinished(state: Ascent) -> Array:
        inside = jnp.abs(state.theta[0]) <= limit
        hopeful = state.damping < LARGEST_DAMPING
        return ~state.converged & (state.iterations < MAX_ITERATIONS) & inside & hopeful

    return jax.lax.while_loop(unfinished, lambda state: _advance(evaluate, state), first)
