"""The shared cases about calibration, proper scores, scale use and abstention; the number in a name is the case's."""

from __future__ import annotations

import numpy as np
import pytest

from hmeta.core.errors import DataError
from hmeta.metrics.binning import bin_sums
from hmeta.metrics.calibration import adaptive_ece, ece, max_calibration_error, overconfidence, rms_calibration_error
from hmeta.metrics.discrimination import auroc2
from hmeta.metrics.performance import accuracy
from hmeta.metrics.proper import brier, brier_reliability, brier_resolution, brier_uncertainty, log_score, n_outputs
from hmeta.metrics.scale_use import ceiling_rate, distinct_values, top1_share, top1_value
from hmeta.metrics.selective import abstention_rate, aurc, excess_aurc, missing_confidence_rate
from hmeta.metrics.smooth import smooth_ece

ERRORS = (ece, adaptive_ece, max_calibration_error, rms_calibration_error, overconfidence, smooth_ece)
SCORES = (brier, brier_reliability, brier_resolution, log_score)


def test_bug_06_perfect_accuracy_keeps_its_calibration():
    # 4, 3, 2, 1 of four levels as shares of the scale 1–4; all 100 answers right
    confidence, correct = np.array([4.0, 3, 3, 4]), np.ones(4)
    probability, weights = (confidence - 1) / 3, np.array([30.0, 20, 20, 30])
    assert np.isnan(auroc2(confidence, correct, weights=weights))
    assert auroc2.why_undefined({"confidence": confidence, "correct": correct}, weights) == "no wrong answers"
    assert accuracy(correct, weights=weights) == 1
    assert brier(probability, correct, weights=weights) == pytest.approx(0.4 / 9, abs=1e-12)
    assert ece(probability, correct, weights=weights) == pytest.approx(0.4 / 3, abs=1e-12)
    assert aurc(confidence, correct, weights=weights) == 0


def test_bug_28_seventy_percent_at_the_ceiling():
    reported = np.array([100.0, 90, 80])
    weights = np.array([70.0, 20, 10])
    sums = bin_sums(reported / 100, np.ones(3), weights, 4, "equal_mass")
    assert sums.weight.tolist() == [30, 0, 70, 0]  # middles of ranks 0.05, 0.2 and 0.65: no value is split
    assert np.isnan(sums.gap).tolist() == [False, True, False, True]  # and an empty bin counts for nothing
    assert ece(reported / 100, np.ones(3), weights=weights, bins=4, mass="equal_mass") == pytest.approx(0.04)
    assert top1_value(reported, weights=weights) == 100
    assert top1_share(reported, weights=weights) == 0.7
    assert distinct_values(reported, weights=weights) == 3
    assert ceiling_rate(reported, np.full(3, 100.0), weights=weights) == 0.7


@pytest.mark.parametrize("measure", [*ERRORS, *SCORES], ids=lambda m: m.name)
def test_bug_32_percentages_where_shares_are_meant_are_refused(measure):
    with pytest.raises(DataError, match="outside 0 to 1") as refusal:
        measure([95, 90], [1, 0])
    assert "for example by 100" in str(refusal.value)


@pytest.mark.parametrize("edges", ["left", "right"])
def test_bug_36_certainty_gets_no_bin_of_its_own(edges):
    assert ece([0.95, 1.0], [1, 0], edges=edges) == pytest.approx(0.475, abs=1e-12)


def test_bug_38_values_on_an_edge_follow_the_stated_rule():
    probability, correct = [0.7] * 10 + [0.75] * 10, [1] * 9 + [0] + [1] * 6 + [0] * 4
    assert ece(probability, correct, edges="left") == pytest.approx(0.025, abs=1e-12)
    assert ece(probability, correct, edges="right") == pytest.approx(0.175, abs=1e-12)
    assert ece(probability, correct) == ece(probability, correct, edges="left")


@pytest.mark.parametrize("measure", [*ERRORS, *SCORES, aurc, excess_aurc], ids=lambda m: m.name)
def test_bug_41_nothing_is_no_perfect_score(measure):
    assert np.isnan(measure([], []))
    empty = dict.fromkeys(measure.columns, np.array([]))
    assert measure.why_undefined(empty, np.array([])) == "no answers"


def test_bug_41_nothing_in_measures_of_one_column():
    for measure in (brier_uncertainty, n_outputs, abstention_rate, distinct_values):
        assert np.isnan(measure([]))


@pytest.mark.parametrize("measure", [*ERRORS, *SCORES, aurc], ids=lambda m: m.name)
def test_bug_42_a_missing_confidence_is_refused(measure):
    with pytest.raises(DataError, match="missing or infinite"):
        measure([np.nan, 0.9], [1, 0])


def test_bug_43_the_view_of_the_answer_and_that_of_the_class():
    probability_of_yes, truth = np.array([0.2, 0.2]), np.array([0.0, 0.0])
    answer = (probability_of_yes > 0.5).astype(float)
    confidence = np.where(answer == 1, probability_of_yes, 1 - probability_of_yes)
    correct = (answer == truth).astype(float)
    assert confidence.tolist() == [0.8, 0.8]
    assert ece(confidence, correct) == pytest.approx(0.2, abs=1e-12)
    assert ece(probability_of_yes, truth) == pytest.approx(0.2, abs=1e-12)


def test_bug_49_correctness_and_confidence_alone():
    probability, correct = np.array([1.0, 1, 0.9, 0.9]), np.array([1.0, 0, 1, 0])
    weights = np.array([18.0, 2, 9, 11])
    assert accuracy(correct, weights=weights) == pytest.approx(0.675)
    assert auroc2(probability, correct, weights=weights) == pytest.approx(0.7564, abs=5e-5)
    assert brier(probability, correct, weights=weights) == pytest.approx(0.275, abs=1e-12)
    assert ece(probability, correct, weights=weights) == pytest.approx(0.275, abs=1e-12)
    assert ece(probability, correct, weights=weights, edges="left") == pytest.approx(0.275, abs=1e-12)
    assert smooth_ece(probability, correct, weights=weights) == pytest.approx(0.275, abs=1e-6)
    assert log_score(probability, correct, weights=weights) == np.inf


def test_bug_77_a_refusal_is_not_a_wrong_answer():
    # scores C, N: one right answer and one refusal; C, I: one right and one wrong
    assert abstention_rate([1, 0]) == 0.5
    assert abstention_rate([1, 1]) == 0
    assert accuracy([1]) == 1
    assert accuracy([1, 0]) == 0.5
    assert missing_confidence_rate([90, np.nan], [1, 0]) == 0  # the refusal owes no confidence
