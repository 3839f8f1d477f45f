"""Known truths come back: intervals hold them as often as they say, and no scale moves M.

With true coverage near 0.90 the number of hits in N units is nearly binomial. Effects that are shrunk
towards an estimated mean are calibrated on average only, so that a true coverage in [0.86, 0.94] is allowed
for: bounds are the binomial quantiles at 5e-5 (N, 0.86) and 1 - 5e-5 (N, 0.94), a false alarm of 1e-4 each.
z scores are bounded by 4.4, 1e-5 each under a normal posterior. Seeds are fixed.
"""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import hmeta
from hmeta.infer.device import find_device, keep_compiled
from hmeta.infer.nuts import run_nuts
from hmeta.infer.options import SamplerOptions, silent
from hmeta.spec import load_model, parse_model, plan
from hmeta.spec.plan import ModelPlan
from hmeta.trials import frame_of, trials_dataset

pytestmark = pytest.mark.slow

SAMPLER = SamplerOptions(chains=2, warmup=300, draws=400, seed=1, target_accept=0.95)
DATA_SETS = 12
LEVELS = 4
MOST_Z = 4.4


@pytest.fixture(scope="module", autouse=True)
def _kept_programs():
    keep_compiled()


def outcomes(frame, task):
    return (frame["correct"] if task == "mafc" else 2 * frame["stimulus"] + frame["response"]).to_numpy(dtype=int)


