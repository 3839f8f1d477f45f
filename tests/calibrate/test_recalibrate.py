"""Cross-fitted calibration of a results file: who saw what, what is kept, and what the comparison says."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from hmeta.calibrate.comparison import COLLAPSED, FALLING, MOVED, USELESS, WORSE, mean_over_segments
from hmeta.calibrate.levels import CannotFit
from hmeta.calibrate.maps import method
from hmeta.calibrate.recalibrate import recalibrate
from hmeta.core.errors import DataError
from hmeta.core.files import read_dataset, write_dataset
from hmeta.metrics.catalogue import measures
from hmeta.trials.counts import to_counts
from hmeta.trials.import_options import ImportOptions, ScaleDeclaration
from hmeta.trials.importing import import_table
from hmeta.trials.rows import rows_of
from hmeta.trials.tables import estimates_dataset, frame_of
from hmeta.trials.validation import validate
from tests.calibrate.answer_files import LEVELS, answers, percent, results
from tests.trials.answer_tables import SHARED

METHODS = ["beta", "histogram", "isotonic", "platt", "temperature"]


def pair(done, name: str, row: int = 0) -> tuple[float, float]:
    """Return a measure of the first segment before and after."""
    values = done.comparison[name].to_numpy()
    return values[2 * row], values[2 * row + 1]


# what a map has seen


@pytest.mark.parametrize("name", METHODS)
def test_each_value_is_from_a_map_that_has_not_seen_the_item(name):
    done = recalibrate(results(), method=name)
    frame = frame_of(done.dataset).astype({"confidence_raw": float})
    options = {"edge": 0.005} if name in ("beta", "platt", "temperature") else {}
    for model, part in frame.groupby("model"):
        for fold, held in part.groupby("calibration_fold"):
            seen = part[~part["item"].isin(held["item"])]
            assert len(seen) == 120, model
            assert set(seen["calibration_fold"]) == {0, 1, 2, 3, 4} - {fold}
            p, y = seen["confidence_raw"].to_numpy() / 100, seen["correct"].to_numpy(dtype=float)
            value = method(name).apply(method(name).fit(p, y, **options), held["confidence_raw"].to_numpy() / 100)
            assert held["confidence"].to_numpy() == pytest.approx(value, abs=1e-6)


def test_items_that_give_themselves_away_gain_nothing():
    """Every item has its own confidence and 20 answers of one kind: a map by answer could learn them by heart."""
    rng = np.random.default_rng(0)
    items = np.repeat(np.arange(60), 20)
    frame = pd.DataFrame({"model": "a", "item": items.astype(str), "correct": rng.integers(0, 2, 60)[items]})
    frame["confidence"] = rng.permutation(60)[items] + 20
    frame["repeat"] = np.tile(np.arange(20), 60)
    leaky = recalibrate(results(frame.drop(columns="item")), method="histogram(bins=100)")
    safe = recalibrate(results(frame), method="histogram(bins=100)")
    assert pair(leaky, "brier")[1] == 0
    assert pair(safe, "brier")[1] > pair(safe, "brier_uncertainty")[1]


def test_in_sample_values_are_those_of_the_saved_map_and_are_labelled():
    done = recalibrate(results(), method="isotonic", in_sample=True)
    assert "in-sample: errors are too low" in done.judged
    assert (done.folds, done.grouped_by) == (0, "")
    assert "in-sample" in done.dataset.attrs["calibration_words"]
    assert set(done.dataset["calibration_fold"].values) == {-1}
    assert pair(done, "ece")[1] == pytest.approx(0, abs=1e-12)
    value = method("isotonic").apply(done.maps.segments[0].parameters, answers()["confidence"][:150] / 100)
    assert done.dataset["confidence"].values[:150] == pytest.approx(value, abs=1e-6)


def test_the_seed_moves_the_folds_and_nothing_else():
    first, again, other = (recalibrate(results(), seed=s) for s in (3, 3, 4))
    assert first.dataset.identical(again.dataset)
    assert not first.dataset["confidence"].equals(other.dataset["confidence"])
    assert first.maps == again.maps
    assert first.maps.segments == other.maps.segments


# what is kept


def test_every_row_is_kept_and_what_cannot_be_used_is_missing():
    frame = answers().assign(confidence=lambda f: f["confidence"].astype(float))
    frame.loc[[3, 40], "confidence"] = np.nan
    frame.loc[5, "confidence"] = 400
    frame.loc[7, "correct"] = None
    done = recalibrate(results(frame), method="platt")
    assert done.dataset.sizes["trial"] == 300
    assert np.flatnonzero(np.isnan(done.dataset["confidence"].values)).tolist() == [3, 5, 7, 40]
    assert done.dataset["confidence_raw"].equals(results(frame)["confidence"])
    assert (done.report.rows_in, done.report.rows_used) == (300, 296)
    assert validate(done.dataset).report.rows_used == 296
    assert done.comparison["n"].tolist() == [146, 146, 150, 150]


def test_confidence_near_the_end_of_a_wide_scale_is_clipped_as_validation_says():
    frame = answers()
    frame.loc[0, "confidence"] = 103
    done = recalibrate(results(frame), method="platt")
    assert done.dataset["confidence_raw"].values[0] == 103
    assert np.isfinite(done.dataset["confidence"].values[0])
    with pytest.raises(DataError, match=r"1 confidences are outside their scale"):
        recalibrate(results(frame), on_violation="keep")


def test_the_file_says_what_was_done(tmp_path):
    done = recalibrate(results(answers(signal="verbal")), method="histogram(bins=5)", seed=2)
    write_dataset(done.dataset, tmp_path / "c.nc")
    read = read_dataset(tmp_path / "c.nc")
    assert read["confidence"].dtype == np.float32
    assert set(read["signal"].values) == {"verbal+histogram"}
    assert read["scale_id"].values.tolist() == ["0-1"]
    assert [read[f"scale_{k}"].values.item() for k in ("lower", "upper", "step", "reversed")] == [0, 1, 0, 0]
    said = json.loads(read.attrs["calibration"])
    assert (said["method"], said["options"]) == ("histogram", {"bins": 5})
    assert said["values"] == "on held-out answers, 5 folds by item, seed 2"
    assert said["raw_scales"] == [{"lower": 0, "upper": 100, "step": 1, "reversed": 0}]
    assert "share of right answers among the answers in the same bin" in read.attrs["calibration_words"]
    assert read.attrs["title"] == "made up"
    assert done.maps.source == "made up"


def test_the_input_is_not_modified():
    ds = results()
    before = ds.copy(deep=True)
    recalibrate(ds)
    assert ds.identical(before)


def test_a_reversed_scale_is_turned_before_it_is_fitted():
    frame = answers()
    plain = recalibrate(results(frame), method="platt")
    turned = recalibrate(
        results(frame.assign(confidence=100 - frame["confidence"]), scales=percent(reverse=1)), method="platt"
    )
    assert turned.dataset["confidence"].values == pytest.approx(plain.dataset["confidence"].values, abs=1e-7)
    assert turned.dataset["scale_reversed"].values.tolist() == [0]


def test_scales_keep_their_names_as_a_factor():
    one = answers(models=("a",), scale="0-100")
    two = answers(models=("a",), seed=1, scale="1-5").assign(confidence=lambda f: f["confidence"] // 25 + 1)
    scales = pd.concat([percent(), percent("1-5").assign(scale_lower=1.0, scale_upper=5.0)])
    done = recalibrate(results(pd.concat([one, two]), scales=scales), method="platt")
    assert done.maps.keys == ("model", "scale")
    assert done.dataset["scale_id"].values.tolist() == ["0-100", "1-5"]
    assert done.dataset["scale_upper"].values.tolist() == [1, 1]
    assert validate(done.dataset).report.rows_used == 300
    assert [s.scales[0]["upper"] for s in done.maps.segments] == [100, 5]
    # Half a step: 1/200 and 1/8.
    assert [s.parameters["edge"] for s in done.maps.segments if s.parameters] == [0.005, 0.125]


def test_two_levels_stay_apart_whatever_their_step():
    frame = answers().assign(confidence=lambda f: (f["confidence"] > 75) * 1)
    scales = percent("0-1").assign(scale_upper=1.0)
    done = recalibrate(results(frame, scales=scales), method="platt")
    assert done.maps.segments[0].parameters is not None
    assert done.maps.segments[0].parameters["edge"] == 0.25
    assert pair(done, "n_outputs") == (2, 2)


def test_binary_answers_are_right_where_response_is_stimulus():
    frame = answers()
    stimulus = np.arange(300) % 2
    response = np.where(frame["correct"] == 1, stimulus, 1 - stimulus)
    binary = frame.drop(columns="correct").assign(stimulus=stimulus, response=response)
    done = recalibrate(results(binary, task="binary"))
    assert done.dataset["confidence"].equals(recalibrate(results(frame)).dataset["confidence"])
    assert "correct" not in done.dataset


# segments


def test_by_adds_segments_and_pool_joins_them():
    ds = results(answers(domain=["x", "y", "z"] * 100))
    assert len(recalibrate(ds, by=["domain"], method="platt").maps.segments) == 6
    pooled = recalibrate(ds, pool=["model"], method="platt")
    assert pooled.maps.segments[0].at == {}
    assert pooled.comparison["n"].tolist() == [300, 300]
    both = recalibrate(ds, by=["domain"], pool=["model"], method="platt")
    assert [s.at for s in both.maps.segments] == [{"domain": d} for d in "xyz"]
    assert both.maps.pooled == ("model",)


def test_segments_with_numbers_are_in_the_order_of_the_numbers():
    frame = answers(60, models=tuple(str(i) for i in range(1, 12))).rename(columns={"model": "participant"})
    done = recalibrate(results(frame), method="platt")
    assert [s.at["participant"] for s in done.maps.segments] == [str(i) for i in range(1, 12)]
    assert done.comparison["participant"].tolist()[::2] == [str(i) for i in range(1, 12)]
    for number, one in enumerate(done.maps.segments):
        right = frame.loc[frame["participant"] == one.at["participant"], "correct"].sum()
        assert one.n_right == right, number


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"by": ["domian"]}, 'Did you mean "domain"'),
        ({"pool": ["domain"]}, "domain cannot be pooled"),
        ({"pool": ["signal"]}, "signal cannot be pooled"),
        ({"pool": ["modle"]}, 'Did you mean "model"'),
        ({"pool": ["model"], "by": ["model"]}, "both pooled and kept apart"),
        ({"folds": 1}, "number of folds"),
        ({"folds": 1001}, "number of folds"),
        ({"seed": -1}, "seed"),
        ({"method": "sigmoid"}, "unknown calibration map"),
        ({"on_violation": "drop"}, "unknown choice"),
    ],
)
def test_impossible_wishes_are_refused(options, match):
    with pytest.raises(DataError, match=match):
        recalibrate(results(answers(domain="x")), **options)


def test_a_column_with_the_name_of_a_measure_is_refused():
    with pytest.raises(DataError, match="name of a measure"):
        recalibrate(results(answers(ece="x")), by=["ece"])


def test_a_segment_without_a_fit_is_missing_and_said_so():
    frame = answers()
    frame.loc[frame["model"] == "b", "correct"] = 1
    done = recalibrate(results(frame))
    assert np.isnan(done.dataset["confidence"].values[150:]).all()
    assert np.isfinite(done.dataset["confidence"].values[:150]).all()
    assert done.comparison["when"].tolist() == ["before", "after", "before"]
    assert done.comparison["reason"].tolist() == ["", "", "no wrong answers"]
    assert "no map, and no calibrated confidence for 150 answers (no wrong answers): b" in done.notes
    assert mean_over_segments(done.comparison)["n"].tolist() == [150, 150]


def test_one_wrong_answer_leaves_the_whole_segment_out():
    """The fold with the wrong answer has no fit; calibrating the rest would leave right answers alone."""
    frame = answers()
    frame.loc[frame["model"] == "b", "correct"] = 1
    frame.loc[200, "correct"] = 0
    done = recalibrate(results(frame), method="isotonic")
    assert np.isnan(done.dataset["confidence"].values[150:]).all()
    assert done.maps.segments[1].reason == "no wrong answers, once a fold is held out"


def test_nothing_to_fit_anywhere_is_refused_with_the_reasons():
    with pytest.raises(CannotFit, match=r"no wrong answers \(2 of 2 segments\)"):
        recalibrate(results(answers().assign(correct=1)))
    frame = answers().assign(confidence=lambda f: 90 - 20 * (f["correct"] == 0))
    with pytest.raises(CannotFit, match=r"use platt\(smoothing=true\)"):
        recalibrate(results(frame), method="platt")
    assert len(recalibrate(results(frame), method="platt(smoothing=true)").comparison) == 4


def test_estimates_and_calibrated_files_are_refused():
    with pytest.raises(DataError, match="estimates hold no confidence"):
        recalibrate(estimates_dataset(pd.DataFrame({"estimate": [1.0], "standard_error": [0.1]})))
    done = recalibrate(results())
    with pytest.raises(DataError, match="calibrated already"):
        recalibrate(done.dataset)


# counts


@pytest.mark.parametrize("name", ["platt", "isotonic"])
def test_counts_in_sample_equal_answers_in_sample(name):
    counted = recalibrate(to_counts(results(), ["model"]), method=name, in_sample=True)
    trials = recalibrate(results(), method=name, in_sample=True)
    shown = [c for c in trials.comparison if c not in ("when", "reason", "model")]
    assert counted.comparison[shown].to_numpy() == pytest.approx(trials.comparison[shown].to_numpy(), rel=1e-9)
    assert counted.maps.segments[0].parameters is not None
    assert trials.maps.segments[0].parameters is not None
    rows = rows_of(counted.dataset, ["model", "signal"])
    assert set(rows["signal"]) == {f"reported+{name}"}
    again = to_counts(trials.dataset, ["model"])
    other = rows_of(again, ["model"])
    keys = ["model", "outcome", "confidence"]
    left, right = (f.sort_values(keys)["count"].to_numpy() for f in (rows, other))
    assert np.array_equal(left, right)


def test_counts_are_cross_fitted_by_answer():
    counts = to_counts(results(), ["model"])
    done = recalibrate(counts, method="beta")
    assert done.grouped_by == "answer"
    assert int(done.dataset["count"].sum()) == 300
    assert validate(done.dataset).report.rows_used == 300
    assert done.dataset["scale_upper"].values.tolist() == [1]
    before, after = pair(done, "ece")
    assert after < before / 2
    outputs = np.unique(done.dataset["level_value"].values)
    assert 2 * 5 * len(LEVELS) >= len(outputs) > 2 * len(LEVELS)


# the comparison


def test_measures_are_those_of_the_catalogue_on_the_same_answers():
    done = recalibrate(results(), method="platt")
    frame = frame_of(done.dataset)
    one = frame[frame["model"] == "a"]
    y = one["correct"].to_numpy(dtype=float)
    for column, row in (("confidence_raw", 0), ("confidence", 1)):
        p = one[column].to_numpy(dtype=np.float64) / (100 if row == 0 else 1)
        for name, options in {
            "ece": {"bins": 10},
            "brier": {},
            "brier_resolution": {"bins": 10},
            "auroc2": {},
            "confidence_sd": {},
        }.items():
            expected = measures()[name](p, *([y] if "correct" in measures()[name].columns else []), **options)
            assert done.comparison[name][row] == pytest.approx(expected, abs=2e-6), name
    assert pair(done, "accuracy")[0] == pair(done, "accuracy")[1] == y.mean()
    assert pair(done, "brier_uncertainty")[1] == pytest.approx(y.mean() * (1 - y.mean()))


@pytest.mark.parametrize("name", ["beta", "platt", "temperature"])
def test_maps_that_keep_the_order_leave_auroc2_alone_inside_folds(name):
    done = recalibrate(results(answers(300)), method=name)
    for row in (0, 1):
        before, after = pair(done, "auroc2_within_folds", row)
        assert after == pytest.approx(before, abs=1e-12)
        assert pair(done, "n_outputs", row) == (7, 7)


def test_overconfidence_is_mended_on_held_out_answers():
    done = recalibrate(results(answers(1500)), method="platt")
    for row in (0, 1):
        for name in ("ece", "brier", "brier_reliability"):
            before, after = pair(done, name, row)
            assert after < before
        assert pair(done, "ece", row)[1] < 0.04
    mean = mean_over_segments(done.comparison)
    assert mean["model"].tolist() == ["(mean)", "(mean)"]
    assert mean["ece"].tolist() == pytest.approx(done.comparison.groupby("when", sort=False)["ece"].mean().tolist())
    assert mean["n"].tolist() == [3000, 3000]
    assert not any(COLLAPSED in text for text in done.cautions)


def test_confidence_that_knows_nothing_collapses_and_the_caution_says_so():
    rng = np.random.default_rng(1)
    frame = answers(2000, models=("a",)).assign(correct=rng.random(2000) < 0.7)
    done = recalibrate(results(frame), method="platt")
    assert pair(done, "ece")[1] < 0.04
    assert pair(done, "brier")[1] == pytest.approx(pair(done, "brier_uncertainty")[1], rel=0.01)
    assert pair(done, "confidence_sd")[1] < pair(done, "confidence_sd")[0] / 4
    assert COLLAPSED in done.cautions
    assert USELESS in done.cautions


def test_other_cautions():
    down = answers(800, models=("a",)).assign(
        correct=lambda f: (np.random.default_rng(0).random(800) < 1.2 - f["confidence"] / 100) * 1
    )
    assert FALLING in recalibrate(results(down), method="platt").cautions
    assert MOVED in recalibrate(results(answers(800, models=("a",))), method="histogram(bins=2)").cautions
    few = answers(25, models=("a",), seed=5).assign(
        correct=lambda f: (np.random.default_rng(2).random(25) < f["confidence"] / 100) * 1
    )
    assert WORSE in recalibrate(results(few), method="isotonic").cautions


# real data


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared data are not here")
def test_platt_collapses_to_the_base_rate_on_gastroenterology_questions():
    """In kind what is published for seven models: ECE below 0.04 after Platt, Brier score at the base rate's."""
    ds = import_table(SHARED / "data/llm/gastro_confidence_0_10.parquet", ImportOptions())
    done = recalibrate(ds, method="platt")
    before, after = mean_over_segments(done.comparison).to_dict("records")
    assert before["ece"] > 0.3
    assert after["ece"] < 0.04
    assert after["brier"] < before["brier"] - 0.1
    assert after["brier"] == pytest.approx(after["brier_uncertainty"], abs=0.003)
    assert done.dataset.sizes["trial"] == 14_400
    assert sum(one.parameters is None for one in done.maps.segments) == 2


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared data are not here")
def test_every_map_on_the_atlas():
    options = ImportOptions(scale=ScaleDeclaration(0, 100), n_options=4)
    ds = import_table(SHARED / "data/llm/atlas_mmlu_confidence.parquet", options)
    for name in METHODS:
        done = recalibrate(ds, method=name)
        before, after = mean_over_segments(done.comparison).to_dict("records")
        assert after["ece"] < 0.03 < 0.08 < before["ece"], name
        assert after["brier"] < before["brier"], name
        assert after["brier"] < after["brier_uncertainty"], name
        if name == "beta":  # the order stays but where a fold's best map is the base rate
            gap = done.comparison.groupby("model")["auroc2_within_folds"].agg(
                lambda two: abs(two.iloc[0] - two.iloc[1])
            )
            assert (gap < 1e-12).sum() >= 31
            assert gap.max() < 0.01
