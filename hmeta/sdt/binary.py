"""Two stimuli, two responses: meta-d′ of Maniscalco & Lau (2012, 2014) and Fleming (2017).

Evidence is F((x - s·d/2) / sd) with s = -1 for S = 0 and +1 for S = 1; the response is 1 above c.
Ratings read evidence of strength meta_d instead of d, truncated to the side of meta_c that agrees
with the response, as a distance y >= 0 from meta_c. Outcome codes are 2·stimulus + response.
"""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from hmeta.sdt.likelihood import Likelihood, Parameters, Pieces
from hmeta.sdt.noise import NOISES

NAME = "binary"
OPTIONS: dict[str, tuple[str, ...]] = {
    "noise": ("normal", "logistic", "gumbel_min", "gumbel_max"),
    "meta_c": ("absolute", "relative"),
}


def likelihood(*, noise: str = "normal", meta_c: str = "absolute") -> Likelihood:
    """Return the binary likelihood.

    Parameters
    ----------
    noise : {"normal", "logistic", "gumbel_min", "gumbel_max"}
        Distribution of the evidence.
    meta_c : {"absolute", "relative"}
        Where ratings part: at c, or at c·meta_d/d.

    Notes
    -----
    Parameters are ``d``, ``c``, ``meta_d`` and optionally ``sd_ratio`` (sd of the evidence of S = 1
    over that of S = 0, in both stages).
    """
    form = NOISES[noise]
    relative = meta_c == "relative"

    def standardise(x: Array, outcome: Array, strength: Array, params: Parameters) -> Array:
        is_s1 = outcome >= 2
        sd = jnp.where(is_s1, params.get("sd_ratio", 1.0), 1.0)
        return (x - jnp.where(is_s1, 0.5, -0.5) * strength) / sd

    def log_outcome(outcome: Array, params: Parameters) -> Array:
        return form.log_tail(standardise(params["c"], outcome, params["d"], params), outcome % 2 == 1)

    def prepare(outcome: Array, params: Parameters) -> Pieces:
        centre = params["c"]
        if relative:
            d = params["d"]
            centre = centre * jnp.where(d == 0.0, 1.0, params["meta_d"] / jnp.where(d == 0.0, 1.0, d))
        at_centre = standardise(centre, outcome, params["meta_d"], params)
        unit = standardise(jnp.ones_like(at_centre), outcome, jnp.zeros_like(at_centre), params)
        return at_centre, unit, form.log_tail(at_centre, outcome % 2 == 1)

    def evidence(outcome: Array, y: Array, pieces: Pieces) -> Array:
        at_centre, unit, _ = pieces
        return at_centre + jnp.where(outcome % 2 == 1, unit, -unit) * y

    def log_between(outcome: Array, lo: Array, hi: Array, pieces: Pieces) -> Array:
        is_r1, near, far = outcome % 2 == 1, evidence(outcome, lo, pieces), evidence(outcome, hi, pieces)
        return form.log_interval(jnp.where(is_r1, near, far), jnp.where(is_r1, far, near)) - pieces[2]

    def log_above(outcome: Array, lo: Array, pieces: Pieces) -> Array:
        return form.log_tail(evidence(outcome, lo, pieces), outcome % 2 == 1) - pieces[2]

    names = ("d", "c", "meta_d", "sd_ratio")
    return Likelihood(NAME, "binary", names, 4, log_outcome, prepare, log_between, log_above)
