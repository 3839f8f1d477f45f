"""Selective prediction against hand values and random orders of tied answers."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from hmeta.core.errors import DataError
from hmeta.metrics.selective import (
    abstention_rate,
    accuracy_at_coverage,
    aurc,
    coverage_at_risk,
    excess_aurc,
    missing_confidence_rate,
    risk_coverage,
)

TWO = (aurc, excess_aurc, accuracy_at_coverage, coverage_at_risk)


def area_of_order(wrong) -> float:
    return float(np.mean(np.cumsum(wrong) / np.arange(1, len(wrong) + 1)))


def mean_over_orders(confidence, correct, summary) -> float:
    """Average a statistic of the errors, surest first, over all orders of the answers of each level."""
    groups = [1 - correct[confidence == level] for level in np.unique(confidence)[::-1]]
    orders = itertools.product(*(itertools.permutations(group) for group in groups))
    return float(np.mean([summary(np.concatenate(order)) for order in orders]))


def drawn(seed: int, n: int, levels: int):
    rng = np.random.default_rng(seed)
    confidence = rng.integers(1, levels + 1, n).astype(float)
    return confidence, (rng.random(n) < 0.3 + 0.6 * confidence / levels).astype(float)


def test_area_by_hand():
    # errors among the surest 1, 2, 3, 4: 0, 1/2, 1/3, 2/4
    assert aurc([4, 3, 2, 1], [1, 0, 1, 0]) == pytest.approx((0 + 1 / 2 + 1 / 3 + 1 / 2) / 4, abs=1e-12)
    # the best order 1, 1, 0, 0: 0, 0, 1/3, 2/4
    assert excess_aurc([4, 3, 2, 1], [1, 0, 1, 0]) == pytest.approx((1 / 2) / 4, abs=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_tied_answers_count_as_the_mean_over_their_orders(seed):
    confidence, correct = drawn(seed, 8, 3)
    assert aurc(confidence, correct) == pytest.approx(mean_over_orders(confidence, correct, area_of_order), abs=1e-12)
    for coverage, n in ((0.25, 2), (0.5, 4), (0.875, 7), (1.0, 8)):
        expected = mean_over_orders(confidence, correct, lambda wrong, n=n: 1 - wrong[:n].mean())
        assert accuracy_at_coverage(confidence, correct, coverage=coverage) == pytest.approx(expected, abs=1e-12)


def test_many_answers_match_a_sample_of_random_orders():
    rng = np.random.default_rng(1)
    confidence, correct = drawn(1, 500, 5)
    areas = []
    for _ in range(2000):
        order = np.lexsort((rng.random(500), -confidence))
        areas.append(area_of_order(1 - correct[order]))
    error = np.std(areas) / np.sqrt(2000)
    assert abs(aurc(confidence, correct) - np.mean(areas)) < 4.5 * error  # false alarm rate 7e-6, seed fixed


def test_one_level_risks_the_error_rate_and_a_perfect_order_has_no_excess():
    assert aurc([5] * 10, [1] * 7 + [0] * 3) == pytest.approx(0.3, abs=1e-12)
    assert excess_aurc([2] * 7 + [1] * 3, [1] * 7 + [0] * 3) == pytest.approx(0.0, abs=1e-12)
    for outcome in (0, 1):
        assert aurc([1, 2, 2], [outcome] * 3) == pytest.approx(1 - outcome, abs=1e-12)
        assert excess_aurc([1, 2, 2], [outcome] * 3) == pytest.approx(0.0, abs=1e-12)


def test_large_counts_approach_the_integral_of_the_curve():
    # 60 % at the top with risk 0.1, then risk rises as the second level, wrong half of the time, is drawn in
    n = 1e7
    value = aurc([2, 2, 1, 1], [1, 0, 1, 0], weights=n * np.array([0.54, 0.06, 0.2, 0.2]))
    # ∫ over coverage x above 0.6 of (0.06 + 0.5 (x − 0.6))/x
    assert value == pytest.approx(0.06 + 0.5 * 0.4 + (0.06 - 0.3) * np.log(1 / 0.6), abs=1e-6)


@pytest.mark.parametrize("measure", TWO, ids=lambda m: m.name)
def test_weights_are_repeated_rows_and_a_batch_is_a_loop(measure):
    rng = np.random.default_rng(2)
    confidence, correct = drawn(2, 30, 6)
    weights = rng.integers(0, 4, (3, 2, 30)).astype(float)
    batch = measure(confidence, correct, weights=weights)
    for at in np.ndindex(3, 2):
        rows = np.repeat(np.arange(30), weights[at].astype(int))
        assert batch[at] == pytest.approx(measure(confidence[rows], correct[rows]), abs=1e-12)


@pytest.mark.parametrize("measure", TWO, ids=lambda m: m.name)
def test_only_the_order_of_the_confidences_matters(measure):
    confidence, correct = drawn(3, 60, 7)
    assert measure(np.exp(confidence) - 40, correct) == measure(confidence, correct)


def test_coverage_at_risk_by_hand():
    confidence, correct = [4, 4, 3, 3, 2, 2, 1, 1], [1, 1, 1, 0, 1, 1, 0, 0]
    # risks 0/2, 1/4, 1/6, 3/8: the curve dips below 0.2 again at the third level
    for risk, expected in ((0.0, 0.25), (0.2, 0.75), (0.25, 0.75), (0.3749, 0.75), (0.375, 1.0)):
        assert coverage_at_risk(confidence, correct, risk=risk) == expected
    assert coverage_at_risk([2, 2, 1], [1, 0, 1], risk=0.05) == 0


def test_risk_coverage_has_one_point_a_level():
    curve = risk_coverage([3, 3, 1, 1, 2], [1, 0, 0, 1, 1], weights=[1, 1, 1, 1, 0])
    assert {name: column.tolist() for name, column in curve.items()} == {
        "threshold": [3, 1],
        "coverage": [0.5, 1.0],
        "risk": [0.5, 0.5],
        "n_accepted": [2, 4],
    }
    assert all(len(column) == 0 for column in risk_coverage([], []).values())


def test_risk_at_full_coverage_is_the_error_rate():
    confidence, correct = drawn(4, 100, 9)
    assert risk_coverage(confidence, correct)["risk"][-1] == pytest.approx(1 - correct.mean(), abs=1e-12)
    assert accuracy_at_coverage(confidence, correct, coverage=1.0) == pytest.approx(correct.mean(), abs=1e-12)


def test_rates_of_abstentions_and_of_missing_confidence():
    reported, answered = [90, np.nan, np.nan, 50, np.nan], [1, 1, 0, 0, 1]
    assert abstention_rate(answered) == pytest.approx(0.4)
    assert missing_confidence_rate(reported, answered) == pytest.approx(2 / 3)
    weights = [[3, 1, 0, 0, 0], [0, 0, 1, 1, 0], [0, 0, 0, 0, 0]]
    assert abstention_rate(answered, weights=weights).tolist()[:2] == [0, 1]
    found = missing_confidence_rate(reported, answered, weights=weights)
    assert found[0] == 0.25
    assert np.isnan(found[1:]).all()
    columns = {"reported": np.array(reported), "answered": np.array(answered)}
    assert missing_confidence_rate.why_undefined(columns, np.array(weights[1])) == "no answers"
    assert abstention_rate.why_undefined(columns, np.array(weights[2])) == "no questions"


@pytest.mark.parametrize("measure", TWO, ids=lambda m: m.name)
def test_no_answers_are_undefined(measure):
    assert np.isnan(measure([], []))
    found = measure([2, 1], [1, 0], weights=[[0, 0], [1, 1]])
    assert np.isnan(found).tolist() == [True, False]


@pytest.mark.parametrize(
    ("measure", "option"),
    [
        (accuracy_at_coverage, {"coverage": 0}),
        (accuracy_at_coverage, {"coverage": 80}),
        (coverage_at_risk, {"risk": 5}),
    ],
)
def test_unusable_options_are_refused(measure, option):
    with pytest.raises(DataError, match="unusable"):
        measure([1, 2], [0, 1], **option)
