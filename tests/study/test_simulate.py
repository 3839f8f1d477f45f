"""Simulated answers: none goes missing, and their rates are those of the likelihoods.

Every chi-square test here has a false-alarm rate of 1e-6 by itself, over fewer than 40 of them below 1e-4;
seeds are fixed, so that a rerun gives the same verdict.
"""

from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

import hmeta
from hmeta.core.errors import HmetaError
from hmeta.trials import frame_of, validate
from tests.oracle import binary, mafc, type2

FALSE_ALARM = 1e-6
EDGES = (0.3, 0.9, 1.7)
OPEN = {"task": "open", "d": None, "M": None, "accuracy": 0.6, "d_a": 1.0}


def misfit(observed, probabilities) -> float:
    """Return the p value of Pearson's chi-square; rare categories are pooled."""
    observed, expected = np.asarray(observed, dtype=float), np.sum(observed) * np.asarray(probabilities)
    assert np.isclose(expected.sum(), observed.sum(), rtol=1e-9)
    rare = expected < 5
    if rare.any():
        observed = np.append(observed[~rare], observed[rare].sum())
        expected = np.append(expected[~rare], expected[rare].sum())
    kept = expected > 0
    return float(stats.chi2.sf(np.sum((observed - expected)[kept] ** 2 / expected[kept]), kept.sum() - 1))


def counted(ds, outcome, levels=4):
    """Return how often each (outcome, rating) occurs, (outcome, rating)."""
    table = np.zeros((int(outcome.max()) + 1, levels), dtype=int)
    np.add.at(table, (outcome, ds["confidence"].values.astype(int) - 1), 1)
    return table


def of_binary(ds):
    return 2 * ds["stimulus"].values.astype(int) + ds["response"].values.astype(int)


@pytest.mark.parametrize("M", [0.3, 1.0])
def test_no_simulated_trial_goes_missing(M):
    """BUG-53: 1,000 answers a stimulus in, 1,000 out, with a rating on the scale each."""
    ds = hmeta.simulate(n_trials=2000, d=1.0, M=M, criteria=EDGES, seed=53)
    table = counted(ds, of_binary(ds))
    assert table[:2].sum() == table[2:].sum() == 1000
    assert table.sum() == ds.sizes["trial"] == 2000
    assert validate(ds).report.rows_used == 2000


@pytest.mark.parametrize("noise", ["normal", "logistic", "gumbel_min", "gumbel_max"])
@pytest.mark.parametrize("placement", ["absolute", "relative"])
def test_binary_rates_are_those_of_the_definition(noise, placement):
    truth = binary.Setting(d=1.4, c=0.4, meta_d=0.9, noise=noise, placement=placement, sd_ratio=1.2)
    lower, upper = EDGES, (0.5, 1.1, 2.0)
    ds = hmeta.simulate(
        n_trials=60_000,
        d=truth.d,
        M=truth.meta_d / truth.d,
        c=truth.c,
        sd_ratio=truth.sd_ratio,
        criteria=(lower, upper),
        noise=noise,
        meta_c=placement,
        seed=1,
    )
    table = counted(ds, of_binary(ds))
    for stimulus in (0, 1):
        p = [
            np.exp(binary.log_joint(truth, 2 * stimulus + response, lo, hi))
            for response, edges in enumerate((lower, upper))
            for lo, hi in pairwise((0.0, *edges, np.inf))
        ]
        assert misfit(table[2 * stimulus : 2 * stimulus + 2].ravel(), p) > FALSE_ALARM


@pytest.mark.parametrize("noise", ["gumbel", "normal"])
@pytest.mark.parametrize(("n_options", "d", "M"), [(2, 1.5, 0.8), (4, 2.0, 0.7), (4, 1.0, -0.5), (10, 3.0, 1.2)])
def test_choice_rates_are_those_of_the_definition(noise, n_options, d, M):
    truth = mafc.Setting(d=d, meta_d=M * d, n_options=n_options, noise=noise)
    ds = hmeta.simulate(
        task="mafc", n_trials=60_000, d=d, M=M, criteria=EDGES, n_options=n_options, noise=noise, seed=2
    )
    table = counted(ds, ds["correct"].values.astype(int))
    p = [
        np.exp(mafc.log_joint(truth, correct, lo, hi))
        for correct in (0, 1)
        for lo, hi in pairwise((0.0, *EDGES, np.inf))
    ]
    assert misfit(table.ravel(), p) > FALSE_ALARM


@pytest.mark.parametrize(("d_a", "slope"), [(1.2, 1.0), (0.5, 0.7), (-0.4, 1.5)])
def test_open_rates_are_those_of_the_definition(d_a, slope):
    truth, edges = type2.Setting(np.log(0.7 / 0.3), d_a, slope), (-1.1, 0.2, 0.9)
    ds = hmeta.simulate(task="open", n_trials=60_000, accuracy=0.7, d_a=d_a, zroc_slope=slope, criteria=edges, seed=3)
    p = [
        np.exp(type2.log_joint(truth, correct, lo, hi))
        for correct in (0, 1)
        for lo, hi in pairwise((-np.inf, *edges, np.inf))
    ]
    assert misfit(counted(ds, ds["correct"].values.astype(int)).ravel(), p) > FALSE_ALARM


