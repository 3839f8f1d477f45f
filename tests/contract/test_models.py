"""Every shipped model: it loads, plans on tiny data, and its text gives the plan again."""

import pytest

from hmeta.spec import load_model, parse_model, plan, shipped_models
from hmeta.spec.likelihoods import FAMILIES
from tests.spec.example_data import crossed_binary, crossed_mafc, crossed_open
from tests.spec.plan_equality import assert_same

EXPECTED = {
    "binary_single",
    "binary_hierarchical",
    "binary_regression",
    "binary_two_group",
    "binary_within_person",
    "binary_correlated",
    "mafc_single",
    "mafc_hierarchical",
    "mafc_pooled",
    "mafc_by_scale",
    "type2_single",
    "type2_separate",
    "type2_hierarchical",
    "type2_pooled",
    "type2_by_scale",
}
"""What must be shipped at least: the counterparts of HMeta-d's models, and those for language models."""


def data_for(name):
    if not name.startswith("binary"):
        crossed = crossed_mafc if name.startswith("mafc") else crossed_open
        return crossed(model=["a", "b"], dataset=["x", "y"], scale=["0-5", "0-100"] if "scale" in name else ["0-5"])
    ds = crossed_binary(participant=["p1", "p2", "p3"], task=["t1", "t2"], condition=["c1", "c2"])
    people = ds["participant"].values
    return ds.assign(
        covariate=("trial", [float(p[1:]) for p in people]),
        group=("trial", ["g1" if p == "p1" else "g2" for p in people]),
    )


def test_the_models_that_were_promised_are_there():
    assert set(shipped_models()) >= EXPECTED


@pytest.mark.parametrize("name", shipped_models())
def test_a_shipped_model_plans_and_its_text_gives_the_plan_again(name):
    ds, spec = data_for(name), load_model(name)
    if name.endswith("_by_scale_single"):
        ds = ds.isel(trial=(ds["model"] == "a").values)
    found = plan(spec, ds)
    assert_same(found, plan(parse_model(found.spec_text), ds))
    assert name.startswith(found.likelihood)
    assert float(found.rows.count.sum()) == ds.sizes["trial"]
    assert not found.notes


@pytest.mark.parametrize("name", shipped_models())
def test_every_cell_of_a_shipped_model_has_a_unit_of_every_parameter(name):
    ds = data_for(name)
    if name.endswith("_by_scale_single"):
        ds = ds.isel(trial=(ds["model"] == "a").values)
    found = plan(load_model(name), ds)
    for parameter in found.parameters.values():
        assert parameter.unit_of_cell.shape == (len(found.cells),)
        assert set(parameter.unit_of_cell) == set(range(len(parameter.units)))
        for term in (*parameter.common, *parameter.groups):
            assert term.matrix.shape[0] == len(parameter.units)
    for k, outcome in zip(found.rows.ladder, found.rows.outcome, strict=True):
        assert outcome in found.criteria.ladder_outcomes[k]


@pytest.mark.parametrize("name", sorted(FAMILIES))
def test_options_of_model_files_are_those_of_the_likelihood(name):
    from hmeta.sdt.likelihood import families

    assert FAMILIES[name].options == getattr(families()[name], "OPTIONS")  # noqa: B009


@pytest.mark.parametrize("name", sorted(FAMILIES))
def test_families_say_what_the_likelihood_says(name):
    from hmeta.sdt.likelihood import get

    family, likelihood = FAMILIES[name], get(name)
    assert (family.task, family.lowest) == (likelihood.task, likelihood.lowest)
    read = {"meta_d" if parameter == "M" else parameter for parameter in family.links}
    assert read | {"n_options"} >= set(likelihood.parameters) >= read
