"""The fit file: its groups and names, its draws against the definitions, its way through a file and through ArviZ."""

import json
import warnings

import arviz as az
import arviz_plots
import numpy as np
import pytest
import xarray as xr

import hmeta
from hmeta.core.files import read_tree, write_tree
from hmeta.core.schema import OUTCOMES
from hmeta.infer.labels import labelled_posterior
from tests.infer.conftest import CHAINS, DRAWS, WARMUP
from tests.oracle import binary, mafc

GROUPS = {
    "posterior",
    "sample_stats",
    "log_likelihood",
    "posterior_predictive",
    "observed_data",
    "prior",
    "constant_data",
    "hmeta",
}
FLOAT32 = 2e-7
"""Relative rounding of a number kept in float32, with a little for sums."""


@pytest.fixture(params=["people", "models"])
def fitted(request):
    return request.getfixturevalue(request.param)


def ladders(tree):
    """Return the positions of each ladder's criteria, by (criteria group, outcomes), lowest first."""
    posterior = labelled_posterior(tree)
    keys = list(zip(posterior["criterion_group"].values, posterior["criterion_outcomes"].values, strict=True))
    level = posterior["criterion_level"].values
    found = {key: [i for i, other in enumerate(keys) if other == key] for key in dict.fromkeys(keys)}
    return {key: sorted(places, key=lambda i: level[i]) for key, places in found.items()}


def edges_of(tree, group, outcome, chain, draw):
    """Return levels and edges (0, criteria, infinity) that one outcome of a criteria group reads, in one draw."""
    [(_, places)] = [(k, v) for k, v in ladders(tree).items() if k[0] == group and outcome in k[1].split("+")]
    criteria = labelled_posterior(tree)["criteria"].values[chain, draw, places]
    return labelled_posterior(tree)["criterion_level"].values[places], [0.0, *criteria, np.inf]


def test_groups_dimensions_and_names_are_those_of_the_format(people, models):
    for fitted in (people, models):
        assert set(fitted.tree.children) == GROUPS
        assert all(
            dict(fitted.tree[g].sizes)["chain"] == CHAINS and dict(fitted.tree[g].sizes)["draw"] == DRAWS
            for g in ("posterior", "sample_stats", "log_likelihood")
        )
        forbidden = {"model", "group", "sample", "variable", "column"}
        assert not forbidden & {str(d) for node in fitted.tree.subtree for d in node.dims}
    found = labelled_posterior(people.tree)
    for name, dims in {
        "M": ("cell",),
        "c": ("cell",),
        "meta_d": ("cell",),
        "M_Intercept": (),
        "d_sd_participant": (),
        "c_participant": ("participant_level",),
        "criteria": ("criterion",),
    }.items():
        assert found[name].dims == ("chain", "draw", *dims), name
    found = labelled_posterior(models.tree)
    assert found["M_model_dataset"].dims[2:] == ("llm_dataset",)
    assert found["M_model"].dims[2:] == ("llm",)
    assert found["cell"].values[:3].tolist() == ["a | x", "a | y", "b | x"]
    assert found["model"].values[:3].tolist() == ["a", "a", "b"]
    assert set(found["n_options"].values.tolist()) == {4}
    assert found["n_answers"].values.tolist() == [60.0] * 10


def test_statistics_and_attributes_say_how_the_draws_were_made(fitted):
    assert set(fitted.tree["sample_stats"].data_vars) == {
        "diverging",
        "n_steps",
        "acceptance_rate",
        "energy",
        "lp",
        "tree_depth",
        "step_size",
    }
    attrs = fitted.tree["hmeta"].attrs
    told = {k: attrs[k] for k in ("hmeta_schema", "method", "backend", "chains", "warmup", "draws", "seed")}
    assert told == {
        "hmeta_schema": "1",
        "method": "nuts",
        "backend": "numpyro",
        "chains": CHAINS,
        "warmup": WARMUP,
        "draws": DRAWS,
        "seed": 1,
    }
    assert attrs["chain_method"] == "threads"
    assert all(isinstance(v, str | int | float) for v in attrs.values())
    assert attrs["wall_time_s"] >= attrs["compile_time_s"] + attrs["sampling_time_s"] > 0