def test_the_chi_square_sees_a_tenth_of_meta_d():
    """The bound can fail: rates of meta_d 1.26 against data of 1.40."""
    wrong = mafc.Setting(d=2.0, meta_d=0.9 * 1.4, n_options=4)
    ds = hmeta.simulate(task="mafc", n_trials=60_000, d=2.0, M=0.7, criteria=EDGES, seed=2)
    table = counted(ds, ds["correct"].values.astype(int))
    p = [np.exp(mafc.log_joint(wrong, k, lo, hi)) for k in (0, 1) for lo, hi in pairwise((0.0, *EDGES, np.inf))]
    assert misfit(table.ravel(), p) < FALSE_ALARM


@pytest.mark.parametrize(
    ("task", "noise", "M"),
    [
        ("binary", "normal", 100.0),
        ("binary", "normal", -100.0),
        ("binary", "logistic", 100.0),
        ("binary", "gumbel_max", -100.0),
        ("mafc", "gumbel", 100.0),
        ("mafc", "normal", 2.5),
        ("mafc", "normal", -1.0),
    ],
)
def test_rare_answers_get_ratings_under_extreme_evidence(task, noise, M):
    """Evidence of strength 200 hardly ever agrees with the answers that strength 2 gives wrong."""
    for seed in range(2):
        ds = hmeta.simulate(task=task, n_trials=400, d=2.0, M=M, criteria=EDGES, noise=noise, seed=seed)
        ratings = ds["confidence"].values
        assert ds.sizes["trial"] == 400
        assert np.isin(ratings, [1, 2, 3, 4]).all()


def test_units_keep_their_own_values():
    ds = hmeta.simulate(
        task="mafc",
        n_trials=[100, 300],
        d=[0.0, 6.0],
        M=1.0,
        n_options=[2, 5],
        criteria=[[1.0], [0.5, 1.0, 1.5]],
        units={"model": ["weak", "strong"], "domain": ["x", "y"], "scale": ["1-2", "1-4"]},
        seed=4,
    )
    frame = frame_of(ds)
    by = frame.groupby("model")
    assert by.size().to_dict() == {"weak": 100, "strong": 300}
    assert by["n_options"].unique().map(list).to_dict() == {"weak": [2], "strong": [5]}
    assert by["confidence"].max().to_dict() == {"weak": 2.0, "strong": 4.0}
    # 50 right of 100 by chance, sd 5: 20 away once in 16,000; 300 at e^6 / (e^6 + 4) = 0.99
    assert abs(by["correct"].sum()["weak"] - 50) < 20
    assert by["correct"].mean()["strong"] > 0.96
    assert dict(zip(ds["scale_id"].values, ds["scale_upper"].values, strict=True)) == {"1-2": 2.0, "1-4": 4.0}
    assert set(frame["domain"]) == {"x", "y"}


def test_the_seed_decides_the_draws():
    def ratings(seed):
        return hmeta.simulate(n_trials=200, d=1.0, M=1.0, criteria=EDGES, seed=seed)["confidence"].values

    assert np.array_equal(ratings(1), ratings(1))
    assert not np.array_equal(ratings(1), ratings(2))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"task": "ternary"}, "unknown task"),
        ({"task": "open"}, "d has no meaning"),
        ({"d_a": 1.0}, "d_a has no meaning"),
        ({"M": None}, "M is missing"),
        (OPEN | {"noise": "logistic"}, "unknown noise"),
        (OPEN | {"d_a": None}, "d_a is missing"),
        (OPEN | {"accuracy": 1.2}, "accuracy cannot be used"),
        (OPEN | {"zroc_slope": 0.0}, "zroc_slope cannot be used"),
        (OPEN | {"criteria": [1.0, 0.5]}, "criteria cannot be used"),
        ({"noise": "gumbel"}, "unknown noise"),
        ({"meta_c": "middle"}, "unknown meta_c"),
        ({"n_options": 3}, "n_options has no meaning"),
        ({"task": "mafc", "c": 0.2}, "c has no meaning"),
        ({"task": "mafc", "meta_c": "absolute"}, "meta_c has no meaning"),
        ({"task": "mafc", "n_options": 1}, "n_options cannot be used"),
        ({"n_trials": 0}, "n_trials cannot be used"),
        ({"n_trials": 10.5}, "n_trials cannot be used"),
        ({"d": np.nan}, "d cannot be used"),
        ({"sd_ratio": 0.0}, "sd_ratio cannot be used"),
        ({"d": [1.0, 2.0], "M": [1.0, 1.0, 1.0]}, "d does not fit the units"),
        ({"units": {"person": ["a"]}}, "no column says who answered"),
        ({"criteria": []}, "criteria cannot be used"),
        ({"criteria": [1.0, 0.5]}, "criteria cannot be used"),
        ({"criteria": [0.0, 0.5]}, "criteria cannot be used"),
        ({"criteria": [[0.5], [0.5], [0.5]]}, "criteria cannot be used"),
        ({"criteria": [[[0.5], [0.5]], [[0.5], [0.5]]]}, "criteria cannot be used"),
        ({"criteria": "low"}, "criteria cannot be used"),
        ({"task": "mafc", "noise": "normal", "M": 400.0}, "can hardly occur"),
    ],
)
def test_what_no_answerer_can_have_is_refused(change, message):
    with pytest.raises(HmetaError, match=message):
        hmeta.simulate(**{"n_trials": 50, "d": 1.0, "M": 1.0, "criteria": EDGES, "seed": 1, **change})
