"""Open tasks: the type-2 ROC in place of M, from the plan to the summary."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit, ndtr

import hmeta
from hmeta.core.errors import HmetaError, SpecError
from hmeta.core.files import read_tree, write_tree
from hmeta.infer.evidence import auroc2, observed_rows, unit_rows
from hmeta.infer.labels import labelled_posterior
from hmeta.infer.summary_terms import summarize_terms
from hmeta.report.plot import plot
from hmeta.spec import load_model, plan
from hmeta.trials import to_counts
from tests.oracle import type2
from tests.spec.example_data import crossed_open, open_answers
from tests.spec.plan_equality import assert_same

SHARED = Path(os.environ.get("HMETA_SHARED", Path(__file__).resolve().parents[2].parent / "shared"))
GASTRO = SHARED / "data" / "llm" / "gastro_confidence_0_10.parquet"

MODELS, DATASETS = ["a", "b", "c", "d"], ["x", "y"]
CRITERIA = [-1.0, -0.2, 0.6, 1.3]


@pytest.fixture(scope="module")
def answers():
    """Four models × two datasets, 120 answers a cell; the last two models use two of the four criteria."""
    model = np.repeat(MODELS, len(DATASETS))
    return hmeta.simulate(
        task="open",
        n_trials=120,
        accuracy=np.tile([0.6, 0.75], 4),
        d_a=np.linspace(0.4, 1.6, 8),
        zroc_slope=0.8,
        criteria=[CRITERIA if name < "c" else [-0.4, 0.9] for name in model],
        units={"model": model.tolist(), "dataset": DATASETS * len(MODELS)},
        seed=31,
    )


@pytest.fixture(scope="module")
def fit(answers):
    return hmeta.fit(answers, chains=2, warmup=150, draws=150, seed=1)


@pytest.fixture(scope="module")
def by_scale():
    """Two models under two scales, of which the second tells right from wrong better."""
    units = {"model": ["a", "a", "b", "b"], "scale": ["1-5", "1-9"] * 2}
    criteria = [CRITERIA, np.linspace(-1.5, 2.0, 8).tolist()] * 2
    ds = hmeta.simulate(
        task="open", n_trials=150, accuracy=0.6, d_a=[0.3, 1.8] * 2, criteria=criteria, units=units, seed=32
    )
    return hmeta.fit(ds, chains=2, warmup=100, draws=100, seed=1)


def test_the_posterior_holds_the_parameters_and_what_follows_from_them(fit):
    posterior = fit["posterior"]
    for name in ("d_a", "zroc_slope", "logit_accuracy", "accuracy", "auroc2"):
        assert posterior[name].dims == ("chain", "draw", "cell")
    assert not {"M", "meta_d", "d"} & set(posterior.data_vars)
    np.testing.assert_allclose(posterior["auroc2"], ndtr(posterior["d_a"].values / np.sqrt(2)), atol=1e-14)
    np.testing.assert_allclose(posterior["accuracy"], expit(posterior["logit_accuracy"].values), atol=1e-14)
    assert set(fit["prior"].data_vars) == set(posterior.data_vars)


def test_criteria_increase_and_may_be_negative(fit):
    assert (fit["posterior"]["criteria"] < 0).any()
    assert hmeta.diagnose(fit).n_disordered == 0
    assert fit["posterior"].sizes["criterion"] == 2 * 4 + 2 * 2


def test_accuracy_is_that_of_the_answers(fit):
    """480 answers a cell pair: the posterior median within 0.06 of the share, where its sd is 0.04."""
    rows = observed_rows(fit, 8)
    share = [
        unit_rows(rows, [i]).pipe(lambda r: r["count"][r["outcome"] == 1].sum() / r["count"].sum()) for i in range(8)
    ]
    found = fit["posterior"]["accuracy"].median(("chain", "draw")).values
    assert np.abs(found - share).max() < 0.06


def test_the_pointwise_log_likelihood_is_that_of_the_oracle(fit, answers):
    made = plan(load_model("type2_pooled"), hmeta.validate(answers).dataset)
    draw = {name: fit["posterior"][name].values[1, 7] for name in ("logit_accuracy", "d_a", "zroc_slope", "criteria")}
    ladders = [(-np.inf, *draw["criteria"][made.criteria.criterion_ladder == k], np.inf) for k in range(len(MODELS))]
    total = np.zeros(8)
    for cell, outcome, ladder, level, count in zip(*vars(made.rows).values(), strict=True):
        setting = type2.Setting(*(float(draw[name][cell]) for name in ("logit_accuracy", "d_a", "zroc_slope")))
        total[cell] += count * type2.log_joint(setting, int(outcome), *ladders[ladder][level : level + 2])
    np.testing.assert_allclose(fit["log_likelihood"]["outcome"].values[1, 7], total, rtol=1e-6)  # single precision


def test_replicates_keep_the_outcomes(fit):
    seen, again = fit["observed_data"]["count"], fit["posterior_predictive"]["count"]
    for outcome in (0, 1):
        these = (seen["row_outcome"] == outcome).values
        assert (again.values[..., these].sum(axis=-1) == seen.values[these].sum()).all()


def test_counts_and_trials_make_one_plan(answers):
    spec, valid = load_model("type2_pooled"), hmeta.validate(answers).dataset
    assert_same(plan(spec, valid), plan(spec, to_counts(valid)))


def test_the_anchor_halves_the_answers():
    rows = [("a", 1, 90)] * 9 + [("a", 0, 50)] * 4 + [("a", 0, 10)] * 4 + [("b", 1, 10)] * 9 + [("b", 0, 50)] * 2
    criteria = plan(load_model("type2_hierarchical"), open_answers(rows, ["model"])).criteria
    assert criteria.anchor_ladder.tolist() == [0, 1]
    assert criteria.anchor_level.tolist() == [2, 1]  # 8 of 17 answers below 90; 9 of 11 below 50
    assert (criteria.gap_ladder.tolist(), criteria.gap_step.tolist()) == ([0], [1])
    assert criteria.criterion_ladder.tolist() == [0, 0, 1]


def test_the_headline_is_auroc2_everywhere(fit, tmp_path):
    assert fit["hmeta"].attrs["headline"] == "auroc2"
    write_tree(fit, tmp_path / "fit.nc")
    read = read_tree(tmp_path / "fit.nc")
    table = hmeta.summarize(read)
    assert table.attrs["parameter"] == "auroc2"
    assert (table["median"].between(0, 1)).all()
    assert "p_below_half" in table
    assert "p_below_zero" not in table
    assert list(table[table["kind"] == "level"]["level"]) == MODELS
    assert hmeta.contrast(read, "dataset").parameter == "auroc2"
    plot("forest", [tmp_path / "fit.nc"], tmp_path / "forest.svg")
    assert b"svg" in (tmp_path / "forest.svg").read_bytes()[:400]


@pytest.mark.parametrize("parameter", ["d_a", "zroc_slope", "accuracy", "logit_accuracy"])
def test_other_quantities_are_summarised_when_asked(fit, parameter):
    assert hmeta.summarize(fit, parameter=parameter).attrs["parameter"] == parameter


def test_m_is_not_there(fit):
    with pytest.raises(HmetaError, match="no parameter"):
        hmeta.summarize(fit, parameter="M")


@pytest.mark.parametrize(
    ("view", "of", "change"), [("auroc2", "d_a", lambda x: ndtr(x / 2**0.5)), ("accuracy", "logit_accuracy", expit)]
)
def test_a_view_is_predicted_for_a_new_unit_by_its_parameter(fit, view, of, change):
    """Both draw the same new effects: quantiles of one dataset's prediction are mapped by the monotone view."""
    from hmeta.infer.fitted import read_fit
    from hmeta.infer.new_unit import predict_new

    ours, theirs = predict_new(read_fit(fit, view), "model"), predict_new(read_fit(fit, of), "model")
    np.testing.assert_allclose(ours.draws, change(theirs.draws), atol=1e-14)
    assert list(summarize_terms(fit, parameter=view)["term"]) == list(summarize_terms(fit, parameter=of)["term"])
    assert summarize_terms(fit, parameter=view).attrs["parameter"] == of


