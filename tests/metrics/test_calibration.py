"""Calibration errors against worked examples, scikit-learn, statsmodels and loops."""

from __future__ import annotations

import numpy as np
import pytest

from hmeta.core.errors import DataError
from hmeta.metrics.calibration import (
    adaptive_ece,
    ece,
    ece_bins,
    max_calibration_error,
    overconfidence,
    reliability,
    rms_calibration_error,
)

BINNED = (ece, max_calibration_error, rms_calibration_error)


def from_levels(*levels: tuple[float, int, int]):
    """Return probability, correct and weights of (confidence, answers, right)."""
    p = np.repeat([level[0] for level in levels], 2)
    correct = np.tile([1.0, 0.0], len(levels))
    weights = np.array([w for _, n, right in levels for w in (right, n - right)], dtype=float)
    return p, correct, weights


def drawn(seed: int, n: int = 400, step: int | None = 20):
    """Return answers whose confidence is 0.1 too high."""
    rng = np.random.default_rng(seed)
    p = rng.random(n) if step is None else rng.integers(0, step + 1, n) / step
    return p, (rng.random(n) < np.clip(p - 0.1, 0, 1)).astype(float)


@pytest.mark.parametrize("options", [{}, {"edges": "left"}, {"mass": "equal_mass"}, {"bins": 15}, {"bins": 50}])
@pytest.mark.parametrize(
    ("levels", "expected"),
    [
        ([(0.9, 50, 40), (0.7, 30, 21), (0.5, 20, 12)], 0.07),
        ([(0.9, 40, 30), (0.7, 40, 28), (0.5, 20, 12)], 0.08),
        ([(0.95, 100, 70)], 0.25),
    ],
    ids=["worked bins", "system A", "system B"],
)
def test_worked_examples(levels, expected, options):
    p, correct, weights = from_levels(*levels)
    assert ece(p, correct, weights=weights, **options) == pytest.approx(expected, abs=1e-12)


def test_worked_bins_in_the_other_measures():
    p, correct, weights = from_levels((0.9, 50, 40), (0.7, 30, 21), (0.5, 20, 12))
    assert max_calibration_error(p, correct, weights=weights) == pytest.approx(0.1, abs=1e-12)
    assert rms_calibration_error(p, correct, weights=weights) == pytest.approx(np.sqrt(0.007), abs=1e-12)
    assert overconfidence(p, correct, weights=weights) == pytest.approx(0.03, abs=1e-12)
    assert adaptive_ece(p, correct, weights=weights) == pytest.approx(0.07, abs=1e-12)


@pytest.mark.parametrize("step", [20, None])
@pytest.mark.parametrize("bins", [5, 10, 15])
def test_bins_are_those_of_scikit_learn(step, bins):
    calibration = pytest.importorskip("sklearn.calibration")
    p, correct = drawn(4, step=step)
    accuracy, confidence = calibration.calibration_curve(correct, p, n_bins=bins)
    found = reliability(p, correct, bins=bins, edges="right")
    if step is None or bins == 10:  # elsewhere its edges differ from k/B in the last digit, and ties fall either way
        np.testing.assert_allclose(found["accuracy"], accuracy, atol=1e-12)
        np.testing.assert_allclose(found["confidence"], confidence, atol=1e-12)
    expected = np.sum(found["n"] * np.abs(found["accuracy"] - found["confidence"])) / 400
    assert ece(p, correct, bins=bins, edges="right") == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("bins", [4, 10, 20])
def test_equal_mass_bins_are_the_quantile_bins_of_scikit_learn_without_ties(bins):
    calibration = pytest.importorskip("sklearn.calibration")
    p, correct = drawn(5, step=None)
    accuracy, confidence = calibration.calibration_curve(correct, p, n_bins=bins, strategy="quantile")
    found = reliability(p, correct, bins=bins, mass="equal_mass")
    np.testing.assert_allclose(found["accuracy"], accuracy, atol=1e-12)
    np.testing.assert_allclose(found["confidence"], confidence, atol=1e-12)
    assert found["n"].tolist() == [400 / bins] * bins


@pytest.mark.parametrize("measure", [*BINNED, adaptive_ece, overconfidence], ids=lambda m: m.name)
@pytest.mark.parametrize("mass", ["equal_width", "equal_mass"])
def test_weights_are_repeated_rows_and_a_batch_is_a_loop(measure, mass):
    rng = np.random.default_rng(6)
    p, correct = drawn(6, n=30)
    weights = rng.integers(0, 5, (2, 4, 30)).astype(float)
    options = {"mass": mass, "bins": 6} if measure in BINNED else {}
    batch = measure(p, correct, weights=weights, **options)
    assert batch.shape == (2, 4)
    for at in np.ndindex(2, 4):
        rows = np.repeat(np.arange(30), weights[at].astype(int))
        assert batch[at] == pytest.approx(measure(p[rows], correct[rows], **options), abs=1e-12)


