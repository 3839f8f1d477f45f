"""Files that mislead: names that collide, levels that look alike, missing items, one answer, mixed scales."""

import numpy as np
import pandas as pd
import pytest

from hmeta.assess.average import average
from hmeta.assess.compare import MEAN, TestOptions, compare_conditions
from hmeta.assess.compute import compute_metrics
from hmeta.assess.curves import compute_curve
from hmeta.assess.table import Resampling
from hmeta.core.errors import DataError
from hmeta.metrics.discrimination import auroc2
from hmeta.trials.tables import trials_dataset
from tests.assess.data import answers, file_of

NONE = Resampling(size=0)
QUICK = TestOptions(resamples=400, permutations=400)


def values(frame, metric="accuracy", **options):
    table = compute_metrics(file_of(frame), [metric], resampling=NONE, **options)
    return table.frame


def test_numbers_that_share_six_digits_stay_apart():
    frame = answers(models=("a",)).assign(day=np.where(np.arange(120) < 50, 20240101.0, 20240102.0))
    frame.loc[7, "day"] = np.nan
    found = values(frame, by=["day"])
    assert found["day"].tolist() == ["(all)", "20240101", "20240102", "(missing)"]
    expected = frame.groupby("day")["correct"].mean()
    assert found["estimate"].tolist()[1:3] == pytest.approx(expected.tolist())
    assert found["n"].tolist() == [120, 49, 70, 1]


@pytest.mark.parametrize("word", ["(all)", "(missing)", "(mean)"])
def test_levels_with_the_names_of_rows_are_refused(word):
    frame = answers().assign(part=lambda f: np.where(f["item"] < 9, word, "x"))
    with pytest.raises(DataError, match="a name that tables keep"):
        values(frame, by=["part"])


@pytest.mark.parametrize("name", ["n", "metric", "estimate", "lower", "reason"])
def test_factors_with_the_names_of_results_are_refused(name):
    with pytest.raises(DataError, match="has the name of a column of the table"):
        values(answers().assign(**{name: "x"}), by=[name])


def test_a_factor_may_be_called_as_a_column_that_measures_read():
    frame = answers().assign(probability=lambda f: np.where(f["item"] < 30, "low", "high"))
    found = values(frame, by=["probability"])
    assert found["probability"].tolist() == ["(all)", "high", "low"] * 2
    expected = frame.groupby(["model", "probability"])["correct"].mean()
    assert found[found["probability"] != "(all)"]["estimate"].tolist() == pytest.approx(expected.tolist())


def test_curves_refuse_factors_with_the_names_of_their_columns_and_keep_empty_units():
    frame = answers()
    with pytest.raises(DataError, match="column of the curve"):
        compute_curve(file_of(frame.assign(threshold="x")), "risk_coverage", by=["threshold"])
    frame.loc[frame["model"] == "b", "confidence"] = np.nan
    found = compute_curve(file_of(frame), "reliability").frame
    assert found[found["model"] == "b"]["reason"].tolist() == ["no answers"]


def test_averages_leave_the_pooled_row_out():
    frame = answers(models=("a",))
    table = compute_metrics(file_of(frame), ["accuracy"], by=["domain"], resampling=NONE)
    row = average(table, "domain", Resampling(size=200)).frame.iloc[0]
    assert row["estimate"] == pytest.approx(frame.groupby("domain")["correct"].mean().mean())
    assert (row["n_units"], row["n"]) == (2, 120)


def test_answers_without_an_item_are_no_pair_and_no_cluster():
    frame = answers(models=("a",)).assign(item=lambda f: f["item"].astype(str))
    frame.loc[frame["item"].astype(int) >= 20, "item"] = None
    row = compare_conditions(file_of(frame), "condition", metrics=["accuracy"], options=QUICK).frame.iloc[0]
    assert (row["n_pairs"], row["n_left_out"]) == (20, 80)
    plan = Resampling(size=2000, cluster="item")
    lone = answers(models=("a",)).assign(item=pd.Series([None] * 120, dtype="object"))
    by_item = compute_metrics(file_of(lone), ["accuracy"], resampling=plan).frame.iloc[0]
    p = lone["correct"].mean()
    assert by_item["standard_error"] == pytest.approx(np.sqrt(p * (1 - p) / 120), rel=0.1)


def test_one_answer_has_no_interval():
    frame = pd.DataFrame({"model": ["a"] * 30 + ["b"], "correct": [1, 0] * 15 + [1], "confidence": 80})
    row = compute_metrics(file_of(frame), ["accuracy"], resampling=Resampling(size=200)).frame.iloc[1]
    assert row["estimate"] == 1.0
    assert np.isnan(row["lower"])
    assert row["reason"] == "no interval: one answer"