def test_scales_are_compared(by_scale):
    """True AUROC2 0.58 and 0.90, 300 answers each: standard errors below 0.03, so that 0.15 apart is certain."""
    found = hmeta.contrast(by_scale, "scale", baseline="1-5")
    assert found.parameter == "auroc2"
    assert found.contrasts["median"].iloc[0] > 0.15


def test_units_that_say_nothing_are_named():
    spread = [(m, k, c) for m in ("a", "b") for k in (0, 1) for c in (1, 2, 3)] * 6
    rows = spread + [("right", 1, c) for c in (1, 2, 3)] * 5 + [("flat", k, 2) for k in (0, 1)] * 8
    ds = open_answers(rows, ["model"])
    made = plan(load_model("type2_hierarchical"), ds)
    assert made.notes == ("uninformative: one confidence level used, auroc2 is the prior's (shrunk) in 1 groups: flat",)
    found = hmeta.fit(ds, chains=2, warmup=60, draws=60, seed=1, columns=None)
    flags = hmeta.summarize(found).set_index("level")["flags"]
    assert "uninformative: no wrong answers" in flags["right"]
    assert "uninformative: one confidence level used" in flags["flat"]
    assert "uninformative" not in flags["a"]
    assert "uninformative" not in hmeta.summarize(found, parameter="accuracy").set_index("level")["flags"]["flat"]