def test_terms_name_variables_that_exist(fitted):
    posterior = labelled_posterior(fitted.tree)
    terms = json.loads(fitted.tree["hmeta"].attrs["terms"])
    assert set(terms) == set(fitted.plan.parameters)
    for parameter in terms.values():
        assert all(common["variable"] in posterior for common in parameter["common"])
        for group in parameter["groups"]:
            assert group["sd"] in posterior
            assert posterior[group["effects"]].dims[2] == group["dim"]
            if group["zero_sum"]:
                assert np.abs(posterior[group["effects"]].sum(group["dim"])).max() < 1e-12


def test_cells_are_the_sum_of_their_terms(models):
    """M at (model, dataset) = intercept + model + dataset + interaction, in every draw; meta_d = M·d."""
    p = labelled_posterior(models.tree)
    llm, dataset = (list(p[dim].values) for dim in ("llm", "dataset_level"))
    pairs = list(p["llm_dataset"].values)
    for i, (model, name) in enumerate(zip(p["model"].values, p["dataset"].values, strict=True)):
        total = (
            p["M_Intercept"].values
            + p["M_model"].values[..., llm.index(model)]
            + p["M_dataset"].values[..., dataset.index(name)]
            + p["M_model_dataset"].values[..., pairs.index(f"{model}:{name}")]
        )
        assert p["M"].values[..., i] == pytest.approx(total, abs=1e-12)
    assert p["meta_d"].values == pytest.approx(p["M"].values * p["d"].values, abs=1e-12)


def test_the_log_link_is_undone_at_the_cells(people):
    p = labelled_posterior(people.tree)
    order = [list(p["participant_level"].values).index(name) for name in p["participant"].values]
    linear = p["M_Intercept"].values[..., None] + p["M_participant"].values[..., order]
    assert p["M"].values == pytest.approx(np.exp(linear), rel=1e-12)


def test_criteria_are_strictly_ordered_above_the_decision_in_every_draw(fitted):
    """BUG-54, on the stored draws."""
    for group in ("posterior", "prior"):
        criteria = fitted.tree[group]["criteria"].values
        for places in ladders(fitted.tree).values():
            steps = np.diff(criteria[..., places], axis=-1, prepend=0.0)
            assert steps.min() > 0, group


def test_criteria_have_the_levels_that_each_group_uses(models):
    found = {key[0]: len(places) for key, places in ladders(models.tree).items()}
    assert found == {"a": 4, "b": 4, "c": 4, "d": 2, "e": 2}


def test_log_likelihood_of_people_is_that_of_the_definition(people):
    tree, chain, draw = people.tree, 1, 37
    p, stored = labelled_posterior(tree), tree["log_likelihood"]["outcome"].values[chain, draw]
    data = people.data
    for cell, name in enumerate(p["participant"].values):
        values = {k: float(p[k].values[chain, draw, cell]) for k in ("d", "c", "meta_d")}
        truth, total = binary.Setting(**values), 0.0
        for outcome, code in enumerate(OUTCOMES["binary"]):
            levels, edges = edges_of(tree, name, code, chain, draw)
            answers = data["confidence"].values[
                (data["participant"].values == name)
                & (2 * data["stimulus"].values + data["response"].values == outcome)
            ]
            for rating, n in zip(*np.unique(answers, return_counts=True), strict=True):
                place = int(np.sum(levels <= rating))
                total += n * binary.log_joint(truth, outcome, edges[place], edges[place + 1])
        assert stored[cell] == pytest.approx(total, rel=FLOAT32)


@pytest.mark.parametrize("cell", [0, 7])
def test_log_likelihood_of_models_is_that_of_the_definition(models, cell):
    tree, chain, draw = models.tree, 0, 99
    p, data = labelled_posterior(tree), models.data
    setting = mafc.Setting(*(float(p[k].values[chain, draw, cell]) for k in ("d", "meta_d")), n_options=4)
    here = (data["model"].values == p["model"].values[cell]) & (data["dataset"].values == p["dataset"].values[cell])
    total = 0.0
    for outcome, code in enumerate(OUTCOMES["mafc"]):
        levels, edges = edges_of(tree, p["model"].values[cell], code, chain, draw)
        answers = data["confidence"].values[here & (data["correct"].values == outcome)]
        for rating, n in zip(*np.unique(answers, return_counts=True), strict=True):
            place = int(np.sum(levels <= rating))
            total += n * mafc.log_joint(setting, outcome, edges[place], edges[place + 1])
    assert tree["log_likelihood"]["outcome"].values[chain, draw, cell] == pytest.approx(total, rel=FLOAT32)


