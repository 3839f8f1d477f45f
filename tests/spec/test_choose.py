"""The model is chosen by the task and the factors that vary."""

import pytest

from hmeta.core.errors import SpecError
from hmeta.spec import choose_model, load_model, plan
from hmeta.trials.counts import to_counts
from tests.spec.example_data import crossed_binary, crossed_mafc, crossed_open

TWO = ["1", "2"]


def grouped_people():
    ds = crossed_binary(participant=["p1", "p2", "p3", "p4"])
    return ds.assign(group=("trial", ["old" if p in ("p1", "p2") else "young" for p in ds["participant"].values]))


CASES = [
    (crossed_binary(participant=["p"]), "binary_single", {}),
    (crossed_binary(participant=TWO), "binary_hierarchical", {}),
    (crossed_binary(model=TWO), "binary_hierarchical", {"participant": "model"}),
    (crossed_binary(participant=TWO, condition=TWO), "binary_within_person", {}),
    (crossed_binary(participant=TWO, task=TWO), "binary_within_person", {"condition": "task"}),
    (grouped_people(), "binary_two_group", {}),
    (crossed_mafc(model=["m"]), "mafc_single", {}),
    (crossed_mafc(model=TWO), "mafc_hierarchical", {}),
    (crossed_mafc(participant=TWO), "mafc_hierarchical", {"model": "participant"}),
    (crossed_mafc(model=["m"], domain=TWO), "mafc_hierarchical", {"model": "domain"}),
    (crossed_mafc(model=TWO, dataset=TWO), "mafc_pooled", {}),
    (crossed_mafc(model=TWO, domain=TWO), "mafc_pooled", {"dataset": "domain"}),
    (crossed_mafc(model=TWO, dataset=TWO, domain=TWO), "mafc_pooled", {}),
    (crossed_mafc(model=TWO, dataset=TWO, scale=TWO), "mafc_by_scale", {}),
    (crossed_mafc(model=TWO, scale=TWO), "mafc_by_scale_hierarchical", {}),
    (crossed_mafc(model=["m"], scale=TWO), "mafc_by_scale_single", {}),
    (crossed_open(model=["m"]), "type2_single", {}),
    (crossed_open(participant=TWO), "type2_hierarchical", {"model": "participant"}),
    (crossed_open(model=TWO, domain=TWO), "type2_pooled", {"dataset": "domain"}),
    (crossed_open(model=TWO, dataset=TWO, scale=TWO), "type2_by_scale", {}),
    (crossed_open(model=TWO, scale=TWO), "type2_by_scale_hierarchical", {}),
    (crossed_open(model=["m"], scale=TWO), "type2_by_scale_single", {}),
]


@pytest.mark.parametrize(("ds", "name", "columns"), CASES, ids=[f"{i}-{c[1]}" for i, c in enumerate(CASES)])
def test_the_choice_follows_the_factors_and_plans(ds, name, columns):
    choice = choose_model(ds)
    assert (choice.name, choice.columns) == (name, columns)
    assert choice.why.startswith(name.split("_")[0].replace("type2", "open"))
    plan(load_model(choice.name), ds, columns=choice.columns)
    assert choose_model(to_counts(ds)) == choice


def test_what_is_left_out_is_said():
    assert choose_model(crossed_mafc(model=TWO, dataset=TWO, domain=TWO)).why.endswith("pooled over domain")


@pytest.mark.parametrize(
    ("changes", "words"),
    [({"task": ""}, "not declared"), ({"hmeta_layout": "estimates"}, "not offered")],
)
def test_what_has_no_model_is_refused(changes, words):
    with pytest.raises(SpecError, match=words):
        choose_model(crossed_mafc(model=TWO).assign_attrs(**changes))
