"""Noise distributions in 50-digit arithmetic, location 0 and scale 1."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath as mp

mp.mp.dps = 50

Number = Any
"""A 50-digit number of mpmath, which has no types of its own."""


def _normal_cdf(x: Number) -> Number:
    return mp.erfc(-x / mp.sqrt(2)) / 2


def _normal_pdf(x: Number) -> Number:
    return mp.exp(-x * x / 2) / mp.sqrt(2 * mp.pi)


def _logistic_cdf(x: Number) -> Number:
    return 1 / (1 + mp.exp(-x))


def _gumbel_max_cdf(x: Number) -> Number:
    return mp.exp(-mp.exp(-x))


def _gumbel_max_pdf(x: Number) -> Number:
    return mp.exp(-x - mp.exp(-x))


def _mirrored(upper: Callable[[Number], Number]) -> Callable[[Number], Number]:
    return lambda x: upper(-x)


Curve = Callable[[Number], Number]

# name: (P(X <= x), P(X > x)); both tails are given so that neither is a difference from one.
TAILS: dict[str, tuple[Curve, Curve]] = {
    "normal": (_normal_cdf, _mirrored(_normal_cdf)),
    "logistic": (_logistic_cdf, _mirrored(_logistic_cdf)),
    "gumbel_max": (_gumbel_max_cdf, lambda x: -mp.expm1(-mp.exp(-x))),
    "gumbel_min": (lambda x: -mp.expm1(-mp.exp(x)), _mirrored(_gumbel_max_cdf)),
}

DENSITIES: dict[str, Curve] = {"normal": _normal_pdf, "gumbel": _gumbel_max_pdf}
CDFS: dict[str, Curve] = {"normal": _normal_cdf, "gumbel": _gumbel_max_cdf}


def interval(noise: str, lo: Number, hi: Number, loc: Number, scale: Number) -> Number:
    """P(lo < loc + scale·X <= hi), taken in the tail where the difference keeps its digits."""
    below, above = TAILS[noise]
    a, b = ((mp.mpf(e) - mp.mpf(loc)) / mp.mpf(scale) for e in (lo, hi))
    if a == mp.ninf:
        return below(b) if b != mp.inf else mp.mpf(1)
    if b == mp.inf:
        return above(a)
    return below(b) - below(a) if a + b < 0 else above(a) - above(b)
