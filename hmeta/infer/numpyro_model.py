"""A plan as a NumPyro model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
from jax import Array

from hmeta.infer import sites
from hmeta.infer.data import Data, ModelShape
from hmeta.infer.views import with_meta_d
from hmeta.sdt.derived import build_edges, log_likelihood
from hmeta.spec.plan import GroupTerm, ModelPlan, ParameterPlan, Prior

FAMILIES: dict[str, Callable[..., dist.Distribution]] = {
    "normal": lambda loc, scale: dist.Normal(loc, scale),
    "student_t": lambda df, loc, scale: dist.StudentT(df, loc, scale),
    "half_normal": lambda scale: dist.HalfNormal(scale),
    "half_student_t": lambda df, scale: dist.FoldedDistribution(dist.StudentT(df, 0.0, scale)),
    "exponential": lambda rate: dist.Exponential(rate),
    "gamma": lambda concentration, rate: dist.Gamma(concentration, rate),
    "lognormal": lambda loc, scale: dist.LogNormal(loc, scale),
}


def _draw(name: str, distribution: dist.Distribution) -> Array:
    return jnp.asarray(numpyro.sample(name, distribution))


def _named(name: str, value: Array) -> Array:
    return jnp.asarray(numpyro.deterministic(name, value))


def _sample(name: str, prior: Prior, shape: tuple[int, ...]) -> Array:
    distribution = FAMILIES[prior.family](**prior.arguments)
    return _draw(name, distribution.expand(shape).to_event(len(shape)))


def _group_effects(parameter: ParameterPlan, group: GroupTerm, data: Data) -> Array:
    k = len(group.coefficients)
    sd = _sample(sites.group_site(parameter, group, "sd"), group.sd_prior, (k,))
    free_name, shape = sites.group_site(parameter, group, "free"), (sites.n_free(group), k)
    if group.correlated:
        assert group.cor_prior is not None
        lkj = dist.LKJCholesky(k, group.cor_prior.arguments["eta"])
        scale = sd[:, None] * _draw(sites.group_site(parameter, group, "cor"), lkj)
        free = _draw(free_name, dist.Normal(0.0, 1.0).expand(shape).to_event(2))
    else:
        weight = jnp.stack([data.centring[key] for key in sites.centring_keys(parameter, group)])
        scale = sd ** (1.0 - weight)
        free = _draw(free_name, dist.Normal(0.0, sd**weight).expand(shape).to_event(2))
    effects = sites.group_effects(jnp, group, free, scale)
    return _named(sites.effects_name(parameter, group), effects)


def _predictor(parameter: ParameterPlan, data: Data) -> Array:
    """Return the parameter at each of its units, (unit,)."""
    arrays = data.parameters[parameter.name]
    total = jnp.zeros(len(parameter.units))
    for term, matrix in zip(parameter.common, arrays.common, strict=True):
        value = _sample(sites.common_site(parameter, term.name), term.prior, (matrix.shape[1],))
        total = total + matrix @ value
    for group, matrix, index in zip(parameter.groups, arrays.group_matrices, arrays.group_indices, strict=True):
        effects = _group_effects(parameter, group, data)
        total = total + jnp.sum(matrix * effects[index], axis=1)
    return jnp.exp(total) if parameter.link == "log" else total


def _log_gaps(plan: ModelPlan, data: Data) -> Array:
    criteria = plan.criteria
    if not len(criteria.gap_ladder):
        return jnp.zeros(0)
    location = data.log_gap_location + criteria.prior.arguments["loc"]
    if not criteria.pooled:
        return _draw("log_gap", _located(criteria.prior, location))
    assert criteria.sd_prior is not None
    index, n_means = sites.pooled_gap_index(criteria)
    shared = jnp.zeros(n_means).at[index].set(location)  # ladders of one response have the same levels
    mean = _draw("log_gap_mean", _located(criteria.prior, shared))
    sd = _sample("log_gap_sd", criteria.sd_prior, ())
    return _draw("log_gap", dist.Normal(mean[index], sd).to_event(1))


def _anchors(plan: ModelPlan, data: Data) -> Array:
    prior = plan.criteria.anchor_prior
    if prior is None:
        return jnp.zeros(0)
    return _draw("anchor", _located(prior, data.anchor_location + prior.arguments["loc"]))


def _located(prior: Prior, location: Array) -> dist.Distribution:
    return FAMILIES[prior.family](**{**prior.arguments, "loc": location}).to_event(1)


def build(plan: ModelPlan, shape: ModelShape) -> Callable[[Data], Any]:
    """Return the NumPyro model of a plan: a function of the data arrays alone.

    Deterministic sites: each parameter over its units (``d``, ``M`` ...), group effects, ``edges``.
    """

    def model(data: Data) -> None:
        units = {name: _named(name, _predictor(parameter, data)) for name, parameter in plan.parameters.items()}
        gaps, anchors = _log_gaps(plan, data), _anchors(plan, data)
        edges = _named("edges", build_edges(gaps, anchors, data.places, shape.ladders, plan.criteria.lowest))
        numpyro.factor(
            "log_likelihood", log_likelihood(shape.likelihood, data.rows, cell_parameters(units, data), edges)
        )

    return model


def cell_parameters(units: dict[str, Array], data: Data) -> dict[str, Array]:
    """Return the likelihood's parameters at each cell, (cell,), from parameters at their units."""
    cells = {name: value[data.parameters[name].unit_of_cell] for name, value in units.items()}
    return {**with_meta_d(cells), **data.fixed}
