"""Weighted correlations against SciPy on expanded rows."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from scipy import stats

from hmeta.metrics.rank_correlation import average_ranks, kendall_tau_b, pearson, spearman, varies

OURS = {"pearson": pearson, "spearman": spearman, "kendall": kendall_tau_b}
THEIRS = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}


def drawn(seed: int, rows: int = 40, levels: tuple[int, int] = (7, 4)) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    x = random.integers(0, levels[0], rows) / 10
    y = np.round(x + random.integers(0, levels[1], rows), 1)
    return x, y, random.integers(0, 5, rows).astype(float)


@pytest.mark.parametrize("name", OURS)
@pytest.mark.parametrize("seed", range(5))
def test_weights_are_repeated_rows(name, seed):
    x, y, w = drawn(seed)
    expanded = (np.repeat(x, w.astype(int)), np.repeat(y, w.astype(int)))
    assert OURS[name](x, y, w) == pytest.approx(THEIRS[name](*expanded).statistic, abs=1e-12)


@pytest.mark.parametrize("name", OURS)
def test_many_weights_at_once_are_one_after_another(name):
    x, y, _ = drawn(8)
    w = np.random.default_rng(1).integers(0, 4, (2, 30, len(x))).astype(float)
    found = OURS[name](x, y, w)
    assert found.shape == (2, 30)
    single = [[OURS[name](x, y, one) for one in block] for block in w]
    np.testing.assert_allclose(found, single, atol=1e-13)


@pytest.mark.parametrize("name", OURS)
def test_columns_without_ties(name):
    random = np.random.default_rng(3)
    x = random.normal(size=300)
    y = x + random.normal(size=300)
    assert OURS[name](x, y, np.ones(300)) == pytest.approx(THEIRS[name](x, y).statistic, abs=1e-12)


@pytest.mark.parametrize("name", OURS)
def test_order_and_exchange_change_nothing(name):
    x, y, w = drawn(4)
    order = np.random.default_rng(0).permutation(len(x))
    value = OURS[name](x, y, w)
    assert OURS[name](x[order], y[order], w[order]) == pytest.approx(value, abs=1e-13)
    assert OURS[name](y, x, w) == pytest.approx(value, abs=1e-13)
    assert OURS[name](x, -y, w) == pytest.approx(-value, abs=1e-13)


@pytest.mark.parametrize("name", OURS)
def test_a_column_of_one_value_is_undefined_by_replicate(name):
    x = np.array([0.1, 0.1, 0.7])
    y = np.array([1.0, 2.0, 3.0])
    w = np.array([[1.0, 3.0, 0.0], [1.0, 0.0, 1.0], [0.0, 0.0, 0.0]])
    assert np.isnan(OURS[name](x, y, w)).tolist() == [True, False, True]
    assert np.isnan(OURS[name](np.empty(0), np.empty(0), np.empty((2, 0)))).all()


def test_values_far_from_zero_lose_no_digits():
    x, y, w = drawn(5)
    assert pearson(x + 1e6, y - 1e6, w) == pytest.approx(pearson(x, y, w), abs=1e-8)


def test_kendall_by_hand():
    # Pairs: (1,1)<(2,2) +, (1,1)-(2,1) tie, (2,2)-(2,1) tie, (3,1): tie with (1,1) and (2,1), − with (2,2).
    x, y = np.array([1.0, 2, 2, 3]), np.array([1.0, 2, 1, 1])
    assert kendall_tau_b(x, y, np.ones(4)) == pytest.approx((1 - 1) / np.sqrt(5 * 3), abs=1e-15)
    x, y = np.array([1.0, 2, 3]), np.array([1.0, 2, 2])
    assert kendall_tau_b(x, y, np.ones(3)) == pytest.approx(2 / np.sqrt(3 * 2), abs=1e-15)


def test_average_ranks_by_hand():
    ranks = average_ranks(np.array([5.0, 1.0, 5.0, 9.0]), np.array([1.0, 2.0, 1.0, 1.0]))
    np.testing.assert_allclose(ranks + 0.5, [3.5, 1.5, 3.5, 5.0])


def test_varies_names_the_column():
    columns = {"score": np.array([1.0, 2.0])}
    assert varies("score")(columns, np.array([1.0, 0.0])) == "score takes one value only"
    assert varies("score")(columns, np.array([1.0, 1.0])) == ""


@pytest.mark.parametrize("rows", [3, 60, 400])
def test_both_ways_to_count_pairs_agree(rows, monkeypatch):
    x, y, w = drawn(6, rows, levels=(5, 40))
    weights = np.stack([w, np.ones(rows)])
    found = []
    for factor in (0, 10**9):
        monkeypatch.setattr("hmeta.metrics.rank_correlation.BIT_IS_SLOWER", factor)
        found.append(kendall_tau_b(x, y, weights))
    np.testing.assert_allclose(found[1], found[0], atol=1e-12)


def test_a_hundred_thousand_distinct_values_are_quick_and_exact():
    random = np.random.default_rng(2)
    x = random.normal(size=100_000)
    y = x + random.normal(size=100_000)
    tracemalloc.start()
    value = kendall_tau_b(x, y, np.ones(100_000))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert value == pytest.approx(stats.kendalltau(x, y).statistic, abs=1e-12)
    assert peak < 100e6
