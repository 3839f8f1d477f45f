"""What every likelihood shares: one type, one lookup, and all that can be derived from it.

A likelihood gives log P(outcome), log P(lo < y <= hi | outcome) and log P(y > lo | outcome) for the
confidence variable y, elementwise; `prepare` computes what depends on the cell and outcome alone,
so that it is computed once and gathered to the rating levels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import jax.numpy as jnp
from jax import Array

from hmeta.core.registry import modules_in

Parameters = Mapping[str, Array]
Pieces = tuple[Array, ...]


@dataclass(frozen=True)
class Likelihood:
    """One signal detection model of outcomes and ratings.

    Attributes
    ----------
    name, task : str
    parameters : tuple of str
        Keys read from the parameter mapping.
    n_outcomes : int
        Outcome codes run from 0 to `n_outcomes` - 1.
    log_outcome : callable
        ``(outcome, params) -> log P(outcome)``, given the stimulus for `binary`.
    prepare : callable
        ``(outcome, params) -> pieces``, what ratings need of one cell and outcome.
    log_between : callable
        ``(outcome, lo, hi, pieces) -> log P(lo < y <= hi | outcome)`` for finite `hi`.
    log_above : callable
        ``(outcome, lo, pieces) -> log P(y > lo | outcome)``.
    lowest : float
        The least value of y, which is the lower edge of the lowest level: 0 where ratings are a distance from
        the decision, minus infinity where y is on the whole line.
    """

    name: str
    task: str
    parameters: tuple[str, ...]
    n_outcomes: int
    log_outcome: Callable[[Array, Parameters], Array]
    prepare: Callable[[Array, Parameters], Pieces]
    log_between: Callable[[Array, Array, Array, Pieces], Array]
    log_above: Callable[[Array, Array, Pieces], Array]
    lowest: float = 0.0

    def log_rating_of(self, outcome: Array, lo: Array, hi: Array, pieces: Pieces) -> Array:
        """Return log P(lo < y <= hi | outcome); `hi` may be infinite."""
        top = jnp.isinf(hi)  # masked before the function, so that gradients stay finite
        between = self.log_between(outcome, lo, jnp.where(top, jnp.where(jnp.isinf(lo), 0.0, lo) + 1.0, hi), pieces)
        return jnp.where(top, self.log_above(outcome, lo, pieces), between)

    def log_rating(self, outcome: Array, lo: Array, hi: Array, params: Parameters) -> Array:
        """Return log P(lo < y <= hi | outcome)."""
        return self.log_rating_of(outcome, lo, hi, self.prepare(outcome, params))

    def log_joint(self, outcome: Array, lo: Array, hi: Array, params: Parameters) -> Array:
        """Return log P(outcome, lo < y <= hi)."""
        return self.log_outcome(outcome, params) + self.log_rating(outcome, lo, hi, params)


def families() -> dict[str, object]:
    """Return the modules of this folder that define a likelihood, by the likelihood's name."""
    import hmeta.sdt as package

    return {m.NAME: m for m in modules_in(package).values() if hasattr(m, "likelihood") and hasattr(m, "NAME")}


def get(name: str, **options: object) -> Likelihood:
    """Return the likelihood of a name with its options.

    Raises
    ------
    KeyError
        For a name that no module of this folder defines.
    """
    return families()[name].likelihood(**options)  # type: ignore[attr-defined]
