"""The validity screen: each check on a table made for it, honest tables, and real files."""

from __future__ import annotations

import inspect

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from hmeta.assess.checks import checks
from hmeta.assess.screen import VERDICTS, screen
from hmeta.core.errors import DataError
from hmeta.trials.counts import to_counts
from hmeta.trials.tables import estimates_dataset, trials_dataset
from hmeta.trials.validation import validate
from tests.trials.answer_tables import N_S1, N_S2, SHARED, from_counts, from_trials, scale

NEEDS_SHARED = pytest.mark.skipif(not SHARED.is_dir(), reason="the shared data are not here")


def table(confidence, correct, **columns):
    return pd.DataFrame({"model": "m", "confidence": confidence, "correct": correct} | columns)


def flags(frame: pd.DataFrame, scales: pd.DataFrame | None = None, **options) -> dict[str, str]:
    ds = trials_dataset(frame, task="open", scales=scale(0, 100) if scales is None else scales)
    found = screen(ds, **options).flags
    return dict(zip(found["flag"], found["detail"], strict=True))


def honest(n: int = 400, seed: int = 0, **columns) -> pd.DataFrame:
    """Return answers whose accuracy grows with confidence, on multiples of ten."""
    random = np.random.default_rng(seed)
    confidence = random.choice([50, 60, 70, 80, 90, 100], n, p=[0.1, 0.1, 0.2, 0.3, 0.2, 0.1])
    return table(confidence.astype(float), (random.uniform(size=n) < confidence / 105).astype(int), **columns)


def test_an_honest_rater_is_usable():
    found = screen(trials_dataset(honest(), task="open", scales=scale(0, 100)))
    assert found.raters["verdict"].tolist() == ["usable"]
    assert len(found.flags) == 0
    assert found.content()["flags"] == []


def test_numbers_of_a_rater():
    frame = honest()
    row = screen(trials_dataset(frame, task="open", scales=scale(0, 100))).raters.iloc[0]
    assert row["n_asked"] == row["n"] == 400
    assert row["accuracy"] == pytest.approx(frame["correct"].mean())
    assert row["levels"] == 6
    assert (row["top_value"], row["top_share"]) == (80, (frame["confidence"] == 80).mean())
    assert row["auroc2"] == pytest.approx(roc_auc_score(frame["correct"], frame["confidence"]))


def test_the_interval_of_auroc2_agrees_with_the_bootstrap():
    frame = honest(300, seed=2)
    row = screen(trials_dataset(frame, task="open", scales=scale(0, 100))).raters.iloc[0]
    random = np.random.default_rng(0)
    draws = [
        roc_auc_score(*frame.iloc[random.integers(0, 300, 300)][["correct", "confidence"]].to_numpy().T)
        for _ in range(1000)
    ]
    # 1,000 draws know a standard deviation to 2.2 %; three times that, and the skew, stay below 12 %.
    assert row["auroc2_upper"] - row["auroc2_lower"] == pytest.approx(2 * 1.96 * np.std(draws), rel=0.12)


def test_counts_and_trials_agree():
    for a, b in ((from_counts(N_S1, N_S2), from_trials(N_S1, N_S2)),):
        pd.testing.assert_frame_equal(screen(a).raters, screen(b).raters)
    ds = trials_dataset(honest(), task="open", scales=scale(0, 100))
    pd.testing.assert_frame_equal(screen(to_counts(validate(ds).dataset)).raters, screen(ds).raters)


CONSTANT = [
    ([90] * 40, "one_level_used", "always 90"),
    ([90] * 38 + [80] * 2, "constant_but_for_a_few", "2 of 40 are not 90"),
    ([90] * 194 + [80] * 6, "nearly_constant", "97.0% are 90"),
    ([100] * 25 + [80, 85, 90, 95, 70] * 3, "ceiling", "62% are 100"),
    ([90] * 20 + [80] * 20, "few_values", "80: 20, 90: 20"),
]


