"""Known d_a, slopes and accuracies come back from simulated open tasks.

Six data sets of 20 models × 400 answers. Central 90 % intervals hold the truth of each model; their share over the
120 intervals of a quantity is bounded by the binomial with 5e-5 a side (widened by 0.04 for shrinkage, as intervals of
one data set are not independent), and z scores of the mean d_a and of the slope are below 4 (6e-5 each). False
alarms over the whole test: below 2e-3.
"""

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

import hmeta
from hmeta.infer.device import find_device
from hmeta.infer.nuts import run_nuts
from hmeta.infer.options import SamplerOptions, silent
from hmeta.spec import load_model, plan

pytestmark = pytest.mark.slow

DATA_SETS, MODELS, ANSWERS = 6, 20, 400
SAMPLER = SamplerOptions(chains=2, warmup=400, draws=400)
MOST_Z = 4.0


def hits(draws, truth):
    low, high = np.quantile(draws.reshape(-1, draws.shape[-1]), [0.05, 0.95], axis=0)
    return (low < truth) & (truth < high)


def z_score(draws, truth):
    return float((truth - draws.mean()) / draws.std())


def recovered(number):
    """Return which intervals hold the truth of d_a and of accuracy, and z scores of mean d_a and of the slope."""
    rng = np.random.default_rng([7, number])
    d_a, logit = rng.normal(0.9, 0.4, MODELS), rng.normal(0.5, 0.8, MODELS)
    slope = float(np.exp(rng.normal(0.0, 0.25)))
    gaps = np.exp(rng.normal(np.log(0.5), 0.4, (MODELS, 5)))
    criteria = rng.normal(-1.0, 0.4, (MODELS, 1)) + np.cumsum(gaps, axis=1)
    ds = hmeta.simulate(
        task="open",
        n_trials=ANSWERS,
        accuracy=expit(logit),
        d_a=d_a,
        zroc_slope=slope,
        criteria=criteria,
        seed=number,
    )
    made = plan(load_model("type2_hierarchical"), hmeta.validate(ds).dataset)
    run = run_nuts(made, SAMPLER, find_device("cpu"), silent)
    assert run.stats["diverging"].mean() < 0.005
    held = hits(run.draws["d_a"], d_a), hits(run.draws["logit_accuracy"], logit)
    return held, (z_score(run.draws["d_a"].mean(axis=-1), d_a.mean()), z_score(run.draws["zroc_slope"], slope))


def test_models_are_recovered():
    found = [recovered(number) for number in range(DATA_SETS)]
    for held in np.moveaxis(np.array([held for held, _ in found]), 1, 0):
        n, k = held.size, int(held.sum())
        assert stats.binom.ppf(5e-5, n, 0.86) <= k <= stats.binom.ppf(1 - 5e-5, n, 0.94), k / n
    scores = np.array([z for _, z in found])
    assert np.abs(scores).max() < MOST_Z, scores
    assert (np.abs(scores.mean(axis=0)) < MOST_Z / np.sqrt(DATA_SETS)).all(), scores
