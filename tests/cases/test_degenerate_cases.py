"""Cases of section A and B that validation names or refuses; the number in a name is the case's."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from hmeta.core.errors import DataError
from hmeta.trials.counts import counts_dataset, to_counts
from hmeta.trials.validation import validate
from tests.trials.answer_tables import N_S1, N_S2, cells, from_counts, from_trials, scale

BOTH_LAYOUTS = pytest.mark.parametrize("make", [from_counts, from_trials])


def cautions(ds) -> dict[str, str]:
    return {caution.rule: caution.message for caution in validate(ds).report.warnings}


@BOTH_LAYOUTS
def test_case_01_no_s1_responses_are_named_with_the_number_of_trials(make):
    found = cautions(make([0, 0, 5, 1], [0, 0, 0, 6]))
    assert "no S1 responses" in found["one_response"]
    assert "12 trials" in found["one_response"]
    assert "p1: 12 trials" in found["few_answers"]


@BOTH_LAYOUTS
def test_case_02_one_level_used_is_uninformative(make):
    found = cautions(make([40, 0, 0, 10], [10, 0, 0, 40]))
    assert "uninformative: one confidence level used" in found["one_level_used"]
    assert "p1" in found["one_level_used"]


def test_case_02_one_level_in_each_response_is_uninformative_too():
    assert "in each response" in cautions(from_counts([40, 0, 10, 0], [10, 0, 40, 0]))["one_level_used"]


def test_case_02_a_unit_that_varies_is_not_named():
    assert "one_level_used" not in cautions(from_counts(N_S1, N_S2))


@BOTH_LAYOUTS
def test_case_06_perfect_accuracy_is_named(make):
    found = cautions(make([30, 20, 0, 0], [0, 0, 20, 30]))
    assert "no wrong answers" in found["no_wrong_answers"]


@BOTH_LAYOUTS
def test_case_08_a_study_without_s2_trials_is_an_error(make):
    with pytest.raises(DataError, match="no S2 trials"):
        validate(make([10, 10, 10, 10], [0, 0, 0, 0]))


def test_case_08_one_unit_without_s2_trials_is_named_and_kept():
    frame = pd.concat([cells([10] * 4, [0] * 4, participant="A"), cells([9, 8, 4, 3], [3, 4, 8, 9], participant="B")])
    ds = counts_dataset(frame, task="binary", scales=scale(1, 2))
    found = validate(ds)
    assert found.report.rows_used == 88
    assert cautions(ds)["one_stimulus"] == "no S2 trials, so d′ is undefined: A"


@BOTH_LAYOUTS
def test_case_09_one_rating_level_is_an_error(make):
    with pytest.raises(DataError, match="at least two rating levels are needed"):
        validate(make([40, 10], [10, 40]))


def test_case_10a_negative_counts_name_the_row():
    with pytest.raises(DataError, match="1 counts are negative") as caught:
        validate(from_counts([-1, 10, 5, 3], [2, 5, 10, 4]))
    assert "received: -1" in str(caught.value)


def test_case_10d_fractions_are_refused_unless_declared_as_padded():
    with pytest.raises(DataError, match="1 counts are not whole numbers") as caught:
        validate(from_counts([2.5, 10, 5, 3], [2, 5, 10, 4]))
    assert "padded" in str(caught.value)
    found = validate(from_counts([2.5, 10, 5, 3], [2, 5, 10, 4], padded=True))
    assert found.report.rows_in == found.report.rows_used == 41.5
    assert to_counts(found.dataset).attrs["padded"] == 1


def test_case_10_missing_counts_are_refused():
    with pytest.raises(DataError, match="1 counts are missing"):
        validate(from_counts([float("nan"), 10, 5, 3], [2, 5, 10, 4]))


def test_case_10_pooling_does_not_hide_impossible_counts():
    twice = pd.concat([cells([-1, 10, 5, 3], [2, 5, 10, 4]), cells([5, 10, 5, 3], [2, 5, 10, 4])], ignore_index=True)
    with pytest.raises(DataError, match="1 counts are negative"):
        counts_dataset(twice, task="binary", scales=scale(1, 2))
    ds = from_counts([9, 10, 5, 3], [2, 5, 10, 4])
    for wrong, message in ((-1, "negative"), (0.5, "whole"), (float("nan"), "missing")):
        with pytest.raises(DataError, match=message):
            validate(ds.assign(count=ds["count"].where(ds["count"] != 9, wrong)))


def test_case_10_counts_without_confidence_are_refused():
    with pytest.raises(DataError, match="have no confidence"):
        counts_dataset(cells(N_S1, N_S2).assign(confidence=[np.nan, *range(1, 16)]), task="binary")


@BOTH_LAYOUTS
def test_case_12_swapped_stimuli_are_probably_inverted(make):
    found = cautions(make(N_S2, N_S1))
    assert "probably inverted" in found["stimulus_inverted"]
    assert "d′ -1.50, AUROC2 0.29" in found["stimulus_inverted"]
    assert "stimulus_inverted" not in cautions(make(N_S1, N_S2))


@BOTH_LAYOUTS
def test_case_13_a_reversed_rating_order_is_named(make):
    found = cautions(make([20, 17, 24, 36, 2, 9, 12, 10], [11, 10, 4, 1, 39, 28, 18, 19]))
    assert "order of the ratings is probably reversed" in found["ratings_reversed"]
    assert "d′ 1.50, AUROC2 0.29" in found["ratings_reversed"]
    assert "ratings_reversed" not in cautions(make(N_S1, N_S2))


def test_case_14_moderate_negative_metacognition_is_no_coding_error():
    found = cautions(from_counts([10, 40, 15, 15], [15, 15, 40, 10]))
    assert not {"stimulus_inverted", "ratings_reversed"} & set(found)


def test_case_60_cells_of_fewer_than_twenty_answers_are_named_and_kept():
    found = validate(from_counts([3, 2, 1, 1], [1, 1, 2, 3]))
    assert found.report.rows_used == 14
    assert any(c.rule == "few_answers" for c in found.report.warnings)