@pytest.mark.parametrize(("confidence", "name", "detail"), CONSTANT)
def test_confidence_that_hardly_varies(confidence, name, detail):
    correct = [1, 1, 0, 1] * (len(confidence) // 4)
    assert flags(table([float(c) for c in confidence], correct))[name] == detail


def test_a_scale_with_three_levels_has_no_few_values():
    found = flags(table([1.0, 2, 3] * 20, [1, 0, 1, 1] * 15), scale(1, 3))
    assert "few_values" not in found


def test_too_few_answers():
    assert flags(honest(12))["few_answers"] == "12 answers"
    assert flags(table([50.0, 60, 70, 80] * 10, [1] * 40)) == {"no_wrong_answers": "40 right"}
    assert flags(table([50.0, 60, 70, 80] * 10, [0] * 40)) == {"no_right_answers": "40 wrong"}
    assert flags(table([50.0, 60, 70, 80] * 10, [1] * 37 + [0] * 3))["few_of_a_kind"] == "3 wrong of 40"


def test_a_rater_without_usable_answers_is_listed():
    frame = pd.concat([honest(), table([np.nan] * 5, [1, 0, 1, 1, 0]).assign(model="z")])
    found = screen(trials_dataset(frame, task="open", scales=scale(0, 100)))
    row = found.raters.set_index("unit").loc["z"]
    assert (row["n_asked"], row["n"], row["verdict"]) == (5, 0, "unusable")
    assert "no_usable_answers" in row["flags"]
    assert np.isnan(row["accuracy"])
    assert found.content()["raters"][1]["accuracy"] is None


def test_one_side_only():
    found = screen(from_counts([10, 10, 0, 0], [10, 5, 0, 0])).flags
    assert found["detail"][found["flag"] == "one_side_only"].tolist() == ["no S2 responses"]


def test_missing_confidence_and_answers_are_counted():
    frame = honest(100)
    frame.loc[:9, "confidence"] = np.nan
    frame["correct"] = frame["correct"].astype("Int64")
    frame.loc[20:27, "correct"] = pd.NA
    found = flags(frame)
    assert found["missing_confidence"] == "10 of 100 (10%)"
    assert found["unanswered"] == "8 of 100 (8%)"
    frame = honest(100)
    frame.loc[:4, "confidence"] = np.nan
    assert "missing_confidence" not in flags(frame)


def test_values_off_the_scale():
    frame = honest(100)
    frame.loc[:1, "confidence"] = [110, 104]
    assert flags(frame)["outside_scale"] == "2 of 100 (2.0%): 104, 110"
    ratings = table([1.0, 2, 3, 4, 5] * 20, [1, 0, 1, 1] * 25)
    ratings.loc[0, "confidence"] = 2.5
    assert flags(ratings, scale(1, 5))["outside_scale"] == "1 of 100 (1.0%): 2.5"


def test_infinite_confidences_are_off_the_scale():
    ratings = table([1.0, 2, 3, 4, 5] * 20, [1, 0, 1, 1] * 25)
    ratings.loc[:1, "confidence"] = [np.inf, -np.inf]
    assert flags(ratings, scale(1, 5))["outside_scale"] == "2 of 100 (2.0%): -inf, inf"


def test_a_file_without_any_scale_is_screened():
    frame = honest()
    frame["confidence"] /= 100
    found = screen(trials_dataset(frame, task="open"))
    assert found.raters["verdict"].tolist() == ["usable"]
    assert found.notes == ("no confidence scale is declared; taken from the whole table as 0..1",)


def test_values_above_one_on_a_unit_scale():
    frame = honest(100)
    frame["confidence"] /= 100
    frame.loc[:2, "confidence"] = [85, 90, 95]
    found = flags(frame, scale(0, 1, 0))
    assert found["above_one"] == "3, the largest 95"
    assert "outside_scale" not in found


def test_probabilities_on_a_percent_scale():
    probabilities = honest(100).assign(model="p")
    probabilities["confidence"] /= 100
    found = flags(pd.concat([honest(100), probabilities]))
    assert found["probabilities_on_wide_scale"] == "the largest is 1"


@pytest.mark.parametrize("value", [50.0, 0.0, 42.0])
def test_an_imputed_value_is_named(value):
    frame = honest(600, seed=1)
    frame["confidence"] = frame["confidence"].where(frame["confidence"] > 60, 70)
    at = np.random.default_rng(5).uniform(size=600) < 0.2
    frame.loc[at, "confidence"] = value
    others = honest(600, seed=2).assign(model="other")
    found = flags(pd.concat([frame, others]))
    assert found["imputed_spike"].startswith(f"{at.mean():.0%} are {value:g}, right as often")


def test_honest_doubt_is_not_taken_for_an_imputed_value():
    random = np.random.default_rng(0)
    confidence = random.choice([0.0, 50, 90, 100], 600, p=[0.2, 0.2, 0.3, 0.3])
    correct = random.uniform(size=600) < np.where(confidence < 60, 0.5, 0.95)
    assert "imputed_spike" not in flags(table(confidence, correct.astype(int)))


def test_a_fallback_below_honest_doubt_is_named():
    frame = honest(600, seed=3)
    low = table([20.0, 30.0] * 30, [1, 0, 1, 1] * 15)
    wrong = table([50.0] * 80, [0] * 80)
    frame = frame[frame["confidence"] > 60]
    assert "right less often (0.00)" in flags(pd.concat([frame, low, wrong]))["imputed_spike"]


def test_an_odd_repeated_value_is_named():
    frame = honest(200)
    frame.loc[:7, "confidence"] = 78.4
    assert flags(frame)["odd_value"] == "8 are exactly 78.4"
    fine = honest(200)
    fine["confidence"] += np.random.default_rng(0).integers(0, 9, 200) / 10
    assert "odd_value" not in flags(fine, scale(0, 101, 0))


def test_a_reversed_scale_is_named_and_mends():
    frame = honest()
    frame["confidence"] = 100 - frame["confidence"]
    found = screen(trials_dataset(frame, task="open", scales=scale(0, 100)))
    assert found.raters["auroc2_upper"].item() < 0.5
    assert found.flags["flag"].tolist() == ["reversed_scale"]
    assert found.raters["verdict"].tolist() == ["caution"]
    mended = screen(trials_dataset(frame, task="open", scales=scale(0, 100, reverse=1)))
    assert mended.raters["verdict"].tolist() == ["usable"]
    assert mended.raters["top_value"].item() == 20


def test_values_are_named_as_reported_on_a_reversed_scale():
    found = flags(table([10.0] * 40, [1, 1, 0, 1] * 10), scale(0, 100, reverse=1))
    assert found["one_level_used"] == "always 10"


def test_noise_around_one_half_is_not_reversed():
    random = np.random.default_rng(0)
    named = 0
    for _ in range(100):
        frame = table(random.choice([70.0, 80, 90, 95], 120), random.integers(0, 2, 120))
        named += "reversed_scale" in flags(frame)
    # At a one-sided rate of 2.5 %, 9 or more of 100 happen once in a thousand.
    assert named <= 9


def test_verdict_is_the_worst_finding():
    found = screen(trials_dataset(table([100.0] * 8, [1] * 8), task="open", scales=scale(0, 100)))
    assert found.raters["verdict"].tolist() == ["unusable"]
    assert set(found.flags["severity"]) == {"unusable", "caution"}
    assert found.raters["flags"].item().split(", ")[0] in ("one_level_used", "no_wrong_answers")


def test_levels_that_differ_by_rater_are_a_note():
    frame = pd.concat([honest(), table([90.0, 80.0, 70.0] * 40, [1, 0, 1, 1] * 30).assign(model="z")])
    found = screen(trials_dataset(frame, task="open", scales=scale(0, 100)))
    assert any(note.startswith("raters use from 3 to 6 of the 101 levels") for note in found.notes)


def test_estimates_are_refused():
    ds = estimates_dataset(pd.DataFrame({"model": ["a"], "estimate": [0.5], "standard_error": [0.1]}))
    with pytest.raises(DataError, match="nothing to screen"):
        screen(ds)


def test_duplicates_are_decided_as_in_validation():
    frame = honest(100, item=[str(i // 2) for i in range(100)])
    with pytest.raises(DataError, match="repeat an earlier one"):
        flags(frame)
    ds = trials_dataset(frame, task="open", scales=scale(0, 100))
    assert screen(ds, duplicates="first").raters["n"].tolist() == [50]


def test_the_input_is_not_modified():
    ds = trials_dataset(honest(), task="open", scales=scale(0, 100))
    before = ds.copy(deep=True)
    screen(ds)
    assert ds.identical(before)


@pytest.mark.parametrize("name", checks())
def test_every_check_says_what_it_means_and_what_to_do(name):
    one = checks()[name]
    assert one.severity in VERDICTS[1:]
    assert one.threshold
    assert one.meaning
    assert one.mend
    assert inspect.getdoc(one.find)


def real(name: str, unit: str, correct: str, scales: pd.DataFrame, **options) -> pd.DataFrame:
    raw = pd.read_parquet(SHARED / "data" / "llm" / f"{name}.parquet")
    frame = pd.DataFrame({"model": raw[unit].astype(str), "correct": raw[correct], "confidence": raw["confidence"]})
    return screen(trials_dataset(frame, task="open", scales=scales), **options).raters.set_index("unit")


@NEEDS_SHARED
def test_the_imputed_values_of_a_real_model_are_the_only_ones_named():
    found = real("atlas_mmlu_confidence", "model", "is_correct", scale(0, 100))
    assert found.index[found["flags"].str.contains("imputed|odd")].tolist() == ["openai/gpt-oss-120b"]
    assert found.loc["openai/gpt-oss-120b", "top_value"] == 50
    assert found.loc["google/gemma-3-1b", "flags"] == "nearly_constant, ceiling"
    assert found["verdict"].value_counts().to_dict() == {"usable": 21, "caution": 12}


@NEEDS_SHARED
def test_real_missing_confidence_is_counted():
    found = real("gastro_confidence_0_10", "model", "is_correct", scale(0, 10))
    assert found["n_missing"].sum() == 1926
    assert found["flags"].str.contains("missing_confidence").sum() == 18
    assert "imputed_spike" not in " ".join(found["flags"])


@NEEDS_SHARED
def test_people_who_round_are_not_taken_for_imputed():
    raw = pd.read_parquet(SHARED / "data" / "llm" / "human_gpt_general_knowledge.parquet")
    unit = raw["agent"].astype(str) + raw["agent_id"].astype(str)
    frame = pd.DataFrame({"participant": unit, "correct": raw["correct"], "confidence": raw["confidence"]})
    found = screen(trials_dataset(frame, task="open", scales=scale(0, 100)))
    counts = found.flags["flag"].value_counts()
    assert "imputed_spike" not in counts
    assert counts["one_level_used"] == 2
    assert counts["no_wrong_answers"] == 1
