"""The shared cases that concern reading foreign files: 10, 18, 32, 34, 35, 48, 52 (33 is in the parser's test)."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from hmeta.core.errors import DataError
from hmeta.trials.count_table import count_table
from hmeta.trials.from_table import from_table
from hmeta.trials.import_options import ImportOptions, ScaleDeclaration
from hmeta.trials.rating_counts import rating_counts
from hmeta.trials.tables import frame_of
from hmeta.trials.validation import validate

S1, S2 = [36, 24, 17, 20, 10, 12, 9, 2], [1, 4, 10, 11, 19, 18, 28, 39]


def read(frame: pd.DataFrame, **options):
    return from_table(frame, ImportOptions(**options), path="case.csv")


def case_17(labels: tuple[object, object] = (0, 1)) -> pd.DataFrame:
    """The 260 trials of the two arrays."""
    rows = [
        {"participant": "1", "stimulus": labels[s], "response": labels[r], "confidence": k}
        for s, array in enumerate((S1, S2))
        for n, (r, k) in zip(array, [(0, 4), (0, 3), (0, 2), (0, 1), (1, 1), (1, 2), (1, 3), (1, 4)], strict=True)
        for _ in range(n)
    ]
    return pd.DataFrame(rows)


# 10: bad arrays


@pytest.mark.parametrize(
    ("first", "second", "match"),
    [
        ([-1, 10, 5, 3], [2, 5, 10, 4], "negative at position 1 of nR_S1"),
        ([1, 10, 5, 3], [2, 5, -10, 4], "negative at position 3 of nR_S2"),
        ([1, 2, 3, 4], [1, 2, 3, 4, 5, 6], "nR_S1 ends at position 4"),
        ([1, 2, 3], [1, 2, 3], "odd: position 3"),
        ([2.5, 10, 5, 3], [2, 5, 10, 4], "not a whole number at position 1 of nR_S1"),
        ([1, 2, float("nan"), 3], [1, 2, 3, 4], "not a finite number at position 3 of nR_S1"),
        ([40, 10], [10, 40], "at least two rating levels"),
        ([], [], "no counts"),
        ([1, 2, "x", 3], [1, 2, 3, 4], "nR_S1"),
    ],
)
def test_10_arrays_that_are_no_counts(first, second, match):
    with pytest.raises(DataError, match=match):
        rating_counts(first, second)


def test_10_padded_counts_must_be_declared():
    padded = [value + 1 / 8 for value in S1]
    with pytest.raises(DataError, match="--padded"):
        rating_counts(padded, S2)
    assert rating_counts(padded, S2, padded=True)["count"].sum() == pytest.approx(130 + 1 + 130)


def test_10_lists_equal_arrays():
    pd.testing.assert_frame_equal(rating_counts(S1, S2), rating_counts(np.array(S1), np.array(S2)))


def test_order_of_the_arrays():
    table = rating_counts(S1, S2).set_index(["stimulus", "response", "confidence"])["count"]
    assert table[0, 0, 4] == 36
    assert table[0, 0, 1] == 20
    assert table[0, 1, 1] == 10
    assert table[0, 1, 4] == 2
    assert table[1, 0, 4] == 1
    assert table[1, 1, 4] == 39


# 18: labels other than 0 and 1


@pytest.mark.parametrize(
    "labels",
    [("A", "B"), (1, 2), (0, 90), ("horizontal", "vertical"), (False, True), (0.0, 1.0), ("0", "1"), ("2", "10")],
)
def test_18_two_labels_give_the_counts_of_zero_and_one(labels):
    dataset = read(case_17(labels))
    found, expected = (count_table(ds, ["participant"]) for ds in (dataset, read(case_17())))
    np.testing.assert_array_equal(found.outcome, expected.outcome)
    np.testing.assert_array_equal(found.confidence, expected.confidence)
    np.testing.assert_array_equal(found.count, expected.count)
    assert found.count.sum() == 260
    assert validate(dataset).report.rows_used == 260


def test_18_the_mapping_is_said_and_stored():
    attrs = read(case_17(("A", "B"))).attrs
    assert json.loads(attrs["import_labels"]) == {"stimulus": {"A": 0, "B": 1}, "response": {"A": 0, "B": 1}}
    assert "stimulus coded as A = 0, B = 1" in attrs["import_notes"]


def test_18_a_third_response_is_refused_and_named():
    frame = case_17(("A", "B"))
    frame.loc[3, "response"] = "none of them"
    with pytest.raises(DataError, match="--missing none of them"):
        read(frame)
    dataset = read(frame, missing=((None, "none of them"),))
    assert dataset["response"].values[3] == -1
    assert validate(dataset).report.rows_used == 259


# 32: the wrong scale


def test_32_proportions_on_a_scale_of_hundred():
    frame = pd.DataFrame({"model": ["a"] * 3, "correct": [1, 0, 1], "confidence": [0.9, 0.5, 1.0]})
    with pytest.raises(DataError, match="between 0 and 1"):
        read(frame, scale=ScaleDeclaration(0, 100))


def test_32_percentages_on_the_unit_scale():
    frame = pd.DataFrame({"model": ["a", "a"], "correct": [1, 0], "confidence": [95, 90]})
    with pytest.raises(DataError, match=r"values above 1, on a scale declared as 0-1") as refusal:
        read(frame, scale=ScaleDeclaration(0, 1))
    assert "--scale 0-100" in refusal.value.message


def test_32_percentages_without_a_scale():
    frame = pd.DataFrame({"model": ["a", "a"], "correct": [1, 0], "confidence": [95, 90]})
    with pytest.raises(DataError, match="--scale 0-100"):
        read(frame)


def test_32_zeros_and_ones_fit_several_scales():
    frame = pd.DataFrame({"model": ["a"] * 4, "correct": [1, 0, 1, 1], "confidence": [0, 1, 1, 0]})
    with pytest.raises(DataError, match="--scale 0-1"):
        read(frame)
    assert read(frame, scale=ScaleDeclaration(0, 1))["scale_upper"].values.tolist() == [1]


# 34: unparsed rows


def test_34_rows_without_confidence_are_counted():
    texts = [f"Confidence: {90 - i}%" for i in range(6)] + ["?!", "", "I can't answer that.", "Confidence: 140"]
    frame = pd.DataFrame({"model": "m", "correct": [1] * 6 + [0] * 4, "confidence": texts})
    dataset = read(frame, scale=ScaleDeclaration(0, 100))
    report = validate(dataset).report
    assert (report.rows_in, report.rows_used) == (10, 6)
    assert dataset["confidence_status"].values.tolist()[6:] == ["missing", "missing", "refusal", "out_of_range"]
    assert "percent 6" in dataset.attrs["import_notes"]
    assert "4 without a value" in dataset.attrs["import_notes"]


# 35: several quantities in one confidence column


def test_35_the_source_of_confidence_stays_a_key():
    frame = pd.DataFrame(
        {
            "model": "m",
            "source": ["verbal", "verbal", "logprob", "logprob"],
            "confidence": [0.95, 0.95, 0.29, 0.31],
            "correct": [1, 0, 1, 0],
        }
    )
    assert frame_of(read(frame))["signal"].tolist() == ["verbal", "verbal", "logprob", "logprob"]


# 48: correctness is no stimulus


def test_48_correctness_cannot_be_the_stimulus():
    frame = pd.DataFrame({"model": "m", "correct": [1, 0], "confidence": [2, 1]})
    assert read(frame).attrs["task"] == "open"
    with pytest.raises(DataError, match="measured separately"):
        read(frame, columns={"correct": "correct", "stimulus": "correct"})


# 52: more than two classes


def test_52_four_answers_are_no_binary_task():
    letters = list("ABCD") * 2
    frame = pd.DataFrame({"model": "m", "stimulus": letters, "response": letters[::-1], "confidence": [1, 2] * 4})
    with pytest.raises(DataError, match="stimulus has 4 levels") as refusal:
        read(frame)
    assert "--task mafc --n-options 4" in refusal.value.message
    dataset = read(frame, task="mafc", n_options=4)
    assert dataset["stimulus"].values.tolist() == [0, 1, 2, 3] * 2
    assert dataset["correct"].values.tolist() == [0] * 8
