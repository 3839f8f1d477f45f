"""Bins against hand values, numpy.histogram and a slow loop."""

from __future__ import annotations

import numpy as np
import pytest

from hmeta.core.errors import DataError
from hmeta.metrics.binning import bin_index, bin_sums, level_sums, middle_ranks


def slow_sums(probability, outcome, weights, index, bins):
    """Add up row by row."""
    out = np.zeros((3, bins))
    for p, y, w, at in zip(probability, outcome, weights, index, strict=True):
        out[:, at] += w, w * p, w * y
    return out


@pytest.mark.parametrize("bins", [1, 3, 7, 10, 15, 49, 100])
def test_values_on_edges_follow_the_rule_however_they_were_computed(bins):
    ways = [np.arange(1, bins) / bins, np.arange(1, bins) * (1 / bins), 1 - np.arange(bins - 1, 0, -1) / bins]
    for values in ways:
        assert bin_index(values, bins, "left").tolist() == list(range(1, bins))
        assert bin_index(values, bins, "right").tolist() == list(range(bins - 1))


def test_three_tenths_is_on_the_edge_although_its_quotient_truncates_to_two():
    assert int(0.3 / 0.1) == 2
    assert bin_index(np.array([0.3, 0.1 + 0.2]), 10, "left").tolist() == [3, 3]
    assert bin_index(np.array([0.3, 0.1 + 0.2]), 10, "right").tolist() == [2, 2]


def test_single_precision_moves_no_value_off_its_edge():
    values = (np.arange(1, 10) / 10).astype(np.float32).astype(float)
    assert (values != np.arange(1, 10) / 10).any()
    assert bin_index(values, 10, "left").tolist() == list(range(1, 10))
    assert bin_index(values, 10, "right").tolist() == list(range(9))


def test_ten_million_ranks_are_split_to_the_answer():
    weight = np.ones(10**6)
    weight[[0, -1]] = 4.5e6 + 1
    sums = bin_sums(np.linspace(0, 1, 10**6), np.ones(10**6), weight, 2, "equal_mass")
    assert sums.weight.tolist() == [5e6, 5e6]


@pytest.mark.parametrize("edges", ["left", "right"])
def test_the_ends_belong_to_the_outer_bins(edges):
    assert bin_index(np.array([0.0, 1.0]), 10, edges).tolist() == [0, 9]


def test_left_closed_bins_are_those_of_numpy_histogram():
    p = np.random.default_rng(1).random(500)
    n = bin_sums(p, np.ones(500), np.ones(500), 16, "equal_width", "left").weight
    assert n.tolist() == np.histogram(p, bins=16, range=(0, 1))[0].tolist()


def test_equal_mass_without_ties_gives_each_bin_the_same_number():
    p = np.random.default_rng(2).permutation(np.linspace(0.01, 0.99, 60))
    sums = bin_sums(p, np.ones(60), np.ones(60), 6, "equal_mass")
    assert sums.weight.tolist() == [10] * 6
    assert sums.confidence[0] == pytest.approx(np.sort(p)[:10].sum(), abs=1e-12)


@pytest.mark.parametrize(("edges", "expected"), [("right", [30, 30, 0, 40]), ("left", [30, 30, 0, 40])])
def test_equal_mass_keeps_levels_whole_and_goes_by_the_middle_of_their_ranks(edges, expected):
    # middles 0.15, 0.45 and 0.8 of B = 4 bins
    sums = bin_sums(np.array([0.5, 0.7, 0.9]), np.ones(3), np.array([30.0, 30, 40]), 4, "equal_mass", edges)
    assert sums.weight.tolist() == expected


@pytest.mark.parametrize(("edges", "expected"), [("right", [100, 0]), ("left", [0, 100])])
def test_a_middle_on_an_edge_goes_by_the_edge_rule(edges, expected):
    assert bin_sums(np.array([0.8]), np.ones(1), np.array([100.0]), 2, "equal_mass", edges).weight.tolist() == expected


@pytest.mark.parametrize("mass", ["equal_width", "equal_mass"])
@pytest.mark.parametrize("edges", ["left", "right"])
def test_sums_match_a_loop_over_rows_for_any_outcome_and_leading_axes(mass, edges):
    rng = np.random.default_rng(3)
    p, y = rng.integers(0, 21, 50) / 20, rng.random(50)
    weights = rng.integers(0, 4, (2, 3, 50)).astype(float)
    found = bin_sums(p, y, weights, 7, mass, edges)
    for at in np.ndindex(2, 3):
        w = weights[at]
        if mass == "equal_width":
            position = p
        else:
            position = np.array([(w[p < v].sum() + w[p == v].sum() / 2) / w.sum() for v in p])
        index = bin_index(position, 7, edges)
        slow = slow_sums(p, y, w, index, 7)
        fast = [part[at] for part in found]
        np.testing.assert_allclose(fast, slow, atol=1e-12)


def test_errors_of_bins_by_hand():
    # gaps −0.1 (2 of 4 answers), 0.4 (1) and 0.2 (1)
    sums = bin_sums(np.array([0.4, 0.9, 0.7]), np.array([0.5, 0.5, 0.5]), np.array([2.0, 1, 1]), 10)
    assert sums.gap[[4, 9, 7]] == pytest.approx([-0.1, 0.4, 0.2], abs=1e-12)
    assert sums.expected_error == pytest.approx(0.2, abs=1e-12)
    assert sums.largest_error == pytest.approx(0.4, abs=1e-12)
    assert sums.rms_error == pytest.approx(np.sqrt((2 * 0.01 + 0.16 + 0.04) / 4), abs=1e-12)
    assert np.isnan(sums.gap).sum() == 7


@pytest.mark.parametrize("mass", ["equal_width", "equal_mass"])
@pytest.mark.parametrize("n_rows", [0, 2])
def test_no_answers_give_empty_bins_and_undefined_errors(mass, n_rows):
    sums = bin_sums(np.full(n_rows, 0.5), np.ones(n_rows), np.zeros((3, n_rows)), 5, mass)
    assert sums.weight.shape == (3, 5)
    assert sums.weight.dtype == np.float64
    for value in (sums.expected_error, sums.largest_error, sums.rms_error):
        assert np.isnan(value).all()
        assert value.shape == (3,)


@pytest.mark.parametrize("bins", [0, -1, 1001])
def test_unusable_numbers_of_bins_are_refused(bins):
    with pytest.raises(DataError, match="1 to 1000"):
        bin_sums(np.array([0.5]), np.array([1.0]), np.ones(1), bins)


def test_level_sums_and_middle_ranks_by_hand():
    levels = level_sums(np.array([0.9, 0.2, 0.9]), np.array([1.0, 0.5, 0.0]), np.array([[1.0, 2, 3], [0, 0, 5]]))
    assert levels.value.tolist() == [0.2, 0.9]
    assert levels.weight.tolist() == [[2, 4], [0, 5]]
    assert levels.outcome.tolist() == [[1, 1], [0, 0]]
    assert middle_ranks(levels.weight).tolist() == [[1 / 6, 4 / 6], [0, 0.5]]
