"""Noise distributions of the evidence: one row each, location 0 and scale 1."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jax.scipy.special import erfc, ndtri

from hmeta.sdt.numerics import FAR_TAIL, SQRT_HALF, log1mexp, log_diff_exp, log_ndtr, normal_log_pdf, softplus

NARROW = 1e-5
"""Interval width below which the density times the width replaces a difference of tails."""


class Noise(NamedTuple):
    """A distribution function F in log space.

    Attributes
    ----------
    log_cdf, log_sf : callable
        log F(x) and log(1 - F(x)).
    log_interval : callable
        log(F(b) - F(a)) for a < b, both finite.
    quantile : callable
        F^-1(p).
    symmetric : bool
        Whether F(-x) = 1 - F(x).
    """

    log_cdf: Callable[[Array], Array]
    log_sf: Callable[[Array], Array]
    log_interval: Callable[[Array, Array], Array]
    quantile: Callable[[Array], Array]
    symmetric: bool

    def log_tail(self, x: Array, upper: Array) -> Array:
        """Return log(1 - F(x)) where `upper`, else log F(x)."""
        if self.symmetric:  # one evaluation serves both tails
            return self.log_cdf(jnp.where(upper, -x, x))
        return jnp.where(upper, self.log_sf(x), self.log_cdf(x))


@jax.custom_jvp
def _normal_log_interval(a: Array, b: Array) -> Array:
    flip = a + b < 0.0  # measure from the nearer tail, the upper one after the flip
    lower, upper = jnp.where(flip, -b, a), jnp.where(flip, -a, b)
    middle, width = 0.5 * (lower + upper), upper - lower
    narrow = width * jnp.maximum(1.0, jnp.abs(middle)) < NARROW
    wide = 0.5 * (erfc(SQRT_HALF * lower) - erfc(SQRT_HALF * upper))
    near = jnp.log(jnp.where(narrow, jnp.exp(normal_log_pdf(middle)) * width, wide))
    return jax.lax.cond(jnp.any(lower > -FAR_TAIL), _with_far_interval, lambda _l, _u, near: near, lower, upper, near)


def _with_far_interval(lower: Array, upper: Array, near: Array) -> Array:
    middle, width = 0.5 * (lower + upper), upper - lower
    narrow = width * middle < NARROW
    wide = log_diff_exp(log_ndtr(-lower), log_ndtr(-jnp.where(narrow, lower + 1.0, upper)))
    far = jnp.where(narrow, normal_log_pdf(middle) + jnp.log(width), wide)
    return jnp.where(lower > -FAR_TAIL, far, near)


@_normal_log_interval.defjvp
def _normal_log_interval_jvp(primals: tuple[Array, Array], tangents: tuple[Array, Array]) -> tuple[Array, Array]:
    (a, b), (da, db) = primals, tangents
    value = _normal_log_interval(a, b)
    slope = db * jnp.exp(normal_log_pdf(b) - value) - da * jnp.exp(normal_log_pdf(a) - value)
    return value, slope


def _logistic_log_interval(a: Array, b: Array) -> Array:
    # F(b) - F(a) = (e^b - e^a) / ((1 + e^a)(1 + e^b))
    return b + jnp.log(-jnp.expm1(a - b)) - softplus(a) - softplus(b)


def _gumbel_max_log_interval(a: Array, b: Array) -> Array:
    # exp(-e^-b) - exp(-e^-a), the exponents' difference kept exact
    return -jnp.exp(-b) + log1mexp(-jnp.exp(-a) * jnp.expm1(a - b))


NOISES: dict[str, Noise] = {
    "normal": Noise(log_ndtr, lambda x: log_ndtr(-x), _normal_log_interval, ndtri, symmetric=True),
    "logistic": Noise(
        lambda x: -softplus(-x),
        lambda x: -softplus(x),
        _logistic_log_interval,
        lambda p: jnp.log(p) - jnp.log1p(-p),
        symmetric=True,
    ),
    "gumbel_max": Noise(
        lambda x: -jnp.exp(-x),
        lambda x: log1mexp(jnp.exp(-x)),
        _gumbel_max_log_interval,
        lambda p: -jnp.log(-jnp.log(p)),
        symmetric=False,
    ),
    "gumbel_min": Noise(
        lambda x: log1mexp(jnp.exp(x)),
        lambda x: -jnp.exp(x),
        lambda a, b: _gumbel_max_log_interval(-b, -a),
        lambda p: jnp.log(-jnp.log1p(-p)),
        symmetric=False,
    ),
}
