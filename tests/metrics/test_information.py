"""Metacognitive information against scikit-learn, closed forms and simulated evidence."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit
from sklearn.metrics import mutual_info_score

from hmeta.metrics.information import h_correct, information_of, meta_i, meta_i1r, meta_i2r
from hmeta.metrics.tally import Tally
from tests.metrics.rating_rows import S1, S2, mafc_rows, rows_of

ROWS = rows_of(S1, S2)


def test_meta_i_is_the_mutual_information_of_scikit_learn():
    times = ROWS.count.astype(int)
    outside = mutual_info_score(np.repeat(ROWS.confidence, times), np.repeat(ROWS.correct, times)) / np.log(2.0)
    assert meta_i(ROWS.confidence, ROWS.correct, weights=ROWS.count) == pytest.approx(outside, abs=1e-12)


def test_perfect_confidence_tells_everything():
    assert meta_i([1, 0], [1, 0], weights=[30, 10]) == pytest.approx(float(h_correct([1, 0], weights=[30, 10])))
    assert meta_i2r([1, 0], [1, 0], weights=[30, 10]) == pytest.approx(1.0, abs=1e-12)
    assert str(h_correct([1, 1])) == "0.0"


def test_jackknife_leaves_out_one_answer_at_a_time():
    conf, correct = np.array([1, 1, 2, 2, 3, 3, 3, 1.0]), np.array([0, 1, 1, 0, 1, 1, 1, 0.0])
    n = len(conf)
    left_out = [float(meta_i(np.delete(conf, i), np.delete(correct, i))) for i in range(n)]
    by_hand = n * float(meta_i(conf, correct)) - (n - 1) * np.mean(left_out)
    assert meta_i(conf, correct, correction="jackknife") == pytest.approx(by_hand, abs=1e-12)


def test_miller_madow_by_hand():
    """Three levels, two outcomes and five occupied cells: (3 + 2 - 5 - 1)/(2 · 20 ln 2)."""
    conf, correct, w = [1, 1, 2, 2, 3], [0, 1, 0, 1, 1], [4, 2, 3, 5, 6]
    shift = float(meta_i(conf, correct, weights=w, correction="miller_madow") - meta_i(conf, correct, weights=w))
    assert shift == pytest.approx(-1.0 / (40.0 * np.log(2.0)), abs=1e-14)


def test_corrections_take_the_bias_away_without_metacognition():
    """11 levels, 300 answers, no information: plug-in +0.026 bit, miller_madow a third, jackknife under 0.003."""
    p = np.concatenate([0.3 * np.full(11, 1 / 11), 0.7 * np.full(11, 1 / 11)])
    x = np.random.default_rng(0).multinomial(300, p, size=3000).astype(float)
    t = Tally(np.arange(11.0), x[:, :11], x[:, 11:])
    bias = {name: float(information_of(t, name).mean()) for name in ("none", "miller_madow", "jackknife")}
    assert bias["none"] == pytest.approx(10 / (600 * np.log(2)), abs=2e-3)
    assert abs(bias["jackknife"]) < 3e-3
    assert abs(bias["miller_madow"]) < bias["none"] / 3


def test_fine_ratings_of_an_ideal_binary_observer_reach_one():
    """400,000 answers with d = 1.5 and confidence in 60 levels; miller_madow leaves less than 2 %."""
    rng = np.random.default_rng(2)
    n = 400_000
    stimulus = np.arange(n) % 2
    x = rng.normal((stimulus - 0.5) * 1.5)
    level = np.minimum(np.floor(np.abs(x) * 20), 59)
    outcome = 2.0 * stimulus + (x > 0)
    found = meta_i1r(outcome, np.zeros(n), level, correction="miller_madow")
    assert found == pytest.approx(1.0, abs=0.02)


@pytest.mark.parametrize("noise", ["gumbel", "normal"])
def test_fine_ratings_of_an_ideal_mafc_observer_reach_one(noise):
    """400,000 answers among four with d = 2 and the gap in 60 levels; within 3 %."""
    rng = np.random.default_rng(3)
    x = (rng.gumbel if noise == "gumbel" else rng.normal)(size=(400_000, 4))
    x[:, 0] += 2.0
    top = np.sort(x, axis=1)
    level = np.minimum(np.floor((top[:, 3] - top[:, 2]) * 12), 59)
    right = (x.argmax(axis=1) == 0).astype(float)
    found = meta_i1r(right, np.full(len(x), 4.0), level, noise=noise, correction="miller_madow")
    assert found == pytest.approx(1.0, abs=0.03)


def test_gumbel_pairs_are_the_logistic_closed_form():
    """Of two, P(right | gap t) = 1/(1 + e^(-d)) … by quadrature on a fine grid (1e-6)."""
    d = 1.2
    t = np.linspace(0.0, 40.0, 400_001)
    right, wrong = expit(d - t) * expit(t - d), expit(-t - d) * expit(t + d)
    total, share = right + wrong, right / (right + wrong)
    entropy = -(share * np.log2(share) + (1 - share) * np.log2(np.maximum(1 - share, 1e-300)))
    a = expit(d)
    ideal = -(a * np.log2(a) + (1 - a) * np.log2(1 - a)) - np.trapezoid(total * entropy, t)
    count = 10_000 * np.array([1 - a, a])
    rows, weights = mafc_rows([count[0], 0], [0, count[1]], 2)
    h = float(h_correct([0, 1], weights=count))
    assert meta_i1r(*rows, weights=weights) == pytest.approx(h / ideal, rel=1e-6)


def test_batches_are_loops():
    weights = np.random.default_rng(3).multinomial(60, ROWS.count / ROWS.count.sum(), size=8).astype(float)
    for correction in ("none", "miller_madow", "jackknife"):
        batch = meta_i1r(*ROWS.rating, weights=weights, correction=correction)
        loop = [float(meta_i1r(*ROWS.rating, weights=w, correction=correction)) for w in weights]
        np.testing.assert_allclose(batch, loop, atol=1e-12)
