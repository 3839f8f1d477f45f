"""Everything that follows from any likelihood, written once.

Letters: ``pair`` counts the occupied (cell, outcome) pairs, ``row`` the occupied rating levels of
pairs, ``ladder`` the criteria ladders, ``level`` the levels of the longest ladder.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from hmeta.sdt.likelihood import Likelihood, Parameters


class Rows(NamedTuple):
    """Counts as the likelihood reads them; trials are rows with counts of one.

    Attributes
    ----------
    pair_cell, pair_outcome, pair_count : (pair,)
    between_pair, between_lo, between_hi, between_count : (row,)
        Ratings below the top level: which pair, and where its two edges stand in the flattened
        ``(ladder, level)`` edges.
    above_pair, above_lo, above_count : (row,)
        Ratings of the top level, which has no upper edge.
    """

    pair_cell: Array
    pair_outcome: Array
    pair_count: Array
    between_pair: Array
    between_lo: Array
    between_hi: Array
    between_count: Array
    above_pair: Array
    above_lo: Array
    above_count: Array


class Places(NamedTuple):
    """Where criteria stand in the ``(ladder, level)`` edges.

    Attributes
    ----------
    gap_ladder, gap_step : (gap,)
        Which ladder, and the 0-based position of the criterion above the gap.
    anchor_ladder, anchor_level : (anchor,)
        Ladders of which one criterion is a number of its own, and the level above it; none where ratings start at 0.
    """

    gap_ladder: Array
    gap_step: Array
    anchor_ladder: Array
    anchor_level: Array


def build_edges(log_gap: Array, anchor: Array, places: Places, shape: tuple[int, int], lowest: float) -> Array:
    """Return the ``(ladder, level)`` lower edges of the levels.

    The lowest edge is `lowest`. Where it is 0, criteria are sums of the gaps below them. Where it is minus infinity,
    one criterion of each ladder, its anchor, is given, and gaps lead from it to the others.

    Parameters
    ----------
    log_gap : (gap,)
    anchor : (anchor,)
    places : Places
    shape : (int, int)
        Number of ladders and levels of the longest one.
    lowest : float
    """
    steps = jnp.zeros(shape).at[places.gap_ladder, places.gap_step + 1].set(jnp.exp(log_gap))
    heights = jnp.cumsum(steps, axis=1)
    shift = anchor - heights[places.anchor_ladder, places.anchor_level]
    return heights.at[places.anchor_ladder].add(shift[:, None]).at[:, 0].set(lowest)


def _take(parameters: Parameters, cell: Array) -> dict[str, Array]:
    return {name: value[cell] for name, value in parameters.items()}


class _LogProbabilities(NamedTuple):
    outcome: Array  # (pair,)
    between: Array  # (row,)
    above: Array  # (row,)


def _log_probabilities(likelihood: Likelihood, rows: Rows, parameters: Parameters, edges: Array) -> _LogProbabilities:
    here, flat = _take(parameters, rows.pair_cell), edges.ravel()
    pieces = likelihood.prepare(rows.pair_outcome, here)

    def of(pair: Array) -> tuple[Array, tuple[Array, ...]]:
        return rows.pair_outcome[pair], tuple(piece[pair] for piece in pieces)

    outcome, at = of(rows.between_pair)
    between = likelihood.log_between(outcome, flat[rows.between_lo], flat[rows.between_hi], at)
    outcome, at = of(rows.above_pair)
    above = likelihood.log_above(outcome, flat[rows.above_lo], at)
    return _LogProbabilities(likelihood.log_outcome(rows.pair_outcome, here), between, above)


def log_likelihood(likelihood: Likelihood, rows: Rows, parameters: Parameters, edges: Array) -> Array:
    """Return the log likelihood of counts, without the multinomial constant.

    Parameters
    ----------
    likelihood : Likelihood
    rows : Rows
    parameters : mapping of str to (cell,) arrays
    edges : (ladder, level)
    """
    p = _log_probabilities(likelihood, rows, parameters, edges)
    ratings = jnp.vdot(rows.between_count, p.between) + jnp.vdot(rows.above_count, p.above)
    return jnp.vdot(rows.pair_count, p.outcome) + ratings


def pointwise_log_likelihood(
    likelihood: Likelihood, rows: Rows, parameters: Parameters, edges: Array, n_cells: int
) -> Array:
    """Return the log likelihood of each cell, (cell,)."""
    p = _log_probabilities(likelihood, rows, parameters, edges)
    total = jnp.zeros(n_cells).at[rows.pair_cell].add(rows.pair_count * p.outcome)
    total = total.at[rows.pair_cell[rows.between_pair]].add(rows.between_count * p.between)
    return total.at[rows.pair_cell[rows.above_pair]].add(rows.above_count * p.above)


def rating_probabilities(
    likelihood: Likelihood, outcome: Array, parameters: Parameters, edges: Array, n_levels: Array
) -> Array:
    """Return the rating histogram that the model expects.

    Parameters
    ----------
    outcome : (pair,)
    parameters : mapping of str to (pair,) arrays
    edges : (pair, level)
        Each pair's own ladder.
    n_levels : (pair,)
        Levels of the ladder; beyond them the probability is 0.

    Returns
    -------
    Array, (pair, level)
        P(level | outcome); each row sums to one.
    """
    level = jnp.arange(edges.shape[1])
    top, real = level == n_levels[:, None] - 1, level < n_levels[:, None]
    above = jnp.concatenate([edges[:, 1:], edges[:, -1:]], axis=1)
    lo = jnp.where(real, edges, level.astype(edges.dtype))
    hi = jnp.where(top, jnp.inf, jnp.where(real, above, lo + 1.0))
    pieces = tuple(piece[:, None] for piece in likelihood.prepare(outcome, parameters))
    log_p = likelihood.log_rating_of(outcome[:, None], lo, hi, pieces)
    return jnp.where(real, jnp.exp(log_p), 0.0)


def type2_roc(ratings_correct: Array, ratings_wrong: Array) -> tuple[Array, Array]:
    """Return type-2 hit and false-alarm rates at every criterion.

    Parameters
    ----------
    ratings_correct, ratings_wrong : (..., level)
        Probabilities or counts of the levels, lowest first, given correct and wrong answers.

    Returns
    -------
    hits, false_alarms : (..., level - 1)
        P(rating above criterion k | correct), and given wrong.
    """

    def above(ratings: Array) -> Array:
        return 1.0 - jnp.cumsum(ratings, axis=-1)[..., :-1] / jnp.sum(ratings, axis=-1, keepdims=True)

    return above(ratings_correct), above(ratings_wrong)


def simulate_ratings(key: Array, probabilities: Array, totals: Array) -> Array:
    """Draw rating counts, ``(pair, level)``, that add up to `totals` exactly.

    Parameters
    ----------
    key : PRNG key
    probabilities : (pair, level)
        From `rating_probabilities`.
    totals : (pair,)
        Answers of each pair.
    """
    return jax.random.multinomial(key, totals.astype(probabilities.dtype), probabilities)


def simulate_outcomes(key: Array, log_outcome: Array, totals: Array) -> Array:
    """Draw how many of `totals` answers have each outcome.

    Parameters
    ----------
    key : PRNG key
    log_outcome : (stimulus, outcome)
        log P(outcome), each row over the outcomes that one stimulus allows.
    totals : (stimulus,)
    """
    return jax.random.multinomial(key, totals.astype(log_outcome.dtype), jnp.exp(log_outcome))


def fisher_information(log_probabilities: Callable[[Array], Array], theta: Array, weight: Array) -> Array:
    """Return the expected information about theta, ``(parameter, parameter)``.

    Parameters
    ----------
    log_probabilities : callable
        theta -> (category,), the log probabilities of one or several multinomials.
    theta : (parameter,)
    weight : (category,)
        The number of answers of the multinomial that each category belongs to.
    """
    slope = jax.jacobian(log_probabilities)(theta)
    expected = weight * jnp.exp(log_probabilities(theta))
    return jnp.einsum("k,ka,kb->ab", expected, slope, slope)
