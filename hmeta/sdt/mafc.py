"""One correct answer among m: hmeta's m-alternative meta-d′.

Evidence of each alternative is independent; the correct one is shifted by d, the answer is the
largest. Ratings read evidence of strength meta_d, given the outcome, through the gap between the
largest and the second largest sample (`rule` "gap"), or through the largest sample (`rule` "max").
Outcome codes are 0 (wrong) and 1 (correct).
"""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from hmeta.sdt import mafc_normal
from hmeta.sdt.likelihood import Likelihood, Parameters, Pieces
from hmeta.sdt.numerics import softplus

NAME = "mafc"
OPTIONS: dict[str, tuple[str, ...]] = {"noise": ("gumbel", "normal"), "rule": ("gap", "max")}


def likelihood(
    *, noise: str = "gumbel", rule: str = "gap", n_options: tuple[int, ...] = (), exact: bool = False
) -> Likelihood:
    """Return the m-alternative likelihood.

    Parameters
    ----------
    noise : {"gumbel", "normal"}
        Distribution of the evidence. Gumbel noise makes the choice a softmax, in closed form.
    rule : {"gap", "max"}
        What confidence reads; "max" carries no information under Gumbel noise and needs "normal".
    n_options : tuple of int
        The numbers of alternatives that occur; normal noise prepares a table for each.
    exact : bool
        Normal noise by quadrature (the reference, slow) in place of the tables.
    """
    if noise == "gumbel":
        return _gumbel()
    tails = mafc_normal.exact_tails() if exact else mafc_normal.table_tails(n_options)
    return mafc_normal.max_rule(tails) if rule == "max" else mafc_normal.gap_rule(tails)


def _gumbel() -> Likelihood:
    """Return the closed form for Gumbel noise.

    With G₊(t) = e^μ / (e^μ + (m-1)e^t) and G₋(t) = (m-1) / (1 + e^t (e^μ + m - 2)), both are a constant
    times a logistic survival function of t + shift, so that ratings given the outcome are logistic.
    """

    def log_outcome(outcome: Array, params: Parameters) -> Array:
        excess = jnp.log(params["n_options"] - 1.0) - params["d"]
        return -softplus(jnp.where(outcome == 1, excess, -excess))

    def prepare(outcome: Array, params: Parameters) -> Pieces:
        meta_d, others = params["meta_d"], params["n_options"] - 2.0
        none = others == 0.0
        shift_wrong = jnp.where(none, meta_d, jnp.logaddexp(meta_d, jnp.log(jnp.where(none, 1.0, others))))
        shift = jnp.where(outcome == 1, jnp.log(params["n_options"] - 1.0) - meta_d, shift_wrong)
        return shift, softplus(shift)

    def log_above(outcome: Array, lo: Array, pieces: Pieces) -> Array:
        del outcome  # already in the pieces
        shift, log_norm = pieces
        return log_norm - softplus(lo + shift)

    def log_between(outcome: Array, lo: Array, hi: Array, pieces: Pieces) -> Array:
        shift, _ = pieces
        step = hi + jnp.log(-jnp.expm1(lo - hi))  # log(e^hi - e^lo)
        return log_above(outcome, lo, pieces) + step + shift - softplus(hi + shift)

    return Likelihood(NAME, "mafc", ("d", "meta_d", "n_options"), 2, log_outcome, prepare, log_between, log_above)
