"""Power-scaling sensitivity against posteriors that are known in closed form."""

from __future__ import annotations

import json

import numpy as np
import pytest
import xarray as xr
from scipy import integrate, stats

from hmeta.core.errors import DataError
from hmeta.infer.criteria_prior import log_criteria_priors, read_steps
from hmeta.infer.power_scale import pareto_k, shifts
from hmeta.infer.prior_density import describe_prior, distribution, lkj_log_density, log_priors
from hmeta.infer.prior_sensitivity import judge, prior_sensitivity, sum_log_likelihood, worst_verdicts
from hmeta.spec.plan import Prior
from tests.infer.synthetic_fit import fit_tree, group

CHAINS, DRAWS = 4, 2500
DATA = np.array([1.3, 0.7, 1.6, 1.1, 0.9, 1.4, 1.8, 1.2])
SIGMA = 1.0

SPEC = """
schema = "1"
[likelihood]
name = "mafc"
[parameters.M]
link = "identity"
formula = "1"
[parameters.criteria]
pooling = "{pooling}"
formula = "1 | model"
[priors]
{priors}
"""


def normal_posterior(
    loc: float, scale: float, prior_power: float = 1.0, data_power: float = 1.0
) -> tuple[float, float]:
    """Return mean and sd of a normal mean with known variance, each component raised to a power."""
    precision = prior_power / scale**2 + data_power * len(DATA) / SIGMA**2
    mean = (prior_power * loc / scale**2 + data_power * DATA.sum() / SIGMA**2) / precision
    return mean, precision**-0.5


def conjugate_fit(loc: float, scale: float) -> xr.DataTree:
    """Return a fit of one M, the mean of `DATA`, drawn from its exact posterior."""
    mean, sd = normal_posterior(loc, scale)
    M = mean + sd * np.random.default_rng(3).standard_normal((CHAINS, DRAWS))
    priors = f'"M.Intercept" = {{ family = "normal", loc = {loc}, scale = {scale} }}'
    terms = {
        "link": "identity",
        "common": [{"name": "Intercept", "variable": "M_Intercept", "levels": [""]}],
        "groups": [],
    }
    tree = fit_tree(
        np.stack([M, M], axis=-1),
        {"model": ["ant", "bee"]},
        extra={"M_Intercept": xr.DataArray(M, dims=("chain", "draw"))},
        terms=terms,
        attributes={"spec": SPEC.format(priors=priors, pooling="none")},
    )
    likelihood = stats.norm(M[..., None], SIGMA).logpdf(DATA)
    tree["log_likelihood"] = xr.Dataset({"outcome": (("chain", "draw", "cell"), likelihood)})
    return tree


