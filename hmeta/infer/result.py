"""A run as the fit file: an ArviZ DataTree with names on every dimension (docs/data-format.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import jax
import numpy as np
import xarray as xr

from hmeta.core.schema import OUTCOMES
from hmeta.core.streams import stream
from hmeta.infer import predictive, sites
from hmeta.infer.data import Data, ModelShape
from hmeta.infer.reporting import Reporting, cell_labels, dimension_word, has_slopes
from hmeta.infer.views import views_of, with_meta_d
from hmeta.spec.likelihoods import View
from hmeta.spec.plan import GroupTerm, ModelPlan, ParameterPlan

Draws = Mapping[str, np.ndarray]
DRAW_DIMS = ("chain", "draw")


class Parts(NamedTuple):
    """What a fit file is made from, besides the run."""

    plan: ModelPlan
    shape: ModelShape
    data: Data
    seed: int


def build_tree(parts: Parts, draws: Draws, stats: Draws) -> xr.DataTree:
    """Return the fit without its ``/hmeta`` attributes.

    Parameters
    ----------
    parts : Parts
    draws : mapping of str to (chain, draw, ...) arrays
        Constrained sites and deterministic quantities, parameters at their units.
    stats : mapping of str to (chain, draw) arrays
    """
    reporting = Reporting(parts.plan)
    rows = predictive.rating_rows(parts.plan, reporting, parts.data)
    row_coords = _row_coords(rows)
    groups = {
        "posterior": _parameter_dataset(parts.plan, reporting, reporting.reduce(draws)),
        "sample_stats": _draws_dataset({name: (value, ()) for name, value in stats.items()}, {}),
        "observed_data": xr.Dataset({"count": ("row", rows.count)}, coords=row_coords),
        "posterior_predictive": _replicates(parts, draws, rows, row_coords),
        "prior": _prior(parts, reporting),
        "constant_data": _designs(parts.plan, reporting),
    }
    likelihood = _log_likelihood(parts, reporting, draws)
    if likelihood is not None:
        groups["log_likelihood"] = likelihood
    return xr.DataTree.from_dict({f"/{name}": dataset for name, dataset in groups.items()})


def _draws_dataset(
    variables: Mapping[str, tuple[np.ndarray, tuple[str, ...]]], coords: Mapping[str, Any]
) -> xr.Dataset:
    first = next(iter(variables.values()))[0]
    counted = {"chain": np.arange(first.shape[0]), "draw": np.arange(first.shape[1])}
    return xr.Dataset(
        {name: ((*DRAW_DIMS, *dims), value) for name, (value, dims) in variables.items()}, coords={**counted, **coords}
    )


def _cell_labels(reporting: Reporting) -> dict[str, Any]:
    coords: dict[str, Any] = {"cell": cell_labels(reporting.cells), "n_answers": ("cell", reporting.n_answers)}
    for name in reporting.cells.columns:
        values = reporting.cells[name]
        numeric = values.dtype.kind in "iufb"
        coords[str(name)] = ("cell", values.to_numpy() if numeric else values.astype(str).to_numpy(dtype=object))
    return coords


def _parameter_dataset(plan: ModelPlan, reporting: Reporting, draws: Draws) -> xr.Dataset:
    """Return parameters at cells, population and group terms, and criteria, with coordinates."""
    variables: dict[str, tuple[np.ndarray, tuple[str, ...]]] = {}
    coords: dict[str, Any] = {"cell": cell_labels(reporting.cells)}
    for parameter in plan.parameters.values():
        variables[parameter.name] = (draws[parameter.name], ("cell",))
        for term in parameter.common:
            name = sites.common_site(parameter, term.name)
            if len(term.levels) == 1 and term.levels[0] == "":
                variables[name] = (draws[name][..., 0], ())
            else:
                variables[name] = (draws[name], (f"{name}_level",))
                coords[f"{name}_level"] = list(term.levels)
        for group in parameter.groups:
            _add_group(variables, coords, parameter, group, draws)
    at_cells = with_meta_d({name: draws[name] for name in (*plan.parameters, *_views(plan))})
    variables |= {name: (value, ("cell",)) for name, value in at_cells.items()}
    _add_criteria(variables, coords, plan, draws["edges"])
    return _draws_dataset(variables, coords)


def _add_group(
    variables: dict[str, tuple[np.ndarray, tuple[str, ...]]],
    coords: dict[str, Any],
    parameter: ParameterPlan,
    group: GroupTerm,
    draws: Draws,
) -> None:
    dim = dimension_word(group.name)
    if list(coords.get(dim, group.levels)) != list(group.levels):
        dim = f"{parameter.name}_{dim}"  # levels that only this parameter has
    coords[dim] = list(group.levels)
    several = len(group.coefficients) > 1
    coefficient = f"{sites.effects_name(parameter, group)}_coefficient"
    if several:
        coords[coefficient] = list(group.coefficients)
    sd, effects = draws[sites.group_site(parameter, group, "sd")], draws[sites.effects_name(parameter, group)]
    variables[sites.group_site(parameter, group, "sd")] = (sd, (coefficient,)) if several else (sd[..., 0], ())
    variables[sites.effects_name(parameter, group)] = (
        (effects, (dim, coefficient)) if several else (effects[..., 0], (dim,))
    )
    if group.correlated:
        cholesky = draws[sites.group_site(parameter, group, "cor")]
        coords[f"{coefficient}_2"] = list(group.coefficients)
        correlation = cholesky @ np.swapaxes(cholesky, -1, -2)
        variables[sites.group_site(parameter, group, "cor")] = (correlation, (coefficient, f"{coefficient}_2"))


def _add_criteria(
    variables: dict[str, tuple[np.ndarray, tuple[str, ...]]], coords: dict[str, Any], plan: ModelPlan, edges: np.ndarray
) -> None:
    criteria = plan.criteria
    ladder, step = criteria.criterion_ladder, criteria.criterion_step
    variables["criteria"] = (edges[:, :, ladder, step + 1], ("criterion",))
    coords["criterion"] = _criterion_labels(plan)["criterion"]


def _criterion_labels(plan: ModelPlan) -> dict[str, Any]:
    criteria = plan.criteria
    ladder, step = criteria.criterion_ladder, criteria.criterion_step
    names = cell_labels(criteria.groups)
    outcomes = ["+".join(OUTCOMES[plan.task][code] for code in codes) for codes in criteria.ladder_outcomes]
    values = [criteria.level_values[i][k + 1] for i, k in zip(ladder, step, strict=True)]
    group = [names[criteria.ladder_group[i]] for i in ladder]
    return {
        "criterion": [f"{g} | {outcomes[i]} | {v:g}" for g, i, v in zip(group, ladder, values, strict=True)],
        "criterion_group": ("criterion", np.array(group, dtype=object)),
        "criterion_outcomes": ("criterion", np.array([outcomes[i] for i in ladder], dtype=object)),
        "criterion_level": ("criterion", np.array(values, dtype=float)),
    }


def _row_coords(rows: predictive.RatingRows) -> dict[str, Any]:
    return {
        "row_cell": ("row", rows.cell),
        "row_outcome": ("row", rows.outcome),
        "row_level": ("row", rows.level),
        "row_confidence": ("row", rows.confidence),
    }


def _replicates(parts: Parts, draws: Draws, rows: predictive.RatingRows, row_coords: dict[str, Any]) -> xr.Dataset:
    n_chains, n_draws = draws["edges"].shape[:2]
    picked = np.linspace(0, n_draws - 1, min(predictive.MAX_REPLICATES, n_draws)).astype(int)
    wanted = [*parts.plan.parameters, "edges"]
    thinned = {name: draws[name][:, picked].reshape(-1, *draws[name].shape[2:]) for name in wanted}
    key = jax.random.key(stream(parts.seed, "posterior predictive"))
    counts = predictive.replicate_ratings(parts.plan, parts.shape, parts.data, thinned, rows, key)
    shaped = counts.reshape(n_chains, len(picked), -1)
    return xr.Dataset(
        {"count": ((*DRAW_DIMS, "row"), shaped)}, coords={"chain": np.arange(n_chains), "draw": picked, **row_coords}
    )


def _prior(parts: Parts, reporting: Reporting) -> xr.Dataset:
    key = jax.random.key(stream(parts.seed, "prior"))
    draws = predictive.prior_draws(parts.plan, parts.shape, parts.data, reporting, key)
    return _parameter_dataset(parts.plan, reporting, {name: value[None] for name, value in draws.items()})


def _log_likelihood(parts: Parts, reporting: Reporting, draws: Draws) -> xr.Dataset | None:
    n_chains, n_draws = draws["edges"].shape[:2]
    if n_chains * n_draws * len(reporting.cells) > predictive.MAX_POINTWISE:
        return None
    flat = {name: draws[name].reshape(-1, *draws[name].shape[2:]) for name in [*parts.plan.parameters, "edges"]}
    values = predictive.pointwise(parts.plan, parts.shape, parts.data, reporting, flat)
    return _draws_dataset({"outcome": (values.reshape(n_chains, n_draws, -1), ("cell",))}, _cell_labels(reporting))


def _designs(plan: ModelPlan, reporting: Reporting) -> xr.Dataset:
    variables: dict[str, Any] = {}
    coords = {**_cell_labels(reporting), **_criterion_labels(plan)}
    for name in plan.parameters:
        for part, (labels, matrix) in reporting.design(name).items():
            column = f"{name}_{part}_column"
            coords[column] = labels
            variables[f"{name}_x_{part}"] = (("cell", column), np.asarray(matrix))
    return xr.Dataset(variables, coords=coords)


def describe_terms(plan: ModelPlan) -> dict[str, Any]:
    """Return the terms of every parameter with the variables that hold them, ready for JSON.

    A view has the terms of its parameter, which it names as `of`, and a link of its own.
    """
    terms = {name: _describe(parameter) for name, parameter in plan.parameters.items()}
    return terms | {name: {**terms[view.of], "of": view.of, "link": view.link} for name, view in _views(plan).items()}


def _views(plan: ModelPlan) -> dict[str, View]:
    return views_of(plan.likelihood, plan.parameters)


def _describe(parameter: ParameterPlan) -> dict[str, Any]:
    return {
        "link": parameter.link,
        "formula": parameter.formula,
        "common": [
            {"name": t.name, "variable": sites.common_site(parameter, t.name), "levels": list(t.levels)}
            for t in parameter.common
        ],
        "groups": [_describe_group(parameter, group) for group in parameter.groups],
    }


def _describe_group(parameter: ParameterPlan, group: GroupTerm) -> dict[str, Any]:
    return {
        "name": group.name,
        "factors": group.name.split(":"),
        "coefficients": list(group.coefficients),
        "sd": sites.group_site(parameter, group, "sd"),
        "cor": sites.group_site(parameter, group, "cor") if group.correlated else None,
        "effects": sites.effects_name(parameter, group),
        "design": f"{parameter.name}_x_{sites.plain(group.name)}" if has_slopes(group) else None,
        "dim": dimension_word(group.name),
        "zero_sum": group.zero_sum,
    }
