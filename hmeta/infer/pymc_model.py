"""A plan as a PyMC model: the same sites, priors and predictors, written a second time.

Only the likelihood is shared with the NumPyro model, as a JAX function, so that agreement of the two
log densities checks the graph, the priors and the transforms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import numpy as np
import pymc as pm
import pytensor.tensor as pt
from jax import Array
from pymc.model.transform.conditioning import remove_value_transforms
from pymc.pytensorf import compile as compile_function
from pytensor.gradient import grad
from pytensor.link.jax.ops import wrap_jax
from pytensor.tensor.shape import specify_shape

from hmeta.infer import sites
from hmeta.infer.data import Data, ModelShape
from hmeta.infer.numpyro_model import cell_parameters
from hmeta.sdt.derived import log_likelihood
from hmeta.spec.plan import CriteriaPlan, Floats, GroupTerm, ModelPlan, ParameterPlan, Prior

if TYPE_CHECKING:
    from jaxlib._jax import Device

Shape = tuple[int, ...]
type Tensor = Any
"""A PyTensor variable; PyTensor's own annotations are too vague to be checked."""

FAMILIES: dict[str, Callable[..., Any]] = {
    "normal": lambda name, shape, loc, scale: pm.Normal(name, loc, scale, shape=shape),
    "student_t": lambda name, shape, df, loc, scale: pm.StudentT(name, nu=df, mu=loc, sigma=scale, shape=shape),
    "half_normal": lambda name, shape, scale: pm.HalfNormal(name, scale, shape=shape),
    "half_student_t": lambda name, shape, df, scale: pm.HalfStudentT(name, nu=df, sigma=scale, shape=shape),
    "exponential": lambda name, shape, rate: pm.Exponential(name, lam=rate, shape=shape),
    "gamma": lambda name, shape, concentration, rate: pm.Gamma(name, alpha=concentration, beta=rate, shape=shape),
    "lognormal": lambda name, shape, loc, scale: pm.LogNormal(name, loc, scale, shape=shape),
}


@contextmanager
def computing_everywhere(device: Device) -> Iterator[None]:
    """Compute in float64 on a device in every thread: PyTensor and nutpie call JAX from threads of their own."""
    before = {name: getattr(jax.config, name) for name in ("jax_enable_x64", "jax_default_device")}
    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_default_device", device)
    try:
        yield
    finally:
        for name, value in before.items():
            jax.config.update(name, value)


def build(plan: ModelPlan, shape: ModelShape, data: Data) -> pm.Model:
    """Return the PyMC model of a plan.

    Parameters
    ----------
    plan : ModelPlan
    shape : ModelShape
    data : Data
        In 64-bit numbers.

    Notes
    -----
    Free and deterministic variables have the names of the NumPyro model.
    """
    with pm.Model(check_bounds=False) as model:  # every argument of every prior is valid by construction
        units = {
            name: pm.Deterministic(name, _predictor(parameter, data)) for name, parameter in plan.parameters.items()
        }
        gaps, anchors = _log_gaps(plan.criteria), _anchors(plan.criteria)
        edges = pm.Deterministic("edges", _edges(plan.criteria, gaps, anchors, shape.ladders))
        pm.Potential("log_likelihood", _likelihood(shape, data)(units, edges))
    return model


def _likelihood(shape: ModelShape, data: Data) -> Callable[..., Tensor]:
    def likelihood(units: dict[str, Array], edges: Array) -> Array:
        return log_likelihood(shape.likelihood, data.rows, cell_parameters(units, data), edges)

    return wrap_jax(likelihood)  # an operation with a gradient, and itself where PyTensor compiles to JAX


def _sample(name: str, prior: Prior, shape: Shape, location: float | Floats = 0.0) -> Any:
    """Sample from a prior; `location` is added to its own."""
    # PyTensor makes a Python 0.5 a 32-bit constant and takes its logarithm in 32 bits; NumPy's stay as they are
    arguments: dict[str, Any] = {key: np.float64(value) for key, value in prior.arguments.items()}
    if "loc" in arguments:
        arguments["loc"] = arguments["loc"] + location
    return FAMILIES[prior.family](name, shape, **arguments)


