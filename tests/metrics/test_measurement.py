"""Measures of graded answers, by hand and against scikit-learn and SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import brier_score_loss, mean_absolute_error, root_mean_squared_error

from hmeta.core.errors import DataError
from hmeta.metrics import measurement
from hmeta.metrics.catalogue import measures, read_request

LABEL = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
SCORE = np.array([1.5, 2.0, 4.0, 3.4, 5.0])
SURE = np.array([0.9, 0.9, 0.6, 0.6, 0.9])


def test_tolerance_by_hand():
    assert measurement.tolerance_accuracy(SCORE, LABEL, epsilon=0) == pytest.approx(0.4)
    assert measurement.tolerance_accuracy(SCORE, LABEL, epsilon=0.5) == pytest.approx(0.6)
    assert measurement.tolerance_accuracy(SCORE, LABEL, epsilon=1) == pytest.approx(1.0)


def test_a_distance_on_the_edge_is_within():
    assert 1.1 - 0.9 > 0.2 > 0.3 - 0.1
    pairs = np.array([0.3, 0.7, 1.1, 0.8]), np.array([0.1, 0.5, 0.9, 0.6])
    assert measurement.tolerance_accuracy(*pairs, epsilon=0.2) == 1.0
    assert measurement.tolerance_accuracy(*pairs, epsilon=0.2 - 2e-9) == 0.0


def test_brier_and_ece_by_hand():
    # Within 0.5: yes, yes, no, no, yes. (0.1² · 3 + 0.6² · 2)/5; bins 0.9 (3, all within), 0.6 (2, none).
    assert measurement.tolerance_brier(SURE, SCORE, LABEL, epsilon=0.5) == pytest.approx((0.03 + 0.72) / 5)
    assert measurement.tolerance_ece(SURE, SCORE, LABEL, epsilon=0.5) == pytest.approx((3 * 0.1 + 2 * 0.6) / 5)
    one = measurement.tolerance_ece(SURE, SCORE, LABEL, epsilon=0.5, bins=1)
    assert one == pytest.approx(abs(0.6 - SURE.mean()))


def test_outside_libraries_agree():
    random = np.random.default_rng(2)
    label = random.integers(0, 5, 400).astype(float)
    score = np.round(label + random.normal(size=400), 1)
    sure = random.uniform(size=400)
    right = np.abs(score - label) <= 0.8 + 1e-9
    assert measurement.tolerance_brier(sure, score, label, epsilon=0.8) == pytest.approx(brier_score_loss(right, sure))
    assert measurement.mean_absolute_error(score, label) == pytest.approx(mean_absolute_error(label, score))
    assert measurement.rms_error_score(score, label) == pytest.approx(root_mean_squared_error(label, score))
    assert measurement.bias_score(score, label) == pytest.approx(score.mean() - label.mean())
    assert measurement.spearman_score(score, label) == pytest.approx(stats.spearmanr(score, label).statistic)
    assert measurement.pearson_score(score, label) == pytest.approx(stats.pearsonr(score, label).statistic)


def family() -> list[str]:
    return [name for name, card in measures().items() if card.family == "measurement"]


@pytest.mark.parametrize("name", family())
def test_undefined_exactly_where_a_need_says_so(name):
    card = measures()[name]
    options = {"epsilon": 0.5} if "epsilon" in card.options else {}
    columns = {"probability": SURE, "score": SCORE, "label": LABEL}
    chosen = {key: columns[key] for key in card.columns}
    for w in (np.zeros(5), np.eye(5)[0], np.array([1.0, 0, 0, 0, 1]), np.ones(5)):
        value = card(*chosen.values(), weights=w, **options)
        assert np.isnan(value) == bool(card.why_undefined(chosen, w)), w


def test_epsilon_must_be_given_and_not_negative():
    with pytest.raises(DataError, match="tolerance_accuracy needs epsilon"):
        read_request("tolerance_accuracy")
    assert read_request("tolerance_accuracy(epsilon=0.5)").options == {"epsilon": 0.5}
    with pytest.raises(DataError, match="epsilon is negative"):
        measurement.tolerance_accuracy(SCORE, LABEL, epsilon=-0.1)