def test_observed_rows_are_the_counts_of_the_data(people):
    tree, data = people.tree, people.data
    rows = tree["observed_data"].to_dataset()
    names = labelled_posterior(tree)["participant"].values
    for i in range(rows.sizes["row"]):
        row = rows.isel(row=i)
        same = (
            (data["participant"].values == names[int(row["row_cell"])])
            & (2 * data["stimulus"].values + data["response"].values == int(row["row_outcome"]))
            & (data["confidence"].values == float(row["row_confidence"]))
        )
        assert same.sum() == int(row["count"])
    assert float(rows["count"].sum()) == data.sizes["trial"]


def test_replicates_have_the_observed_number_of_every_outcome(fitted):
    observed, replicated = fitted.tree["observed_data"], fitted.tree["posterior_predictive"]
    keys = list(zip(observed["row_cell"].values.tolist(), observed["row_outcome"].values.tolist(), strict=True))
    for key in dict.fromkeys(keys):
        rows = [i for i, other in enumerate(keys) if other == key]
        total = observed["count"].values[rows].sum()
        assert np.all(replicated["count"].values[..., rows].sum(axis=-1) == total)
    spread = replicated["count"].values.std(axis=(0, 1))
    assert (spread > 0).mean() > 0.9


def test_replicated_ratings_scatter_around_the_observed(fitted):
    """|z| of each row under the replicates below 5: counts that the model is fitted to, false alarm < 1e-4 in all."""
    observed = fitted.tree["observed_data"]["count"].values
    replicated = fitted.tree["posterior_predictive"]["count"].values.reshape(-1, len(observed))
    z = (observed - replicated.mean(axis=0)) / np.maximum(replicated.std(axis=0), 1.0)
    assert np.abs(z).max() < 5


def test_a_short_fit_says_that_it_has_not_converged(fitted):
    """BUG-60: 200 draws cannot have the effective sample size that a verdict needs."""
    attrs = fitted.tree["hmeta"].attrs
    reasons = json.loads(attrs["reasons"])
    assert attrs["converged"] == 0
    assert any("ESS" in reason for reason in reasons)
    table = hmeta.summarize(fitted.tree)
    assert table["flags"].str.contains("not converged").all()


def test_a_fit_survives_its_file(fitted, tmp_path):
    path = tmp_path / "fit.nc"
    write_tree(fitted.tree, path)
    back = read_tree(path)
    assert set(back.children) == GROUPS
    for name in GROUPS:
        xr.testing.assert_identical(back[name].to_dataset(), fitted.tree[name].to_dataset())


def test_arviz_reads_a_fit_as_it_is(fitted):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what ArviZ thinks of 200 draws
        table = az.summary(fitted.tree, var_names=["M", "M_Intercept"])
        plot = arviz_plots.plot_forest(fitted.tree, var_names=["M"], backend="matplotlib")
        loo = az.loo(fitted.tree)
    n_cells = labelled_posterior(fitted.tree).sizes["cell"]
    assert len(table) == n_cells + 1
    assert plot is not None
    assert np.isfinite(loo.elpd)
    assert loo.n_data_points == n_cells


def test_prior_draws_have_the_documented_location_and_spread(models):
    """Intercepts of d ~ N(2, 1.5) and M ~ N(0.8, 0.5), sd of M over models half-normal(0.3); |z| < 4.4, 1e-5 each."""
    prior = models.tree["prior"]
    n = prior.sizes["draw"]
    half = 0.3 * np.sqrt(2 / np.pi), 0.3 * np.sqrt(1 - 2 / np.pi)
    for name, (mean, sd) in {"d_Intercept": (2.0, 1.5), "M_Intercept": (0.8, 0.5), "M_sd_model": half}.items():
        values = prior[name].values.ravel()
        assert len(values) == n == 500
        assert abs(values.mean() - mean) < 4.4 * sd / np.sqrt(n), name
        assert abs(values.std() / sd - 1) < 4.4 / np.sqrt(n) * 1.2, name