def _predictor(parameter: ParameterPlan, data: Data) -> Tensor:
    """Return the parameter at each of its units, (unit,)."""
    total = pt.zeros(len(parameter.units))
    for term in parameter.common:
        value = _sample(sites.common_site(parameter, term.name), term.prior, (term.matrix.shape[1],))
        total = total + pt.dot(term.matrix, value)
    for group in parameter.groups:
        effects = _group_effects(parameter, group, data)
        total = total + pt.sum(group.matrix * effects[group.index], axis=1)
    total = specify_shape(total, (len(parameter.units),))
    return pt.exp(total) if parameter.link == "log" else total


def _group_effects(parameter: ParameterPlan, group: GroupTerm, data: Data) -> Tensor:
    k = len(group.coefficients)
    sd = _sample(sites.group_site(parameter, group, "sd"), group.sd_prior, (k,))
    free_name, shape = sites.group_site(parameter, group, "free"), (sites.n_free(group), k)
    if group.correlated:
        assert group.cor_prior is not None
        eta = group.cor_prior.arguments["eta"]
        root = pm.LKJCorr(sites.group_site(parameter, group, "cor"), n=k, eta=eta)  # a Cholesky factor
        scale = sd[:, None] * root
        free = pm.Normal(free_name, 0.0, 1.0, shape=shape)
    else:
        weight = np.array([float(data.centring[key]) for key in sites.centring_keys(parameter, group)])
        scale = sd ** (1.0 - weight)
        free = pm.Normal(free_name, 0.0, sd**weight, shape=shape)
    effects = sites.group_effects(pt, group, free, scale)
    return pm.Deterministic(sites.effects_name(parameter, group), effects)


def _log_gaps(criteria: CriteriaPlan) -> Tensor:
    location = sites.log_gap_location(criteria)
    if not len(location):
        return pt.zeros(0)
    if not criteria.pooled:
        return _sample("log_gap", criteria.prior, location.shape, location)
    index, n_means = sites.pooled_gap_index(criteria)
    of_mean = np.zeros(n_means)
    of_mean[index] = location
    assert criteria.sd_prior is not None
    mean = _sample("log_gap_mean", criteria.prior, of_mean.shape, of_mean)
    sd = _sample("log_gap_sd", criteria.sd_prior, ())
    return pm.Normal("log_gap", mean[index], sd, shape=(len(index),))


def _anchors(criteria: CriteriaPlan) -> Tensor | None:
    if criteria.anchor_prior is None:
        return None
    location = sites.anchor_location(criteria)
    return _sample("anchor", criteria.anchor_prior, location.shape, location)


def _edges(criteria: CriteriaPlan, log_gap: Tensor, anchor: Tensor | None, ladders: tuple[int, int]) -> Tensor:
    """Return the ``(ladder, level)`` edges: each gap counts in every edge of its ladder above it."""
    gaps: Tensor = pt.zeros(ladders)[criteria.gap_ladder, criteria.gap_step + 1].set(pt.exp(log_gap))
    edges: Tensor = pt.cumsum(gaps, axis=1)
    if anchor is not None:
        shift = anchor - edges[criteria.anchor_ladder, criteria.anchor_level]
        edges = edges[criteria.anchor_ladder].inc(shift[:, None])[:, 0].set(criteria.lowest)
    return specify_shape(edges, ladders)


class Density(NamedTuple):
    """The log density at a point and its slope by site."""

    value: float
    slope: dict[str, np.ndarray]


def density(model: pm.Model, values: Mapping[str, np.ndarray]) -> Density:
    """Return the log density over constrained values, without the Jacobian of any transform.

    Parameters
    ----------
    model : Model
        From `build`; compiled at the first call.
    values : mapping
        Every free site by name.
    """
    names, compiled = _compiled_density(model)
    value, *slope = compiled(*[np.asarray(values[name], dtype=float) for name in names])
    return Density(float(value), {name: np.asarray(s) for name, s in zip(names, slope, strict=True)})


@lru_cache(maxsize=8)
def _compiled_density(model: pm.Model) -> tuple[list[str], Any]:
    plain = remove_value_transforms(model)
    inputs = [plain.rvs_to_values[rv] for rv in plain.free_RVs]
    log_density: Tensor = plain.logp(jacobian=False)
    slopes: Tensor = grad(log_density, inputs)
    outputs = [log_density, *slopes]
    with model:
        return [rv.name for rv in plain.free_RVs], compile_function(inputs, outputs, mode="JAX")