def plan_of_every_row(model, task, units):
    """Return a plan in which every unit has every outcome at every level, so that all data share its shape."""
    index = pd.MultiIndex.from_product([range(len(units)), range(4 if task == "binary" else 2), range(1, LEVELS + 1)])
    number, outcome, confidence = (index.get_level_values(i).to_numpy() for i in range(3))
    frame = units.iloc[number].reset_index(drop=True).assign(confidence=confidence)
    if task == "binary":
        frame = frame.assign(stimulus=outcome // 2, response=outcome % 2)
    else:
        frame = frame.assign(correct=outcome, n_options=4)
    return plan(load_model(model), hmeta.validate(trials_dataset(frame, task=task)).dataset)


def with_data(every: ModelPlan, ds, units, task) -> ModelPlan:
    """Return the plan with the counts of a data set, zeros included."""
    frame = frame_of(ds)
    cells = every.cells[list(units)].astype(str).agg("|".join, axis=1).tolist()
    cell = frame[list(units)].astype(str).agg("|".join, axis=1).map(cells.index).to_numpy()
    counts = np.zeros((len(cells), 4, LEVELS))
    np.add.at(counts, (cell, outcomes(frame, task), frame["confidence"].to_numpy(dtype=int) - 1), 1.0)
    rows = every.rows
    found = replace(every, rows=replace(rows, count=counts[rows.cell, rows.outcome, rows.level]))
    assert found.rows.count.sum() == ds.sizes["trial"]
    return found


def named(units):
    return {name: units[name].tolist() for name in units}


def hits(draws, truth):
    low, high = np.quantile(draws.reshape(-1, draws.shape[-1]), [0.05, 0.95], axis=0)
    return (low < truth) & (truth < high)


def z_score(draws, truth):
    return float((truth - draws.mean()) / draws.std())


def check_coverage(held):
    n, k = held.size, int(held.sum())
    assert stats.binom.ppf(5e-5, n, 0.86) <= k <= stats.binom.ppf(1 - 5e-5, n, 0.94), k / n


def check_scores(scores):
    """Each z score, and their mean over data sets, whose sd is 1/√n."""
    assert np.abs(scores).max() < MOST_Z, scores
    assert abs(np.mean(scores)) < MOST_Z / np.sqrt(len(scores)), scores


def test_a_group_of_people_is_recovered():
    """30 people × 400 answers, log M ~ N(log 0.8, 0.3): each M, their mean log M and its spread."""
    people = 30
    units = pd.DataFrame({"participant": [f"p{i:02d}" for i in range(people)]})
    every = plan_of_every_row("binary_hierarchical", "binary", units)
    held, means, spreads = [], [], []
    for number in range(DATA_SETS):
        rng = np.random.default_rng([1, number])
        log_m = rng.normal(np.log(0.8), 0.3, people)
        gaps = 0.5 * np.exp(rng.normal(0.0, 0.3, (people, 2, LEVELS - 1)))
        truth = {"d": rng.normal(1.5, 0.4, people), "c": rng.normal(0.0, 0.3, people), "M": np.exp(log_m)}
        ds = hmeta.simulate(n_trials=400, criteria=gaps.cumsum(axis=2), units=named(units), seed=number, **truth)
        run = run_nuts(with_data(every, ds, units, "binary"), SAMPLER, find_device("cpu"), silent)
        assert run.stats["diverging"].mean() < 0.005
        held.append(hits(run.draws["M"], truth["M"]))
        means.append(z_score(run.draws["M_Intercept"], log_m.mean()))
        spreads.append(z_score(np.log(run.draws["M_sd_participant"]), np.log(log_m.std(ddof=1))))
    check_coverage(np.array(held))
    check_scores(means)
    check_scores(spreads)


def test_models_by_datasets_are_recovered():
    """8 models × 4 datasets × 300 answers, M varying over models, datasets and their pairs."""
    models, datasets = 8, 4
    model, dataset = np.indices((models, datasets)).reshape(2, -1)
    units = pd.DataFrame({"model": [f"m{i}" for i in model], "dataset": [f"s{i}" for i in dataset]})
    every = plan_of_every_row("mafc_pooled", "mafc", units)
    held, means = [], []
    for number in range(DATA_SETS):
        rng = np.random.default_rng([2, number])

        def vary(mean, by_model, by_dataset, by_pair, rng=rng):
            effects = rng.normal(0, by_model, models)[model] + rng.normal(0, by_dataset, datasets)[dataset]
            return mean + effects + rng.normal(0, by_pair, len(units))

        truth = {"d": vary(2.0, 0.6, 0.4, 0.2), "M": vary(0.8, 0.2, 0.1, 0.1)}
        criteria = np.exp(rng.normal(np.log(0.6), 0.3, (models, LEVELS - 1))).cumsum(axis=1)[model]
        ds = hmeta.simulate(task="mafc", n_trials=300, criteria=criteria, units=named(units), seed=number, **truth)
        run = run_nuts(with_data(every, ds, units, "mafc"), SAMPLER, find_device("cpu"), silent)
        assert run.stats["diverging"].mean() < 0.005
        held.append(hits(run.draws["M"], truth["M"]))
        means.append(z_score(run.draws["M"].mean(axis=-1), truth["M"].mean()))
    check_coverage(np.array(held))
    check_scores(means)


def test_m_does_not_depend_on_how_fine_the_scale_is():
    """One model under scales of 3, 6, 11 and 21 levels, 6,000 answers each: M 0.8 under all of them."""
    fineness = [3, 6, 11, 21]
    criteria = [np.linspace(0.0, 4.0, n)[1:] for n in fineness]
    names = [f"1-{n:02d}" for n in fineness]
    ds = hmeta.simulate(
        task="mafc",
        n_trials=6000,
        d=2.5,
        M=0.8,
        criteria=criteria,
        units={"model": ["a"] * 4, "scale": names},
        seed=3,
    )
    fit = hmeta.fit(ds, "mafc_by_scale_single", chains=2, warmup=300, draws=500, seed=1)
    posterior = fit["posterior"]
    by_scale = posterior["M_scale"].values.reshape(-1, 4)
    assert [str(v) for v in posterior["M_scale_level"].values] == names
    assert np.abs(by_scale.mean(axis=0) - 0.8).max() < MOST_Z * by_scale.std(axis=0).max()
    assert by_scale.std(axis=0).max() < 0.06
    differences = by_scale[:, 1:] - by_scale[:, :1]
    assert np.abs(differences.mean(axis=0) / differences.std(axis=0)).max() < MOST_Z


LOG_LINK = """
schema = "1"
[likelihood]
name = "binary"
[parameters.d]
formula = "1"
[parameters.c]
formula = "1"
[parameters.M]
link = "log"
formula = "1"
[parameters.criteria]
formula = "1"
"""


@pytest.fixture(scope="module")
def inverted():
    """Confidence that is higher in errors: M = -0.5."""
    return hmeta.simulate(n_trials=4000, d=2.0, M=-0.5, c=0.2, criteria=[0.4, 0.9, 1.5], seed=4)


def test_the_identity_link_recovers_a_negative_m(inverted):
    fit = hmeta.fit(inverted, "binary_single", chains=2, warmup=300, draws=500, seed=1)
    M = fit["posterior"]["M"].values
    assert abs(z_score(M, -0.5)) < MOST_Z
    assert np.quantile(M, 0.999) < -0.2
    assert not hmeta.summarize(fit)["flags"].str.contains("log link").any()


def test_the_log_link_says_that_it_cannot(inverted):
    """BUG-14: a log link hides the sign; the summary has to say so."""
    fit = hmeta.fit(inverted, parse_model(LOG_LINK, "log.toml"), chains=2, warmup=300, draws=500, seed=1)
    assert fit["posterior"]["M"].min() > 0
    flags = hmeta.summarize(fit).query("kind == 'level'")["flags"]
    assert flags.str.contains("M ≤ 0").all()


def test_one_inverted_person_in_a_group_is_named():
    ds = hmeta.simulate(n_trials=1500, d=1.8, M=[0.8, 0.9, 1.0, 0.7, -0.5], c=0.1, criteria=[0.4, 0.9, 1.5], seed=5)
    fit = hmeta.fit(ds, "binary_hierarchical", chains=2, warmup=300, draws=300, seed=1)
    table = hmeta.summarize(fit).query("kind == 'level'").set_index("level")
    assert table["flags"].str.contains("M ≤ 0").to_dict() == {
        "p1": False,
        "p2": False,
        "p3": False,
        "p4": False,
        "p5": True,
    }
    assert table.loc["p5", "median"] < 0.5 * table.loc[["p1", "p2", "p3", "p4"], "median"].min()
