"""Cases of section C and D that concern counting and validation; the number in a name is the case's."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from hmeta.core.errors import DataError
from hmeta.trials.count_table import count_table
from hmeta.trials.counts import counts_dataset, to_counts
from hmeta.trials.tables import scale_frame, trials_dataset
from hmeta.trials.validation import validate
from tests.trials.answer_tables import N_S1, N_S2, cells, from_counts, from_trials, repeated, scale


def arrays(ds, participant: str, k: int = 4) -> tuple[list[float], list[float]]:
    """Return the counts of one participant in the order S1 high … low, S2 low … high."""
    table = count_table(ds, ["participant"])
    at = int(np.flatnonzero(table.cells["participant"] == participant)[0])
    rows = zip(table.cell, table.outcome, table.confidence, table.count, strict=True)
    found = {(int(outcome), int(level)): n for cell, outcome, level, n in rows if cell == at}
    order = [(0, level) for level in range(k, 0, -1)] + [(1, level) for level in range(1, k + 1)]
    one, two = ([found.get((2 * s + r, level), 0.0) for r, level in order] for s in (0, 1))
    return one, two


def warned(found) -> dict[str, str]:
    return {caution.rule: caution.message for caution in found.report.warnings}


@pytest.mark.parametrize("make", [from_counts, from_trials])
def test_case_13_17_both_layouts_hold_the_same_counts_in_the_documented_order(make):
    ds = validate(make(N_S1, N_S2)).dataset
    assert arrays(ds, "p1") == (N_S1, N_S2)
    assert arrays(to_counts(ds), "p1") == (N_S1, N_S2)


@pytest.mark.parametrize("codes", [("A", "B"), (1, 2)])
def test_case_18_labels_outside_0_and_1_are_refused_with_the_values_seen(codes):
    frame = repeated(cells(N_S1, N_S2)).astype({"stimulus": "object", "response": "object"})
    frame = frame.assign(**{c: frame[c].map(dict(enumerate(codes))) for c in ("stimulus", "response")})
    with pytest.raises(DataError) as caught:
        validate(trials_dataset(frame, task="binary", scales=scale(1, 4)))
    assert str(codes[1]) in str(caught.value)


OUT_OF_SCALE = pd.DataFrame(
    {"stimulus": [0, 0, 0, 1, 1, 1], "response": [0, 0, 1, 1, 1, 0], "confidence": [4, 0, 2.5, 5, None, 1]}
).assign(participant="p1")


def test_case_19_ratings_outside_the_scale_are_an_error():
    with pytest.raises(DataError, match=r"4 of 6 rows have confidence outside 1\.\.4") as caught:
        validate(trials_dataset(OUT_OF_SCALE, task="binary", scales=scale(1, 4)))
    assert "rows (from 0) 1, 2, 3" in str(caught.value)
    assert "--on-violation" in str(caught.value)


def test_case_19_dropping_them_is_explicit_and_counted():
    found = validate(trials_dataset(OUT_OF_SCALE, task="binary", scales=scale(1, 4)), on_violation="exclude")
    counted = found.report.exclusions.set_index("reason")["count"].to_dict()
    assert counted == {"confidence outside the scale": 2, "confidence between the levels": 1, "missing confidence": 1}
    assert (found.report.rows_in, found.report.rows_used) == (6, 2)


def test_case_20_accuracy_that_contradicts_stimulus_and_response_is_an_error():
    frame = pd.DataFrame({"stimulus": [0, 1, 1], "response": [0, 1, 0], "correct": [0, 0, 1], "confidence": [3, 2, 1]})
    ds = trials_dataset(frame.assign(participant="p1"), task="binary", scales=scale(1, 4))
    with pytest.raises(DataError, match="3 trials have an accuracy that contradicts") as caught:
        validate(ds)
    assert "rows (from 0) 0, 1, 2" in str(caught.value)


CASE_21 = ([30, 0, 12, 8, 5, 6, 0, 4], [4, 0, 6, 5, 8, 12, 0, 30])


@pytest.mark.parametrize("declared", [True, False])
def test_case_21_the_scale_belongs_to_the_study_and_an_unused_level_stays_a_zero(declared):
    frame = pd.concat([cells(*CASE_21, participant="A"), cells(N_S1, N_S2, participant="B")], ignore_index=True)
    ds = trials_dataset(repeated(frame), task="binary", scales=scale(1, 4) if declared else None)
    found = validate(ds)
    scales = scale_frame(found.dataset)
    assert scales is not None
    assert (scales["scale_lower"].item(), scales["scale_upper"].item()) == (1, 4)
    assert arrays(to_counts(found.dataset), "A") == CASE_21
    assert arrays(to_counts(found.dataset), "B") == (N_S1, N_S2)
    assert ("scale_read_from_data" in warned(found)) is not declared


def test_case_21_counts_without_a_scale_take_that_of_the_whole_table():
    ds = counts_dataset(cells(*CASE_21), task="binary")
    scales = scale_frame(ds)
    assert scales is not None
    assert scales["scale_upper"].item() == 4


def test_case_22_only_existing_combinations_are_cells():
    frame = pd.concat(
        [cells(N_S1, N_S2, participant="s1", group="A"), cells(N_S1, N_S2, participant="s2", group="B")],
        ignore_index=True,
    )
    for ds in (
        counts_dataset(frame, task="binary", scales=scale(1, 4)),
        trials_dataset(repeated(frame), task="binary", scales=scale(1, 4)),
    ):
        table = count_table(validate(ds).dataset, ["participant", "group"])
        assert table.cells.to_dict("list") == {"participant": ["s1", "s2"], "group": ["A", "B"]}
        assert np.bincount(table.cell, table.count).tolist() == [260, 260]


def test_case_23_the_callers_table_and_dataset_are_unchanged():
    frame = repeated(cells(N_S1, N_S2)).assign(note=None)
    frame.loc[3, "confidence"] = np.nan
    before = frame.copy(deep=True)
    scales = scale(1, 4)
    ds = trials_dataset(frame, task="binary", scales=scales)
    copy = ds.copy(deep=True)
    valid = validate(ds, on_violation="clip")
    to_counts(valid.dataset)
    count_table(valid.dataset, ["participant"])
    pd.testing.assert_frame_equal(frame, before)
    pd.testing.assert_frame_equal(scales, scale(1, 4))
    assert ds.identical(copy)


def test_case_25_several_participants_are_several_cells():
    frame = pd.concat([cells(N_S1, N_S2, participant=p) for p in ("p1", "p2")], ignore_index=True)
    table = count_table(counts_dataset(frame, task="binary", scales=scale(1, 4)), ["participant"])
    assert table.cells["participant"].tolist() == ["p1", "p2"]


@pytest.mark.parametrize("values", [[100] * 70 + [90] * 20 + [80] * 10, [95] * 50 + [90] * 30 + [80] * 20])
def test_case_28_the_distinct_values_are_the_levels(values):
    frame = pd.DataFrame({"model": "a", "confidence": values, "correct": [1, 0] * 50})
    counts = to_counts(validate(trials_dataset(frame, task="open", scales=scale(0, 100))).dataset)
    assert counts["level_value"].values.tolist() == sorted(set(values))
    per_level = np.bincount(counts["row_level"], counts["count"])
    assert per_level.tolist() == [values.count(v) for v in sorted(set(values))]


def test_case_31_levels_are_the_values_themselves_and_never_bins_of_one_unit():
    frame = pd.DataFrame(
        {
            "model": ["A"] * 100 + ["B"] * 100,
            "confidence": [60, 70, 80, 90] * 25 + [90, 92, 95, 99] * 25,
            "correct": [1, 0, 1, 1, 0] * 40,
        }
    )
    counts = to_counts(validate(trials_dataset(frame, task="open", scales=scale(0, 100))).dataset)
    assert counts["group_start"].values.tolist() == [0, 4, 8]
    assert counts["level_value"].values.tolist() == [60, 70, 80, 90, 90, 92, 95, 99]


def answered(values, scales=None):
    frame = pd.DataFrame({"model": "a", "confidence": values, "correct": ([1, 0] * len(values))[: len(values)]})
    return trials_dataset(frame, task="open", scales=scales)


def test_case_32_values_above_one_need_a_declared_scale():
    with pytest.raises(DataError, match="values above 1, and no scale is declared") as caught:
        validate(answered([95, 90]))
    assert "0-100" in str(caught.value)
    with pytest.raises(DataError, match=r"values above 1 on a scale declared as 0\.\.1"):
        validate(answered([95, 90], scale(0, 1, 0)))
    assert validate(answered([95, 90], scale(0, 100))).report.rows_used == 2


def test_case_32_zeros_and_ones_ask_for_the_scale():
    with pytest.raises(DataError, match="holds only 0 and 1, and no scale is declared"):
        validate(answered([0, 1, 1, 0]))
    assert validate(answered([0, 1, 1, 0], scale(0, 1))).report.rows_used == 4


def test_case_34_unparsed_rows_are_counted_and_warned_about():
    frame = pd.DataFrame(
        {"model": "a", "correct": [1] * 6 + [0] * 4, "confidence": [90, 80, 70, 90, 80, 70] + [None] * 4}
    )
    found = validate(trials_dataset(frame, task="open", scales=scale(0, 100)))
    assert (found.report.rows_in, found.report.rows_used) == (10, 6)
    assert found.report.exclusions["count"].tolist() == [4]
    assert "a 40%" in warned(found)["many_left_out"]


def test_case_35_several_signals_in_one_column_are_named():
    frame = pd.DataFrame(
        {
            "model": "m",
            "signal": ["verbal", "verbal", "logprob", "logprob"],
            "confidence": [0.95, 0.95, 0.29, 0.31],
            "correct": [1, 0, 1, 0],
        }
    )
    found = validate(trials_dataset(frame, task="open", scales=scale(0, 1, 0)))
    assert "logprob, verbal" in warned(found)["signals_mixed"]
    assert len(count_table(found.dataset, ["model", "signal"]).cells) == 2


def test_case_50_accuracy_that_varies_by_stratum_is_cautioned():
    easy, hard = [45, 40, 10, 3, 1, 1, 0, 0], [20, 15, 10, 10, 10, 10, 12, 13]
    frame = pd.concat(
        [
            cells(easy, easy[::-1], difficulty="easy"),
            cells(hard, hard[::-1], difficulty="hard"),
        ],
        ignore_index=True,
    )
    found = validate(counts_dataset(frame, task="binary", scales=scale(1, 4)))
    assert "0.55 for hard to 0.98 for easy" in warned(found)["difficulty_mixed"]


def test_case_52_more_than_two_stimuli_are_refused_with_a_way_out():
    frame = pd.DataFrame({"stimulus": [0, 1, 2, 3], "response": [0, 1, 1, 0], "confidence": [1, 2, 3, 4]})
    with pytest.raises(DataError, match="stimulus has 4 levels") as caught:
        validate(trials_dataset(frame.assign(model="a"), task="binary", scales=scale(1, 4)))
    assert "task mafc" in str(caught.value)
