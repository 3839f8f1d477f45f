"""The NumPyro and the PyMC model of a plan have one density.

At 20 random points, values agree to 1e-8 absolute and slopes to 1e-8 of their size.
"""

from itertools import product

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpyro.infer.util import log_density
from pymc.pytensorf import compile as compile_function
from pytensor import function

from hmeta.infer import sites
from hmeta.infer.data import model_data, model_shape
from hmeta.infer.device import find_device
from hmeta.infer.numpyro_model import build as numpyro_model
from hmeta.infer.pymc_model import build, computing_everywhere, density
from hmeta.infer.target import Target
from hmeta.spec import load_model, parse_model, plan
from hmeta.spec.plan import ModelPlan
from tests.spec.example_data import binary, crossed_binary, crossed_mafc, crossed_open, open_answers

N_POINTS = 20
CENTRING = 0.4

FAMILIES = """
schema = "1"
[likelihood]
name = "binary"
[parameters.d]
formula = "1 + (1 | participant) + (1 | task)"
[parameters.c]
formula = "1 + (1 | participant)"
[parameters.M]
link = "log"
formula = "1 + (1 | participant) + (1 | task)"
[parameters.criteria]
formula = "1 | participant"
pooling = "none"
[priors]
"d.Intercept" = {family = "student_t", df = 5, loc = 1.25, scale = 0.7}
"c.Intercept" = {family = "normal", loc = 0.1, scale = 0.5}
"d.sd.participant" = {family = "half_student_t", df = 4, scale = 0.6}
"d.sd.task" = {family = "exponential", rate = 2.5}
"c.sd.participant" = {family = "gamma", concentration = 2.5, rate = 3}
"M.sd.participant" = {family = "lognormal", loc = -1, scale = 0.5}
"M.sd.task" = {family = "half_normal", scale = 0.35}
criteria = {family = "student_t", df = 3, loc = 0.2, scale = 0.75}
"""


def covariate_data():
    ages = {"p1": 0.3, "p2": -1.2, "p3": 2.5}
    answers = [(s, r, c) for s, r in product((0, 1), repeat=2) for c in ((1, 2, 3) if s == r else (1, 2))]
    rows = [(person, age, *answer) for person, age in ages.items() for answer in answers]
    return binary(rows, ["participant", "covariate"])


def people_and_tasks():
    return crossed_binary(participant=["p1", "p2", "p3", "p4"], task=["t1", "t2", "t3"])


POOLED = FAMILIES.replace('pooling = "none"', 'pooling = "partial"').replace("criteria = {", '"criteria.mean" = {')


TWO_LEVELS = [(m, k, c) for m in ("a", "b") for k, c in ((1, 1), (1, 2), (0, 1), (0, 2), (1, 2))]
POOLED_TYPE2 = """
schema = "1"
[likelihood]
name = "type2"
[parameters.logit_accuracy]
formula = "1 + (1 | model)"
[parameters.d_a]
formula = "1 + (1 | model)"
[parameters.criteria]
formula = "1 | model"
pooling = "partial"
[priors]
"criteria.anchor" = {family = "student_t", df = 4, loc = 0.3, scale = 1.25}
"""


PLANS = {
    "mafc, models x datasets": lambda: plan(
        load_model("mafc_pooled"), crossed_mafc(model=["a", "b", "c"], dataset=["x", "y"])
    ),
    "binary, log M": lambda: plan(load_model("binary_hierarchical"), people_and_tasks()),
    "binary, correlated tasks": lambda: plan(load_model("binary_correlated"), people_and_tasks()),
    "binary, covariate": lambda: plan(load_model("binary_regression"), covariate_data()),
    "binary, every prior family": lambda: plan(parse_model(FAMILIES, "m.toml"), people_and_tasks()),
    "type2, models x datasets": lambda: plan(
        load_model("type2_pooled"), crossed_open(model=["a", "b", "c"], dataset=["x", "y"])
    ),
    "type2, pooled criteria": lambda: plan(parse_model(POOLED_TYPE2, "m.toml"), crossed_open(model=["a", "b", "c"])),
    "type2, two levels": lambda: plan(load_model("type2_separate"), open_answers(TWO_LEVELS, ["model"])),
    "binary, pooled criteria": lambda: plan(parse_model(POOLED, "m.toml"), people_and_tasks()),
}


