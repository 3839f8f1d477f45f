"""Numbers of different blocks share no data; what touches several blocks is in the border."""

import jax
import numpy as np
import pytest

from hmeta.infer import blocks, whitening
from hmeta.infer.device import computing, find_device
from hmeta.infer.expansion import Expansion
from hmeta.infer.warm_start import warm_start


def positions(surroundings, site):
    return surroundings.expansion.expanded.positions[site].astype(int).ravel().tolist()


def block_of(surroundings):
    owner = np.full(surroundings.expansion.expanded.size, blocks.BORDER)
    for number, members in enumerate(surroundings.blocks.members):
        owner[members] = number
    return owner


def test_every_number_is_in_one_block_or_the_border(surroundings):
    everywhere = [*np.concatenate(surroundings.blocks.members), *surroundings.blocks.border]
    assert sorted(everywhere) == list(range(surroundings.expansion.expanded.size))


def test_each_model_has_a_block_of_its_effects_and_criteria(surroundings):
    """Of d and M one effect and two interactions each, and 4 or 2 log gaps."""
    assert [len(m) for m in surroundings.blocks.members] == [10, 10, 10, 8, 8]
    owner = block_of(surroundings)
    assert owner[positions(surroundings, "M_free_model")].tolist() == [0, 1, 2, 3, 4]
    assert owner[positions(surroundings, "d_free_model_dataset")].tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    assert owner[positions(surroundings, "log_gap")].tolist() == [0] * 4 + [1] * 4 + [2] * 4 + [3] * 2 + [4] * 2


def test_common_terms_spreads_and_crossed_effects_are_in_the_border(surroundings):
    names = [f"{p}_{site}" for p in ("d", "M") for site in ("Intercept", "free_dataset", "sd_model", "sd_dataset")]
    names += ["d_sd_model_dataset", "M_sd_model_dataset"]
    expected = [place for name in names for place in positions(surroundings, name)]
    assert sorted(surroundings.blocks.border) == sorted(expected)


def test_numbers_of_different_blocks_do_not_interact(surroundings):
    """JAX's own dense Hessian is zero between blocks, exactly, and is not inside them."""
    owner = block_of(surroundings)
    inside = owner != blocks.BORDER
    between = (owner[:, None] != owner[None, :]) & inside[:, None] & inside[None, :]
    assert np.abs(surroundings.expanded_curvature[between]).max() == 0.0
    assert np.abs(surroundings.expanded_curvature[~between]).max() > 1.0


def test_where_no_partition_is_affordable_every_number_is_scaled_alone(one_person, monkeypatch):
    monkeypatch.setattr(blocks, "MAX_BORDER", 0)
    monkeypatch.setattr(blocks, "MAX_BLOCK", 0)
    with computing(find_device("cpu")):
        warm = warm_start(one_person)
        assert blocks.find_blocks(Expansion(warm.target).expanded) is None
        curvature = jax.jit(jax.hessian(warm.target.potential))(warm.map_.centre, warm.target.data)
        found = np.asarray(whitening.apply(warm.map_, np.ones(warm.target.size)) - warm.map_.centre)
    expected = 1 / np.sqrt(np.maximum(np.diag(np.asarray(curvature)), whitening.LEAST_CURVATURE))
    assert found == pytest.approx(expected, rel=1e-9)
