"""Conditions against a baseline: differences by hand, exact tests, pairing."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from hmeta.assess.compare import MEAN, TestOptions, compare_conditions
from hmeta.core.errors import DataError
from hmeta.metrics.discrimination import auroc2
from hmeta.trials.counts import to_counts
from hmeta.trials.tables import trials_dataset
from tests.assess.data import answers, file_of

QUICK = TestOptions(resamples=1000, permutations=1000)


def test_differences_are_those_of_the_measure():
    frame = answers()
    found = compare_conditions(file_of(frame), "condition", metrics=["auroc2"], options=QUICK).frame
    for model in ("a", "b"):
        part = {c: frame[(frame["model"] == model) & (frame["condition"] == c)] for c in ("x", "y")}
        at = {c: float(auroc2(p["confidence"], p["correct"])) for c, p in part.items()}
        row = found[found["model"] == model].iloc[0]
        assert row["at_baseline"] == pytest.approx(at["x"], abs=1e-12)
        assert row["difference"] == pytest.approx(at["y"] - at["x"], abs=1e-12)
        assert row["lower"] < row["difference"] < row["upper"]
    mean = found[found["model"] == MEAN].iloc[0]
    assert mean["difference"] == pytest.approx(found[found["model"] != MEAN]["difference"].mean())


def test_accuracy_is_mcnemars_exact_test():
    # 14 items right only under y, 4 only under x, 20 alike: swapping is the sign test on the 18 that differ.
    right = {"x": [1] * 4 + [0] * 14 + [1] * 20, "y": [0] * 4 + [1] * 14 + [1] * 20}
    frame = pd.concat(
        [
            pd.DataFrame({"model": "a", "condition": c, "item": range(38), "correct": values, "confidence": 50})
            for c, values in right.items()
        ]
    )
    options = TestOptions(resamples=100, permutations=40_000)
    row = compare_conditions(file_of(frame), "condition", metrics=["accuracy"], options=options).frame.iloc[0]
    exact = stats.binomtest(14, 18).pvalue
    assert row["difference"] == pytest.approx(10 / 38)
    assert row["p"] == pytest.approx(exact, abs=5 * np.sqrt(exact / 40_000))
    assert row["n_pairs"] == 38


def test_pairing_takes_what_items_share_out_of_the_standard_error():
    # Difficulty shared by the two conditions: the variance of the difference is that of the paired differences.
    rng = np.random.default_rng(4)
    hard = rng.random(200)
    frame = pd.concat(
        [
            pd.DataFrame(
                {
                    "model": "a",
                    "condition": c,
                    "item": range(200),
                    "correct": (hard > cut).astype(int),
                    "confidence": 50,
                }
            )
            for c, cut in (("x", 0.5), ("y", 0.4))
        ]
    )
    paired = compare_conditions(file_of(frame), "condition", metrics=["accuracy"], options=QUICK).frame.iloc[0]
    apart = compare_conditions(
        file_of(frame), "condition", metrics=["accuracy"], options=TestOptions(1000, 1000, pair=None)
    ).frame.iloc[0]
    wide = frame.pivot(index="item", columns="condition", values="correct")
    expected = (wide["y"] - wide["x"]).std(ddof=0) / np.sqrt(200)
    assert paired["standard_error"] == pytest.approx(expected, rel=0.1)
    assert apart["standard_error"] > 1.5 * paired["standard_error"]
    assert apart["n_pairs"] == 0


def test_items_without_a_partner_are_left_out_and_counted():
    frame = answers(models=("a",))
    frame = frame[~((frame["condition"] == "y") & (frame["item"] < 7))]
    found = compare_conditions(file_of(frame), "condition", metrics=["accuracy"], options=QUICK)
    row = found.frame.iloc[0]
    assert (row["n_pairs"], row["n_left_out"]) == (53, 7)
    both = frame[frame["item"] >= 7]
    means = both.groupby("condition")["correct"].mean()
    assert row["difference"] == pytest.approx(means["y"] - means["x"])
    assert any("7 answers" in note for note in found.notes)


def test_the_null_is_uniform_when_nothing_differs():
    # 60 tests on exchangeable conditions: the share of p <= 0.2 is Binomial(60, 0.2); bounds at 1e-4 on either side.
    small = TestOptions(resamples=100, permutations=200)
    p = []
    for seed in range(60):
        frame = answers(n_items=30, models=("a",), conditions=("x", "y"), seed=seed)
        swap = np.random.default_rng(seed + 99).random(30) < 0.5
        flipped = frame["condition"].map({"x": "y", "y": "x"}).where(swap[frame["item"]], frame["condition"])
        found = compare_conditions(
            file_of(frame.assign(condition=flipped)), "condition", metrics=["auroc2"], options=small
        )
        p.append(found.frame["p"].iloc[0])
    low, high = stats.binom.ppf([1e-4, 1 - 1e-4], 60, 0.2)
    assert low <= np.sum(np.array(p) <= 0.2) <= high


def test_scales_are_exchanged_as_shares_so_that_the_null_is_no_mixture_of_units():
    # The same answers on 0–100 and, blurred, on 0–7: were raw values mixed, the null would be several times too wide.
    frame = answers(n_items=400, models=("a",), conditions=("x", "y"), seed=5)
    sharp = frame["condition"] == "y"
    blur = np.random.default_rng(6).normal(size=len(frame)) * 25
    frame["scale"] = np.where(sharp, "0-100", "0-7")
    share = frame[sharp]["confidence"].to_numpy() / 100
    frame.loc[sharp, "confidence"] = 100 * share
    frame.loc[~sharp, "confidence"] = np.round(7 * (share + blur[: len(share)] / 100).clip(0, 1))
    frame.loc[~sharp, "correct"] = frame.loc[sharp, "correct"].to_numpy()
    scales = pd.DataFrame(
        {"scale_id": ["0-100", "0-7"], "scale_lower": [0.0, 0.0], "scale_upper": [100.0, 7.0], "scale_step": [1.0, 1.0]}
    )
    data = trials_dataset(frame.drop(columns="condition"), task="open", scales=scales)
    found = compare_conditions(
        data, "scale", metrics=["auroc2"], options=TestOptions(resamples=2000, permutations=2000)
    )
    row = found.frame.iloc[0]
    z = abs(row["difference"]) / row["standard_error"]
    assert z > 2.5
    assert row["p"] == pytest.approx(2 * stats.norm.sf(z), abs=0.02)


def test_counts_are_compared_unpaired():
    counted = to_counts(file_of(answers()), ["model", "condition"])
    found = compare_conditions(counted, "condition", metrics=["auroc2"], options=QUICK)
    assert found.pair is None
    assert found.frame["p"].between(0, 1).all()


def test_undefined_differences_have_a_reason_and_are_no_test():
    frame = answers(models=("a", "b"))
    frame.loc[(frame["model"] == "b") & (frame["condition"] == "y"), "correct"] = 1
    found = compare_conditions(file_of(frame), "condition", metrics=["auroc2"], options=QUICK).frame
    row = found[found["model"] == "b"].iloc[0]
    assert np.isnan(row["difference"])
    assert np.isnan(row["p_corrected"])
    assert row["reason"] == "no wrong answers"
    other = found[found["model"] == "a"].iloc[0]
    assert other["p"] == other["p_corrected"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"condition": "conditon"}, 'Did you mean "condition"'),
        ({"baseline": "z"}, "no level of condition"),
        ({"options": TestOptions(pair="itm")}, "cannot pair answers"),
        ({"metrics": ["accuracyy"]}, 'Did you mean "accuracy"'),
    ],
)
def test_impossible_comparisons_are_refused(words, message):
    with pytest.raises(DataError, match=message):
        compare_conditions(file_of(answers()), words.pop("condition", "condition"), **words)


def test_one_level_is_no_condition():
    with pytest.raises(DataError, match="two levels or more"):
        compare_conditions(file_of(answers(conditions=("x",))), "condition")