@pytest.fixture(autouse=True, scope="module")
def _exact():
    with computing_everywhere(find_device("cpu")):
        yield


@pytest.fixture(scope="module", params=PLANS, ids=lambda name: name.replace(" ", "_"))
def made(request) -> ModelPlan:
    return PLANS[request.param]()


def target_of(made: ModelPlan) -> Target:
    centring = {key: CENTRING for t in sites.group_terms(made) for key in sites.centring_keys(t.parameter, t.group)}
    return Target(made, model_shape(made), model_data(made, centring))


def random_positions(target: Target) -> np.ndarray:
    return np.random.default_rng(20).normal(scale=0.5, size=(N_POINTS, target.size))


def free_numbers(slope: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Leave out what a Cholesky factor holds fixed: the first diagonal number and the upper triangle."""
    return {name: np.tril(value)[1:] if "_cor_" in name else np.asarray(value) for name, value in sorted(slope.items())}


def test_densities_and_slopes_agree(made):
    target = target_of(made)
    theirs = build(made, target.shape, target.data)
    model = numpyro_model(made, target.shape)
    names = [rv.name for rv in theirs.free_RVs]
    assert sorted(names) == sorted(target.positions)
    ours = jax.jit(jax.value_and_grad(lambda values: log_density(model, (target.data,), {}, values)[0]))
    for position in random_positions(target):
        constrained = target.constrain(jnp.asarray(position), target.data)
        values = {name: np.asarray(constrained[name]) for name in names}
        value, slope = ours(values)
        other = density(theirs, values)
        assert other.value == pytest.approx(float(value), rel=0, abs=1e-8)
        expected, found = free_numbers(slope), free_numbers(other.slope)
        for name in names:
            np.testing.assert_allclose(found[name], expected[name], rtol=1e-8, atol=1e-8, err_msg=name)


def test_quantities_agree(made):
    """Names, shapes and values of every deterministic quantity, at one point."""
    target = target_of(made)
    theirs = build(made, target.shape, target.data)
    constrained = target.constrain(jnp.asarray(random_positions(target)[0]), target.data)
    names = [variable.name for variable in theirs.deterministics]
    free = [rv.name for rv in theirs.free_RVs]
    assert sorted([*names, *free]) == sorted(constrained)
    compute = function(theirs.free_RVs, theirs.deterministics, mode="JAX", on_unused_input="ignore")
    for name, value in zip(names, compute(*[np.asarray(constrained[n]) for n in free]), strict=True):
        np.testing.assert_allclose(value, constrained[name], rtol=1e-12, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("name", ["binary, every prior family", "mafc, models x datasets", "type2, models x datasets"])
def test_unconstrained_densities_agree(name):
    """With the Jacobians that samplers need; both backends use the log of what is positive."""
    target = target_of(PLANS[name]())
    theirs = build(target.plan, target.shape, target.data)
    inputs = [theirs.rvs_to_values[rv] for rv in theirs.free_RVs]
    with theirs:
        compute = compile_function(inputs, theirs.logp(), mode="JAX")
    for position in random_positions(target):
        values = target.unravel(jnp.asarray(position))
        found = compute(*[np.asarray(values[rv.name]) for rv in theirs.free_RVs])
        assert float(found) == pytest.approx(-float(target.potential(position, target.data)), rel=0, abs=1e-8)


def test_correlations_reach_the_sampler_with_the_right_jacobian():
    """PyMC's unconstrained correlations are not NumPyro's: the Jacobian is checked by differentiating the map."""
    target = target_of(PLANS["binary, correlated tasks"]())
    model = build(target.plan, target.shape, target.data)
    root = model["M_cor_participant"]
    value, transform = model.rvs_to_values[root], model.rvs_to_transforms[root]
    lower = transform.backward(value, *root.owner.inputs)[[1, 2, 2], [0, 0, 1]]
    compute = function([value], [lower, transform.log_jac_det(value, *root.owner.inputs)], mode="JAX")
    for point in np.random.default_rng(3).normal(size=(5, 3)):
        steps = 1e-5 * np.eye(3)
        matrix = [(compute(point + step)[0] - compute(point - step)[0]) / 2e-5 for step in steps]
        assert compute(point)[1] == pytest.approx(np.linalg.slogdet(np.array(matrix))[1], abs=1e-7)
