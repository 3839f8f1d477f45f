"""Maps saved as JSON and applied to new files: same numbers, or one readable refusal."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from hmeta.calibrate.map_file import read_map, write_map
from hmeta.calibrate.recalibrate import apply_maps, recalibrate
from hmeta.core.errors import DataError, OutputError
from hmeta.trials.counts import to_counts
from tests.calibrate.answer_files import answers, percent, results

METHODS = ["beta", "histogram(bins=4, mass=equal_mass)", "isotonic(ties=raw)", "platt", "temperature"]


@pytest.fixture
def saved(tmp_path):
    """Return a function that fits and saves a map, and returns its path."""

    def save(ds=None, **options):
        path = tmp_path / "map.json"
        write_map(recalibrate(results() if ds is None else ds, **options).maps, path, overwrite=True)
        return path

    return save


@pytest.mark.parametrize("name", METHODS)
def test_a_map_from_its_file_gives_the_same_numbers(name, saved):
    whole = recalibrate(results(), method=name, in_sample=True)
    maps = read_map(saved(method=name))
    assert maps == whole.maps
    new = results(answers(40, seed=9))
    applied = apply_maps(new, maps)
    assert applied.judged == "by a saved map, on new answers"
    p = new["confidence"].values[:40].astype(float) / 100
    value = maps.method.apply(maps.segments[0].parameters or {}, p)
    assert applied.dataset["confidence"].values[:40] == pytest.approx(value, abs=1e-6)
    assert apply_maps(results(), maps).dataset["confidence"].equals(whole.dataset["confidence"])


def test_the_file_says_in_words_what_it_is(saved):
    content = json.loads(saved(method="platt").read_text())
    assert (content["kind"], content["schema"], content["source"]) == ("hmeta calibration map", "1", "made up")
    assert content["summary"].endswith("2 maps fitted on all answers, apart by model")
    assert [s["at"] for s in content["segments"]] == [{"model": "a"}, {"model": "b"}]
    assert content["segments"][0]["n"] == 150
    assert content["segments"][0]["scales"] == [{"lower": 0, "upper": 100, "step": 1, "reversed": 0}]
    assert set(content["segments"][0]["parameters"]) == {"slope", "intercept", "edge", "n_at_edge"}


def test_an_existing_file_is_kept(saved):
    path = saved()
    with pytest.raises(OutputError, match="exists already"):
        write_map(recalibrate(results()).maps, path)


def test_counts_take_a_map(saved):
    maps = read_map(saved(method="isotonic"))
    counted = apply_maps(to_counts(results(), ["model"]), maps)
    trials = apply_maps(results(), maps)
    assert counted.comparison["ece"].tolist() == pytest.approx(trials.comparison["ece"].tolist())
    assert int(counted.dataset["count"].sum()) == 300


def test_another_scale_is_refused(saved):
    maps = read_map(saved())
    shares = answers().assign(confidence=lambda f: f["confidence"] / 100)
    ends = percent("0-1").assign(scale_upper=1.0, scale_step=0.0)
    with pytest.raises(DataError, match="fitted on another scale") as refused:
        apply_maps(results(shares, scales=ends), maps)
    assert refused.value.received == "confidence on 0 to 1"
    assert refused.value.allowed == "0 to 100"
    with pytest.raises(DataError, match="fitted on another scale"):
        apply_maps(results(scales=percent(reverse=1)), maps)


def test_a_finer_step_of_the_same_scale_is_taken(saved):
    maps = read_map(saved())
    done = apply_maps(results(scales=percent().assign(scale_step=0.0)), maps)
    assert np.isfinite(done.dataset["confidence"].values).all()


def test_a_segment_without_a_map_is_refused_by_name(saved):
    maps = read_map(saved())
    with pytest.raises(DataError, match="1 segments of the file have no map") as refused:
        apply_maps(results(answers(models=("a", "c"))), maps)
    assert (refused.value.received, refused.value.allowed) == ("c", "a; b")


def test_a_pooled_map_takes_new_models(saved):
    maps = read_map(saved(pool=["model"]))
    assert np.isfinite(apply_maps(results(answers(models=("c",))), maps).dataset["confidence"].values).all()


def test_a_file_without_the_column_of_the_maps_is_refused(saved):
    maps = read_map(saved(results(answers(domain=["x", "y", "z"] * 100)), by=["domain"]))
    with pytest.raises(DataError, match='no column "domain"'):
        apply_maps(results(), maps)


def test_one_map_for_several_signals_is_refused_unless_it_pools_them(saved):
    mixed = results(answers(signal=["verbal", "logit", "p_true"] * 100))
    with pytest.raises(DataError, match="one map for several signals"):
        apply_maps(mixed, read_map(saved()))
    done = apply_maps(mixed, read_map(saved(mixed, pool=["signal"])))
    assert set(done.dataset["signal"].values) == {"verbal+beta", "logit+beta", "p_true+beta"}


def test_a_segment_that_had_no_fit_stays_missing(saved):
    frame = answers()
    frame.loc[frame["model"] == "b", "correct"] = 1
    maps = read_map(saved(results(frame)))
    done = apply_maps(results(), maps)
    assert np.isnan(done.dataset["confidence"].values[150:]).all()
    assert any("no wrong answers" in note for note in done.notes)
    with pytest.raises(DataError, match="no map can be fitted"):
        apply_maps(results(answers(models=("b",))), maps)


def test_a_single_outcome_can_be_calibrated_by_a_saved_map(saved):
    maps = read_map(saved())
    done = apply_maps(results(answers().assign(correct=1)), maps)
    assert np.isfinite(done.dataset["confidence"].values).all()
    assert done.comparison["auroc2"].isna().all()


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda _: "not json", "not a calibration map"),
        (lambda _: "[]", "not a calibration map"),
        (lambda _: json.dumps({"kind": "map"}), "not a calibration map"),
        (lambda c: json.dumps(c | {"schema": "2"}), "schema version"),
        (lambda c: json.dumps(c | {"method": "betta"}), 'Did you mean "beta"'),
        (lambda c: json.dumps(c | {"options": {"bins": 3}}), "no option bins"),
        (lambda c: json.dumps({k: v for k, v in c.items() if k != "segments"}), "damaged"),
        (lambda c: json.dumps(c | {"segments": 3}), "damaged"),
        (lambda c: json.dumps(c | {"segment_columns": ["model", "scale"]}), "damaged"),
        (lambda c: broken(c, parameters={"slope": 1}), "damaged"),
        (lambda c: broken(c, parameters={}), "damaged"),
        (lambda c: broken(c, parameters={"slope": "x", "intercept": 0, "edge": 0.1}), "damaged"),
        (lambda c: broken(c, parameters={"slope": float("nan"), "intercept": 0, "edge": 0.1}), "damaged"),
        (lambda c: broken(c, scales=[{"lower": 0}]), "damaged"),
    ],
)
def test_what_is_no_map_is_refused_in_one_message(change, match, saved):
    path = saved(method="platt")
    path.write_text(change(json.loads(path.read_text())))
    with pytest.raises(DataError, match=match) as refused:
        read_map(path)
    assert str(path) in refused.value.message


def broken(content: dict, **change: object) -> str:
    first = content["segments"][0] | change
    return json.dumps(content | {"segments": [first, *content["segments"][1:]]})


def test_a_missing_map_is_refused(tmp_path, saved):
    saved()
    with pytest.raises(DataError, match="no such file") as refused:
        read_map(tmp_path / "mapp.json")
    assert refused.value.mend == 'Did you mean "map.json"?'


def test_numbers_as_factors_are_the_same_text_both_ways(saved):
    frame = answers(temperature=[0.7, 1.0] * 150)
    maps = read_map(saved(results(frame), by=["temperature"]))
    assert [s.at["temperature"] for s in maps.segments] == ["0.7", "1.0", "0.7", "1.0"]
    assert np.isfinite(apply_maps(results(frame), maps).dataset["confidence"].values).all()
    gap = frame.assign(temperature=pd.Series([0.7, None] * 150))
    assert "(missing)" in [s.at["temperature"] for s in recalibrate(results(gap), by=["temperature"]).maps.segments]
