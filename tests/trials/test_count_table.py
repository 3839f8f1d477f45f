"""Counting loses nothing, from either layout."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hmeta.core.errors import DataError
from hmeta.core.files import read_dataset, write_dataset
from hmeta.trials.count_table import CountTable, count_table
from hmeta.trials.counts import counts_dataset, to_counts
from hmeta.trials.tables import trials_dataset
from tests.trials.answer_tables import N_S1, N_S2, SHARED, cells, from_counts, from_trials, scale


def assert_same(one: CountTable, two: CountTable) -> None:
    pd.testing.assert_frame_equal(one.cells, two.cells)
    assert one.task == two.task
    for name in ("cell", "outcome", "confidence", "count"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name), err_msg=name)


def test_a_table_counted_by_hand():
    answers = pd.DataFrame(
        {
            "model": ["b", "a", "a", "a", "b"],
            "correct": [1, 1, 1, 0, 1],
            "confidence": [50, 90, 90, 90, 70],
            "n_options": 4,
        }
    )
    table = count_table(trials_dataset(answers, task="mafc"), ["model"])
    assert table.cells.to_dict("list") == {"model": ["a", "b"], "n_options": [4, 4]}
    assert table.cell.tolist() == [0, 0, 1, 1]
    assert table.outcome.tolist() == [0, 1, 1, 1]
    assert table.confidence.tolist() == [90, 90, 50, 70]
    assert table.count.tolist() == [1, 2, 1, 1]


def test_binary_outcomes_are_stimulus_and_response():
    table = count_table(from_trials(N_S1, N_S2), ["participant"])
    by_outcome = np.bincount(table.outcome, table.count)
    assert by_outcome.tolist() == [97, 33, 26, 104]
    assert table.count[(table.outcome == 0) & (table.confidence == 4)].tolist() == [36]
    assert table.count[(table.outcome == 1) & (table.confidence == 4)].tolist() == [2]
    assert table.count[(table.outcome == 2) & (table.confidence == 4)].tolist() == [1]


def test_trials_and_counts_agree():
    assert_same(
        count_table(from_trials(N_S1, N_S2), ["participant"]), count_table(from_counts(N_S1, N_S2), ["participant"])
    )


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["a", "b", "c"]),
            st.sampled_from(["x", "y", None]),
            st.integers(0, 1),
            st.sampled_from([0.0, 0.15, 0.85, 0.9, 1.0]),
            st.sampled_from([2, 4]),
        ),
        min_size=1,
        max_size=40,
    ),
    st.sampled_from([[], ["model"], ["domain"], ["domain", "model"]]),
    st.sampled_from([0, 1]),
)
def test_counting_first_changes_nothing(rows, by, reverse):
    answers = pd.DataFrame(rows, columns=["model", "domain", "correct", "confidence", "n_options"])
    ds = trials_dataset(answers.astype({"domain": "str"}), task="mafc", scales=scale(0, 1, 0, reverse=reverse))
    direct = count_table(ds, by)
    assert direct.count.sum() == len(rows)
    assert_same(direct, count_table(to_counts(ds), by))
    assert_same(direct, count_table(to_counts(to_counts(ds), by), by))


def test_counting_survives_the_file(tmp_path):
    ds = from_trials(N_S1, N_S2)
    write_dataset(to_counts(ds), tmp_path / "c.nc")
    assert_same(count_table(ds, ["participant"]), count_table(read_dataset(tmp_path / "c.nc"), ["participant"]))


def test_the_order_of_rows_changes_nothing():
    ds = from_trials(N_S1, N_S2)
    shuffled = ds.isel(trial=np.random.default_rng(0).permutation(ds.sizes["trial"]))
    assert_same(count_table(ds, ["participant"]), count_table(shuffled, ["participant"]))


def test_a_reversed_scale_is_mirrored():
    answers = pd.DataFrame({"model": "a", "correct": [1, 1, 0], "confidence": [0.1, 0.85, 0.85]})
    table = count_table(trials_dataset(answers, task="open", scales=scale(0, 1, 0, reverse=1)), ["model"])
    assert table.confidence.tolist() == [0.15, 0.15, 0.9]
    assert table.outcome.tolist() == [0, 1, 1]


def test_different_scales_are_not_pooled():
    answers = pd.DataFrame({"model": "a", "scale": ["1-4", "0-100"], "correct": 1, "confidence": [3, 80]})
    scales = pd.concat([scale(1, 4), scale(0, 100)], ignore_index=True)
    ds = trials_dataset(answers, task="open", scales=scales)
    with pytest.raises(DataError, match="different scales cannot be pooled"):
        count_table(ds, ["model"])
    assert len(count_table(ds, ["model", "scale"]).cells) == 2
    assert len(count_table(to_counts(ds, ["model"]), ["model", "scale"]).cells) == 2


def test_an_unknown_factor_names_the_nearest():
    with pytest.raises(DataError, match='Did you mean "participant"'):
        count_table(from_trials(N_S1, N_S2), ["participants"])


def test_unusable_trials_are_refused():
    answers = pd.DataFrame({"model": "a", "correct": [1, None], "confidence": [None, 3]})
    with pytest.raises(DataError, match="2 of 2 trials have no usable outcome or confidence"):
        count_table(trials_dataset(answers, task="open"), ["model"])


def test_the_levels_of_the_layout_are_those_of_each_criteria_group():
    frame = pd.concat([cells(N_S1, N_S2), cells([5, 0, 0, 5], [5, 0, 0, 5], participant="p2")], ignore_index=True)
    ds = counts_dataset(frame, task="binary", scales=scale(1, 4))
    assert ds["group_start"].values.tolist() == [0, 4, 5]
    assert ds["level_value"].values.tolist() == [1, 2, 3, 4, 2]
    assert ds["group_label"].values.tolist() == ["participant=p1", "participant=p2"]
    assert int(ds["count"].sum()) == 280
    assert not (ds["count"] == 0).any()


def test_a_factor_with_a_name_of_the_layout_is_refused():
    with pytest.raises(DataError, match="cannot be stored"):
        from_counts(N_S1, N_S2, level="x")


def test_counts_at_one_row_a_trial_are_no_estimates():
    with pytest.raises(DataError, match='column "count" is missing'):
        counts_dataset(cells(N_S1, N_S2).drop(columns="count"), task="binary")


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared data are not here")
def test_atlas_counts_equal_its_trials():
    raw = pd.read_parquet(SHARED / "data" / "llm" / "atlas_mmlu_confidence.parquet")
    frame = raw.rename(columns={"item_id": "item", "is_correct": "correct"}).assign(n_options=4)
    ds = trials_dataset(frame, task="mafc", scales=scale(0, 100))
    counts = to_counts(ds, ["model", "domain"])
    assert_same(count_table(ds, ["model", "domain"]), count_table(counts, ["model", "domain"]))
    assert int(counts["count"].sum()) == len(raw) == 47_151
    expected = raw.groupby(["model", "domain"], observed=True)["is_correct"].sum().sort_index().to_numpy()
    table = count_table(counts, ["model", "domain"])
    np.testing.assert_array_equal(np.bincount(table.cell, table.count * table.outcome), expected)
