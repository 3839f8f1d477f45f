"""Simulation-based calibration: parameters from the prior, data by drawing evidence, ranks of the truth.

Priors are drawn in NumPy as docs/statistics state them; data come from `hmeta.simulate`, which evaluates no
likelihood. `tests/slow/ranks.py` says why the ranks are exactly uniform when all is right.
False alarm: 1e-3 over both models and all quantities, each at 1e-3 / 10.
"""

import numpy as np
import pandas as pd
import pytest

import hmeta
from hmeta.infer.device import computing, find_device, keep_compiled
from hmeta.spec import load_model, plan
from hmeta.trials import frame_of, trials_dataset
from tests.slow.ranks import Ranker, Replicate, uniformity

REPLICATES, WRONG_REPLICATES = 200, 60
UNITS, LEVELS = 4, 4
TRIALS = {"binary": 120, "mafc": 100}
WORD = {"binary": "participant", "mafc": "model"}
N_OUTCOMES = {"binary": 4, "mafc": 2}
ALPHA = 1e-3 / 10

LOCATIONS = {
    "binary": {"d": (1.5, 1.5, 1.0), "c": (0.0, 1.0, 0.5), "M": (0.0, 1.0, 0.5)},
    "mafc": {"d": (2.0, 1.5, 1.0), "M": (0.8, 0.5, 0.3)},
}
"""By task and parameter: location and scale of the mean's normal prior, scale of the spread's half-normal."""


def everything_once(task):
    """Return data in which every unit gives every answer at every level, for a plan that has all rows."""
    units = [f"u{i}" for i in range(UNITS)]
    index = pd.MultiIndex.from_product([units, range(N_OUTCOMES[task]), range(1, LEVELS + 1)])
    frame = index.to_frame(index=False, name=[WORD[task], "outcome", "confidence"])
    outcome = frame.pop("outcome")
    if task == "binary":
        frame = frame.assign(stimulus=outcome // 2, response=outcome % 2, correct=outcome // 2 == outcome % 2)
    else:
        frame = frame.assign(correct=outcome, n_options=4)
    # three answers of each kind: where the sampler's coordinates are chosen matters for speed alone
    return trials_dataset(pd.concat([frame] * 3).astype({"correct": int}), task=task)


@pytest.fixture(scope="module", params=["binary", "mafc"])
def task(request):
    return request.param


@pytest.fixture(scope="module")
def ranker(task):
    keep_compiled()
    return Ranker(plan(load_model(f"{task}_hierarchical"), hmeta.validate(everything_once(task)).dataset))


def draw_sites(task, rng):
    """Draw means, spreads, zero-sum effects and log gaps from their priors."""
    sites, units = {}, {}
    for name, (mean, scale, spread) in LOCATIONS[task].items():
        intercept, sd = rng.normal(mean, scale), abs(rng.normal(0.0, spread))
        effects = rng.normal(0.0, sd, UNITS)
        effects -= effects.mean()
        key = f"{name}_{{}}{WORD[task]}".format
        sites |= {f"{name}_Intercept": np.array([intercept]), key("sd_"): np.array([sd]), key(""): effects}
        units[name] = intercept + effects
    if task == "binary":
        units["M"] = np.exp(units["M"])
    sides = 2 if task == "binary" else 1
    sites["log_gap"] = rng.normal(np.log(2.5 / LEVELS), 1.0, UNITS * sides * (LEVELS - 1))
    edges = np.exp(sites["log_gap"]).reshape(UNITS, sides, LEVELS - 1).cumsum(axis=2)
    return sites, units, edges


def draw_replicate(task, seed, **wrong):
    """Draw parameters and data; `wrong` changes what the data are made with, not what they are said to be."""
    rng = np.random.default_rng([seed, len(task)])
    sites, units, edges = draw_sites(task, rng)
    told = {**units, **{name: change(units[name]) for name, change in wrong.items() if callable(change)}}
    options = {name: value for name, value in wrong.items() if not callable(value)}
    criteria = edges if task == "binary" else edges[:, 0]
    ds = hmeta.simulate(task=task, n_trials=TRIALS[task], criteria=criteria, seed=seed, **told, **options)
    frame = frame_of(ds)
    outcome = frame["correct"] if task == "mafc" else 2 * frame["stimulus"] + frame["response"]
    unit = frame[WORD[task]].factorize()[0]
    counts = np.zeros((UNITS, N_OUTCOMES[task], LEVELS))
    np.add.at(counts, (unit, outcome.to_numpy(dtype=int), frame["confidence"].to_numpy(dtype=int) - 1), 1)
    assert counts.sum() == UNITS * TRIALS[task]
    return Replicate(sites, counts)


def quantities(task):
    def of(draws):
        return {
            "mean M": draws["M_Intercept"][:, 0],
            "sd of M": draws[f"M_sd_{WORD[task]}"][:, 0],
            "M of a unit": draws["M"][:, 0],
            "mean d": draws["d_Intercept"][:, 0],
            "a criterion": draws["edges"][:, 1, 2],
        }

    return of


def p_values(ranker, task, seed, count, **wrong):
    replicates = [draw_replicate(task, seed + i, **wrong) for i in range(count)]
    return {name: uniformity(r) for name, r in ranker.all_ranks(replicates, quantities(task), seed).items()}


@pytest.mark.slow
def test_the_sampler_stands_at_the_truth(ranker, task):
    """The parameters that NumPy drew come back from the sampler's coordinates, to 1e-8."""
    for seed in range(5):
        rng = np.random.default_rng([seed, len(task)])
        sites, units, edges = draw_sites(task, rng)
        with computing(find_device("cpu")):
            data = ranker.data(draw_replicate(task, seed).counts)
            y = ranker.whitened(sites, data)[None]
            found = {k: np.asarray(v)[0] for k, v in ranker._programs[3](y, data, ranker._warm.map_).items()}
        for name, values in units.items():
            assert found[name] == pytest.approx(values, rel=1e-8, abs=1e-8)
        assert found["edges"][:, 1:] == pytest.approx(edges.reshape(-1, LEVELS - 1), rel=1e-8)


@pytest.mark.slow
def test_ranks_of_the_truth_are_uniform(ranker, task):
    found = p_values(ranker, task, 1000, REPLICATES)
    assert min(found.values()) > ALPHA, found


@pytest.mark.slow
def test_ranks_show_data_with_another_efficiency(ranker, task):
    """The check sees data whose meta_d is twice what the likelihood takes it for."""
    found = p_values(ranker, task, 5000, WRONG_REPLICATES, M=lambda M: 2.0 * M)
    assert found["M of a unit"] < 1e-6, found
    assert found["mean M"] < 1e-6, found


@pytest.mark.slow
def test_ranks_show_a_likelihood_of_other_answers(ranker, task):
    """The check sees evidence of unequal variance under equal variance, and six alternatives under four."""
    wrong = {"sd_ratio": 1.6} if task == "binary" else {"n_options": 6}
    found = p_values(ranker, task, 9000, WRONG_REPLICATES, **wrong)
    assert found["mean d"] < 1e-6, found
