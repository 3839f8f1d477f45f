"""Type-2 measures against outside libraries and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score

from hmeta.metrics.discrimination import auroc2, delta_conf, gamma, phi

CONF = np.array([1, 1, 2, 2, 2, 3, 3, 4, 4, 4, 4.0])
CORRECT = np.array([0, 1, 0, 0, 1, 1, 0, 1, 1, 1, 0.0])


def test_auroc2_is_that_of_scikit_learn():
    assert auroc2(CONF, CORRECT) == pytest.approx(roc_auc_score(CORRECT, CONF), abs=1e-14)


def test_phi_is_the_correlation_of_scipy():
    assert phi(CONF, CORRECT) == pytest.approx(stats.pearsonr(CONF, CORRECT).statistic, abs=1e-14)


def test_gamma_by_hand():
    """Right at 1, 2, 4, 4; wrong at 1, 2, 3: of 12 pairs 8 are concordant, 2 discordant and 2 tied."""
    conf, correct = [1, 2, 4, 4, 1, 2, 3], [1, 1, 1, 1, 0, 0, 0]
    concordant = 0 + 1 + 3 + 3
    discordant = 2 + 1
    assert gamma(conf, correct) == pytest.approx((concordant - discordant) / (concordant + discordant), abs=1e-14)


def test_gamma_of_two_levels_is_yules_q():
    q = (30 * 40 - 20 * 10) / (30 * 40 + 20 * 10)
    assert gamma([1, 0, 1, 0], [1, 1, 0, 0], weights=[30, 20, 10, 40]) == pytest.approx(q, abs=1e-14)


def test_delta_conf_by_hand():
    assert delta_conf([0.9, 0.5, 0.4], [1, 1, 0]) == pytest.approx(0.3, abs=1e-14)


@pytest.mark.parametrize("measure", [auroc2, gamma, phi, delta_conf])
def test_weights_are_repeated_rows_and_batches_are_loops(measure):
    conf = CONF / 4.0
    weights = np.random.default_rng(1).integers(0, 4, (3, 5, len(CONF))).astype(float)
    batch = measure(conf, CORRECT, weights=weights)
    assert batch.shape == (3, 5)
    for index in np.ndindex(3, 5):
        times = weights[index].astype(int)
        alone = measure(np.repeat(conf, times), np.repeat(CORRECT, times))
        assert batch[index] == pytest.approx(float(alone), abs=1e-13, nan_ok=True)


@pytest.mark.parametrize(("measure", "same"), [(auroc2, 0.5), (gamma, np.nan), (phi, np.nan), (delta_conf, 0.0)])
def test_one_level(measure, same):
    """0.1 cannot be written exactly: a spread of rounding errors must not count as two levels."""
    conf, correct = np.full(9, 0.1), np.array([1, 1, 1, 1, 1, 1, 0, 0, 0.0])
    assert measure(conf, correct) == pytest.approx(same, abs=1e-15, nan_ok=True)
    reason = measure.why_undefined({measure.columns[0]: conf, "correct": correct}, np.ones(9))
    assert reason == ("one confidence level used" if np.isnan(same) else "")
