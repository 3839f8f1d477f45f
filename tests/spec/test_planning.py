"""Plans: designs, ladders and rows against values written by hand; and what is refused."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from hmeta.core.errors import SpecError
from hmeta.spec import load_model, parse_model, plan, with_formulas
from hmeta.trials.counts import to_counts
from tests.spec.example_data import binary, crossed_binary, crossed_mafc, mafc
from tests.spec.plan_equality import assert_same


def model(
    likelihood: str = "mafc", *, priors: str = "", pooling: str = "none", link: str = "identity", **formulas: str
):
    names = {"mafc": ("d", "M"), "binary": ("d", "c", "M")}[likelihood]
    parts = [f'schema = "1"\n[likelihood]\nname = "{likelihood}"']
    for name in names:
        parts.append(f'[parameters.{name}]\nformula = "{formulas.get(name, "1")}"')
        parts += [f'link = "{link}"'] if name == "M" else []
    parts.append(f'[parameters.criteria]\nformula = "{formulas.get("criteria", "1")}"\npooling = "{pooling}"')
    return parse_model("\n".join([*parts, f"[priors]\n{priors}"]), "m.toml")


def two_models() -> xr.Dataset:
    a = [(1, 90), (1, 90), (1, 50), (0, 50), (0, 10)]
    b = [(1, 7), (0, 7), (0, 3)]
    return mafc([("a", *r) for r in a] + [("b", *r) for r in b], ["model"])


def test_mafc_ladders_hold_the_occupied_levels_of_each_group():
    found = plan(model(criteria="1 | model"), two_models())
    criteria, rows = found.criteria, found.rows
    assert criteria.groups.to_dict("list") == {"model": ["a", "b"]}
    assert criteria.ladder_group.tolist() == [0, 1]
    assert criteria.ladder_outcomes == ((0, 1), (0, 1))
    assert [v.tolist() for v in criteria.level_values] == [[10, 50, 90], [3, 7]]
    assert criteria.n_levels.tolist() == [3, 2]
    assert criteria.gap_ladder.tolist() == [0, 0, 1]
    assert criteria.gap_step.tolist() == [0, 1, 0]
    table = np.column_stack([rows.cell, rows.outcome, rows.ladder, rows.level, rows.count])
    assert table.tolist() == [
        [0, 0, 0, 0, 1],
        [0, 0, 0, 1, 1],
        [0, 1, 0, 1, 1],
        [0, 1, 0, 2, 2],
        [1, 0, 1, 0, 1],
        [1, 0, 1, 1, 1],
        [1, 1, 1, 1, 1],
    ]
    assert found.cells.to_dict("list") == {"model": ["a", "b"], "n_options": [4, 4]}


def test_binary_has_two_ladders_a_group():
    rows = [("p", 0, 0, 3), ("p", 0, 0, 1), ("p", 1, 0, 1), ("p", 0, 1, 2), ("p", 1, 1, 4), ("p", 1, 1, 4)]
    found = plan(model("binary"), binary(rows, ["participant"]))
    assert found.criteria.ladder_outcomes == ((0, 2), (1, 3))
    assert [v.tolist() for v in found.criteria.level_values] == [[1, 3], [2, 4]]
    table = found.rows
    assert np.column_stack([table.outcome, table.ladder, table.level, table.count]).tolist() == [
        [0, 0, 0, 1],
        [0, 0, 1, 1],
        [1, 1, 0, 1],
        [2, 0, 0, 1],
        [3, 1, 1, 2],
    ]
    assert (len(found.cells), found.cells.shape[1]) == (1, 0)


def test_a_side_without_answers_has_no_ladder():
    rows = [("p", 0, 1, 1), ("p", 0, 1, 2), ("p", 1, 1, 2), ("p", 1, 1, 1)]
    found = plan(model("binary"), binary(rows, ["participant"]))
    assert found.criteria.ladder_outcomes == ((1, 3),)
    assert set(found.rows.ladder.tolist()) == {0}


def test_pooled_ladders_share_the_union_of_levels():
    found = plan(model(criteria="1 | model", pooling="partial"), two_models())
    assert [v.tolist() for v in found.criteria.level_values] == [[3, 7, 10, 50, 90]] * 2
    assert found.criteria.gap_step.tolist() == [0, 1, 2, 3] * 2
    assert found.rows.level.tolist() == [2, 3, 3, 4, 0, 1, 1]
    assert found.criteria.sd_prior is not None
    assert '"criteria.mean"' in found.spec_text


def test_ladders_do_not_depend_on_the_ratings_only_on_their_order():
    base = two_models()
    relabelled = base.assign(confidence=np.exp(base["confidence"] / 50).astype("float32"))
    a, b = (plan(model(criteria="1 | model"), ds) for ds in (base, relabelled))
    assert_same(a.rows, b.rows)


def test_counts_and_trials_give_one_plan():
    ds = crossed_mafc(model=["a", "b"], domain=["x", "y"])
    spec = model(M="1 + (1 | model)", d="1 + (1 | domain)", criteria="1 | model")
    assert_same(plan(spec, ds), plan(spec, to_counts(ds, ["model", "domain"])))


def test_units_are_what_each_formula_sees():
    ds = crossed_mafc(model=["a", "b"], scale=["s1", "s2"])
    found = plan(model(M="0 + scale", d="1 + (1 | model)", criteria="1 | model:scale"), ds)
    assert found.cells[["model", "scale"]].to_numpy().tolist() == [["a", "s1"], ["a", "s2"], ["b", "s1"], ["b", "s2"]]
    m, d = found.parameters["M"], found.parameters["d"]
    assert m.units.to_dict("list") == {"scale": ["s1", "s2"]}
    assert m.unit_of_cell.tolist() == [0, 1, 0, 1]
    assert m.common[0].matrix.tolist() == [[1, 0], [0, 1]]
    assert m.common[0].levels == ("s1", "s2")
    assert d.unit_of_cell.tolist() == [0, 0, 1, 1]
    assert d.groups[0].levels == ("a", "b")
    assert d.groups[0].index.tolist() == [0, 1]


def test_a_trial_level_term_makes_cells_of_single_answers():
    rows = [("m", f"i{i}", i % 2, 10 * (i % 3)) for i in range(6)]
    found = plan(model(d="1 + (1 | item)"), mafc(rows, ["model", "item"]))
    assert found.rows.count.tolist() == [1] * 6
    assert len(found.cells) == 6
    assert found.parameters["M"].unit_of_cell.tolist() == [0] * 6


def test_group_terms():
    ds = crossed_binary(participant=["p1", "p2", "p3"], task=["t1", "t2"])
    found = plan(
        model(
            "binary",
            M="0 + task + (0 + task | participant)",
            c="1 + (1 + task || participant)",
            d="1 + (1 | participant/task)",
        ),
        ds,
    )
    m = found.parameters["M"].groups[0]
    assert (m.name, m.coefficients, m.correlated, m.zero_sum) == ("participant", ("task[t1]", "task[t2]"), True, True)
    assert found.parameters["M"].units.columns.tolist() == ["task", "participant"]
    assert m.matrix.tolist() == [[1, 0]] * 3 + [[0, 1]] * 3
    assert m.index.tolist() == [0, 1, 2, 0, 1, 2]
    assert m.cor_prior is not None
    assert (m.cor_prior.family, m.cor_prior.arguments) == ("lkj", {"eta": 2.0})
    c = found.parameters["c"].groups[0]
    assert (c.coefficients, c.correlated, c.zero_sum, c.cor_prior) == (("Intercept", "task[t2]"), False, False, None)
    assert c.matrix.tolist() == [[1, 0]] * 3 + [[1, 1]] * 3
    person, pair = found.parameters["d"].groups
    assert (person.name, person.zero_sum) == ("participant", True)
    assert (pair.name, pair.zero_sum) == ("participant:task", False)
    assert pair.levels == ("p1:t1", "p1:t2", "p2:t1", "p2:t2", "p3:t1", "p3:t2")


@pytest.mark.parametrize(
    ("formula", "zero_sum"),
    [
        ("1 + (1 | model)", True),
        ("0 + domain + (1 | model)", True),
        ("1 + difficulty + (1 + difficulty | model)", True),
        ("1 + (1 + difficulty | model)", False),
        ("1 + (0 + difficulty | model)", False),
        ("0 + (1 | model)", False),
    ],
)
def test_zero_sum_needs_a_common_term_that_carries_the_mean(formula, zero_sum):
    ds = crossed_mafc(model=["a", "b"], domain=["x", "y"], difficulty=[1, 2, 4])
    assert plan(model(M=formula), ds).parameters["M"].groups[0].zero_sum is zero_sum


def test_default_priors_know_levels_from_contrasts():
    ds = crossed_mafc(model=["a", "b"], domain=["x", "y"], age=[1, 2])
    m = plan(model(M="1 + domain + age + (1 + age | model)"), ds).parameters["M"]
    assert [(t.name, t.prior.arguments) for t in m.common] == [
        ("Intercept", {"loc": 0.8, "scale": 0.5}),
        ("domain", {"loc": 0.0, "scale": 0.5}),
        ("age", {"loc": 0.0, "scale": 0.5}),
    ]
    assert (m.groups[0].sd_prior.family, m.groups[0].sd_prior.arguments) == ("half_normal", {"scale": 0.3})
    logged = plan(model(M="0 + domain:age", link="log"), crossed_mafc(domain=["x", "y"], age=["o", "y"], model=["a"]))
    assert logged.parameters["M"].common[0].prior.arguments == {"loc": 0.0, "scale": 1.0}
    assert logged.parameters["M"].common[0].levels == ("x:o", "x:y", "y:o", "y:y")


def test_priors_go_to_their_terms_and_generic_ones_to_the_rest():
    priors = """
