"""Metacognitive noise and uncertainty: against the slow definition, limits, gradients and recovery."""

from __future__ import annotations

from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hmeta.sdt import meta_noise, meta_uncertainty
from hmeta.sdt.likelihood import get
from tests.oracle import meta_noise as oracle

EDGES = (0.0, 0.35, 0.8, 1.1, 2.2, np.inf)


@pytest.fixture(autouse=True)
def _float64():
    with jax.enable_x64(True):
        yield


def params(**values: float) -> dict:
    return {name: jnp.asarray(value) for name, value in values.items()}


@pytest.mark.parametrize("noise", [0.05, 0.6, 0.99, 1.01, 3.0, 12.0])
def test_probabilities_are_those_of_the_definition(noise):
    """1e-10, on both sides of the change of integral."""
    joint = jax.jit(meta_noise.likelihood().log_joint)
    for d, c in ((1.4, 0.3), (4.0, -1.0)):
        for outcome in range(4):
            for lo, hi in ((0.0, 0.35), (0.8, 1.1), (2.2, np.inf)):
                p = params(d=d, c=c, meta_noise=noise)
                found = float(jnp.exp(joint(jnp.asarray(outcome), jnp.asarray(lo), jnp.asarray(hi), p)))
                assert found == pytest.approx(oracle.joint(d, c, noise, outcome, lo, hi), abs=1e-10)


@pytest.mark.parametrize("module", [meta_noise, meta_uncertainty])
def test_levels_of_the_responses_sum_to_one(module):
    likelihood = module.likelihood()
    lo, hi = jnp.asarray(EDGES[:-1]), jnp.asarray(EDGES[1:])
    for value in (0.2, 2.5):
        p = params(d=1.1, c=-0.2) | {module.PARAMETERS[2]: jnp.asarray(value)}
        many = {name: jnp.broadcast_to(x, lo.shape) for name, x in p.items()}
        for outcome in range(4):
            levels = likelihood.log_rating(jnp.full(lo.shape, outcome), lo, hi, many)
            assert float(jnp.exp(levels).sum()) == pytest.approx(1.0, abs=1e-10)
        for stimulus in (0, 1):
            chances = [float(jnp.exp(likelihood.log_outcome(jnp.asarray(2 * stimulus + r), p))) for r in (0, 1)]
            assert sum(chances) == pytest.approx(1.0, abs=1e-12)


def test_without_noise_it_is_signal_detection():
    """Noise 1e-5 against the binary likelihood with meta_d = d (1e-7)."""
    plain, noisy = get("binary"), meta_noise.likelihood()
    for outcome in range(4):
        for lo, hi in pairwise(EDGES):
            at = (jnp.asarray(outcome), jnp.asarray(lo), jnp.asarray(hi))
            ideal = plain.log_joint(*at, params(d=1.4, c=0.3, meta_d=1.4))
            assert float(noisy.log_joint(*at, params(d=1.4, c=0.3, meta_noise=1e-5))) == pytest.approx(
                float(ideal), abs=1e-7
            )


def test_much_noise_says_nothing_about_correctness():
    """P(y > 1) given right and wrong answers differs by less than 1 % at noise 60."""
    likelihood = meta_noise.likelihood()
    p = params(d=1.4, c=0.0, meta_noise=60.0)
    right, wrong = (
        float(jnp.exp(likelihood.log_rating(jnp.asarray(o), jnp.asarray(1.0), jnp.asarray(jnp.inf), p))) for o in (3, 1)
    )
    assert right - wrong == pytest.approx(0.0, abs=0.01)


def test_meta_uncertainty_is_the_spread_of_the_estimated_noise():
    """Simulated as defined: |x - c| over a lognormal of mean 1 and standard deviation 0.8 (4 standard errors)."""
    rng, n, spread = np.random.default_rng(7), 400_000, 0.8
    x = rng.normal(0.6, 1.0, n)
    log_sd = np.sqrt(np.log1p(spread**2))
    estimate = np.exp(rng.normal(-0.5 * log_sd**2, log_sd, n))
    assert estimate.std() == pytest.approx(spread, rel=0.02)
    y = np.abs(x - 0.2) / estimate
    likelihood = meta_uncertainty.likelihood()
    for lo, hi in pairwise(EDGES):
        seen = np.mean((x > 0.2) & (y > lo) & (y <= hi))
        p = params(d=1.2, c=0.2, meta_uncertainty=spread)
        log_p = likelihood.log_joint(jnp.asarray(3), jnp.asarray(lo), jnp.asarray(hi), p)
        assert seen == pytest.approx(float(jnp.exp(log_p)), abs=4 * np.sqrt(0.25 / n))


def test_gradients_are_finite_at_the_extremes_and_those_of_finite_differences():
    likelihood = meta_noise.likelihood()

    def joint(x: jax.Array, hi: jax.Array, outcome: jax.Array) -> jax.Array:
        return likelihood.log_joint(outcome, x[3], hi, {"d": x[0], "c": x[1], "meta_noise": x[2]})

    slope = jax.jit(jax.value_and_grad(joint))
    for d, c in ((-3.0, 1.5), (0.0, 0.0), (8.0, -1.5)):
        for noise in (0.03, 1.0, 30.0):
            for lo, hi in ((0.0, 1e-7), (0.0, np.inf), (1.0, 1.0 + 1e-9), (6.0, np.inf)):
                for outcome in (0, 3):
                    value, gradient = slope(jnp.asarray([d, c, noise, lo]), jnp.asarray(hi), jnp.asarray(outcome))
                    assert np.isfinite([float(value), *map(float, gradient)]).all(), (d, c, noise, lo, hi)
    for noise in (0.5, 2.0):
        x, at = jnp.asarray([1.5, 0.3, noise, 0.4]), (jnp.asarray(1.3), jnp.asarray(1))
        steps = 1e-5 * np.eye(4)
        central = [float(joint(x + s, *at) - joint(x - s, *at)) / 2e-5 for s in steps]
        np.testing.assert_allclose(slope(x, *at)[1], central, atol=1e-7)
