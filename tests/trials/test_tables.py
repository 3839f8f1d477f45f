"""Tables go into the results file and come back with values, types and missingness."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from hmeta.core.errors import DataError
from hmeta.core.files import read_dataset, write_dataset
from hmeta.trials.tables import estimates_dataset, frame_of, scale_frame, trials_dataset
from tests.trials.answer_tables import scale


def table() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "model": ["a", None, "c"],
            "item": [1.0, 2.0, np.nan],
            "domain": pd.Categorical(["x", "y", None]),
            "temperature": [0.0, 0.5, np.nan],
            "seed": [1, 2, 3],
            "reasoning": [True, False, True],
            "correct": pd.array([1, 0, pd.NA], dtype="Int64"),
            "confidence": [0.85, np.nan, 1.0],
        }
    )


def test_missing_values_survive_the_file(tmp_path):
    write_dataset(trials_dataset(table(), task="open", scales=scale(0, 1, 0)), tmp_path / "r.nc")
    back = frame_of(read_dataset(tmp_path / "r.nc"))
    for name in table().columns:
        assert back[name].isna().tolist() == table()[name].isna().tolist(), name
    assert back["item"].tolist()[:2] == ["1", "2"]
    assert back["domain"].tolist()[:2] == ["x", "y"]
    assert back["correct"].tolist()[:2] == [1, 0]
    assert back["reasoning"].tolist() == [1, 0, 1]


@pytest.mark.parametrize("kind", ["object", "str", "string", "category"])
def test_every_text_type_of_pandas_is_text(kind):
    column = pd.Series(["a", None, "ü"], dtype="object").astype(kind)
    ds = trials_dataset(pd.DataFrame({"model": column, "correct": 1, "confidence": 1}), task="open")
    assert ds["model"].values.tolist() == ["a", "", "ü"]


def test_schema_types():
    ds = trials_dataset(table().assign(n_options=4), task="mafc", title="t", source="s", license="l")
    assert (ds["correct"].dtype, ds["n_options"].dtype, ds["confidence"].dtype) == (np.int8, np.int16, np.float32)
    assert ds["correct"].values.tolist() == [1, 0, -1]
    assert {k: ds.attrs[k] for k in ("hmeta_layout", "hmeta_schema", "task", "title", "license")} == {
        "hmeta_layout": "trials",
        "hmeta_schema": "1",
        "task": "mafc",
        "title": "t",
        "license": "l",
    }


def test_scale_table_round_trip(tmp_path):
    scales = pd.concat([scale(0, 100), scale(1, 7, reverse=1)], ignore_index=True)
    ds = trials_dataset(table().assign(scale="0-100"), task="open", scales=scales)
    write_dataset(ds, tmp_path / "r.nc")
    back = scale_frame(read_dataset(tmp_path / "r.nc"))
    assert back is not None
    assert back["scale_id"].tolist() == ["0-100", "1-7"]
    assert back[["scale_lower", "scale_upper", "scale_step", "scale_reversed"]].to_numpy().tolist() == [
        [0, 100, 1, 0],
        [1, 7, 1, 1],
    ]


def test_numbers_written_as_text_are_numbers():
    frame = pd.DataFrame({"model": "a", "correct": ["1", "0", ""], "confidence": ["9", "9.0", ""]})
    ds = trials_dataset(frame, task="open")
    assert ds["correct"].values.tolist() == [1, 0, -1]
    np.testing.assert_array_equal(ds["confidence"].values, [9, 9, np.nan])


def test_a_wrong_type_names_rows_and_values():
    bad = pd.DataFrame({"model": "a", "correct": 1, "confidence": ["3", "high", None, "low"]})
    with pytest.raises(DataError, match="2 values of column confidence are not numbers") as caught:
        trials_dataset(bad, task="open")
    assert "rows (from 0) 1, 3" in str(caught.value)
    assert "'high', 'low'" in str(caught.value)


def test_codes_must_be_whole():
    with pytest.raises(DataError, match="values that are not codes"):
        trials_dataset(pd.DataFrame({"model": "a", "correct": [0.5], "confidence": 1}), task="open")


@pytest.mark.parametrize("name", ["a/b", " ", "scale_id"])
def test_names_that_cannot_be_stored_are_refused(name):
    with pytest.raises(DataError, match="cannot be stored"):
        trials_dataset(pd.DataFrame({"model": ["a"], name: [1]}), task="open")


def test_a_name_that_occurs_twice_is_refused():
    with pytest.raises(DataError, match="occurs twice"):
        trials_dataset(pd.DataFrame([[1, 2]], columns=["x", "x"]), task="open")


def test_an_unknown_task_names_the_nearest():
    with pytest.raises(DataError, match='Did you mean "mafc"'):
        trials_dataset(table(), task="mafcs")


def test_a_column_called_like_the_dimension_is_kept(tmp_path):
    ds = trials_dataset(table().assign(trial=[7, 7, 9]), task="open")
    write_dataset(ds, tmp_path / "r.nc")
    assert frame_of(read_dataset(tmp_path / "r.nc"))["trial"].tolist() == [7, 7, 9]


def test_estimates_round_trip(tmp_path):
    values = pd.DataFrame({"estimate": [0.8, 0.6], "standard_error": [0.1, 0.2], "model": ["a", None]})
    write_dataset(estimates_dataset(values), tmp_path / "e.nc")
    back = frame_of(read_dataset(tmp_path / "e.nc"))
    assert back["estimate"].tolist() == [0.8, 0.6]
    assert back["model"].isna().tolist() == [False, True]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"estimate": [np.inf, 1]}, "1 values of estimate cannot be used"),
        ({"standard_error": [0, 1]}, "1 values of standard_error cannot be used"),
        ({"standard_error": [np.nan, -1]}, "2 values of standard_error cannot be used"),
    ],
)
def test_impossible_estimates_are_refused(change, message):
    with pytest.raises(DataError, match=message):
        estimates_dataset(pd.DataFrame({"estimate": [0.8, 0.6], "standard_error": [0.1, 0.2]} | change))


def test_estimates_need_their_columns():
    with pytest.raises(DataError, match='column "standard_error" is missing'):
        estimates_dataset(pd.DataFrame({"estimate": [1.0]}))
