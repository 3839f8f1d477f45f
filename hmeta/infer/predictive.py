"""What the posterior and the prior say about data: replicated ratings, pointwise log likelihood, prior draws."""

from __future__ import annotations

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpyro import handlers

from hmeta.infer import numpyro_model
from hmeta.infer.data import Data, ModelShape
from hmeta.infer.numpyro_model import cell_parameters
from hmeta.infer.reporting import Reporting
from hmeta.sdt.derived import pointwise_log_likelihood, rating_probabilities, simulate_ratings
from hmeta.spec.plan import Ints, ModelPlan

BATCH = 50
PRIOR_DRAWS = 500
MAX_REPLICATES = 100
"""Replicated data sets for each chain."""

MAX_POINTWISE = 40_000_000
"""Largest log-likelihood table that is kept, in numbers."""


@dataclass(frozen=True)
class RatingRows:
    """Reported rating counts: every (reporting cell, outcome with answers, level of its ladder)."""

    cell: Ints
    outcome: Ints
    level: Ints
    confidence: np.ndarray
    count: np.ndarray
    of_pair_level: Ints  # (pair, level) -> row, -1 beyond the ladder


def rating_rows(plan: ModelPlan, reporting: Reporting, data: Data) -> RatingRows:
    """Return the rows that observed and replicated ratings are reported in."""
    ladder_of_pair = pair_ladders(plan, data)
    n_levels = plan.criteria.n_levels[ladder_of_pair]
    longest = int(plan.criteria.n_levels.max())
    cell = reporting.of_cell[np.asarray(data.rows.pair_cell)]
    outcome = np.asarray(data.rows.pair_outcome)
    pair, level = np.nonzero(np.arange(longest) < n_levels[:, None])
    keys = np.stack([cell[pair], outcome[pair], ladder_of_pair[pair], level], axis=1)
    rows, row = np.unique(keys, axis=0, return_inverse=True)
    of_pair_level = np.full((len(cell), longest), -1, dtype=np.int64)
    of_pair_level[pair, level] = row.ravel()
    confidence = np.array([plan.criteria.level_values[ladder][lev] for ladder, lev in rows[:, 2:]])
    observed = _observed(plan, data, of_pair_level, len(rows))
    return RatingRows(rows[:, 0], rows[:, 1], rows[:, 3], confidence, observed, of_pair_level)


def _observed(plan: ModelPlan, data: Data, of_pair_level: Ints, n_rows: int) -> np.ndarray:
    pairs = {key: i for i, key in enumerate(zip(*_pair_keys(data), strict=True))}
    pair = np.array([pairs[key] for key in zip(plan.rows.cell.tolist(), plan.rows.outcome.tolist(), strict=True)])
    return np.bincount(of_pair_level[pair, plan.rows.level], weights=plan.rows.count, minlength=n_rows)


def _pair_keys(data: Data) -> tuple[list[int], list[int]]:
    return np.asarray(data.rows.pair_cell).tolist(), np.asarray(data.rows.pair_outcome).tolist()


def pair_ladders(plan: ModelPlan, data: Data) -> Ints:
    """Return the ladder that each (cell, outcome) pair reads, (pair,)."""
    known = dict(
        zip(
            zip(plan.rows.cell.tolist(), plan.rows.outcome.tolist(), strict=True),
            plan.rows.ladder.tolist(),
            strict=True,
        )
    )
    return np.array([known[key] for key in zip(*_pair_keys(data), strict=True)], dtype=np.int64)


def replicate_ratings(
    plan: ModelPlan, shape: ModelShape, data: Data, draws: dict[str, np.ndarray], rows: RatingRows, key: Array
) -> np.ndarray:
    """Return replicated rating counts given the observed outcomes, (draw, row).

    Parameters
    ----------
    draws : mapping of str to (draw, ...) arrays
        Parameters at units, and edges.
    """
    ladder = jnp.asarray(pair_ladders(plan, data))
    n_levels = jnp.asarray(plan.criteria.n_levels)[ladder]

    @jax.jit
    def replicate(key: Array, units: dict[str, Array], edges: Array, data: Data) -> Array:
        here = {name: value[data.rows.pair_cell] for name, value in cell_parameters(units, data).items()}
        p = rating_probabilities(shape.likelihood, data.rows.pair_outcome, here, edges[ladder], n_levels)
        return simulate_ratings(key, p / p.sum(axis=1, keepdims=True), data.rows.pair_count)

    n_draws = len(draws["edges"])
    real = rows.of_pair_level >= 0
    counts = np.empty((n_draws, len(rows.count)))
    for draw, draw_key in enumerate(jax.random.split(key, n_draws)):
        units = {name: jnp.asarray(draws[name][draw]) for name in plan.parameters}
        simulated = np.asarray(replicate(draw_key, units, jnp.asarray(draws["edges"][draw]), data))
        counts[draw] = np.bincount(rows.of_pair_level[real], weights=simulated[real], minlength=len(rows.count))
    return counts


def pointwise(
    plan: ModelPlan, shape: ModelShape, data: Data, reporting: Reporting, draws: dict[str, np.ndarray]
) -> np.ndarray:
    """Return the log likelihood of each reporting cell, (draw, reporting cell), in blocks of draws."""
    n_cells, of_cell = len(plan.cells), jnp.asarray(reporting.of_cell)

    @jax.jit
    def block(units: dict[str, Array], edges: Array, data: Data) -> Array:
        def one(units: dict[str, Array], edges: Array) -> Array:
            parameters = cell_parameters(units, data)
            each = pointwise_log_likelihood(shape.likelihood, data.rows, parameters, edges, n_cells)
            return jnp.zeros(len(reporting.cells)).at[of_cell].add(each)

        return jax.vmap(one)(units, edges)

    n_draws = len(draws["edges"])
    blocks = []
    for first in range(0, n_draws, BATCH):
        index = np.minimum(np.arange(first, first + BATCH), n_draws - 1)  # one shape, one program
        units = {name: jnp.asarray(draws[name][index]) for name in plan.parameters}
        blocks.append(np.asarray(block(units, jnp.asarray(draws["edges"][index]), data), dtype=np.float32))
    return np.concatenate(blocks)[:n_draws]


def prior_draws(
    plan: ModelPlan, shape: ModelShape, data: Data, reporting: Reporting, key: Array
) -> dict[str, np.ndarray]:
    """Return draws from the prior, (draw, ...), with parameters at the reporting cells."""
    model = numpyro_model.build(plan, shape)

    @jax.jit
    def block(keys: Array, data: Data) -> dict[str, Array]:
        def one(key: Array) -> dict[str, Array]:
            trace = handlers.trace(handlers.seed(model, key)).get_trace(data)
            kept = ("sample", "deterministic")
            return {k: s["value"] for k, s in trace.items() if s["type"] in kept and not s.get("is_observed")}

        return jax.vmap(one)(keys)

    keys = jax.random.split(key, PRIOR_DRAWS)
    parts = [
        reporting.reduce(jax.tree.map(np.asarray, block(keys[i : i + BATCH], data)))
        for i in range(0, PRIOR_DRAWS, BATCH)
    ]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
