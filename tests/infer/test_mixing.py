"""R-hat, ESS and E-BFMI agree with ArviZ's array functions, and are NaN where undefined."""

from __future__ import annotations

import time

import numpy as np
import pytest
from arviz_stats.base import array_stats

from hmeta.infer.mixing import e_bfmi, measure_mixing


def chains() -> np.ndarray:
    """Return draws of several kinds, (quantity, chain, draw): independent, sticky, alternating, tied, apart."""
    rng = np.random.default_rng(4)
    draws = rng.standard_normal((5, 4, 501))
    for t in range(1, draws.shape[2]):
        draws[1, :, t] += 0.9 * draws[1, :, t - 1]
        draws[2, :, t] -= 0.5 * draws[2, :, t - 1]
    draws[3] = np.round(draws[3])
    draws[4] += np.arange(4)[:, None]
    return draws


@pytest.mark.parametrize("quantity", range(5))
def test_mixing_is_that_of_arviz(quantity: int):
    draws = chains()
    found = [values[quantity] for values in measure_mixing(draws)]
    axes = {"chain_axis": 0, "draw_axis": 1}
    expected = [
        array_stats.rhat(draws[quantity], **axes),
        array_stats.ess(draws[quantity], **axes),
        array_stats.ess(draws[quantity], method="tail", prob=(0.05, 0.95), **axes),
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_undefined_is_nan_and_stuck_chains_are_infinite():
    draws = np.random.default_rng(0).standard_normal((4, 4, 100))
    draws[0] = 1.5
    draws[1, 2, 3] = np.nan
    draws[2, 0, 0] = np.inf
    draws[3] = np.arange(4.0)[:, None]
    r_hat, bulk, tail = measure_mixing(draws)
    assert np.isnan(r_hat[:3]).all()
    assert np.isnan(bulk[:3]).all()
    assert np.isnan(tail[:3]).all()
    assert r_hat[3] == np.inf


def test_one_chain_has_an_ess_but_no_r_hat():
    draws = np.random.default_rng(0).standard_normal((1, 1, 400))
    r_hat, bulk, _ = measure_mixing(draws)
    assert np.isnan(r_hat[0])
    assert 200 < bulk[0] < 800


@pytest.mark.parametrize("shape", [(0, 4, 100), (2, 4, 3), (2, 4, 0)])
def test_too_few_draws_are_nan(shape: tuple[int, int, int]):
    assert all(np.isnan(values).all() for values in measure_mixing(np.ones(shape)))


def test_e_bfmi_by_hand():
    # Differences 1, 2, 1: their mean square is 2; the variance of 0, 1, 3, 2 is 5/3.
    energy = np.array([[0.0, 1.0, 3.0, 2.0], [5.0, 5.0, 5.0, 5.0]])
    found = e_bfmi(energy)
    assert found[0] == pytest.approx(2.0 / (5.0 / 3.0))
    assert np.isnan(found[1])


def test_it_is_quick():
    draws = np.random.default_rng(1).standard_normal((300, 4, 1000))
    began = time.process_time()
    measure_mixing(draws)
    assert time.process_time() - began < 3.0  # 0.3 s on a quiet machine
