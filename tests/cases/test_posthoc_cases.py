"""The shared cases that concern post-hoc calibration: 35, 67, 68, 71, 72."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from hmeta.calibrate.maps import method, methods
from hmeta.calibrate.recalibrate import recalibrate
from hmeta.core.errors import DataError
from hmeta.metrics.catalogue import measures
from hmeta.trials.tables import trials_dataset
from tests.calibrate.answer_files import answers, percent, results

UNIT = percent("0-1").assign(scale_upper=1.0, scale_step=0.0)


def file_of(confidence, correct, **columns):
    frame = pd.DataFrame({"model": "m", "confidence": confidence, "correct": correct}).assign(**columns)
    return trials_dataset(frame, task="open", scales=UNIT)


# 35: different quantities in one column


def test_35_signals_get_maps_of_their_own_unless_pooled_by_name():
    ds = results(answers(200, models=("m",), signal=["verbal", "logprob"] * 100))
    apart = recalibrate(ds, method="platt")
    assert [one.at for one in apart.maps.segments] == [
        {"model": "m", "signal": "logprob"},
        {"model": "m", "signal": "verbal"},
    ]
    assert set(apart.dataset["signal"].values) == {"logprob+platt", "verbal+platt"}
    pooled = recalibrate(ds, method="platt", pool=["signal"])
    assert [one.at for one in pooled.maps.segments] == [{"model": "m"}]
    assert pooled.maps.pooled == ("signal",)


def test_35_the_four_rows_of_the_case_cannot_be_fitted_source_by_source():
    ds = file_of([0.95, 0.95, 0.29, 0.31], [1, 0, 1, 0], signal=["verbal", "verbal", "logprob", "logprob"])
    with pytest.raises(DataError, match="no map can be fitted"):
        recalibrate(ds, method="isotonic", folds=2)


# 67: judged on its own training rows

CONFIDENCE_67 = np.arange(1, 21) / 20
CORRECT_67 = np.array([0, 1, 1, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 1, 0, 0])


def test_67_the_raw_error_is_that_of_the_case():
    # Every confidence is on or near an edge, so that the rule for edges decides the number.
    ece = measures()["ece"]
    assert ece(CONFIDENCE_67, CORRECT_67, edges="left") == pytest.approx(0.355, abs=5e-4)
    assert ece(CONFIDENCE_67, CORRECT_67, edges="right") == pytest.approx(0.475, abs=5e-4)


def test_67_in_sample_error_is_zero_by_construction_and_labelled():
    done = recalibrate(file_of(CONFIDENCE_67, CORRECT_67), method="isotonic", in_sample=True)
    assert done.comparison["ece"][1] == pytest.approx(0, abs=1e-12)
    assert "in-sample: errors are too low" in done.judged
    assert "in-sample" in done.dataset.attrs["calibration_words"]


def test_67_the_default_is_held_out_and_shows_what_the_map_is_worth():
    done = recalibrate(file_of(CONFIDENCE_67, CORRECT_67, item=[f"q{i}" for i in range(20)]), method="isotonic")
    assert done.comparison["ece"][1] > 0.1
    assert done.judged == "on held-out answers, 5 folds by item, seed 0"


# 68: isotonic changes the ranking

CONFIDENCE_68 = np.array([0.1, 0.4, 0.35, 0.8, 0.6, 0.7])
CORRECT_68 = np.array([0, 0, 1, 1, 0, 1])


def test_68_both_auroc2_are_reported():
    done = recalibrate(file_of(CONFIDENCE_68, CORRECT_68), method="isotonic", in_sample=True)
    assert done.comparison["auroc2"].tolist() == pytest.approx([0.778, 0.889], abs=5e-4)
    assert any("ties or changes of order made by the map moved AUROC2" in text for text in done.cautions)


def test_68_ties_broken_by_the_raw_confidence_leave_it_alone():
    done = recalibrate(file_of(CONFIDENCE_68, CORRECT_68), method="isotonic(ties=raw)", in_sample=True)
    assert done.comparison["auroc2"].tolist() == pytest.approx([7 / 9, 7 / 9])


@pytest.mark.parametrize("name", ["platt", "temperature"])
def test_68_maps_without_ties_leave_it_alone(name):
    # Beta's best map of these six answers is as steep as it likes at one end only, so it is left out here.
    done = recalibrate(file_of(CONFIDENCE_68, CORRECT_68), method=name, in_sample=True)
    assert done.comparison["auroc2"].tolist() == pytest.approx([7 / 9, 7 / 9])


# 71: changes nothing, or cannot be refitted

CONFIDENCE_71 = np.repeat([0.95, 0.6], 50)
CORRECT_71 = np.tile(np.repeat([1, 0], [30, 20]), 2)


def test_71_the_temperature_is_not_one_and_log_loss_falls():
    temperature = method("temperature")
    found = temperature.fit(CONFIDENCE_71, CORRECT_71)
    assert found["temperature"] > 2
    log_score = measures()["log_score"]
    after = log_score(temperature.apply(found, CONFIDENCE_71), CORRECT_71)
    assert after < log_score(CONFIDENCE_71, CORRECT_71) - 0.2
    # No other temperature does better.
    for factor in (0.9, 1.1):
        other = {**found, "temperature": factor * found["temperature"]}
        assert log_score(temperature.apply(other, CONFIDENCE_71), CORRECT_71) > after


@pytest.mark.parametrize("name", ["histogram", "isotonic", "platt", "temperature"])
def test_71_a_second_fit_does_not_depend_on_the_first(name):
    rng = np.random.default_rng(0)
    other = rng.choice([0.5, 0.7, 0.9], 200)
    right = (rng.random(200) < other) * 1
    alone = method(name).fit(other, right)
    first = method(name).fit(CONFIDENCE_71, CORRECT_71)
    assert method(name).fit(other, right) == alone
    assert method(name).fit(CONFIDENCE_71, CORRECT_71) == first
    assert alone != first


# 72: warnings switched off


@pytest.mark.parametrize("name", list(methods()))
def test_72_a_warning_after_a_fit_still_appears(name):
    before = list(warnings.filters)
    done = recalibrate(results(), method=name)
    assert done.dataset.sizes["trial"] == 300
    assert warnings.filters == before
    with pytest.warns(UserWarning, match="still here"):
        warnings.warn("still here", stacklevel=1)