def test_m_stays_refused_and_type2_needs_an_open_task():
    ds = crossed_open(model=["a", "b"])
    with pytest.raises(SpecError, match="circular"):
        plan(load_model("mafc_hierarchical"), ds)
    with pytest.raises(SpecError, match="for open tasks"):
        plan(load_model("type2_hierarchical"), ds.assign(n_options=("trial", [4] * 12)).assign_attrs(task="mafc"))


def test_the_fit_says_what_ratings_are_needed_for(fit):
    assert json.loads(fit["hmeta"].attrs["from_ratings"]) == ["auroc2", "d_a", "zroc_slope"]
    assert labelled_posterior(fit)["n_answers"].values.sum() == 8 * 120


def test_effects_of_items_average_accuracy_not_its_logit(monkeypatch):
    """Beyond `MAX_CELLS` cells a view is averaged over answers after it was taken: here, over items."""
    from hmeta.infer import reporting

    monkeypatch.setattr(reporting, "MAX_CELLS", 10)
    given = {"a": ((1, 3), (0, 1), (1, 2), (0, 2)), "b": ((1, 3), (0, 1), (0, 2))}
    rows = [(m, f"i{i}", n, k, c) for m in given for i in range(8) for n, (k, c) in enumerate(given[m])]
    ds = open_answers(rows, ["model", "item", "repeat"])
    items = {"logit_accuracy": "1 + (1 | model) + (1 | item)"}
    found = hmeta.fit(ds, "type2_hierarchical", formulas=items, chains=2, warmup=60, draws=60, seed=1)
    posterior = found["posterior"]
    assert posterior.sizes["cell"] == 2
    assert posterior.sizes["item_level"] == 8
    logits = (
        posterior["logit_accuracy_Intercept"] + posterior["logit_accuracy_model"] + posterior["logit_accuracy_item"]
    )
    each = expit(logits.transpose("chain", "draw", "llm", "item_level").values)
    np.testing.assert_allclose(posterior["accuracy"].values, each.mean(axis=-1), atol=1e-12)


def replicated_areas(tree, n_cells):
    """Return the AUROC2 with ties of each cell in the data, (cell,), and in replicated data, (replicate, cell)."""
    rows = observed_rows(tree, n_cells)
    counts = tree["posterior_predictive"]["count"].values.reshape(-1, len(rows))[::3]

    def areas(table):
        return [auroc2(unit_rows(table, [cell]), "open") for cell in range(n_cells)]

    return np.array(areas(rows)), np.array([areas(rows.assign(count=count)) for count in counts])


@pytest.mark.skipif(not GASTRO.exists(), reason="the shared data folder is not beside the repository")
def test_real_answers_have_the_area_that_the_model_expects():
    """Eight language models on medical questions, 0 to 10: the area with ties in data and in replicated data.

    A unit's own parameters make replicates centre on its data, so that 3 replicate sd, passed by chance less than
    once in 300 times a unit, are generous. The mean over units has an eighth of the variance.
    """
    ds = hmeta.import_table(GASTRO)
    names = sorted(set(ds["model"].values.tolist()))[:8]
    ds = ds.isel(trial=np.isin(ds["model"].values, names))
    tree = hmeta.fit(hmeta.validate(ds), "type2_separate", chains=2, warmup=200, draws=200, seed=1)
    seen, again = replicated_areas(tree, 8)
    z = (seen - again.mean(axis=0)) / again.std(axis=0)
    assert np.abs(z).max() < 3
    assert abs(z.mean()) < 3 / np.sqrt(8)
    area = tree["posterior"]["auroc2"].median(("chain", "draw")).values
    assert np.corrcoef(area, seen)[0, 1] > 0.9