"M.domain" = { family = "student_t", df = 3, loc = 1, scale = 2 }
"M.common" = { family = "normal", loc = 5, scale = 6 }
"M.sd" = { family = "exponential", rate = 7 }
"M.sd.model:domain" = { family = "gamma", concentration = 8, rate = 9 }
"criteria" = { family = "normal", loc = 0, scale = 1 }
"""
    ds = crossed_mafc(model=["a", "b"], domain=["x", "y"])
    found = plan(model(M="1 + domain + (1 | model) + (1 | model:domain)", priors=priors), ds)
    m = found.parameters["M"]
    assert [t.prior.arguments for t in m.common] == [{"loc": 5, "scale": 6}, {"df": 3, "loc": 1, "scale": 2}]
    assert [g.sd_prior.family for g in m.groups] == ["exponential", "gamma"]
    assert not m.common[0].prior.default
    assert found.criteria.prior.default
    assert found.parameters["d"].common[0].prior.default


def test_a_prior_without_a_term_is_refused_with_the_nearest():
    spec = model(M="1 + (1 | model)", priors='"M.sd.modl" = { family = "half_normal", scale = 1 }')
    with pytest.raises(SpecError, match=r'M\.sd\.modl(.|\n)*Did you mean "M.sd.model"'):
        plan(spec, crossed_mafc(model=["a", "b"]))


def test_words_are_read_from_mapped_columns():
    ds = crossed_mafc(model=["a", "b"], domain=["x", "y"])
    found = plan(load_model("mafc_pooled"), ds, columns={"dataset": "domain"})
    assert found.cells.columns.tolist() == ["model", "dataset", "n_options"]
    assert [g.name for g in found.parameters["M"].groups] == ["model", "dataset", "model:dataset"]
    with pytest.raises(SpecError, match=r'no word "datset"(.|\n)*Did you mean "dataset"'):
        plan(load_model("mafc_pooled"), ds, columns={"datset": "domain"})
    with pytest.raises(SpecError, match=r'column "domian" is not in the data(.|\n)*Did you mean "domain"'):
        plan(load_model("mafc_pooled"), ds, columns={"dataset": "domian"})


def test_the_covariate_of_the_regression_is_standardised_over_people():
    ages = {"p1": 20, "p2": 30, "p3": 40, "p4": 50}
    ds = crossed_binary(participant=list(ages))
    ds = ds.assign(age=("trial", [ages[p] for p in ds["participant"].values]))
    found = plan(load_model("binary_regression"), ds, columns={"covariate": "age"})
    slope = found.parameters["M"].common[1]
    assert slope.name == "standardize(covariate)"
    np.testing.assert_allclose(slope.matrix[:, 0], np.array([-3, -1, 1, 3]) / np.sqrt(5), atol=1e-12)
    assert found.parameters["M"].groups[0].zero_sum


def test_groups_and_conditions_coded_as_numbers_are_factors():
    ds = crossed_binary(participant=["p1", "p2", "p3"], condition=[0.1, 8.3])
    ds = ds.assign(group=("trial", [1 if p == "p1" else 2 for p in ds["participant"].values]))
    grouped = plan(load_model("binary_two_group"), ds).parameters["M"]
    assert (grouped.common[0].name, grouped.common[0].levels) == ("group", ("1", "2"))
    assert grouped.common[0].matrix.tolist() == [[1, 0], [0, 1], [0, 1]]
    within = plan(load_model("binary_within_person"), ds).parameters["M"]
    assert [(t.name, t.levels) for t in within.common] == [("Intercept", ("",)), ("condition", ("8.3",))]
    assert within.groups[0].coefficients == ("Intercept", "condition[8.3]")


def test_an_unknown_column_is_named_with_the_nearest():
    ds = crossed_mafc(model=["a", "b"], scale=["s1", "s2"])
    ds.encoding["source"] = "/somewhere/results.nc"
    with pytest.raises(SpecError) as refusal:
        plan(model(M="0 + scal", criteria="1 | model:scale"), ds)
    assert str(refusal.value).startswith(
        'm.toml, parameters.M.formula: column "scal" is not in results.nc. Columns: model, scale, n_options'
    )
    assert 'Did you mean "scale"?' in str(refusal.value)


def one_level() -> xr.Dataset:
    return mafc([("a", 1, 50), ("a", 0, 50)], ["model"])


def level_by_group() -> xr.Dataset:
    return mafc([("a", 1, 50), ("a", 0, 50), ("b", 1, 60), ("b", 0, 60)], ["model"])


def cut_scale() -> xr.Dataset:
    rows = [("p", s, int(c > 50), c) for s in (0, 1) for c in (10, 40, 60, 90)]
    return binary(rows, ["participant"])


def without(ds: xr.Dataset, name: str, value: object) -> xr.Dataset:
    values = ds[name].values.copy()
    values[0] = value
    return ds.assign({name: (ds[name].dims, values)})


ONE = crossed_mafc(model=["a"], domain=["x"])
TWO = crossed_mafc(model=["a", "b"])


@pytest.mark.parametrize(
    ("spec", "ds", "words"),
    [
        (model(), TWO.assign_attrs(task="open"), ["circular", "AUROC2", "metacognitive information", "--task mafc"]),
        (model("binary"), TWO.assign_attrs(task="binary"), ["circular", "AUROC2", "stimulus and response"]),
        (model("binary"), TWO, ["m.toml", "binary", "task mafc"]),
        (model(), crossed_binary(participant=["p"]), ["m.toml", "task binary"]),
        (model(), TWO.assign_attrs(task="sorting"), ["not declared", "sorting", "binary, mafc, open"]),
        (model(), TWO.assign_attrs(hmeta_layout="estimates"), ["estimates", "not offered by `hmeta fit`"]),
        (model(), TWO.drop_vars("n_options"), ["n_options", "--n-options"]),
        (model(), one_level(), ["at least two rating levels are needed", "50"]),
        (model(criteria="1 | model"), level_by_group(), ["at least two rating levels are needed", "single"]),
        (model("binary"), cut_scale(), ["function of the confidence level", "40", "60", "AUROC2"]),
        (model(M="1 + domain"), ONE, ["parameters.M.formula", '"domain" has one value', "x"]),
        (model(M="0 + domain"), ONE, ['"domain" has one value']),
        (model(M="1 + (1 | domain)"), ONE, ["parameters.M.formula", '"domain" has one level']),
        (
            model(M="1 + (1 + model | domain)"),
            TWO.assign(domain=TWO["model"] + "x").isel(trial=slice(6)),
            ["one value"],
        ),
        (model(M="1 + correct"), TWO, ["parameters.M.formula", '"correct" is what the model explains']),
        (model(M="1 + log(model)"), TWO, ['"log" needs numbers', '"model"']),
        (model(M="1 + (1 | model)"), without(TWO, "model", ""), ["missing values", "model: 1 of 12 trials"]),
        (
            model(M="1 + age"),
            without(TWO.assign(age=("trial", np.arange(12.0))), "age", np.nan),
            ["missing values", "age: 1 of 12 trials"],
        ),
        (
            model(criteria="1 | model"),
            crossed_mafc(model=["a"], scale=["s1", "s2"]),
            ["criteria.formula", "different scales", '"1 | model:scale"'],
        ),
        (
            model(criteria="1 | model:scale", pooling="partial"),
            crossed_mafc(model=["a"], scale=["s1", "s2"]),
            ["different scales"],
        ),
        (
            model(criteria="1 | model"),
            crossed_mafc(model=["a"], signal=["verbal", "logit"]),
            ["different signals", '"1 | model:signal"'],
        ),
    ],
)
def test_what_cannot_be_planned_is_refused(spec, ds, words):
    with pytest.raises(SpecError) as refusal:
        plan(spec, ds)
    for word in words:
        assert word in str(refusal.value)


def test_groups_with_one_level_are_named():
    rows = [("a", 1, 50), ("a", 0, 50), ("b", 1, 60), ("b", 0, 50)]
    found = plan(model(criteria="1 | model"), mafc(rows, ["model"]))
    assert len(found.notes) == 1
    assert found.notes[0].startswith("uninformative")
    assert found.notes[0].endswith("in 1 groups: a")
    assert found.criteria.n_levels.tolist() == [1, 2]
    assert found.criteria.gap_ladder.tolist() == [1]


def test_confounded_terms_are_noted():
    rows = [(m, d, c, f) for m, d in (("a", "x"), ("b", "y")) for c, f in ((1, 9), (0, 9), (0, 1))]
    ds = mafc(rows, ["model", "dataset"])
    notes = plan(model(M="1 + (1 | model) + (1 | model:dataset)"), ds).notes
    assert any('"model" and "model:dataset" split the data alike' in note for note in notes)
    notes = plan(model(M="1 + model + dataset"), ds).notes
    assert any("linear combinations" in note for note in notes)


def test_combinations_without_data_are_left_out():
    rows = [(m, d, c, f) for m, d in (("a", "x"), ("b", "y"), ("b", "x")) for c, f in ((1, 9), (0, 9), (0, 1))]
    found = plan(model(M="0 + model:dataset"), mafc(rows, ["model", "dataset"]))
    assert found.parameters["M"].common[0].levels == ("a:x", "b:x", "b:y")
    assert found.parameters["M"].common[0].matrix.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert any("a:y" in note for note in found.notes)


def test_the_text_of_a_plan_gives_the_plan_again():
    ds = crossed_mafc(model=["a", "b"], domain=["x", "y"])
    spec = model(
        M="1 + domain + (1 + domain | model)",
        criteria="1 | model",
        priors='"M.sd" = { family = "half_normal", scale = 2 }',
    )
    found = plan(spec, ds)
    again = plan(parse_model(found.spec_text), ds)
    assert_same(found, again)
    assert '"M.cor.model" = { family = "lkj", eta = 2.0 }' in found.spec_text


def test_neither_data_nor_spec_are_changed():
    ds = crossed_mafc(model=["a", "b"], domain=["x", "y"])
    before, spec = ds.copy(deep=True), with_formulas(load_model("mafc_hierarchical"), {"M": "1 + domain"})
    plan(spec, ds)
    assert ds.identical(before)
    assert spec == with_formulas(load_model("mafc_hierarchical"), {"M": "1 + domain"})


def test_large_trial_level_plans_hold_no_matrix_of_levels():
    n = 4000
    rng = np.random.default_rng(5)
    frame = {"item": [f"i{i}" for i in range(n)], "correct": rng.integers(0, 2, n), "confidence": rng.integers(0, 9, n)}
    ds = mafc(list(pd.DataFrame({"model": "m", **frame}).itertuples(index=False, name=None)), ["model", "item"])
    term = plan(model(d="1 + (1 | item)"), ds).parameters["d"].groups[0]
    assert term.matrix.shape == (n, 1)
    assert len(term.levels) == n
