"""What follows from any likelihood, against closed forms and counts by hand."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hmeta.sdt.derived import fisher_information, rating_probabilities, simulate_outcomes, type2_roc
from hmeta.sdt.likelihood import get

M_OPTIONS, D, META_D = 4.0, 1.7, 1.2
EDGES = np.array([0.0, 0.4, 1.1, 2.0])


@pytest.fixture(autouse=True)
def _float64():
    with jax.enable_x64(True):
        yield


def test_type2_roc_of_counts_by_hand():
    hits, false_alarms = type2_roc(jnp.array([1.0, 2, 3, 4]), jnp.array([4.0, 3, 2, 1]))
    assert np.asarray(hits) == pytest.approx([0.9, 0.7, 0.4], abs=1e-12)
    assert np.asarray(false_alarms) == pytest.approx([0.6, 0.3, 0.1], abs=1e-12)


def test_expected_type2_roc_of_gumbel_noise_is_the_closed_form():
    """G₊(t) = e^μ / (e^μ + (m-1)e^t) and G₋(t) = (m-1) / (1 + e^t (e^μ + m - 2)), each over its value at 0."""
    parameters = {k: jnp.full(2, v) for k, v in {"d": D, "meta_d": META_D, "n_options": M_OPTIONS}.items()}
    edges, n_levels = jnp.asarray(np.stack([EDGES, EDGES])), jnp.array([4, 4])
    wrong, correct = rating_probabilities(get("mafc"), jnp.array([0, 1]), parameters, edges, n_levels)
    hits, false_alarms = type2_roc(correct, wrong)
    e, t = np.exp(META_D), np.exp(EDGES)
    above_correct, above_wrong = e / (e + (M_OPTIONS - 1) * t), (M_OPTIONS - 1) / (1 + t * (e + M_OPTIONS - 2))
    assert np.asarray(hits) == pytest.approx(above_correct[1:] / above_correct[0], abs=1e-12)
    assert np.asarray(false_alarms) == pytest.approx(above_wrong[1:] / above_wrong[0], abs=1e-12)


def log_outcomes(theta):
    parameters = {"d": jnp.repeat(theta, 2), "n_options": jnp.full(2, M_OPTIONS)}
    return get("mafc").log_outcome(jnp.array([0, 1]), parameters)


def test_fisher_information_about_d_under_gumbel_noise_is_that_of_a_logit():
    n, p = 250.0, np.exp(D) / (np.exp(D) + M_OPTIONS - 1)
    information = fisher_information(log_outcomes, jnp.array([D]), jnp.full(2, n))
    assert np.asarray(information) == pytest.approx(np.array([[n * p * (1 - p)]]), rel=1e-12)


def test_simulated_outcomes_add_up_and_have_the_probabilities():
    """Two-sided z below 4.9: a false alarm once in 10^6 runs."""
    n, repeats = 400, 500
    log_p = jnp.tile(log_outcomes(jnp.array([D])), (repeats, 1))
    counts = np.asarray(simulate_outcomes(jax.random.key(1), log_p, jnp.full(repeats, n)))
    assert counts.sum(axis=1) == pytest.approx(np.full(repeats, n), abs=0)
    p, total = np.exp(D) / (np.exp(D) + M_OPTIONS - 1), n * repeats
    assert abs(counts[:, 1].sum() - total * p) < 4.9 * np.sqrt(total * p * (1 - p))
