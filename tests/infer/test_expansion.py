"""Between vectors that obey the zero-sum restrictions and vectors with one number for every level."""

import numpy as np
import pytest

from hmeta.infer import sites
from hmeta.infer.device import computing, find_device


@pytest.fixture(scope="module")
def widening(surroundings):
    """`widen` as a dense matrix, (expanded, number)."""
    return np.stack([surroundings.expansion.widen(e) for e in np.eye(surroundings.expansion.target.size)], axis=1)


def test_widening_keeps_lengths_and_angles_and_obeys_the_restrictions(surroundings, widening):
    expansion = surroundings.expansion
    assert expansion.expanded.size == expansion.target.size + 4  # d and M, over models and datasets
    assert widening.T @ widening == pytest.approx(np.eye(expansion.target.size), abs=1e-13)
    assert len(expansion.restricted) == 4
    for places in expansion.restricted:
        assert np.abs(widening[places].sum(axis=0)).max() < 1e-13


def test_narrowing_undoes_widening(surroundings, widening):
    position = np.random.default_rng(1).normal(size=surroundings.expansion.target.size)
    assert surroundings.expansion.narrow(widening @ position) == pytest.approx(position, abs=1e-13)


def test_both_posteriors_agree_but_for_the_numbers_left_out(surroundings):
    """The log density of one more normal number at each restriction, -log sd^w - log(2π)/2, is the difference."""
    expansion, data = surroundings.expansion, surroundings.data
    position = np.asarray(surroundings.map_.centre) + 0.1 * np.random.default_rng(2).normal(size=expansion.target.size)
    with computing(find_device("cpu")):
        narrow = float(expansion.target.potential(position, data))
        wide = float(expansion.expanded.potential(expansion.widen(position), data))
    extra = 0.0
    for term in sites.group_terms(expansion.target.plan):
        if term.group.zero_sum:
            log_sd = position[
                expansion.target.positions[sites.group_site(term.parameter, term.group, "sd")].astype(int)
            ]
            weight = float(data.centring[sites.centring_keys(term.parameter, term.group)[0]])
            extra += weight * log_sd.item() + 0.5 * np.log(2 * np.pi)
    assert wide - narrow == pytest.approx(extra, abs=1e-9)


def test_curvature_is_that_of_the_expanded_posterior_along_the_restrictions(surroundings, widening):
    found = widening.T @ surroundings.expanded_curvature @ widening
    assert found == pytest.approx(surroundings.curvature, abs=1e-9)
