"""Two stimuli, two responses, and confidence as a noisy estimate of reliability (CASANDRE).

Boundy-Singer, Ziemba & Goris (2023): evidence x is N(s·d/2, 1), the response is 1 above c, and the confidence
variable is y = |x - c| / σ̂. The observer's estimate σ̂ of the standard deviation of the evidence is lognormal with
mean 1 (the true one) and standard deviation `meta_uncertainty`.

log σ̂ then has standard deviation √log(1 + meta_uncertainty²) and mean -log(1 + meta_uncertainty²)/2, and y > t means
|x - c| > t·σ̂. At one strength of the stimulus this is the likelihood of `meta_noise` with

    meta_noise = √log(1 + meta_uncertainty²),   median criterion t / √(1 + meta_uncertainty²)

so that the two measures order people alike there; they part where stimuli of several strengths are fitted together.

References
----------
Boundy-Singer, Z. M., Ziemba, C. M., & Goris, R. L. T. (2023). Confidence reflects a noisy decision reliability
estimate. Nature Human Behaviour, 7, 142-154.
"""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from hmeta.sdt import meta_noise
from hmeta.sdt.likelihood import Likelihood, Parameters, Pieces

PARAMETERS = ("d", "c", "meta_uncertainty")


def log_sd(meta_uncertainty: Array) -> Array:
    """Return the standard deviation of log σ̂, which plays the part of `meta_noise`."""
    return jnp.sqrt(jnp.log1p(jnp.square(meta_uncertainty)))


def likelihood() -> Likelihood:
    """Return the likelihood; its parameters are ``d``, ``c`` and ``meta_uncertainty`` (above 0)."""
    inner = meta_noise.likelihood()

    def prepare(outcome: Array, params: Parameters) -> Pieces:
        spread = params["meta_uncertainty"]
        pieces = inner.prepare(outcome, {"d": params["d"], "c": params["c"], "meta_noise": log_sd(spread)})
        return *pieces, jnp.broadcast_to(1.0 / jnp.sqrt(1.0 + jnp.square(spread)), pieces[0].shape)

    def log_between(outcome: Array, lo: Array, hi: Array, pieces: Pieces) -> Array:
        return inner.log_between(outcome, lo * pieces[3], hi * pieces[3], pieces[:3])

    def log_above(outcome: Array, lo: Array, pieces: Pieces) -> Array:
        return inner.log_above(outcome, lo * pieces[3], pieces[:3])

    return Likelihood("meta_uncertainty", "binary", PARAMETERS, 4, inner.log_outcome, prepare, log_between, log_above)
