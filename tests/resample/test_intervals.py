"""Percentile and BCa intervals against SciPy and against their coverage."""

import numpy as np
import pytest
from scipy import stats

from hmeta.resample.design import design
from hmeta.resample.intervals import bca, percentile

RNG = np.random.default_rng(5)
SAMPLE = np.sort(RNG.exponential(size=40))


def mean_of(weights):
    return weights @ SAMPLE / weights.sum(axis=-1)


def drawn(size):
    built = design(np.arange(40), np.ones(40), 40)
    return built, mean_of(np.concatenate(list(built.replicates(np.random.default_rng(3), size))))


@pytest.mark.parametrize(("kind", "method"), [("percentile", "percentile"), ("bca", "BCa")])
def test_intervals_agree_with_scipy(kind, method):
    # Both ends are quantiles of 40,000 resamples: their simulation error is below 0.01 (five standard errors).
    built, replicates = drawn(40_000)
    if kind == "bca":
        ((without, n),) = built.jackknife(np.random.default_rng(1))
        ours = bca(replicates, SAMPLE.mean(), 0.95, mean_of(without), n)
    else:
        ours = percentile(replicates, SAMPLE.mean(), 0.95)
    theirs = stats.bootstrap(
        (SAMPLE,), np.mean, n_resamples=40_000, method=method, rng=np.random.default_rng(4), vectorized=True
    ).confidence_interval
    assert ours.lower == pytest.approx(theirs.low, abs=0.01)
    assert ours.upper == pytest.approx(theirs.high, abs=0.01)
    assert ours.standard_error == pytest.approx(SAMPLE.std() / np.sqrt(40), rel=0.03)


def test_undefined_replicates_are_counted_not_used():
    found = percentile(np.array([0.1, np.nan, 0.2, 0.3]), 0.2, 0.5)
    assert found.n_defined == 3
    assert 0.1 <= found.lower <= found.upper <= 0.3


def test_no_estimate_no_interval():
    assert np.isnan(percentile(np.array([0.1, 0.2]), np.nan, 0.95).lower)
    assert percentile(np.full(5, np.nan), 0.1, 0.95).n_defined == 0


def test_bca_has_no_ends_where_all_resamples_lie_on_one_side():
    found = bca(np.array([0.2, 0.3, 0.4]), 0.1, 0.95, np.array([0.1, 0.11]), np.array([3, 4]))
    assert np.isnan(found.lower)
    assert np.isnan(found.upper)
    assert found.bias == pytest.approx(0.2)


def test_infinite_replicates_keep_their_place():
    assert percentile(np.array([1.0, 2.0, np.inf, np.inf]), 1.0, 0.5).upper == np.inf
