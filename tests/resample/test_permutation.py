"""Permutations: exact null distributions on small tables, and corrected p-values."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import stats

from hmeta.core.errors import DataError
from hmeta.resample.multiplicity import correct_p_values
from hmeta.resample.permutation import p_above, p_value, shuffle_groups, shuffle_outcomes, swap_pairs


def test_swapping_pairs_is_the_sign_test():
    # 10 pairs, the first condition right in 8, the second in 2: the difference in hits is 2k − 10, k ~ Binomial(10, ½).
    first = sp.csr_array(np.array([[1.0, 0.0], [0.0, 1.0]]))
    second = sp.csr_array(np.array([[0.0, 1.0], [1.0, 0.0]]))
    null = []
    for a, b in swap_pairs(np.random.default_rng(2), first, second, np.array([8, 2]), 20_000):
        assert (a + b == 10).all()
        null.append(a[:, 0] - b[:, 0])
    exact = stats.binomtest(8, 10).pvalue
    assert p_value(np.concatenate(null), 6.0) == pytest.approx(exact, abs=5 * np.sqrt(exact * (1 - exact) / 20_000))


def test_shuffling_groups_is_fishers_exact_test():
    first, second = np.array([8, 2]), np.array([3, 9])
    drawn = np.concatenate([a[:, 0] for a, _ in shuffle_groups(np.random.default_rng(3), first, second, 20_000)])
    exact = stats.fisher_exact(np.array([first, second]), alternative="greater").pvalue
    assert p_above(drawn, 8.0) == pytest.approx(exact, abs=5 * np.sqrt(exact / 20_000))


def test_shuffling_confidence_keeps_both_margins_and_gives_the_exact_mean():
    wrong, right = np.array([3, 1, 0]), np.array([1, 2, 5])
    pairs = list(shuffle_outcomes(np.random.default_rng(4), wrong, right, 5000))
    w, r = (np.concatenate([pair[i] for pair in pairs]) for i in (0, 1))
    assert (w + r == wrong + right).all()
    assert (r.sum(axis=1) == 8).all()
    assert r.mean(axis=0) == pytest.approx((wrong + right) * 8 / 12, abs=0.07)


def test_p_values_never_are_zero_and_count_the_data_themselves():
    assert p_value(np.zeros(99), 1.0) == pytest.approx(0.01)
    assert p_value(np.array([0.3, -0.3, 0.1]), 0.3) == pytest.approx(3 / 4)
    assert np.isnan(p_value(np.array([0.1]), np.nan))
    assert p_above(np.array([np.nan, 1.0, 3.0]), 2.0) == pytest.approx(2 / 3)


def test_corrections_by_hand():
    p = np.array([0.01, 0.02, np.nan, 0.04])
    assert correct_p_values(p, "bonferroni")[[0, 1, 3]] == pytest.approx([0.03, 0.06, 0.12])
    assert correct_p_values(p, "holm")[[0, 1, 3]] == pytest.approx([0.03, 0.04, 0.04])
    assert correct_p_values(p, "bh")[[0, 1, 3]] == pytest.approx([0.03, 0.03, 0.04])
    assert correct_p_values(p, "none")[[0, 1, 3]] == pytest.approx([0.01, 0.02, 0.04])
    assert all(np.isnan(correct_p_values(p, m)[2]) for m in ("holm", "bh", "bonferroni", "none"))


def test_an_unknown_correction_is_refused():
    with pytest.raises(DataError, match='Did you mean "holm"'):
        correct_p_values(np.array([0.1]), "holms")


def test_the_permutation_null_of_auroc2_is_exact_for_four_answers():
    from hmeta.metrics.discrimination import auroc2

    confidence = np.array([1.0, 2.0, 3.0, 4.0])
    values = [
        auroc2(confidence, np.isin(np.arange(4), chosen).astype(float))
        for chosen in itertools.combinations(range(4), 2)
    ]
    assert np.mean(values) == pytest.approx(0.5)
    assert max(values) == 1.0
