r"""Answers without a type-1 table: binormal signal detection of correctness from confidence.

The confidence variable z of wrong answers is N(0, 1), that of right answers N(mu, sigma²). A rating of level k
means that z lies between criteria k and k + 1; the lowest level has no lower edge and the top level no upper one.
Outcome codes are 0 (wrong) and 1 (correct).

With H(t) = P(z > t | right) and F(t) = P(z > t | wrong), Φ⁻¹(H) = (mu - t) / sigma and Φ⁻¹(F) = -t, so that the
z-transformed type-2 ROC is a line of slope s = 1 / sigma:

    Φ⁻¹(H) = s·mu + s·Φ⁻¹(F)

The distance of the two distributions in units of their root mean square standard deviation is the type-2 d_a
(Simpson & Fitter, 1973; Macmillan & Creelman, 2005, chapter 3):

    d_a = mu / √((1 + sigma²) / 2) = mu·√(2 / (1 + sigma²))

The area under the type-2 ROC is P(z of a right answer > z of a wrong one). The difference of two independent
normal variables is N(mu, 1 + sigma²), so that

    AUROC2 = Φ(mu / √(1 + sigma²)) = Φ(d_a / √2)

whatever the slope. AUROC2 is the area under the continuous curve: an area of straight lines through the few points
that a coarse scale allows is smaller.

References
----------
Macmillan, N. A., & Creelman, C. D. (2005). Detection theory: a user's guide (2nd ed.). Erlbaum.
Simpson, A. J., & Fitter, M. J. (1973). What is the best index of detectability? Psychological Bulletin, 80, 481-488.
"""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from hmeta.sdt.likelihood import Likelihood, Parameters, Pieces
from hmeta.sdt.noise import NOISES
from hmeta.sdt.numerics import softplus

NAME = "type2"
OPTIONS: dict[str, tuple[str, ...]] = {}

LOWEST = -float("inf")
"""The confidence variable has no least value."""


def likelihood() -> Likelihood:
    """Return the likelihood of correctness and confidence.

    Notes
    -----
    Parameters are ``logit_accuracy`` (the log odds of a right answer), ``d_a``, and optionally
    ``zroc_slope`` (1 where absent).
    """
    normal = NOISES["normal"]

    def log_outcome(outcome: Array, params: Parameters) -> Array:
        log_odds = params["logit_accuracy"]
        return -softplus(jnp.where(outcome == 1, -log_odds, log_odds))

    def prepare(outcome: Array, params: Parameters) -> Pieces:
        d_a, slope = params["d_a"], params.get("zroc_slope", jnp.ones_like(params["d_a"]))
        # (t - mu) / sigma = s·t - s·mu with s·mu = d_a·√((s² + 1) / 2)
        is_right = outcome == 1
        return jnp.where(is_right, slope, 1.0), jnp.where(is_right, d_a * jnp.sqrt(0.5 * (slope**2 + 1.0)), 0.0)

    def standardise(edge: Array, pieces: Pieces) -> Array:
        return pieces[0] * edge - pieces[1]

    def log_between(outcome: Array, lo: Array, hi: Array, pieces: Pieces) -> Array:
        del outcome  # already in the pieces
        bottom = jnp.isinf(lo)  # masked before the function, so that gradients stay finite
        above = standardise(hi, pieces)
        inside = normal.log_interval(standardise(jnp.where(bottom, hi - 1.0, lo), pieces), above)
        return jnp.where(bottom, normal.log_cdf(above), inside)

    def log_above(outcome: Array, lo: Array, pieces: Pieces) -> Array:
        del outcome
        bottom = jnp.isinf(lo)
        return jnp.where(bottom, 0.0, normal.log_sf(standardise(jnp.where(bottom, 0.0, lo), pieces)))

    names = ("logit_accuracy", "d_a", "zroc_slope")
    return Likelihood(NAME, "open", names, 2, log_outcome, prepare, log_between, log_above, LOWEST)
