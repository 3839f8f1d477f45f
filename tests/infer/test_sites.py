"""Effects that sum to zero, and the words that name a model's random quantities."""

import numpy as np
import pytest

from hmeta.infer import sites
from hmeta.spec import load_model, plan
from tests.spec.example_data import crossed_binary


@pytest.mark.parametrize("n_levels", [2, 3, 7, 200])
def test_spread_sums_to_zero_and_keeps_every_length_and_angle(n_levels):
    free = np.random.default_rng(n_levels).normal(size=(n_levels - 1, 4))
    effects = sites.spread(np, free, n_levels)
    assert effects.shape == (n_levels, 4)
    assert np.abs(effects.sum(axis=0)).max() < 1e-12
    assert np.abs(effects.T @ effects - free.T @ free).max() < 1e-11


def test_spread_equals_the_reflection_worked_out_by_hand():
    """Two levels: ±x/√2. Three: the reflection that swaps the last axis with (1, 1, 1)/√3, applied to (1, 0, 0)."""
    assert sites.spread(np, np.array([[2.0]]), 2)[:, 0] == pytest.approx([2**0.5, -(2**0.5)], abs=1e-14)
    first = (3.0 + 3**0.5) / 6.0
    hand = [first, first - 1.0, -(3**-0.5)]
    assert sites.spread(np, np.array([[1.0], [0.0]]), 3)[:, 0] == pytest.approx(hand, abs=1e-14)


def test_spread_effects_of_normal_numbers_are_exchangeable():
    """Covariance I - 1/L: the map's rows have it exactly, whatever is drawn."""
    rows = sites.spread(np, np.eye(5), 6)
    assert rows @ rows.T == pytest.approx(np.eye(6) - 1 / 6, abs=1e-13)


def test_names_of_sites_are_words():
    people = plan(load_model("binary_hierarchical"), crossed_binary(participant=["p1", "p2", "p3"]))
    d = people.parameters["d"]
    group = d.groups[0]
    assert sites.plain("model:domain") == "model_domain"
    assert sites.common_site(d, "Intercept") == "d_Intercept"
    assert sites.group_site(d, group, "sd") == "d_sd_participant"
    assert sites.effects_name(d, group) == "d_participant"
    assert (sites.n_free(group), len(group.levels)) == (2, 3)
    assert [t.parameter.name for t in sites.group_terms(people)] == ["d", "c", "M"]


def test_correlated_effects_mix_coefficients_by_the_cholesky_factor():
    tasks = plan(load_model("binary_correlated"), crossed_binary(participant=["p1", "p2", "p3"], task=["t1", "t2"]))
    group = tasks.parameters["M"].groups[0]
    assert group.correlated
    free = np.array([[1.0, 2.0], [0.5, -1.0], [0.0, 3.0]])[: sites.n_free(group)]
    factor = np.array([[0.5, 0.0], [0.3, 0.4]])
    independent = sites.spread(np, free, 3) if group.zero_sum else free
    found = sites.group_effects(np, group, free, factor)
    assert found[:, 0] == pytest.approx(0.5 * independent[:, 0], abs=1e-14)
    assert found[:, 1] == pytest.approx(0.3 * independent[:, 0] + 0.4 * independent[:, 1], abs=1e-14)


def test_log_gaps_expect_the_top_criterion_at_two_and_a_half_over_the_levels():
    people = plan(load_model("binary_single"), crossed_binary(participant=["p1"]))
    assert people.criteria.n_levels.tolist() == [3, 3]
    assert np.exp(sites.log_gap_location(people.criteria)) == pytest.approx([2.5 / 3] * 4, rel=1e-14)
