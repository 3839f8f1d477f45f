"""The error without bins against direct quadrature of its definition, and relplot."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from hmeta.metrics.binning import level_sums
from hmeta.metrics.calibration import ece, overconfidence
from hmeta.metrics.smooth import cosine_coefficients, resolution, smooth_ece, smooth_error


def direct(p, correct, sigma: float, n_points: int = 40_001) -> float:
    """Return smECE at a bandwidth: mirror images of a Gaussian, added up and integrated on a fine grid."""
    t = np.linspace(0, 1, n_points)
    r = np.zeros(n_points)
    for place in np.unique(p):
        residual = (p - correct)[p == place].sum()
        for k in range(-4, 5):
            for image in (2 * k + place, 2 * k - place):
                r += residual * np.exp(-0.5 * ((t - image) / sigma) ** 2)
    r /= sigma * np.sqrt(2 * np.pi) * len(p)
    return float(np.trapezoid(np.abs(r), t))


def direct_fixed_point(p, correct) -> float:
    low, high = 2.0**-10, 1.0
    for _ in range(16):
        middle = (low + high) / 2
        low, high = (middle, high) if direct(p, correct, middle, 8001) >= middle else (low, middle)
    return (low + high) / 2


def at_bandwidth(p, correct, sigma: float) -> float:
    n_waves, points = resolution(sigma)
    coefficients = cosine_coefficients(p, ((p - correct) / len(p))[None], n_waves)
    return float(smooth_error(coefficients, np.array([sigma]), points)[0])


def drawn(seed: int, n: int, levels: np.ndarray, bias: float):
    rng = np.random.default_rng(seed)
    p = rng.choice(levels, n)
    return p, (rng.random(n) < np.clip(p - bias, 0, 1)).astype(float)


def relplot():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("relplot")


@pytest.mark.parametrize("sigma", [0.004, 0.03, 0.2, 1.0])
def test_error_at_a_bandwidth_is_the_integral_of_its_definition(sigma):
    p, correct = drawn(1, 40, np.array([0.0, 0.25, 0.5, 0.55, 0.9, 1.0]), 0.1)
    assert at_bandwidth(p, correct, sigma) == pytest.approx(direct(p, correct, sigma), rel=2e-4, abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("bias", [0.0, 0.15, -0.3])
def test_the_value_is_the_fixed_point(seed, bias):
    p, correct = drawn(seed, 60, np.linspace(0, 1, 11), bias)
    value = float(smooth_ece(p, correct))
    assert value == pytest.approx(direct_fixed_point(p, correct), abs=4e-5)  # the search stops at 1.5e-5


@pytest.mark.parametrize("seed", range(6))
def test_relplot_agrees_within_its_bandwidth_step_where_no_answer_is_certain(seed):
    bias = (-0.2, -0.05, 0.0, 0.05, 0.1, 0.3)[seed]
    p, correct = drawn(seed, 300, np.linspace(0.05, 0.95, 13 if seed % 2 else 200), bias)
    assert float(smooth_ece(p, correct)) == pytest.approx(relplot().smECE(p, correct), abs=1.5e-3)


def test_relplot_counts_certain_answers_half_and_the_definition_does_not():
    p, correct = np.array([1.0] * 10 + [0.5] * 10), np.array([1.0] * 5 + [0.0] * 5 + [1.0, 0.0] * 5)
    ours, theirs = at_bandwidth(p, correct, 0.05), relplot().smECE_sigma(p, correct, 0.05)
    assert direct(p, correct, 0.05) == pytest.approx(0.25, abs=1e-6)  # half of the answers, each 0.5 too sure
    assert ours == pytest.approx(0.25, abs=1e-6)
    assert theirs == pytest.approx(0.25 * 2 / 3, abs=6e-3)  # ten of them count as five; its sum counts ends whole


def test_relplot_cuts_wide_kernels_and_the_definition_does_not():
    p, correct = np.repeat([0.1, 0.95], [26, 32]), np.array([1.0] * 10 + [0.0] * 16 + [1.0] * 15 + [0.0] * 17)
    expected = direct(p, correct, 0.4)
    assert at_bandwidth(p, correct, 0.4) == pytest.approx(expected, rel=2e-4)
    assert relplot().smECE_sigma(p, correct, 0.4) > expected + 0.05


def test_closed_forms():
    # one level far from the ends: the residual keeps its sign, and its integral, at any bandwidth
    assert smooth_ece([0.6] * 10, [1] * 4 + [0] * 6) == pytest.approx(0.2, abs=1e-6)
    assert smooth_ece([1.0] * 3, [0] * 3) == pytest.approx(1.0, abs=1e-9)
    assert smooth_ece([0.5] * 4, [0, 1, 0, 1]) == pytest.approx(0.0, abs=1e-12)


def test_it_lies_between_overconfidence_and_the_error_of_distinct_levels():
    for seed in range(10):
        p, correct = drawn(seed, 80, np.linspace(0, 1, 21), 0.1)
        value = float(smooth_ece(p, correct))
        assert abs(overconfidence(p, correct)) - 1e-9 <= value <= ece(p, correct, bins=200) + 1e-4


def test_weights_are_repeated_rows_and_a_batch_is_a_loop():
    rng = np.random.default_rng(3)
    p, correct = drawn(3, 24, np.linspace(0, 1, 13), 0.2)
    weights = rng.integers(0, 9, (3, 2, 24)).astype(float)
    batch = smooth_ece(p, correct, weights=weights)
    assert batch.shape == (3, 2)
    for at in np.ndindex(3, 2):
        rows = np.repeat(np.arange(24), weights[at].astype(int))
        assert batch[at] == pytest.approx(float(smooth_ece(p[rows], correct[rows])), abs=1e-12)


def test_replicates_in_different_octaves_do_not_disturb_each_other():
    p, correct = np.array([0.2, 0.2, 0.7, 0.7]), np.array([0.0, 1, 0, 1])
    weights = np.array([[80, 20, 30, 70], [50, 50, 70, 30], [0, 100, 0, 100], [81, 19, 30, 70], [0, 0, 0, 0]], float)
    batch = smooth_ece(p, correct, weights=weights)
    alone = [float(smooth_ece(p, correct, weights=w)) for w in weights]
    np.testing.assert_allclose(batch, alone, atol=1e-12)
    assert batch[0] < 1e-9 < batch[3] < 0.006
    assert np.isnan(batch[4])


def test_small_blocks_change_nothing(monkeypatch):
    p, correct = drawn(5, 50, np.linspace(0, 1, 40), 0.05)
    weights = np.random.default_rng(5).integers(0, 3, (7, 50)).astype(float)
    whole = smooth_ece(p, correct, weights=weights)
    monkeypatch.setattr("hmeta.metrics.smooth.BLOCK", 100)
    np.testing.assert_allclose(smooth_ece(p, correct, weights=weights), whole, atol=1e-12)


def test_no_answers_are_undefined():
    assert np.isnan(smooth_ece([], []))
    assert np.isnan(smooth_ece([0.5], [1], weights=[[0.0]])).all()
    assert level_sums(np.array([]), np.array([]), np.ones(0)).value.size == 0
