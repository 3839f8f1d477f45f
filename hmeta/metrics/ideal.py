"""The information about correctness in the evidence itself, before any scale makes levels of it."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, xlog1py, xlogy

from hmeta.metrics.measure import Floats

if TYPE_CHECKING:
    from hmeta.mle.point import Answers

LN2 = float(np.log(2.0))
N_NODES = 240
BEYOND = {"binary": 9.0, "gumbel": 36.0, "normal": 12.0}
"""How far beyond d the integral reaches: 1e-15 of the answers are surer."""


def binary_entropy(p: Floats) -> Floats:
    """Return the entropy of a right answer of probability p, in bits."""
    return 0.0 - (xlogy(p, p) + xlog1py(1.0 - p, -p)) / LN2  # 0 rather than -0 at certainty


def ideal_information(answers: Answers, noise: str) -> Floats:
    """Return the mutual information of correctness and the evidence of the decision, in bits, ``(cell,)``.

    Of two responses the evidence is the distance from an unbiased criterion, of m alternatives the gap between the two
    largest samples. NaN without a finite d.
    """
    from hmeta.mle.point import type1_point

    d = type1_point(answers, noise).d
    pairs, where = np.unique(np.stack([d, answers.n_options], axis=1), axis=0, return_inverse=True)
    known = np.isfinite(pairs[:, 0])
    found = np.full(len(pairs), np.nan)
    if known.any():
        at, m = pairs[known].T
        found[known] = _integrate(*(_binary(at) if answers.task == "binary" else _mafc(at, m, noise)))
    return found[where.ravel()]


def _nodes(d: Floats, beyond: float) -> tuple[Floats, Floats]:
    """Return Gauss–Legendre nodes from 0 to d + beyond with their weights, ``(cell, node)``."""
    x, w = _legendre()
    half = 0.5 * (np.maximum(d, 0.0) + beyond)[:, None]
    return half * (x + 1.0), half * w


@cache
def _legendre() -> tuple[Floats, Floats]:
    return np.polynomial.legendre.leggauss(N_NODES)


def _integrate(right: Floats, wrong: Floats, step: Floats) -> Floats:
    """Return H(correct) less the mean entropy given the evidence, from densities ``(cell, node)``."""
    total = right + wrong
    share = np.where(total > 0.0, right / np.where(total > 0.0, total, 1.0), 1.0)
    accuracy = (right * step).sum(axis=1) / (total * step).sum(axis=1)
    return binary_entropy(accuracy) - (total * step * binary_entropy(share)).sum(axis=1)


def _binary(d: Floats) -> tuple[Floats, Floats, Floats]:
    """Evidence N(±d/2, 1); below chance the sign of d changes which answers are right, not the information."""
    size = np.abs(d)
    u, step = _nodes(0.5 * size, BEYOND["binary"])
    density = [np.exp(-0.5 * (u - at[:, None]) ** 2) / np.sqrt(2.0 * np.pi) for at in (0.5 * size, -0.5 * size)]
    return density[0], density[1], step


def _mafc(d: Floats, m: Floats, noise: str) -> tuple[Floats, Floats, Floats]:
    t, step = _nodes(d, BEYOND[noise])
    mu, size = d[:, None], m[:, None]
    if noise == "normal":
        return *_normal_densities(t, mu, size), step
    with np.errstate(divide="ignore"):
        shift = np.logaddexp(mu, np.log(size - 2.0))
    right, wrong = expit(mu - np.log(size - 1.0) - t), expit(-t - shift)  # tails of the gap, see hmeta.sdt.mafc
    return right * (1.0 - right), (size - 1.0) * wrong * (1.0 - wrong), step


def _normal_densities(t: Floats, mu: Floats, m: Floats) -> tuple[Floats, Floats]:
    import jax
    import jax.numpy as jnp

    from hmeta.sdt.mafc_normal import table_tails

    tails = table_tails(tuple(sorted({int(k) for k in m.ravel()})))
    with jax.enable_x64(True):
        at, strength, size = (jnp.asarray(x) for x in np.broadcast_arrays(t, mu, m))
        found = [
            -jax.jvp(lambda x, tail=tail: jnp.exp(tail(x, strength, size)), (at,), (jnp.ones_like(at),))[1]
            for tail in (tails.correct, tails.wrong)
        ]
    return np.asarray(found[0]), np.asarray(found[1])
