"""Normal noise among m alternatives: quadrature as the reference, tables for the sampler.

Tails of the gap rule, with the largest sample at x + t and the others below x:

- G₊(t; μ) = ∫ φ(x + t - μ) Φ(x)^(m-1) dx, a function of μ - t alone;
- G₋(t; μ) = (m-1) ∫ φ(x + t) Φ(x)^(m-2) Φ(x - μ) dx.

Both integrands are log-concave with curvature at least 1, so that an even grid around the mode
converges geometrically.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.scipy.special import logsumexp

from hmeta.sdt.likelihood import Likelihood, Parameters, Pieces
from hmeta.sdt.numerics import LOG_SQRT_2PI, log_diff_exp, log_ndtr
from hmeta.sdt.table import Axis, interpolate_1d, interpolate_2d, tabulate_1d, tabulate_2d

N_NODES = 121
HALF_WIDTH = 8.5
"""Grid half-width in units of the widest possible integrand: the tail beyond holds 2e-16 of it."""

NEWTON_STEPS = 8

V_AXIS = Axis(-45.0, 15.0, 4801)
T_AXIS = Axis(0.0, 32.0, 712)
MU_AXIS = Axis(-6.0, 11.0, 379)


class Tails(NamedTuple):
    """log G₊ and log G₋ as functions of (t, μ, m)."""

    correct: Callable[[Array, Array, Array], Array]
    wrong: Callable[[Array, Array, Array], Array]


def _hazard(x: Array) -> Array:
    """Return φ(x) / Φ(x)."""
    return jnp.exp(-0.5 * x * x - LOG_SQRT_2PI - log_ndtr(x))


def _mode(start: Array, slope: Callable[[Array], tuple[Array, Array]]) -> Array:
    """Return the root of a convex decreasing slope by Newton steps from its left."""
    x = start
    for _ in range(NEWTON_STEPS):
        value, derivative = slope(x)
        x = x - value / derivative
    return jax.lax.stop_gradient(x)


def _integrate(log_integrand: Callable[[Array], Array], mode: Array) -> Array:
    nodes = np.linspace(-HALF_WIDTH, HALF_WIDTH, N_NODES)
    x = mode[..., None] + nodes  # (..., node)
    return logsumexp(log_integrand(x), axis=-1) + np.log(nodes[1] - nodes[0])


def _curvature(x: Array, h: Array) -> Array:
    """Return minus the second derivative of log Φ(x)."""
    return h * (x + h)


def log_correct_tail(t: Array, mu: Array, m: Array) -> Array:
    """Return log G₊(t; μ) by quadrature; error below 1e-12."""
    v, k = jnp.broadcast_arrays(mu - t, m - 1.0)

    def slope(x: Array) -> tuple[Array, Array]:
        h = _hazard(x)
        return v - x + k * h, -1.0 - k * _curvature(x, h)

    def log_integrand(x: Array) -> Array:
        return -0.5 * (x - v[..., None]) ** 2 - LOG_SQRT_2PI + k[..., None] * log_ndtr(x)

    return _integrate(log_integrand, _mode(v, slope))


def log_wrong_tail(t: Array, mu: Array, m: Array) -> Array:
    """Return log G₋(t; μ) by quadrature; error below 1e-12."""
    t, mu, k = jnp.broadcast_arrays(t, mu, m - 2.0)

    def slope(x: Array) -> tuple[Array, Array]:
        h, h_mu = _hazard(x), _hazard(x - mu)
        return -x - t + k * h + h_mu, -1.0 - k * _curvature(x, h) - _curvature(x - mu, h_mu)

    def log_integrand(x: Array) -> Array:
        others = k[..., None] * log_ndtr(x) + log_ndtr(x - mu[..., None])
        return -0.5 * (x + t[..., None]) ** 2 - LOG_SQRT_2PI + others

    return _integrate(log_integrand, _mode(-t, slope)) + jnp.log(k + 1.0)


def exact_tails() -> Tails:
    """Return the tails by quadrature."""
    return Tails(log_correct_tail, log_wrong_tail)


@lru_cache(maxsize=32)
def _tables(m: int) -> tuple[np.ndarray, np.ndarray]:
    with jax.enable_x64(True):
        correct = tabulate_1d(lambda v: log_correct_tail(jnp.zeros_like(v), v, jnp.asarray(float(m))), V_AXIS)
        wrong = tabulate_2d(lambda t, mu: log_wrong_tail(t, mu, jnp.asarray(float(m))), T_AXIS, MU_AXIS)
    return correct, wrong


def table_tails(n_options: tuple[int, ...]) -> Tails:
    """Return the tails interpolated from tables, one for each number of alternatives."""
    choices = np.array(sorted(set(n_options)), dtype=float)
    pairs = [_tables(int(m)) for m in choices]
    correct, wrong = (np.stack(tables) for tables in zip(*pairs, strict=True))

    def which(m: Array) -> Array:
        return jnp.searchsorted(jnp.asarray(choices), m)

    return Tails(
        lambda t, mu, m: interpolate_1d(correct, V_AXIS, which(m), mu - t),
        lambda t, mu, m: interpolate_2d(wrong, T_AXIS, MU_AXIS, which(m), t, mu),
    )


def _log_outcome(tails: Tails) -> Callable[[Array, Parameters], Array]:
    def log_outcome(outcome: Array, params: Parameters) -> Array:
        return _log_tail(tails, outcome, jnp.zeros_like(params["d"]), params["d"], params["n_options"])

    return log_outcome


def _log_tail(tails: Tails, outcome: Array, t: Array, mu: Array, m: Array) -> Array:
    return jnp.where(outcome == 1, tails.correct(t, mu, m), tails.wrong(t, mu, m))


def gap_rule(tails: Tails) -> Likelihood:
    """Return the likelihood in which confidence reads the gap of the two largest samples."""

    def prepare(outcome: Array, params: Parameters) -> Pieces:
        meta_d, m = params["meta_d"], params["n_options"]
        return meta_d, m, _log_tail(tails, outcome, jnp.zeros_like(meta_d), meta_d, m)

    def log_tail(outcome: Array, t: Array, pieces: Pieces) -> Array:
        meta_d, m, _ = pieces
        return _log_tail(tails, outcome, t, meta_d, m)

    def log_between(outcome: Array, lo: Array, hi: Array, pieces: Pieces) -> Array:
        return log_diff_exp(log_tail(outcome, lo, pieces), log_tail(outcome, hi, pieces)) - pieces[2]

    def log_above(outcome: Array, lo: Array, pieces: Pieces) -> Array:
        return log_tail(outcome, lo, pieces) - pieces[2]

    names = ("d", "meta_d", "n_options")
    return Likelihood("mafc", "mafc", names, 2, _log_outcome(tails), prepare, log_between, log_above)


MAX_RULE_NODES = 96
MAX_RULE_REACH = 9.0
"""Samples further than this from every mode hold less than 1e-18 of the probability."""


def max_rule(tails: Tails) -> Likelihood:
    """Return the likelihood in which confidence reads the largest sample alone.

    Ratings are ordinal, so that y = log(1 + e^x) of the largest sample x serves as the confidence
    variable: it starts at 0, as criteria do, and is close to x where answers are.
    """
    nodes, weights = np.polynomial.legendre.leggauss(MAX_RULE_NODES)

    def prepare(outcome: Array, params: Parameters) -> Pieces:
        meta_d, m = params["meta_d"], params["n_options"]
        return meta_d, m, _log_tail(tails, outcome, jnp.zeros_like(meta_d), meta_d, m)

    def log_integral(outcome: Array, x_lo: Array, x_hi: Array, pieces: Pieces) -> Array:
        meta_d, m, log_norm = pieces
        half = 0.5 * (x_hi - x_lo)[..., None]
        x = x_lo[..., None] + half * (nodes + 1.0)  # (..., node)
        mu, k = meta_d[..., None], m[..., None] - 1.0
        log_right = -0.5 * (x - mu) ** 2 + k * log_ndtr(x)
        log_wrong = -0.5 * x**2 + (k - 1.0) * log_ndtr(x) + log_ndtr(x - mu) + jnp.log(k)
        log_density = jnp.where((outcome == 1)[..., None], log_right, log_wrong) - LOG_SQRT_2PI
        return logsumexp(log_density + jnp.log(half), b=weights, axis=-1) - log_norm

    def log_between(outcome: Array, lo: Array, hi: Array, pieces: Pieces) -> Array:
        x_hi, bottom = _inverse_softplus(hi), lo == 0.0
        lowest = jnp.minimum(x_hi, 0.0) - MAX_RULE_REACH
        x_lo = jnp.where(bottom, lowest, _inverse_softplus(jnp.where(bottom, 1.0, lo)))
        return log_integral(outcome, x_lo, x_hi, pieces)

    def log_above(outcome: Array, lo: Array, pieces: Pieces) -> Array:
        bottom = lo == 0.0
        x_lo = jnp.where(bottom, -MAX_RULE_REACH, _inverse_softplus(jnp.where(bottom, 1.0, lo)))
        highest = jnp.maximum(jnp.maximum(pieces[0], 0.0), x_lo) + MAX_RULE_REACH
        return log_integral(outcome, x_lo, highest, pieces)

    names = ("d", "meta_d", "n_options")
    return Likelihood("mafc", "mafc", names, 2, _log_outcome(tails), prepare, log_between, log_above)


def _inverse_softplus(y: Array) -> Array:
    return y + jnp.log(-jnp.expm1(-y))
