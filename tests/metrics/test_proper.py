"""Proper scores against hand values and scikit-learn; the parts of the Brier score against their sum."""

from __future__ import annotations

import numpy as np
import pytest

from hmeta.metrics.proper import (
    brier,
    brier_reliability,
    brier_resolution,
    brier_uncertainty,
    confidence_sd,
    log_score,
    n_outputs,
)

TWO = (brier, brier_reliability, brier_resolution, log_score)
ONE = (brier_uncertainty, n_outputs, confidence_sd)


def drawn(seed: int, n: int = 200, step: int | None = 20):
    rng = np.random.default_rng(seed)
    p = rng.random(n) if step is None else rng.integers(1, step, n) / step
    return p, (rng.random(n) < p**2).astype(float)


def test_worked_bins_by_hand():
    p, correct = np.repeat([0.9, 0.7, 0.5], 2), np.tile([1.0, 0.0], 3)
    weights = np.array([40.0, 10, 21, 9, 12, 8])
    # Brier: 40·0.01 + 10·0.81 + 21·0.09 + 9·0.49 + 20·0.25 = 19.8
    assert brier(p, correct, weights=weights) == pytest.approx(0.198, abs=1e-12)
    assert brier_reliability(p, correct, weights=weights) == pytest.approx(0.007, abs=1e-12)
    assert brier_uncertainty(correct, weights=weights) == pytest.approx(0.73 * 0.27, abs=1e-12)
    expected = 0.5 * 0.07**2 + 0.3 * 0.03**2 + 0.2 * 0.13**2
    assert brier_resolution(p, correct, weights=weights) == pytest.approx(expected, abs=1e-12)
    losses = 40 * np.log(0.9) + 10 * np.log(0.1) + 21 * np.log(0.7) + 9 * np.log(0.3) + 20 * np.log(0.5)
    assert log_score(p, correct, weights=weights) == pytest.approx(-losses / 100, abs=1e-12)
    assert n_outputs(p, weights=weights) == 3
    assert confidence_sd(p, weights=weights) == pytest.approx(np.sqrt(0.602 - 0.76**2), abs=1e-12)


@pytest.mark.parametrize("step", [5, 20, None])
def test_parts_add_up_to_the_score_and_the_score_is_that_of_scikit_learn(step):
    metrics = pytest.importorskip("sklearn.metrics")
    p, correct = drawn(1, step=step)
    parts = brier_reliability(p, correct) - brier_resolution(p, correct) + brier_uncertainty(correct)
    assert brier(p, correct) == pytest.approx(parts, abs=1e-12)
    assert brier(p, correct) == pytest.approx(metrics.brier_score_loss(correct, p), abs=1e-12)
    assert log_score(p, correct) == pytest.approx(metrics.log_loss(correct, p), abs=1e-12)


def test_parts_add_up_for_every_replicate():
    p, correct = drawn(2, n=40)
    weights = np.random.default_rng(2).multinomial(40, np.full(40, 1 / 40), 500).astype(float)
    parts = [m(p, correct, weights=weights) for m in (brier_reliability, brier_resolution)]
    total = parts[0] - parts[1] + brier_uncertainty(correct, weights=weights)
    np.testing.assert_allclose(brier(p, correct, weights=weights), total, atol=1e-12)


@pytest.mark.parametrize("mass", ["equal_width", "equal_mass"])
def test_binned_parts_miss_the_score_by_what_varies_within_bins(mass):
    p, correct = drawn(3, step=None)
    options = {"bins": 5, "mass": mass}
    parts = brier_reliability(p, correct, **options) - brier_resolution(p, correct, **options)
    index = np.floor(p * 5) if mass == "equal_width" else np.argsort(np.argsort(p)) // 40
    within = np.zeros(200)
    for b in range(5):
        inside = index == b
        dp, dc = p[inside] - p[inside].mean(), correct[inside] - correct[inside].mean()
        within[inside] = dp**2 - 2 * dp * dc
    assert brier(p, correct) == pytest.approx(parts + brier_uncertainty(correct) + within.mean(), abs=1e-12)


def test_bins_that_hold_one_level_each_give_the_exact_parts():
    p, correct = drawn(4, step=10)
    for measure in (brier_reliability, brier_resolution):
        assert measure(p, correct, bins=10) == pytest.approx(measure(p, correct), abs=1e-12)


@pytest.mark.parametrize("measure", [*TWO, *ONE], ids=lambda m: m.name)
def test_weights_are_repeated_rows_and_a_batch_is_a_loop(measure):
    rng = np.random.default_rng(5)
    p, correct = drawn(5, n=30)
    columns = {"probability": p, "correct": correct}
    given = [columns[name] for name in measure.columns]
    weights = rng.integers(0, 4, (3, 2, 30)).astype(float)
    batch = measure(*given, weights=weights)
    for at in np.ndindex(3, 2):
        rows = np.repeat(np.arange(30), weights[at].astype(int))
        assert batch[at] == pytest.approx(measure(*(c[rows] for c in given)), abs=1e-12)


def test_certain_and_wrong_is_infinite_and_certain_and_right_is_not():
    assert log_score([1.0, 0.5], [0, 1]) == np.inf
    assert log_score([0.0, 0.5], [1, 1]) == np.inf
    assert log_score([1.0, 0.0], [1, 0]) == 0
    assert log_score([1.0, 0.5], [0, 1], weights=[[0, 1], [1, 1]]).tolist() == [pytest.approx(np.log(2)), np.inf]


def test_a_constant_confidence_has_no_resolution_spread_or_second_output():
    p, correct = np.full(9, 0.7), np.array([1.0] * 6 + [0.0] * 3)
    assert brier_resolution(p, correct) == 0
    assert confidence_sd(p) == 0
    assert n_outputs(p) == 1
    assert brier(np.full(9, 6 / 9), correct) == pytest.approx(brier_uncertainty(correct), abs=1e-12)


def test_no_answers_are_undefined():
    for measure in (*TWO, *ONE):
        empty = [[] for _ in measure.columns]
        assert np.isnan(measure(*empty))
        found = measure(*([1.0, 0.0] for _ in measure.columns), weights=[[0, 0], [2, 1]])
        assert np.isnan(found).tolist() == [True, False]
