"""Validation keeps what can be used and accounts for everything else."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

from hmeta.core.errors import DataError
from hmeta.trials.counts import to_counts
from hmeta.trials.rules import rules
from hmeta.trials.tables import estimates_dataset, trials_dataset
from hmeta.trials.validation import Validated, validate
from tests.trials.answer_tables import SHARED, from_counts, from_trials, repeated, scale


def answers(n: int = 40, **columns) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    base = {"model": "a", "correct": rng.integers(0, 2, n), "confidence": rng.integers(1, 5, n)}
    return pd.DataFrame(base | columns)


def check(frame: pd.DataFrame, *, task: str = "open", scales: pd.DataFrame | None = None, **options) -> Validated:
    return validate(trials_dataset(frame, task=task, scales=scale(1, 4) if scales is None else scales), **options)


def reasons(found: Validated) -> dict[str, int]:
    counts = found.report.exclusions.groupby("reason")["count"].sum()
    return {str(reason): int(count) for reason, count in counts.items()}


def warned(found: Validated) -> dict[str, str]:
    return {caution.rule: caution.message for caution in found.report.warnings}


def test_clean_data_pass_without_a_word():
    found = check(answers(200))
    assert (found.report.rows_in, found.report.rows_used) == (200, 200)
    assert found.report.warnings == ()
    assert found.report.render() == "200 rows in, 200 used, 0 excluded (trials, task open)"


OPTIONAL = st.one_of(st.none(), st.sampled_from([0, 1, 2, 3, 4, 5, 2.5, 101, -3, 99.5, np.inf]))


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["a", "b", None]),
            st.sampled_from([0, 1, None]),
            OPTIONAL,
            st.sampled_from(["x", "y"]),
            st.sampled_from([2, 4, None]),
        ),
        min_size=1,
        max_size=30,
    ),
    st.sampled_from(["exclude", "clip", "keep", "auto"]),
    st.sampled_from(["first", "last"]),
    st.booleans(),
)
def test_rows_in_equals_rows_used_plus_rows_excluded(rows, policy, duplicates, rating):
    frame = pd.DataFrame(rows, columns=["model", "correct", "confidence", "item", "n_options"])
    frame = frame.astype({"model": "str", "correct": "Int64", "n_options": "Int64", "confidence": "float64"})
    scales = scale(1, 4) if rating else scale(0, 100)
    try:
        found = check(frame, task="mafc", scales=scales, on_violation=policy, duplicates=duplicates)
    except DataError:
        return
    report = found.report
    assert report.rows_in == len(rows)
    assert report.rows_used == found.dataset.sizes["trial"]
    assert report.rows_in == report.rows_used + report.exclusions["count"].sum()
    assert report.usage["rows_in"].sum() == len(rows)
    assert (found.dataset["correct"] >= 0).all()
    assert np.isfinite(found.dataset["confidence"]).all()


def test_each_exclusion_has_its_reason():
    frame = answers(
        6,
        model=["a", None, "a", "a", "b", "b"],
        correct=pd.array([1, 1, pd.NA, 1, 0, 1], dtype="Int64"),
        confidence=[1, 2, 3, None, 4, 2],
    )
    found = check(frame)
    assert reasons(found) == {"missing model": 1, "missing correct": 1, "missing confidence": 1}
    assert found.dataset["confidence"].values.tolist() == [1, 4, 2]
    assert found.report.usage.set_index("unit")["rows_used"].to_dict() == {"(missing)": 0, "a": 1, "b": 2}


def test_the_parsers_status_is_the_reason():
    frame = answers(4, confidence=[1, None, None, None], confidence_status=["ok", "refusal", "multiple", None])
    assert reasons(check(frame)) == {"confidence refusal": 1, "confidence multiple": 1, "missing confidence": 1}


def test_a_report_is_one_json_object():
    found = check(answers(30, confidence=[None] * 5 + [2] * 25))
    content = json.loads(found.report.to_json())
    assert content["rows_in"] == 30
    assert content["exclusions"] == [
        {"unit": "a", "dataset": "", "scale": "", "reason": "missing confidence", "count": 5}
    ]
    assert {w["rule"] for w in content["warnings"]} == {"many_left_out", "one_level_used"}


def test_accuracy_is_derived_for_choices_with_both_indices():
    frame = pd.DataFrame({"model": "a", "stimulus": [0, 3, 2], "response": [0, 1, None], "n_options": 4})
    found = check(frame.assign(confidence=2), task="mafc")
    assert found.dataset["correct"].values.tolist() == [1, 0]
    assert reasons(found) == {"missing correct": 1}


def test_answers_outside_the_options_are_excluded():
    frame = answers(4, response=[0, 3, 4, 1], n_options=4, correct=[1, 0, 0, 1])
    assert reasons(check(frame, task="mafc")) == {"answer outside the options": 1}


def test_fewer_than_two_options_are_refused():
    with pytest.raises(DataError, match="n_options is below 2"):
        check(answers(n_options=1), task="mafc")


@pytest.mark.parametrize("missing", ["model", "correct", "confidence"])
def test_a_missing_column_is_named(missing):
    with pytest.raises(DataError, match=f'column "{missing}" is missing'):
        check(answers().drop(columns=missing))


def test_nothing_usable_is_refused():
    with pytest.raises(DataError, match="no answer can be used") as caught:
        check(answers(5, confidence=None))
    assert "5 missing confidence" in str(caught.value)


def test_duplicates_stop_until_decided():
    frame = answers(6, item=["i", "j", "i", "k", "k", "l"], confidence=[1, 2, 3, 4, 1, 2])
    with pytest.raises(DataError, match="2 answers repeat an earlier one") as caught:
        check(frame)
    assert "rows (from 0) 0, 2, 3, 4" in str(caught.value)
    first, last = (check(frame, duplicates=keep) for keep in ("first", "last"))
    assert first.dataset["confidence"].values.tolist() == [1, 2, 4, 2]
    assert last.dataset["confidence"].values.tolist() == [2, 3, 1, 2]
    assert reasons(first) == reasons(last) == {"duplicate": 2}
    assert check(frame.assign(repeat=range(6))).report.rows_used == 6


def test_an_unknown_scale_is_refused():
    with pytest.raises(DataError, match="unknown scale") as caught:
        check(answers(scale="1-5"))
    assert "allowed:  1-4" in str(caught.value)


def test_probabilities_declared_as_percent_are_refused():
    with pytest.raises(DataError, match=r"all confidences lie in 0..1, but the scale is declared as 0..100"):
        check(answers(confidence=np.linspace(0, 1, 40)), scales=scale(0, 100))


def test_one_unit_on_probabilities_is_named():
    share = np.linspace(0.5, 1, 40)
    frame = pd.concat([answers(confidence=share), answers(model="b", confidence=100 * share)])
    assert warned(check(frame, scales=scale(0, 100)))["unit_on_percent"].endswith(": a")


@pytest.mark.parametrize(
    ("policy", "used", "values"),
    [
        ("auto", 3, [0, 50, 100]),
        ("exclude", 1, [50]),
        ("clip", 5, [0, 0, 50, 100, 100]),
        ("keep", 5, [-40, -2, 50, 104, 200]),
    ],
)
def test_wide_scales_clip_near_and_exclude_far(policy, used, values):
    frame = answers(5, confidence=[-2, 50, 104, -40, 200])
    found = check(frame, scales=scale(0, 100), on_violation=policy)
    assert found.report.rows_used == used
    assert sorted(found.dataset["confidence"].values.tolist()) == values
    assert "scale_broken" in warned(found)
    with pytest.raises(DataError, match=r"4 of 5 rows have confidence outside 0..100"):
        check(frame, scales=scale(0, 100), on_violation="error")


@pytest.mark.parametrize(("option", "value"), [("on_violation", "drop"), ("duplicates", "all")])
def test_an_unknown_choice_is_refused(option, value):
    with pytest.raises(DataError, match=f"unknown choice for {option}"):
        check(answers(), **{option: value})


def test_mixed_signals_are_named():
    assert "logit, verbal" in warned(check(answers(signal=["verbal", "logit"] * 20)))["signals_mixed"]


def test_strong_differences_between_strata_are_named():
    frame = answers(200, difficulty=["easy"] * 100 + ["hard"] * 100, correct=[1] * 95 + [0] * 5 + [1] * 55 + [0] * 45)
    assert "0.55 for hard to 0.95 for easy" in warned(check(frame))["difficulty_mixed"]


def test_accuracy_below_chance_is_named():
    frame = answers(100, correct=[1] * 10 + [0] * 90, n_options=4)
    assert warned(check(frame, task="mafc"))["below_chance"].endswith(": a")


def test_a_scale_that_runs_the_other_way_is_named():
    frame = answers(100, correct=[1, 0] * 50, confidence=[1, 4] * 50)
    assert "scale_reversed" in warned(check(frame))["scale_direction"]
    turned = check(frame, scales=scale(1, 4, reverse=1))
    assert "scale_direction" not in warned(turned)
    assert turned.dataset["confidence"].values.tolist() == [1, 4] * 50


def test_an_honest_low_value_is_no_spike():
    levels = [50] * 60 + [90] * 40
    informative = answers(100, confidence=levels, correct=[1, 0] * 30 + [1] * 38 + [0] * 2)
    put_in = answers(100, confidence=levels, correct=[1] * 57 + [0] * 3 + [1] * 38 + [0] * 2)
    assert "imputed_value" not in warned(check(informative, scales=scale(0, 100)))
    assert "a: 60% are exactly 50" in warned(check(put_in, scales=scale(0, 100)))["imputed_value"]


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared data are not here")
@pytest.mark.parametrize("counted", [False, True])
def test_the_imputed_model_of_the_atlas_is_found_and_no_other(counted):
    raw = pd.read_parquet(SHARED / "data" / "llm" / "atlas_mmlu_confidence.parquet")
    frame = raw.rename(columns={"item_id": "item", "is_correct": "correct"}).assign(n_options=4)
    ds = trials_dataset(frame, task="mafc", scales=scale(0, 100))
    found = validate(to_counts(ds, ["model", "domain"]) if counted else ds)
    assert found.report.rows_used == 47_151
    assert warned(found)["imputed_value"].endswith(": openai/gpt-oss-120b: 65% are exactly 50")


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared data are not here")
@pytest.mark.parametrize(
    ("file", "unit", "lower", "upper"),
    [("human/jaquiery_dots", "participant", 1, 50), ("llm/deductive_coding_confidence", "model", 0, 1)],
)
def test_ordinary_raters_are_not_taken_for_spikes(file, unit, lower, upper):
    raw = pd.read_parquet(SHARED / "data" / f"{file}.parquet").rename(columns={"is_correct": "correct"})
    frame = raw[[unit, "correct", "confidence"]]
    found = check(frame, scales=scale(lower, upper, 0 if upper == 1 else 1))
    assert "imputed_value" not in warned(found)


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared data are not here")
def test_missing_confidences_of_the_gastroenterology_models_are_counted():
    raw = pd.read_parquet(SHARED / "data" / "llm" / "gastro_confidence_0_10.parquet")
    frame = raw.rename(columns={"item_id": "item", "is_correct": "correct"}).drop(columns="missing_reason")
    found = check(frame, scales=scale(0, 10))
    assert found.report.rows_in == 14_400
    assert reasons(found)["missing confidence"] + reasons(found).get("missing correct", 0) >= 1_926
    assert "many_left_out" in warned(found)


def test_estimates_are_validated_by_their_own_columns():
    ds = estimates_dataset(pd.DataFrame({"estimate": [1.0, 2.0], "standard_error": [0.1, 0.1]}))
    assert validate(ds).report.rows_used == 2
    with pytest.raises(DataError, match="standard_error"):
        validate(ds.assign(standard_error=("row", [0.0, 1.0])))


def written_estimates() -> xr.Dataset:
    columns = {
        "participant": ["a", "b", "c", "d"],
        "estimate": [0.8, np.nan, np.nan, 1.2],
        "standard_error": [0.1, np.nan, np.nan, 0.3],
        "status": ["ok", "undefined", "failed", "flagged"],
        "reason": ["", "no wrong answers", "", "d negative"],
    }
    attrs = {"hmeta_layout": "estimates", "hmeta_schema": "1", "task": "binary"}
    return xr.Dataset({name: ("row", np.array(values)) for name, values in columns.items()}, attrs=attrs)


def test_estimates_that_say_why_they_are_missing_are_excluded_and_counted():
    found = validate(written_estimates())
    assert found.dataset["participant"].values.tolist() == ["a", "d"]
    assert (found.report.rows_in, found.report.rows_used) == (4, 2)
    assert found.report.exclusions[["unit", "reason", "count"]].values.tolist() == [
        ["b", "no wrong answers", 1],
        ["c", "failed", 1],
    ]
    assert list(warned(found)) == ["flagged_estimates"]


def test_estimates_that_do_not_say_why_are_refused():
    ds = written_estimates()
    with pytest.raises(DataError, match=r"rows \(from 0\) 1"):
        validate(ds.assign(status=("row", np.array(["ok", "ok", "failed", "ok"]))))
    with pytest.raises(DataError, match="values of estimate cannot be used"):
        validate(ds.drop_vars(["status", "reason"]))
    with pytest.raises(DataError, match="no estimate can be used"):
        validate(ds.isel(row=[1, 2]))


def test_counts_are_refused_with_indices_outside_the_file():
    ds = from_counts([4, 3, 2, 1], [1, 2, 3, 4])
    for name in ("row_cell", "row_level", "row_outcome"):
        with pytest.raises(DataError, match=f"{name} points outside the file"):
            validate(ds.assign({name: ds[name] + 99}))


def test_an_empty_table_is_refused():
    with pytest.raises(DataError, match="no answer can be used"):
        check(answers(0))


def test_every_rule_has_a_name_of_its_own_and_a_docstring():
    found = [(name, rule) for kind in ("refusal", "exclusion", "caution") for name, rule in rules(kind).items()]
    assert len({name for name, _ in found}) == len(found) >= 25
    assert all(rule.__doc__ for _, rule in found)


def test_trials_and_counts_get_the_same_cautions():
    ds = from_trials([40, 0, 0, 10], [10, 0, 0, 40])
    assert warned(validate(ds)) == warned(validate(to_counts(ds)))


def test_repeated_is_the_inverse_of_counting():
    frame = pd.DataFrame({"x": [1, 2], "count": [2, 0]})
    assert repeated(frame)["x"].tolist() == [1, 1]


def replaced(ds: xr.Dataset, name: str, place: int, value: float | str) -> xr.Dataset:
    values = ds[name].values.astype(np.result_type(ds[name].dtype, type(value)) if name != "participant" else object)
    values[place] = value
    return ds.assign({name: (ds[name].dims, values)})


@pytest.mark.parametrize(
    ("name", "value", "match"),
    [
        ("row_level", 0.5, "not whole numbers"),
        ("row_cell", float("nan"), "not whole numbers"),
        ("level_value", 77.0, "confidence outside"),
        ("scale_step", -3.0, "scale_step is impossible"),
        ("scale_reversed", 7, "scale_reversed is impossible"),
        ("participant", "", "cells without a participant"),
    ],
)
def test_counts_by_other_hands_are_never_taken_in_part(name, value, match):
    ds = from_counts([4, 3, 2, 1], [1, 2, 3, 4])
    with pytest.raises(DataError, match=match):
        validate(replaced(ds, name, 0, value))


def test_levels_outside_a_wide_scale_are_refused_in_counts():
    ds = from_counts([4, 3, 2, 1], [1, 2, 3, 4])
    wide = ds.assign(scale_upper=("scale_id", [100.0]), scale_step=("scale_id", [0.0]))
    assert validate(wide).report.rows_used == 20
    with pytest.raises(DataError, match="confidence outside"):
        validate(replaced(wide, "level_value", 0, 500.0))


def test_trials_by_other_hands_are_never_taken_in_part():
    ds = trials_dataset(answers(4), task="open")
    for values in ([0.5, 1, 0, 1], [np.nan, 1, 0, 1], ["right", "right", "wrong", "right"]):
        with pytest.raises(DataError, match="column correct"):
            validate(ds.assign(correct=("trial", np.array(values))))
    with pytest.raises(DataError, match="another dimension"):
        validate(ds.assign(confidence=("other", np.zeros(2))))
    with pytest.raises(DataError, match="attribute padded"):
        validate(ds.assign_attrs(padded="yes"))
