"""Two stimuli, two responses, and confidence read through lognormal noise (Shekhar & Rahnev, 2021).

Evidence x is N(s·d/2, 1) with s = -1 for S = 0 and +1 for S = 1; the response is 1 above c. Confidence reads the
same evidence: its distance |x - c| is compared with criteria t·exp(meta_noise·z), z ~ N(0, 1), one z for all criteria
of an answer, so that their order is kept. t is the median of a criterion (its mean is t·exp(meta_noise²/2)).
Without noise this is signal detection with M = 1; with unlimited noise ratings say nothing about correctness.

For response 1 (by symmetry for 0), with a = s·d/2 - c, the same number is an integral over the noise or over the
distance u = log(1 + e^v):

    P(R = 1, y > t | S) = ∫ φ(z) Φ(a - t·exp(meta_noise·z)) dz = ∫ φ(u - a) Φ((log u - log t) / meta_noise) u'(v) dv

Both integrands are analytic in a strip around the real line, of half-width π/(4·meta_noise) and about π, so that an
even grid converges geometrically; little noise takes the first, much noise the second. Probabilities are exact to
1e-10.

Outcome codes are 2·stimulus + response. The module is no family of model files, hence without a registered name.

References
----------
Shekhar, M., & Rahnev, D. (2021). The nature of metacognitive inefficiency in perceptual decision making.
Psychological Review, 128(1), 45-70.
"""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.scipy.special import logsumexp

from hmeta.sdt.likelihood import Likelihood, Parameters, Pieces
from hmeta.sdt.noise import NOISES
from hmeta.sdt.numerics import LOG_SQRT_2PI, normal_log_pdf

N_NODES = 101
Z_REACH = 8.0
"""Half-width of the grid of z: beyond it lie 1e-15 of the noise."""

V_LOW, V_HIGH = -26.0, 19.0
"""Ends of the grid of v: distances of 5e-12 and 19."""

MUCH = 1.0
"""Noise from which the second integral is taken."""

CERTAIN = 40.0
"""Stands for infinity as an argument of Φ."""

PARAMETERS = ("d", "c", "meta_noise")


def likelihood() -> Likelihood:
    """Return the likelihood; its parameters are ``d``, ``c`` and ``meta_noise`` (0 or more)."""
    normal = NOISES["normal"]
    z, v = np.linspace(-Z_REACH, Z_REACH, N_NODES), np.linspace(V_LOW, V_HIGH, N_NODES)
    distance = np.log1p(np.exp(v))
    log_distance, log_step = np.log(distance), np.log(v[1] - v[0]) - np.log1p(np.exp(-v))
    log_weight_z = -0.5 * z**2 - LOG_SQRT_2PI + np.log(z[1] - z[0])

    def log_weight(pieces: Pieces) -> Array:
        at, noise = pieces[0][..., None], pieces[1][..., None]
        return jnp.where(noise > MUCH, log_step + normal_log_pdf(jnp.asarray(distance) - at), log_weight_z)

    def argument(t: Array, pieces: Pieces) -> Array:
        """Return what Φ takes at each node, ``(..., node)``."""
        at, noise, t = pieces[0][..., None], pieces[1][..., None], t[..., None]
        much, bottom = noise > MUCH, t == 0.0  # masked before the functions, so that gradients stay finite
        little = at - t * jnp.exp(jnp.where(much, 1.0, noise) * z)
        log_t = jnp.log(jnp.where(bottom, 1.0, t))
        large = jnp.where(bottom, CERTAIN, (log_distance - log_t) / jnp.where(much, noise, 1.0))
        return jnp.where(much, large, little)

    def room(outcome: Array, params: Parameters) -> Array:
        """Return by how much the mean of the evidence lies on the side of the response."""
        above = jnp.where(outcome >= 2, 0.5, -0.5) * params["d"] - params["c"]
        return jnp.where(outcome % 2 == 1, above, -above)

    def log_outcome(outcome: Array, params: Parameters) -> Array:
        return normal.log_cdf(room(outcome, params))

    def prepare(outcome: Array, params: Parameters) -> Pieces:
        at = room(outcome, params)
        return at, jnp.broadcast_to(params["meta_noise"], at.shape), normal.log_cdf(at)

    def log_between(outcome: Array, lo: Array, hi: Array, pieces: Pieces) -> Array:
        del outcome  # already in the pieces
        inside = normal.log_interval(argument(hi, pieces), argument(lo, pieces))
        return logsumexp(inside + log_weight(pieces), axis=-1) - pieces[2]

    def log_above(outcome: Array, lo: Array, pieces: Pieces) -> Array:
        del outcome
        return logsumexp(normal.log_cdf(argument(lo, pieces)) + log_weight(pieces), axis=-1) - pieces[2]

    return Likelihood("meta_noise", "binary", PARAMETERS, 4, log_outcome, prepare, log_between, log_above)
