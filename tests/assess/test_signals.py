"""Signals by hand, and against a plain search over windows."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from hmeta.assess.signals import geometric_mean_probability, p_true, resampled_confidence
from hmeta.core.errors import DataError

NAN = np.nan


def plain_search(scores: list[float], epsilon: float) -> tuple[float, float]:
    """Return share and mean of the densest window, tried from every score, by the stated rule for ties."""
    given = sorted(scores)
    windows = []
    for start in given:
        inside = [s for s in given if start <= s <= start + 2 * epsilon + 1e-9]
        mean = float(np.mean(inside))
        windows.append((-len(inside), round(inside[-1] - inside[0], 9), round(abs(mean - np.median(given)), 9), mean))
    best = min(windows)
    return -best[0] / len(given), best[3]


def test_resampled_by_hand():
    found = resampled_confidence([[3, 3.5, 4, 1], [1, 2, 4, 4.5], [7, 7, 7, 7]], epsilon=0.5)
    np.testing.assert_allclose(found.confidence, [0.75, 0.5, 1.0])
    np.testing.assert_allclose(found.score, [3.5, 4.25, 7.0])
    assert found.n_inside.tolist() == [3, 2, 4]


def test_ties_between_windows():
    # As many in each: the narrower one; as narrow: the one nearer to the median; as near: the lower one.
    found = resampled_confidence([[1, 2, 5, 5.5, NAN], [1, 2, 5, 6, 6.4], [1, 2, 8, 9, NAN]], epsilon=0.5)
    np.testing.assert_allclose(found.score, [5.25, 6.2, 1.5])
    found = resampled_confidence([[1, 2, 5, 6, 9.5]], epsilon=0.5)
    np.testing.assert_allclose(found.score, [5.5])


def test_the_window_is_closed_whatever_the_rounding():
    assert 0.3 - 0.1 < 0.2 < 1.1 - 0.9
    found = resampled_confidence([[0.1, 0.3], [0.9, 1.1]], epsilon=0.1)
    assert found.confidence.tolist() == [1.0, 1.0]


def test_epsilon_of_zero_is_the_most_frequent_score():
    found = resampled_confidence([[4, 2, 4, 3, 4], [1, 2, 3, 4, 5]], epsilon=0)
    np.testing.assert_allclose(found.confidence, [0.6, 0.2])
    np.testing.assert_allclose(found.score, [4, 3])


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 1.25])
def test_a_plain_search_agrees(epsilon):
    random = np.random.default_rng(3)
    table = np.round(random.normal(5, 2, (200, 7)) * 2) / 2
    table[random.uniform(size=table.shape) < 0.15] = NAN
    found = resampled_confidence(table, epsilon)
    for row, share, mean in zip(table, found.confidence, found.score, strict=True):
        given = row[np.isfinite(row)].tolist()
        if len(given) >= 2:
            np.testing.assert_allclose([share, mean], plain_search(given, epsilon), atol=1e-12)
        else:
            assert np.isnan(share)


def test_order_of_repeats_changes_nothing():
    row = [1.0, 2.0, 2.4, 6.0, 6.1]
    found = resampled_confidence(list(itertools.permutations(row)), epsilon=0.3)
    assert len(set(found.score)) == 1


def test_fewer_than_two_scores_have_no_confidence():
    found = resampled_confidence([[4, NAN], [NAN, NAN], [4, 4]], epsilon=1)
    assert np.isnan(found.confidence).tolist() == np.isnan(found.score).tolist() == [True, True, False]
    assert found.n_scores.tolist() == [1, 0, 2]
    assert found.n_inside.tolist() == [0, 0, 2]
    for shape in ((0, 3), (0, 0), (2, 0)):
        assert len(resampled_confidence(np.zeros(shape), 1).score) == shape[0]


def test_blocks_of_items_agree_with_one(monkeypatch):
    table = np.random.default_rng(1).normal(size=(50, 6))
    whole = resampled_confidence(table, 0.4)
    monkeypatch.setattr("hmeta.assess.signals.BLOCK", 100)
    np.testing.assert_array_equal(resampled_confidence(table, 0.4).score, whole.score)


@pytest.mark.parametrize("epsilon", [-0.1, NAN, np.inf])
def test_an_impossible_width_is_refused(epsilon):
    with pytest.raises(DataError, match="epsilon is no width"):
        resampled_confidence([[1, 2]], epsilon)


def test_impossible_scores_are_refused():
    with pytest.raises(DataError, match="one row an item"):
        resampled_confidence([1, 2], 1)
    with pytest.raises(DataError, match="1 scores are infinite"):
        resampled_confidence([[1, np.inf]], 1)


def test_geometric_mean_by_hand():
    tokens = np.log([[0.5, 0.125], [0.9, 0.1]])
    tokens[1, 1] = NAN
    np.testing.assert_allclose(geometric_mean_probability(tokens), [0.25, 0.9])
    np.testing.assert_allclose(geometric_mean_probability([np.log(0.5 * 0.125), np.log(0.9)], [2, 1]), [0.25, 0.9])


def test_geometric_mean_without_tokens_is_undefined():
    found = geometric_mean_probability([-1.0, 0.0, NAN, -np.inf], [2, 0, 3, 4])
    np.testing.assert_allclose(found, [np.exp(-0.5), NAN, NAN, 0.0])
    assert np.isnan(geometric_mean_probability([[NAN, NAN]])).all()


def test_probabilities_in_place_of_logarithms_are_refused():
    with pytest.raises(DataError, match="no logarithms of probabilities"):
        geometric_mean_probability([[0.5, 0.2]])
    with pytest.raises(DataError, match="no logarithms of probabilities"):
        p_true([0.9], [0.1])
    with pytest.raises(DataError, match="not whole numbers"):
        geometric_mean_probability([-1.0], [1.5])
    with pytest.raises(DataError, match="differ in shape"):
        geometric_mean_probability([-1.0], [1, 2])
    assert geometric_mean_probability([[1e-9, -1e-9]]) == pytest.approx(1.0)


def test_p_true_by_hand():
    true = [np.log(0.6), np.log(0.1), NAN, -np.inf, -1.0, -np.inf, -2000.0]
    false = [np.log(0.2), np.log(0.1), -1.0, -1.0, -np.inf, -np.inf, -1000.0]
    np.testing.assert_allclose(p_true(true, false), [0.75, 0.5, NAN, 0.0, 1.0, NAN, 0.0], atol=1e-12)
