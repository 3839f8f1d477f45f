"""The maps against scikit-learn, closed forms and the conditions of an optimum."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, logit

from hmeta.calibrate.levels import CannotFit
from hmeta.calibrate.logistic import fit_logistic
from hmeta.calibrate.maps import method, methods, read_method
from hmeta.core.errors import DataError
from hmeta.metrics.binning import bin_index
from hmeta.metrics.catalogue import measures

NAMES = ["beta", "histogram", "isotonic", "platt", "temperature"]
RISING = ["beta", "isotonic", "platt", "temperature"]
GRID = np.linspace(0, 1, 101)


def sample(n: int = 600, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Overconfident answers on the levels 0, 0.05 … 1, both ends used."""
    rng = np.random.default_rng(seed)
    p = rng.binomial(20, 0.75, n) / 20
    p[:6] = [0, 0, 1, 1, 1, 1]
    return p, (rng.random(n) < 0.2 + 0.55 * p).astype(float)


def expected(levels: np.ndarray, truth: np.ndarray, n: float = 40) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows whose share of right answers at each level is exactly the truth."""
    return np.tile(levels, 2), np.repeat([1.0, 0.0], len(levels)), np.concatenate([n * truth, n * (1 - truth)])


def test_every_file_of_the_folder_is_a_map_with_a_sentence():
    assert list(methods()) == NAMES
    assert all(m.words.startswith(("Platt", m.words[0].lower())) for m in methods().values())


@pytest.mark.parametrize("name", NAMES)
def test_counts_as_weights_equal_repeated_rows_in_any_order(name):
    p, y = sample()
    counted, number = np.unique(np.column_stack([p, y]), axis=0, return_counts=True)
    order = np.random.default_rng(1).permutation(len(p))
    whole = method(name).fit(p, y)
    for other in (method(name).fit(*counted.T, number), method(name).fit(p[order], y[order])):
        assert method(name).apply(other, GRID) == pytest.approx(method(name).apply(whole, GRID), abs=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_weightless_rows_change_nothing(name):
    p, y = sample()
    more = method(name).fit([*p, 0.31, 0.99], [*y, 1, 0], [*np.ones(len(p)), 0, 0])
    assert method(name).apply(more, GRID) == pytest.approx(method(name).apply(method(name).fit(p, y), GRID), abs=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_outputs_are_probabilities_and_parameters_survive_json(name):
    parameters = method(name).fit(*sample())
    value = method(name).apply(parameters, GRID)
    assert value.shape == GRID.shape
    assert np.all((value >= 0) & (value <= 1))
    read = json.loads(json.dumps(parameters, allow_nan=False))
    assert np.array_equal(method(name).apply(read, GRID), value)


@pytest.mark.parametrize("name", RISING)
@pytest.mark.parametrize("seed", range(5))
def test_maps_that_rise_never_fall(name, seed):
    value = method(name).apply(method(name).fit(*sample(80, seed)), GRID)
    assert np.all(np.diff(value) >= -1e-15)


@pytest.mark.parametrize("name", ["beta", "platt", "temperature"])
def test_calibrated_confidence_is_left_alone(name):
    levels = np.array([0.15, 0.3, 0.55, 0.8, 0.95])
    value = method(name).apply(method(name).fit(*expected(levels, levels)), GRID[1:-1])
    assert value == pytest.approx(GRID[1:-1], abs=1e-9)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("p", "y", "reason"),
    [
        ([], [], "no answers"),
        ([0.2, 0.8, 0.9], [1, 1, 1], "no wrong answers"),
        ([0.2, 0.8, 0.9], [0, 0, 0], "no right answers"),
        ([0.7] * 4, [1, 0, 1, 1], "one confidence level used"),
    ],
)
def test_what_has_no_fit_is_refused_with_its_reason(name, p, y, reason):
    with pytest.raises(CannotFit) as refused:
        method(name).fit(p, y)
    assert refused.value.what == reason


@pytest.mark.parametrize("name", NAMES)
def test_what_is_no_probability_is_refused(name):
    for p, y in [([0.5, 1.2], [0, 1]), ([0.5, np.nan], [0, 1]), ([0.5, 0.6], [0, 2]), ([0.5, 0.6], [1])]:
        with pytest.raises(DataError):
            method(name).fit(p, y)


@pytest.mark.parametrize("name", ["beta", "isotonic(ties=raw)", "platt", "temperature"])
def test_auroc2_stays_where_no_ties_are_made(name):
    p, y = sample()
    chosen, options = read_method(name)
    parameters = chosen.fit(p, y, **options)
    inside = (p > 0) & (p < 1)
    auroc2 = measures()["auroc2"]
    after = chosen.apply(parameters, p[inside])
    assert len(np.unique(after)) == len(np.unique(p[inside]))
    assert auroc2(after, y[inside]) == pytest.approx(auroc2(p[inside], y[inside]), abs=1e-12)


# Platt


def test_platt_is_unpenalised_logistic_regression():
    from sklearn.linear_model import LogisticRegression

    p, y = sample()
    found = method("platt").fit(p, y)
    x = logit(np.clip(p, found["edge"], 1 - found["edge"]))[:, None]
    other = LogisticRegression(C=np.inf, tol=1e-12, max_iter=10_000).fit(x, y)
    assert (found["slope"], found["intercept"]) == pytest.approx((other.coef_[0, 0], other.intercept_[0]), abs=1e-6)


def test_platt_meets_two_levels_exactly():
    p, y = np.repeat([0.6, 0.9], [10, 20]), np.repeat([0, 1, 0, 1], [7, 3, 8, 12]).astype(float)
    assert method("platt").apply(method("platt").fit(p, y), [0.6, 0.9]) == pytest.approx([0.3, 0.6], abs=1e-10)


def test_platt_turns_the_order_round_where_surer_is_wronger():
    p, y, n = expected(np.array([0.2, 0.5, 0.8]), np.array([0.8, 0.5, 0.2]))
    found = method("platt").fit(p, y, n)
    assert (found["slope"], found["intercept"]) == pytest.approx((-1, 0), abs=1e-9)


@pytest.mark.parametrize("flip", [False, True])
def test_platt_refuses_an_infinite_slope_and_smoothing_mends_it(flip):
    p = np.repeat([0.2, 0.8], [3, 5])
    y = np.repeat([0.0, 1.0], [3, 5])
    y = 1 - y if flip else y
    with pytest.raises(CannotFit, match=r"best slope is infinite") as refused:
        method("platt").fit(p, y)
    assert refused.value.mend == "use platt(smoothing=true)"
    value = method("platt").apply(method("platt").fit(p, y, smoothing=True), [0.2, 0.8])
    targets = [4 / 5, 1 / 7] if flip else [1 / 5, 6 / 7]
    assert value == pytest.approx(targets, abs=1e-9)


# temperature


def test_temperature_has_a_closed_form_on_two_symmetric_levels():
    p, y, n = expected(np.array([0.1, 0.9]), np.array([0.3, 0.7]))
    assert method("temperature").fit(p, y, n)["temperature"] == pytest.approx(logit(0.9) / logit(0.7), rel=1e-10)


def test_temperature_meets_the_condition_of_its_optimum():
    p, y = sample()
    found = method("temperature").fit(p, y)
    x = logit(np.clip(p, found["edge"], 1 - found["edge"]))
    assert x @ (y - expit(x / found["temperature"])) == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize(
    ("p", "y", "reason"),
    [
        ([0.8, 0.9, 0.8, 0.9], [0, 0, 0, 1], "temperature is infinite"),
        ([0.8, 0.9, 0.1, 0.5, 0.5], [1, 1, 0, 1, 0], "temperature is 0"),
        ([0.5, 0.5, 0.5 + 1e-17, 0.5], [1, 0, 1, 0], "one confidence level used"),
    ],
)
def test_temperature_without_a_finite_optimum_is_refused(p, y, reason):
    with pytest.raises(CannotFit, match=reason):
        method("temperature").fit(p, y)


# isotonic


@pytest.mark.parametrize("seed", range(4))
def test_isotonic_agrees_with_scikit_learn(seed):
    from sklearn.isotonic import IsotonicRegression

    p, y = sample(60, seed)
    w = np.random.default_rng(seed).integers(1, 5, 60)
    other = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(p, y, sample_weight=w)
    mine = method("isotonic").apply(method("isotonic").fit(p, y, w), GRID)
    assert mine == pytest.approx(other.predict(GRID), abs=1e-12)


def test_isotonic_pools_neighbours_in_the_wrong_order():
    found = method("isotonic").fit([0.2, 0.4, 0.4, 0.6, 0.6, 0.9], [0, 1, 1, 0, 1, 1])
    assert found["knots"] == [0.2, 0.4, 0.6, 0.9]
    assert found["values"] == pytest.approx([0, 0.75, 0.75, 1])
    assert method("isotonic").apply(found, [0.0, 0.3, 0.5, 1.0]) == pytest.approx([0, 0.375, 0.75, 1])


def test_breaking_ties_moves_no_output_by_more_than_the_tilt():
    p, y = sample()
    plain, tilted = (method("isotonic").fit(p, y, ties=ties) for ties in ("keep", "raw"))
    assert tilted["tilt"] == 1e-3
    gap = method("isotonic").apply(tilted, GRID) - method("isotonic").apply(plain, GRID)
    assert np.abs(gap).max() <= 1e-3
    # Single precision, as on disk, keeps the order too.
    assert len(np.unique(method("isotonic").apply(tilted, GRID).astype(np.float32))) == len(GRID)


# histogram


def test_histogram_by_hand():
    p = [0.05, 0.1, 0.1, 0.75, 0.8, 0.8, 0.85, 1.0]
    y = [0, 0, 1, 1, 1, 0, 1, 0]
    found = method("histogram").fit(p, y)
    # Bins [0, 0.1), [0.1, 0.2), [0.7, 0.8), [0.8, 0.9), [0.9, 1]; the empty ones join the next lower.
    assert found["values"] == pytest.approx([0, 1 / 2, 1, 2 / 3, 0])
    assert found["counts"] == [1, 2, 1, 3, 1]
    assert found["edges"] == pytest.approx([0.1, 0.7, 0.8, 0.9])
    assert method("histogram").apply(found, [0, 0.3, 0.7, 0.71, 0.8, 0.81, 1]) == pytest.approx(
        [0, 1 / 2, 1, 1, 2 / 3, 2 / 3, 0]
    )


@pytest.mark.parametrize("bins", [3, 7, 10, 15])
def test_histogram_bins_are_those_of_the_ece(bins):
    p, y = GRID, (np.arange(101) % 3 == 0).astype(float)
    found = method("histogram").fit(p, y, bins=bins)
    assert found["counts"] == list(np.bincount(bin_index(p, bins)))


def test_histogram_of_equal_mass_never_divides_a_level():
    p, y = np.repeat([0.5, 0.8, 0.9, 1.0], [10, 50, 20, 20]), np.tile([1.0, 0.0, 1.0, 1.0], 25)
    found = method("histogram").fit(p, y, bins=4, mass="equal_mass")
    assert sum(found["counts"]) == 100
    assert set(found["counts"]) <= {10, 50, 20, 40, 60}
    assert all(edge not in p for edge in found["edges"])


def test_histogram_with_one_bin_is_the_base_rate():
    p, y = sample()
    assert method("histogram").apply(method("histogram").fit(p, y, bins=1), GRID) == pytest.approx(y.mean())


# beta


def gradient_of_beta(found: dict, p: np.ndarray, y: np.ndarray) -> np.ndarray:
    s = np.clip(p, found["edge"], 1 - found["edge"])
    features = np.column_stack([np.log(s), -np.log(1 - s), np.ones_like(s)])
    return features.T @ (y - expit(features @ [found["a"], found["b"], found["c"]]))


@pytest.mark.parametrize("seed", range(12))
def test_beta_meets_the_conditions_of_a_bounded_optimum(seed):
    rng = np.random.default_rng(seed)
    p = rng.choice([0.0, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 1.0], 150)
    y = (rng.random(150) < 0.5 + 0.3 * rng.standard_normal() * (p - 0.6)).astype(float)
    found = method("beta").fit(p, y)
    gradient = gradient_of_beta(found, p, y)
    for name, slope in zip("ab", gradient[:2], strict=True):
        assert found[name] >= 0
        if found[name] > 0:
            assert slope == pytest.approx(0, abs=1e-6)
        else:
            assert slope <= 1e-6
    assert gradient[2] == pytest.approx(0, abs=1e-6)


def test_some_of_these_fits_stop_at_a_bound_and_some_inside():
    at_bound = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        p = rng.choice([0.0, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 1.0], 150)
        y = (rng.random(150) < 0.5 + 0.3 * rng.standard_normal() * (p - 0.6)).astype(float)
        found = method("beta").fit(p, y)
        at_bound.append(int(found["a"] == 0) + int(found["b"] == 0))
    assert {0, 1, 2} >= set(at_bound)
    assert len(set(at_bound)) > 1


def test_beta_is_the_base_rate_where_surer_is_wronger():
    p, y, n = expected(np.array([0.2, 0.5, 0.8]), np.array([0.8, 0.5, 0.4]))
    found = method("beta").fit(p, y, n)
    assert (found["a"], found["b"]) == (0, 0)
    assert method("beta").apply(found, GRID) == pytest.approx(1.7 / 3, abs=1e-10)


def test_beta_finds_its_own_parameters():
    levels = np.array([0.05, 0.2, 0.4, 0.6, 0.8, 0.9, 0.99])
    truth = expit(0.4 * np.log(levels) - 1.7 * np.log(1 - levels) - 0.6)
    found = method("beta").fit(*expected(levels, truth))
    assert (found["a"], found["b"], found["c"]) == pytest.approx((0.4, 1.7, -0.6), abs=1e-7)


def test_beta_asks_for_three_levels_and_some_overlap():
    with pytest.raises(CannotFit, match="two confidence levels"):
        method("beta").fit([0.6, 0.9, 0.6, 0.9], [0, 1, 1, 0])
    with pytest.raises(CannotFit, match="best slope is infinite"):
        method("beta").fit([0.2, 0.4, 0.6, 0.9], [0, 0, 1, 1])


# the edge of logits


@pytest.mark.parametrize("name", ["beta", "platt", "temperature"])
def test_certainty_is_moved_by_a_stated_rule_and_counted(name):
    p, y = np.repeat([0.0, 0.5, 0.7, 0.9, 1.0], 20), np.tile([1.0, 0.0, 1.0, 1.0, 0.0], 20)
    found = method(name).fit(p, y)
    assert found["edge"] == 1 / 200
    assert found["n_at_edge"] == 40
    assert np.isfinite(logit(method(name).apply(found, [0.0, 1.0]))).all()
    assert method(name).fit(p, y, edge=0.05)["edge"] == 0.05


def test_the_chosen_edge_stays_outside_all_other_levels():
    p, y = [0.0, 0.0, 0.3, 0.5, 0.999, 1.0, 1.0], [0, 1, 1, 0, 1, 1, 0]
    found = method("platt").fit(p, y)
    assert found["edge"] == pytest.approx(0.0005)
    value = method("platt").apply(found, np.unique(p))
    assert np.all(np.diff(value) > 0)


@pytest.mark.parametrize("edge", [-0.1, 0.5, 0.7])
def test_an_impossible_edge_is_refused(edge):
    with pytest.raises(DataError, match="option edge"):
        method("platt").fit(*sample(), edge=edge)


# the solver


@pytest.mark.parametrize("seed", range(6))
def test_the_solver_beats_or_meets_scipy(seed):
    rng = np.random.default_rng(seed)
    features = np.column_stack([rng.normal(size=(12, 2)) @ [[1, 0.98], [0, 0.2]], np.ones(12)])
    total = rng.integers(1, 30, 12).astype(float)
    right = rng.binomial(total.astype(int), 0.5).astype(float)
    lower = np.array([0.0, 0.0, -np.inf])

    def loss(c):
        line = features @ c
        return float(total @ np.logaddexp(0, line) - right @ line)

    other = minimize(loss, np.zeros(3), method="L-BFGS-B", bounds=[(0, None), (0, None), (None, None)])
    mine = fit_logistic(features, right, total, lower)
    assert np.all(mine >= lower)
    assert loss(mine) <= other.fun + 1e-9


# words


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("bta", 'Did you mean "beta"'),
        ("platt(smooth=true)", 'Did you mean "smoothing"'),
        ("platt(smoothing=1)", "true or false"),
        ("histogram(mass=equal)", "equal_width, equal_mass"),
        ("histogram(bins=2.5)", "a whole number"),
        ("beta.fit", "names no measure"),
    ],
)
def test_unknown_maps_and_options_are_refused(text, match):
    with pytest.raises(DataError, match=match):
        read_method(text)


def test_options_are_read_from_words():
    chosen, options = read_method("histogram(bins=15, mass=equal_mass)")
    assert (chosen.name, options) == ("histogram", {"bins": 15, "mass": "equal_mass"})


@pytest.mark.parametrize("bins", [0, 1001, 10**9])
def test_numbers_of_bins_that_the_ece_refuses_are_refused(bins):
    with pytest.raises(DataError, match=r"option bins[\s\S]*1 to 1000"):
        method("histogram").fit(*sample(), bins=bins)