def test_a_measure_without_a_better_side_is_tested_on_both():
    frame = answers(n_items=100, models=("a",), conditions=("y",))
    turned = frame.assign(confidence=100 - frame["confidence"])
    plan = Resampling(size=0, null=400)
    for one in (frame, turned):
        row = compute_metrics(file_of(one), ["top1_accuracy_gap"], resampling=plan).frame.iloc[0]
        assert 0 < row["p_null"] <= 1


def test_clusters_are_columns_of_the_file():
    for name in ("confidence", "correct", "count"):
        with pytest.raises(DataError, match="not in the data"):
            compute_metrics(file_of(answers()), ["accuracy"], resampling=Resampling(cluster=name))


def test_repeated_items_are_pointed_out_wherever_the_file_is_read():
    both = pd.concat([answers(), answers(seed=2)], keys=[0, 1], names=["repeat"]).reset_index("repeat")
    told = compute_metrics(file_of(both), ["accuracy"], resampling=NONE)
    assert "(4 times on average)" in told.validation
    once = answers(conditions=("x",))
    assert "more than once" not in compute_metrics(file_of(once), ["accuracy"], resampling=NONE).validation


def test_a_cross_fitted_file_says_what_it_cannot_tell():
    from hmeta.calibrate.recalibrate import apply_maps, recalibrate

    data = file_of(answers(conditions=("x",), n_items=120)).assign_attrs(source="own.csv")
    done = recalibrate(data, method="platt")
    notes = compute_metrics(done.dataset, ["auroc2"], resampling=NONE).notes
    assert any("confidence_raw" in note for note in notes)
    assert apply_maps(data, done.maps).judged.startswith("in-sample")
    assert apply_maps(data.isel(trial=slice(0, 100)), done.maps).judged == "by a saved map, on new answers"


def test_pooled_scales_are_read_as_shares():
    rng = np.random.default_rng(3)
    correct = rng.integers(0, 2, 200)
    share = np.round(0.5 + 0.3 * (correct - 0.5) + 0.1 * rng.normal(size=200), 1).clip(0, 1)
    wide = np.arange(200) < 100
    frame = pd.DataFrame({"model": "a", "correct": correct, "scale": np.where(wide, "0-100", "0-10")})
    frame["confidence"] = np.where(wide, 100 * share, 10 * share)
    scales = pd.DataFrame(
        {
            "scale_id": ["0-100", "0-10"],
            "scale_lower": [0.0, 0.0],
            "scale_upper": [100.0, 10.0],
            "scale_step": [1.0, 1.0],
        }
    )
    table = compute_metrics(
        trials_dataset(frame, task="open", scales=scales), ["auroc2"], pool=["scale"], resampling=NONE
    )
    assert table.frame["estimate"].iloc[0] == pytest.approx(float(auroc2(share, correct)), abs=1e-12)
    assert any("share of each scale" in note for note in table.notes)


def test_the_mean_over_units_uses_every_resample_in_which_any_unit_has_a_value():
    frame = answers(n_items=40, models=tuple("abcdefghij"))
    few = frame["item"] < 2
    frame["correct"] = np.where(few, 0, 1)
    frame.loc[few, "confidence"] = np.random.default_rng(2).choice([40.0, 90.0], few.sum())
    found = compare_conditions(file_of(frame), "condition", metrics=["auroc2"], options=QUICK)
    row = found.frame[found.frame["model"] == MEAN].iloc[0]
    assert np.isfinite(row["standard_error"])
    assert row["lower"] < row["difference"] < row["upper"]
    assert any("leave out more than 5 %" in note for note in found.notes)


def test_ratings_are_no_probability_of_a_verdict():
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"model": "a", "stimulus": rng.integers(0, 2, 90), "confidence": rng.integers(1, 5, 90)})
    frame["response"] = np.where(rng.random(90) < 0.7, frame["stimulus"], 1 - frame["stimulus"])
    table = compute_metrics(trials_dataset(frame, task="binary"), ["op_gap", "accuracy"], resampling=NONE).frame
    assert np.isnan(table["estimate"].iloc[0])
    assert "rating" in table["reason"].iloc[0]
    assert np.isfinite(table["estimate"].iloc[1])


def test_infinite_scores_give_a_reason_for_their_difference():
    frame = answers(models=("a",))
    frame.loc[frame.index[frame["correct"] == 0][:1], "confidence"] = 100
    found = compare_conditions(file_of(frame), "condition", metrics=["log_score"], options=QUICK).frame.iloc[0]
    assert not np.isfinite(found["difference"])
    assert "infinite" in found["reason"]


@pytest.mark.parametrize(
    "options",
    [TestOptions(level=95), TestOptions(seed=-1), TestOptions(resamples=5), TestOptions(permutations=0)],
)
def test_impossible_numbers_are_refused(options):
    with pytest.raises(DataError):
        compare_conditions(file_of(answers()), "condition", options=options)