def moments(draws: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    mean = float((weights * draws).sum())
    return mean, float(np.sqrt((weights * (draws - mean) ** 2).sum()))


@pytest.mark.parametrize("alpha", [0.8, 1.25])
@pytest.mark.parametrize("component", ["prior", "likelihood"])
def test_weighted_draws_have_the_moments_of_the_scaled_posterior(alpha: float, component: str):
    tree = conjugate_fit(0.0, 0.4)
    density = log_priors(tree)["M"] if component == "prior" else sum_log_likelihood(tree)
    draws = np.asarray(tree["posterior"]["M_Intercept"].values)
    weights = np.exp((alpha - 1.0) * (density - density.max()))
    mean, sd = moments(draws, weights / weights.sum())
    powers = {"prior_power": alpha} if component == "prior" else {"data_power": alpha}
    exact = normal_posterior(0.0, 0.4, **powers)
    # 10,000 independent draws: standard errors 0.010 sd and 0.007 sd, a little more with weights; four of them.
    assert mean == pytest.approx(exact[0], abs=0.05 * exact[1])
    assert sd == pytest.approx(exact[1], rel=0.04)
    assert abs(exact[0] - normal_posterior(0.0, 0.4)[0]) > 0.1 * exact[1]  # there is something to see


def test_shift_is_the_derivative_of_the_posterior_mean():
    tree = conjugate_fit(0.0, 0.4)
    draws, step = np.asarray(tree["posterior"]["M_Intercept"].values), 1e-5
    found = shifts(draws[None], log_priors(tree)["M"])[0]
    up, down = (normal_posterior(0.0, 0.4, prior_power=2.0**h)[0] for h in (step, -step))
    assert found == pytest.approx((up - down) / (2 * step), rel=0.06)


def exact_sensitivity(loc: float, scale: float) -> float:
    """Return the distance for each doubling of the prior's power, by quadrature over the normal posteriors."""
    base = stats.norm(*normal_posterior(loc, scale))

    def distance(alpha: float) -> float:
        other = stats.norm(*normal_posterior(loc, scale, prior_power=alpha))

        def side(p, q) -> float:
            def integrand(x: float) -> float:
                a, b = p(x), q(x)
                return a * np.log2(2 * a / (a + b)) + (b - a) / (2 * np.log(2)) if a > 1e-300 else b / (2 * np.log(2))

            return integrate.quad(integrand, *base.interval(1 - 2e-4), limit=200, epsabs=1e-12)[0]

        def one(p, q) -> float:
            mass = sum(integrate.quad(f, *base.interval(1 - 2e-4))[0] for f in (p, q))
            return np.sqrt((side(p, q) + side(q, p)) / mass)

        return max(one(base.cdf, other.cdf), one(base.sf, other.sf))

    return (distance(0.99) / -np.log2(0.99) + distance(1.01) / np.log2(1.01)) / 2


@pytest.mark.parametrize(("loc", "scale"), [(0.0, 0.4), (1.0, 0.5)])
def test_sensitivity_is_the_distance_between_the_exact_posteriors(loc: float, scale: float):
    found = prior_sensitivity(conjugate_fit(loc, scale))
    row = found[(found["scaled"] == "prior of M") & (found["quantity"] == "M_Intercept")].iloc[0]
    assert row["pareto_k"] < 0.7
    # Ends of the range of 10,000 draws and their tails: a tenth.
    assert row["sensitivity"] == pytest.approx(exact_sensitivity(loc, scale), rel=0.1)


def test_a_strong_prior_in_conflict_is_flagged_and_a_weak_one_is_not():
    strong = worst_verdicts(prior_sensitivity(conjugate_fit(-1.0, 0.3)))
    weak = worst_verdicts(prior_sensitivity(conjugate_fit(1.0, 5.0)))
    assert set(strong["quantity"]) == {"average M", "M[ant]", "M[bee]", "M_Intercept"}
    assert (strong["verdict"] == "prior-data conflict").all()
    assert (weak["verdict"] == "–").all()
    assert (weak["likelihood_sensitivity"] > 0.05).all()
    assert judge(0.3, 0.01) == "weak likelihood / strong prior"
    assert judge(float("nan"), 0.3) == ""


def test_weights_with_a_heavy_tail_give_no_number():
    tree = conjugate_fit(0.0, 0.4)
    # To the power 0.01 the density is exp of an exponential number with mean 1.2: a Pareto tail with k = 1.2.
    heavy = 100.0 * np.random.default_rng(1).exponential(1.2, size=(CHAINS, DRAWS, 1))
    tree["log_likelihood"] = xr.Dataset({"outcome": (("chain", "draw", "cell"), heavy)})
    found = prior_sensitivity(tree)
    rows = found[found["scaled"] == "likelihood"]
    assert len(rows) == 4
    assert rows["sensitivity"].isna().all()
    np.testing.assert_allclose(rows["pareto_k"], 1.2, atol=0.3)
    assert rows["reason"].str.startswith("Pareto k ").all()
    assert (found.loc[found["scaled"] == "prior of M", "verdict"] == "").all()


@pytest.mark.parametrize(
    ("family", "arguments", "words"),
    [
        ("normal", {"loc": 0.8, "scale": 0.5}, "normal(0.8, 0.5)"),
        ("student_t", {"df": 3.0, "loc": 0.1, "scale": 2.0}, "Student t(3, 0.1, 2)"),
        ("half_normal", {"scale": 0.3}, "half-normal(0.3)"),
        ("half_student_t", {"df": 3.0, "scale": 0.7}, "half-Student t(3, 0.7)"),
        ("exponential", {"rate": 2.0}, "exponential(2)"),
        ("gamma", {"concentration": 2.0, "rate": 3.0}, "gamma(2, 3)"),
        ("lognormal", {"loc": -0.5, "scale": 0.6}, "lognormal(-0.5, 0.6)"),
        ("lkj", {"eta": 2.0}, "LKJ(2)"),
    ],
)
def test_each_family_against_its_formula(family: str, arguments: dict[str, float], words: str):
    x = np.array([0.05, 0.3, 0.9])
    a = arguments
    formula = {  # densities written out
        "normal": lambda: np.exp(-0.5 * ((x - a["loc"]) / a["scale"]) ** 2) / (a["scale"] * np.sqrt(2 * np.pi)),
        "student_t": lambda: 2 / (np.sqrt(3) * np.pi * 2.0) / (1 + ((x - 0.1) / 2.0) ** 2 / 3) ** 2,
        "half_normal": lambda: np.sqrt(2 / np.pi) / a["scale"] * np.exp(-0.5 * (x / a["scale"]) ** 2),
        "half_student_t": lambda: 2 * 2 / (np.sqrt(3) * np.pi * 0.7) / (1 + (x / 0.7) ** 2 / 3) ** 2,
        "exponential": lambda: 2 * np.exp(-2 * x),
        "gamma": lambda: 9 * x * np.exp(-3 * x),
        "lognormal": lambda: np.exp(-0.5 * ((np.log(x) + 0.5) / 0.6) ** 2) / (x * 0.6 * np.sqrt(2 * np.pi)),
        "lkj": lambda: 0.75 * (1 - x**2),
    }
    prior = Prior(family, arguments)
    found = distribution(prior)
    np.testing.assert_allclose(found.logpdf(x), np.log(formula[family]()), rtol=1e-12)
    assert describe_prior(prior) == words
    first = -np.inf if family in ("normal", "student_t") else -1.0 if family == "lkj" else 0.0
    last = 1.0 if family == "lkj" else np.inf
    mean, square = (integrate.quad(lambda t, k=k: t**k * np.exp(found.logpdf(t)), first, last)[0] for k in (1, 2))
    assert found.std() == pytest.approx(np.sqrt(square - mean**2), rel=1e-5)
    below = integrate.quad(lambda t: np.exp(found.logpdf(t)), first, found.ppf(0.97))[0]
    assert below == pytest.approx(0.97, abs=1e-6)


def test_half_student_t_is_nothing_below_0():
    assert distribution(Prior("half_student_t", {"df": 3.0, "scale": 1.0})).logpdf(-0.1) == -np.inf
    assert distribution(Prior("half_student_t", {"df": 2.0, "scale": 1.0})).std() == np.inf


def matrices(*correlations: float) -> np.ndarray:
    r12, r13, r23 = correlations
    return np.array([[1.0, r12, r13], [r12, 1.0, r23], [r13, r23, 1.0]])


@pytest.mark.parametrize("eta", [0.7, 1.0, 2.0, 4.5])
def test_lkj_of_two_has_a_beta_correlation(eta: float):
    r = np.array([-0.9, 0.0, 0.35])
    pairs = np.stack([np.array([[1.0, x], [x, 1.0]]) for x in r])
    np.testing.assert_allclose(lkj_log_density(pairs, eta), stats.beta(eta, eta, loc=-1, scale=2).logpdf(r), rtol=1e-10)


def test_lkj_of_three_integrates_to_one():
    # With eta = 2 the density is a polynomial in each correlation; Gauss-Legendre over the valid region.
    nodes, weights = np.polynomial.legendre.leggauss(40)
    total = 0.0
    for r12, w12 in zip(nodes, weights, strict=True):
        for r13, w13 in zip(nodes, weights, strict=True):
            half = np.sqrt((1 - r12**2) * (1 - r13**2))
            r23 = r12 * r13 + half * nodes
            each = np.exp(lkj_log_density(np.stack([matrices(r12, r13, x) for x in r23]), 2.0))
            total += w12 * w13 * half * (weights * each).sum()
    assert total == pytest.approx(1.0, abs=1e-4)


def test_log_prior_adds_up_terms_spreads_and_correlations():
    rng = np.random.default_rng(5)
    shape = (2, 50)
    slope, intercept = rng.normal(size=(*shape, 2)), rng.normal(size=shape)
    sd, r = np.abs(rng.normal(size=(*shape, 2))), rng.uniform(-0.9, 0.9, shape)
    correlation = np.broadcast_to(np.eye(2), (*shape, 2, 2)).copy()
    correlation[..., 0, 1] = correlation[..., 1, 0] = r
    draw = ("chain", "draw")
    extra = {
        "M_Intercept": xr.DataArray(intercept, dims=draw),
        "M_age": xr.DataArray(slope, dims=(*draw, "M_age_level")),
        "M_sd_model": xr.DataArray(sd, dims=(*draw, "k")),
        "M_cor_model": xr.DataArray(correlation, dims=(*draw, "k", "k_2")),
        "M_model": xr.DataArray(rng.normal(size=(*shape, 2, 2)), dims=(*draw, "llm", "k")),
    }
    common = [{"name": n, "variable": f"M_{n}", "levels": [""]} for n in ("Intercept", "age")]
    effects = group("model", sd="M_sd_model", effects="M_model", dim="llm", cor="M_cor_model")
    priors = """
    "M.Intercept" = { family = "normal", loc = 0.8, scale = 0.5 }
    "M.age" = { family = "student_t", df = 4.0, loc = 0.0, scale = 0.3 }
    "M.sd.model" = { family = "gamma", concentration = 2.0, rate = 4.0 }
    "M.cor.model" = { family = "lkj", eta = 3.0 }
    "criteria" = { family = "normal", loc = 0.0, scale = 1.0 }
    """
    tree = fit_tree(
        intercept[..., None],
        {"model": ["a"]},
        extra=extra,
        terms={"link": "identity", "common": common, "groups": [effects]},
        attributes={"spec": SPEC.format(priors=priors, pooling="none")},
    )
    found = log_priors(tree)
    expected = stats.norm(0.8, 0.5).logpdf(intercept) + stats.t(4, 0, 0.3).logpdf(slope).sum(-1)
    expected += stats.gamma(2, scale=0.25).logpdf(sd).sum(-1) + stats.beta(3, 3, loc=-1, scale=2).logpdf(r)
    assert list(found) == ["M"]
    np.testing.assert_allclose(found["M"], expected, rtol=1e-10)


CRITERIA = '"criteria" = {{ family = "normal", loc = {loc}, scale = 0.7 }}'
ANCHORED = CRITERIA + '\n"criteria.anchor" = {{ family = "normal", loc = 0.0, scale = 1.5 }}'


def laddered_fit(criteria: np.ndarray, groups: list[str], levels: list[float], **attributes) -> xr.DataTree:
    """Return a fit of two models with ladders; counts put half the answers of "a" below its second criterion."""
    counts = [(0, 0, 1.0, 20.0), (0, 1, 2.0, 30.0), (0, 1, 3.0, 50.0), (1, 0, 1.0, 60.0), (1, 1, 2.0, 40.0)]
    M = np.random.default_rng(2).standard_normal((*criteria.shape[:2], 2))
    tree = fit_tree(
        M,
        {"model": ["a", "b"]},
        extra={"criteria": xr.DataArray(criteria, dims=("chain", "draw", "criterion"))},
        counts=counts,
        attributes=attributes,
    )
    label = ("criterion", np.array(groups, dtype=object))
    outcomes = ("criterion", np.array(["wrong+correct"] * len(groups), dtype=object))
    tree["constant_data"] = xr.Dataset(
        coords={
            "criterion_group": label,
            "criterion_outcomes": outcomes,
            "criterion_level": ("criterion", np.array(levels)),
            "model": ("cell", np.array(["a", "b"])),
        }
    )
    return tree


def test_criteria_priors_are_on_log_gaps_from_0():
    rng = np.random.default_rng(4)
    gaps = np.exp(rng.normal(size=(2, 30, 3)))
    criteria = np.stack([gaps[..., 0], gaps[..., 0] + gaps[..., 1], gaps[..., 2]], axis=-1)
    spec = SPEC.format(priors=CRITERIA.format(loc=0.2), pooling="none")
    found = log_criteria_priors(laddered_fit(criteria, ["a", "a", "b"], [2.0, 3.0, 2.0], spec=spec))
    prior = stats.norm(0.2, 0.7)
    first = prior.logpdf(np.log(gaps[..., :2]) - np.log(2.5 / 3)).sum(-1)
    assert not isinstance(found, str)
    np.testing.assert_allclose(found["a"], first, rtol=1e-9)
    np.testing.assert_allclose(found["b"], prior.logpdf(np.log(gaps[..., 2]) - np.log(2.5 / 2)), rtol=1e-9)


def test_free_ladders_have_an_anchor():
    rng = np.random.default_rng(4)
    second, gap, only = rng.normal(size=(2, 30)), np.exp(rng.normal(size=(2, 30))), rng.normal(size=(2, 30))
    criteria = np.stack([second - gap, second, only], axis=-1)
    spec = SPEC.format(priors=ANCHORED.format(loc=0.0), pooling="none")
    tree = laddered_fit(criteria, ["a", "a", "b"], [2.0, 3.0, 2.0], spec=spec, criteria_above=-np.inf)
    found = log_criteria_priors(tree)
    assert not isinstance(found, str)
    anchor = stats.norm(0.0, 1.5)  # at the second criterion: 50 of 100 answers are below it, 2 of 3 levels
    expected = anchor.logpdf(second - stats.norm.ppf(2 / 3)) + stats.norm(0, 0.7).logpdf(np.log(gap) - np.log(2.5 / 3))
    np.testing.assert_allclose(found["a"], expected, rtol=1e-8)
    np.testing.assert_allclose(found["b"], anchor.logpdf(only - 0.0), rtol=1e-9)


def test_pooled_criteria_are_left_out_with_a_reason():
    spec = SPEC.format(priors=CRITERIA.format(loc=0.0), pooling="partial")
    steps = read_steps(laddered_fit(np.ones((2, 9, 3)), ["a", "a", "b"], [2.0, 3.0, 2.0], spec=spec))
    assert isinstance(steps, str)
    assert "pooled" in steps


def test_own_criteria_move_their_own_unit_only():
    rng = np.random.default_rng(8)
    log_gaps = rng.normal(size=(4, 1000, 3))
    gaps = np.exp(log_gaps)
    criteria = np.stack([gaps[..., 0], gaps[..., 0] + gaps[..., 1], gaps[..., 2]], axis=-1)
    spec = SPEC.format(priors=CRITERIA.format(loc=0.0), pooling="none")
    tree = laddered_fit(criteria, ["a", "a", "b"], [2.0, 3.0, 2.0], spec=spec)
    M = np.stack(
        [log_gaps[..., 0], rng.normal(size=(4, 1000))], axis=-1
    )  # M of "a" hangs on its first gap, "b" on none
    tree["posterior"] = tree["posterior"].to_dataset().assign(M=(("chain", "draw", "cell"), M))
    tree["log_likelihood"] = xr.Dataset({"outcome": (("chain", "draw", "cell"), rng.normal(size=(4, 1000, 1)))})
    found = prior_sensitivity(tree).set_index(["quantity", "scaled"])["sensitivity"]
    assert found["M[a]", "criteria priors of the unit"] > 0.1
    assert found["M[b]", "criteria priors of the unit"] < 0.05
    assert found["average M", "criteria priors of all units"] > 0.05


def test_pareto_k_of_even_weights_is_small():
    assert pareto_k(np.random.default_rng(1).standard_normal((4, 1000))) < 0.5


def test_what_is_missing_is_said():
    tree = conjugate_fit(0.0, 0.4)
    del tree["log_likelihood"]
    with pytest.raises(DataError, match="log likelihoods, which power-scaling needs"):
        prior_sensitivity(tree)
    bare = fit_tree(np.ones((2, 10, 1)), {}, attributes={"options": json.dumps({})})
    with pytest.raises(DataError, match="does not hold its specification"):
        log_priors(bare)
