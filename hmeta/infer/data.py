"""A plan's arrays as one pytree, the argument of compiled programs: new data of the same shape fit in."""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array

from hmeta.infer.sites import Centring, anchor_location, log_gap_location
from hmeta.sdt.derived import Places, Rows
from hmeta.sdt.likelihood import Likelihood, get
from hmeta.spec.plan import ModelPlan, ParameterPlan, RowTable


class ParameterArrays(NamedTuple):
    """Design of one parameter."""

    common: tuple[Array, ...]  # each (unit, column)
    group_matrices: tuple[Array, ...]  # each (unit, coefficient)
    group_indices: tuple[Array, ...]  # each (unit,)
    unit_of_cell: Array  # (cell,)


class Data(NamedTuple):
    """All arrays of a plan."""

    rows: Rows
    parameters: dict[str, ParameterArrays]
    places: Places
    log_gap_location: Array  # (gap,)
    anchor_location: Array  # (anchor,)
    fixed: dict[str, Array]  # known parameters at each cell, such as n_options
    centring: dict[str, Array]  # weight of each group term, 0 (non-centred) to 1 (centred)


class ModelShape(NamedTuple):
    """What a compiled program fixes besides array shapes."""

    likelihood: Likelihood
    ladders: tuple[int, int]  # ladders, levels of the longest


def model_shape(plan: ModelPlan) -> ModelShape:
    """Return the likelihood with its options, and the shape of the criteria."""
    options: dict[str, object] = dict(plan.options)
    if plan.likelihood == "mafc" and options.get("noise") == "normal":
        options["n_options"] = tuple(sorted({int(m) for m in plan.cells["n_options"]}))
    ladders = (len(plan.criteria.n_levels), int(plan.criteria.n_levels.max()))
    return ModelShape(get(plan.likelihood, **options), ladders)


def model_data(plan: ModelPlan, centring: Centring) -> Data:
    """Return the arrays of a plan, with the centring of its group terms."""
    criteria = plan.criteria
    return Data(
        rows=_rows(plan.rows, criteria.n_levels),
        parameters={name: _parameter_arrays(parameter) for name, parameter in plan.parameters.items()},
        places=Places(*(jnp.asarray(getattr(criteria, name)) for name in Places._fields)),
        log_gap_location=jnp.asarray(log_gap_location(criteria)),
        anchor_location=jnp.asarray(anchor_location(criteria)),
        fixed=_fixed(plan),
        centring={key: jnp.asarray(float(weight)) for key, weight in centring.items()},
    )


def _parameter_arrays(parameter: ParameterPlan) -> ParameterArrays:
    return ParameterArrays(
        common=tuple(jnp.asarray(term.matrix) for term in parameter.common),
        group_matrices=tuple(jnp.asarray(group.matrix) for group in parameter.groups),
        group_indices=tuple(jnp.asarray(group.index) for group in parameter.groups),
        unit_of_cell=jnp.asarray(parameter.unit_of_cell),
    )


def _fixed(plan: ModelPlan) -> dict[str, Array]:
    if plan.likelihood != "mafc":
        return {}
    return {"n_options": jnp.asarray(plan.cells["n_options"].to_numpy(dtype=float))}


def _rows(table: RowTable, n_levels: np.ndarray) -> Rows:
    """Return the rows, with the (cell, outcome) pairs that they share made explicit."""
    pairs, row_pair = np.unique(np.stack([table.cell, table.outcome], axis=1), axis=0, return_inverse=True)
    row_pair = row_pair.ravel()
    pair_count = np.bincount(row_pair, weights=table.count, minlength=len(pairs))
    longest = int(n_levels.max())
    top = table.level == n_levels[table.ladder] - 1
    lo = table.ladder * longest + table.level
    # a ladder of one level says nothing about ratings: its rows stay in the pair counts alone
    informative = n_levels[table.ladder] > 1
    between, above = informative & ~top, informative & top
    return Rows(
        pair_cell=jnp.asarray(pairs[:, 0]),
        pair_outcome=jnp.asarray(pairs[:, 1]),
        pair_count=jnp.asarray(pair_count),
        between_pair=jnp.asarray(row_pair[between]),
        between_lo=jnp.asarray(lo[between]),
        between_hi=jnp.asarray(lo[between] + 1),
        between_count=jnp.asarray(table.count[between]),
        above_pair=jnp.asarray(row_pair[above]),
        above_lo=jnp.asarray(lo[above]),
        above_count=jnp.asarray(table.count[above]),
    )
