"""Measures of judges, by hand and against scikit-learn and SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import balanced_accuracy_score

from hmeta.core.errors import DataError
from hmeta.metrics import judges
from hmeta.metrics.catalogue import measures

TRUTH = np.array([0.0, 0, 0, 1, 1, 1])
P = np.array([0.1, 0.4, 0.6, 0.6, 0.7, 0.9])
VERDICT = np.array([0.0, 0, 1, 1, 1, 1])


def test_balanced_accuracy_by_hand():
    assert judges.prediction_balanced_accuracy(TRUTH, VERDICT) == pytest.approx((2 / 3 + 1) / 2)
    # Best: 1 from 0.6 on (2/3, 1), or from 0.7 on (1, 2/3): both 5/6.
    assert judges.oracle_balanced_accuracy(TRUTH, P) == pytest.approx(5 / 6)
    assert judges.op_gap(TRUTH, VERDICT, P) == pytest.approx(0.0)
    strict = (P >= 0.8).astype(float)
    assert judges.op_gap(TRUTH, strict, P) == pytest.approx(5 / 6 - (1 + 1 / 3) / 2)


def test_the_oracle_never_falls_below_one_half():
    assert judges.oracle_balanced_accuracy(TRUTH, 1 - P) == pytest.approx(0.5)
    assert judges.oracle_balanced_accuracy(TRUTH, np.full(6, 0.7)) == pytest.approx(0.5)


def test_the_oracle_is_the_best_of_all_thresholds():
    random = np.random.default_rng(4)
    truth = random.integers(0, 2, 200)
    p = np.round(np.clip(0.3 * truth + random.uniform(size=200) * 0.7, 0, 1), 2)
    best = max(balanced_accuracy_score(truth, p >= t) for t in [*np.unique(p), 2.0])
    assert judges.oracle_balanced_accuracy(truth, p) == pytest.approx(best)
    verdict = p >= 0.5
    assert judges.prediction_balanced_accuracy(truth, verdict) == pytest.approx(balanced_accuracy_score(truth, verdict))
    curve = judges.balanced_accuracy_curve(truth, p)
    assert curve["balanced_accuracy"].max() == pytest.approx(best)
    assert curve["balanced_accuracy"][[0, -1]].tolist() == [0.5, 0.5]


def test_debate_stress_by_hand():
    truth = np.tile(TRUTH, 2)
    verdict = np.concatenate([VERDICT, 1 - VERDICT])
    debate = np.repeat([0.0, 1.0], 6)
    alone = (2 / 3 + 1) / 2
    assert judges.debate_stress(truth, verdict, debate) == pytest.approx(alone - (1 - alone))
    assert judges.debate_stress(truth, np.tile(VERDICT, 2), debate) == pytest.approx(0.0)


def test_debate_must_be_zero_or_one():
    odd = np.array([0.0, 1, 2, 0, 1, 0])
    columns = {"stimulus": TRUTH, "response": VERDICT, "debate": odd}
    assert judges.debate_stress.why_undefined(columns, np.ones(6)) == "debate holds values other than 0 and 1"
    assert np.isnan(judges.debate_stress(TRUTH, VERDICT, odd))


def test_spread_by_hand():
    assert judges.spread(np.arange(10) / 10 + 0.05) == pytest.approx(1.0)
    assert judges.spread(np.full(7, 0.95)) == pytest.approx(np.sqrt(1 / 10))
    # A quarter in the first bin of four, three quarters in the last.
    assert judges.spread(np.array([0.0, 1, 1, 0.9]), bins=4) == pytest.approx(np.sqrt(1 / 16) + np.sqrt(3 / 16))
    with pytest.raises(DataError, match="number of bins"):
        judges.spread(P, bins=0)


def test_adaptive_ece_is_about_class_one():
    # Two bins of three: p 0.1, 0.4, then 0.6 (a tie that stays together, with middle 0.5), 0.7, 0.9.
    value = judges.judge_aece(np.array([0.1, 0.2, 0.3, 0.7, 0.8, 0.9]), TRUTH, bins=2)
    assert value == pytest.approx(0.2)
    assert judges.judge_aece(np.array([0.0, 0, 0, 1, 1, 1]), TRUTH) == pytest.approx(0.0)


def test_kendall_agrees_with_scipy():
    random = np.random.default_rng(6)
    label = random.integers(1, 6, 300).astype(float)
    p = np.round(np.clip(label / 6 + random.normal(size=300) / 5, 0, 1), 1)
    verdict = (p >= 0.5).astype(float)
    assert judges.kendall_probability(p, label) == pytest.approx(stats.kendalltau(p, label).statistic)
    assert judges.kendall_verdict(verdict, label) == pytest.approx(stats.kendalltau(verdict, label).statistic)


def cards() -> list[str]:
    return [name for name, card in measures().items() if card.family == "judges"]


COLUMNS = {
    "stimulus": np.array([0.0, 0, 1, 1, 0, 1]),
    "response": np.array([0.0, 1, 1, 0, 1, 1]),
    "p_positive": np.array([0.2, 0.6, 0.9, 0.4, 0.6, 0.7]),
    "label": np.array([1.0, 2, 5, 3, 1, 4]),
    "debate": np.array([0.0, 1, 0, 1, 0, 1]),
}


@pytest.mark.parametrize("name", cards())
def test_undefined_exactly_where_a_need_says_so(name):
    card = measures()[name]
    chosen = {key: COLUMNS[key] for key in card.columns}
    random = np.random.default_rng(0)
    weights = [np.zeros(6), np.ones(6), *np.eye(6), *random.integers(0, 2, (60, 6)).astype(float)]
    for w in weights:
        assert np.isnan(card(*chosen.values(), weights=w)) == bool(card.why_undefined(chosen, w)), w


@pytest.mark.parametrize("name", cards())
def test_weights_are_repeated_rows_and_batches_loops(name):
    card = measures()[name]
    values = [COLUMNS[key] for key in card.columns]
    w = np.random.default_rng(1).integers(0, 4, (40, 6)).astype(float)
    batch = card(*values, weights=w)
    for one, weight in zip(batch, w, strict=True):
        rows = np.repeat(np.arange(6), weight.astype(int))
        np.testing.assert_allclose(card(*(v[rows] for v in values)), one, atol=1e-12)


def test_names():
    assert set(cards()) == {
        "prediction_balanced_accuracy",
        "oracle_balanced_accuracy",
        "op_gap",
        "debate_stress",
        "judge_aece",
        "spread",
        "kendall_probability",
        "kendall_verdict",
    }