def test_the_adaptive_error_is_the_one_of_equal_mass():
    p, correct = drawn(7)
    assert adaptive_ece(p, correct, bins=7) == ece(p, correct, bins=7, mass="equal_mass")


def test_order_of_the_errors_and_the_bound_of_one_bin():
    for seed in range(20):
        p, correct = drawn(seed, n=60)
        low, middle, high = (float(m(p, correct)) for m in (ece, rms_calibration_error, max_calibration_error))
        assert abs(overconfidence(p, correct)) <= low + 1e-12
        assert low <= middle + 1e-12 <= high + 2e-12
        assert ece(p, correct, bins=1) == pytest.approx(abs(overconfidence(p, correct)), abs=1e-12)


def test_no_answers_are_undefined_for_every_replicate_of_them():
    for measure in (*BINNED, adaptive_ece, overconfidence):
        found = measure([0.9, 0.4], [1, 0], weights=[[0, 0], [1, 1]])
        assert np.isnan(found).tolist() == [True, False]
        assert measure.why_undefined({"probability": np.ones(2)}, np.zeros(2)) == "no answers"


def test_reliability_by_hand():
    p, correct, weights = from_levels((0.9, 50, 40), (0.7, 30, 21), (0.5, 20, 12))
    found = reliability(p, correct, weights=weights)
    assert found["lower"] == pytest.approx([0.5, 0.7, 0.9])
    assert found["upper"] == pytest.approx([0.6, 0.8, 1.0])
    assert found["n"].tolist() == [20, 30, 50]
    assert found["confidence"] == pytest.approx([0.5, 0.7, 0.9], abs=1e-12)
    assert found["accuracy"] == pytest.approx([0.6, 0.7, 0.8], abs=1e-12)
    assert reliability(p, correct, weights=weights, edges="right")["lower"] == pytest.approx([0.4, 0.6, 0.8])


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_reliability_intervals_are_those_of_statsmodels(level):
    proportion = pytest.importorskip("statsmodels.stats.proportion")
    p, correct, weights = from_levels((0.9, 50, 50), (0.7, 30, 21), (0.5, 20, 0))
    found = reliability(p, correct, weights=weights, level=level)
    low, high = proportion.proportion_confint([0, 21, 50], [20, 30, 50], 1 - level, method="wilson")
    np.testing.assert_allclose(found["accuracy_lower"], low, atol=1e-9)
    np.testing.assert_allclose(found["accuracy_upper"], high, atol=1e-9)


def test_equal_mass_reliability_gives_the_confidences_a_bin_holds():
    p, correct, weights = from_levels((0.2, 10, 5), (0.3, 0, 0), (0.4, 10, 5), (0.8, 10, 5), (0.9, 10, 5))
    found = reliability(p, correct, weights=weights, bins=2, mass="equal_mass")
    assert found["lower"].tolist() == [0.2, 0.8]
    assert found["upper"].tolist() == [0.4, 0.9]
    assert found["n"].tolist() == [20, 20]


def test_equal_mass_limits_match_a_slow_search():
    p, correct = drawn(8, n=97)
    found = reliability(p, correct, bins=6, mass="equal_mass")
    start = 0
    for n, lower, upper in zip(found["n"], found["lower"], found["upper"], strict=True):
        inside = np.sort(p)[start : start + int(n)]
        assert (lower, upper) == (inside[0], inside[-1])
        start += int(n)
    assert start == 97


def test_curves_without_answers_have_no_points():
    assert all(len(column) == 0 for column in reliability([], []).values())
    assert np.isnan(ece_bins([], [])["equal_width"]).all()


@pytest.mark.parametrize("level", [0.0, 1.0])
def test_unusable_interval_levels_are_refused(level):
    with pytest.raises(DataError, match="level"):
        reliability([0.5], [1], level=level)


def test_ece_by_number_of_bins_is_ece_called_with_each():
    p, correct = drawn(9)
    table = ece_bins(p, correct, edges="left")
    assert table["bins"].tolist() == [5, 10, 15, 20, 30, 50]
    for i, bins in enumerate((5, 10, 15, 20, 30, 50)):
        for mass in ("equal_width", "equal_mass"):
            assert table[mass][i] == ece(p, correct, bins=bins, mass=mass, edges="left")
    assert table["occupied_width"].tolist() == [
        5,
        10,
        15,
        20,
        21,
        21,
    ]  # of 21 levels, 1.0 shares one with 0.95 up to 20
    assert (np.diff(table["occupied_mass"]) >= 0).all()
