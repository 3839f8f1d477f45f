"""Both layouts as one long table: factors, outcome, confidence as reported, count."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from hmeta.core.errors import DataError
from hmeta.core.registry import did_you_mean
from hmeta.core.schema import UNIT_COLUMNS
from hmeta.trials.columns import MISSING_CODE, as_reported, decode
from hmeta.trials.row_numbers import numbered
from hmeta.trials.tables import missing_column

FACTORS = (
    *UNIT_COLUMNS,
    "dataset",
    "scale",
    "signal",
    "domain",
    "condition",
    "task",
    "group",
    "session",
    "temperature",
    "prompt",
    "family",
    "era",
)
"""Columns that are factors by their names alone, where the user names none."""

ANSWER_COLUMNS = ("stimulus", "response", "correct", "confidence")


def task_of(ds: xr.Dataset) -> str:
    """Return the task kind that the file declares."""
    return str(ds.attrs["task"])


def factor_names(ds: xr.Dataset) -> list[str]:
    """Return the names of every column that may be used as a factor, in file order."""
    dim = "cell" if ds.attrs["hmeta_layout"] == "counts" else "trial"
    hidden = {*ANSWER_COLUMNS, "cell_group", "outcome", "count"}
    return [str(k) for k, v in ds.variables.items() if v.dims == (dim,) and k not in hidden]


def check_factors(names: Sequence[str], ds: xr.Dataset) -> None:
    """Refuse a factor that the file does not have."""
    there = factor_names(ds)
    for name in names:
        if name not in there:
            raise DataError(
                f'factor "{name}" is not in the data',
                received=name,
                allowed=there,
                mend=did_you_mean(name, there),
            )


def rows_of(ds: xr.Dataset, factors: Sequence[str]) -> pd.DataFrame:
    """Return one row a trial, or one row an occupied (cell, outcome, level).

    Parameters
    ----------
    ds : xarray.Dataset
        Layout `trials` or `counts`. Rows of `trials` must be usable: validate first.
    factors : sequence of str
        Which factors to keep.

    Returns
    -------
    DataFrame
        The factors, `outcome` (code of `OUTCOMES`), `confidence` (float64, as reported), `count`.

    Raises
    ------
    DataError
        Where a column is missing, a trial has no confidence or outcome, or a count is not positive.
    """
    check_factors(factors, ds)
    return _count_rows(ds, factors) if ds.attrs["hmeta_layout"] == "counts" else _trial_rows(ds, factors)


def outcome_codes(ds: xr.Dataset) -> NDArray[np.int64]:
    """Return the outcome code of each trial, −1 where it is unknown."""
    needed = ("stimulus", "response") if task_of(ds) == "binary" else ("correct",)
    for name in needed:
        if name not in ds:
            raise missing_column(name, map(str, ds.variables))
    if needed == ("correct",):
        return ds["correct"].values.astype(np.int64)
    stimulus, response = (ds[name].values.astype(np.int64) for name in needed)
    unknown = (stimulus == MISSING_CODE) | (response == MISSING_CODE)
    return np.where(unknown, MISSING_CODE, 2 * stimulus + response)


def orient(rows: pd.DataFrame, scales: pd.DataFrame | None) -> NDArray[np.float64]:
    """Return the confidences of rows turned so that larger always means surer.

    A reversed scale is mirrored at its middle: lower + upper − confidence.
    """
    confidence = rows["confidence"].to_numpy(dtype=np.float64)
    declared = row_scales(rows, scales)
    if declared is None:
        return confidence
    mirrored = _mirrored(confidence, declared)
    return np.where(declared["scale_reversed"].to_numpy() == 1, mirrored, confidence)


def row_scales(rows: pd.DataFrame, scales: pd.DataFrame | None) -> pd.DataFrame | None:
    """Return the declared scale of each row, NaN where its scale is not declared; None without any."""
    if scales is None or not len(scales):
        return None
    table = scales.set_index("scale_id").astype(np.float64)
    if "scale" in rows.columns:
        return table.reindex(rows["scale"].astype("object")).set_axis(rows.index)
    if len(table) > 1:
        raise DataError(
            "several scales are declared, but no column says which one each answer used",
            where="column scale",
            received="no such column",
            allowed=list(map(str, table.index)),
        )
    return table.iloc[np.zeros(len(rows), dtype=np.int64)].set_axis(rows.index)


def _mirrored(confidence: NDArray[np.float64], declared: pd.DataFrame) -> NDArray[np.float64]:
    ends = declared["scale_lower"].to_numpy() + declared["scale_upper"].to_numpy()
    exact = ends - confidence
    tidy = np.round(exact, 12)
    # Rounding hides binary residue (0.15000000000000002) but must never merge two levels.
    return tidy if len(np.unique(tidy)) == len(np.unique(exact)) else exact


def _trial_rows(ds: xr.Dataset, factors: Sequence[str]) -> pd.DataFrame:
    if "confidence" not in ds:
        raise missing_column("confidence", map(str, ds.variables))
    outcome = outcome_codes(ds)
    confidence = as_reported(ds["confidence"].values)
    unusable = int(np.sum((outcome == MISSING_CODE) | ~np.isfinite(confidence)))
    if unusable:
        raise DataError(
            f"{unusable} of {len(outcome)} trials have no usable outcome or confidence",
            mend="exclude them by validating first: hmeta.validate(results).dataset",
        )
    columns = {name: decode(name, ds[name].values) for name in factors}
    return pd.DataFrame(columns | {"outcome": outcome, "confidence": confidence, "count": np.ones(len(outcome))})


def _count_rows(ds: xr.Dataset, factors: Sequence[str]) -> pd.DataFrame:
    count = ds["count"].values.astype(np.float64)
    if not np.all(count >= 0):
        raise DataError(
            f"{int(np.sum(~(count >= 0)))} counts are negative or missing",
            where=f"count, {numbered(~(count >= 0))}",
            mend="validate first",
        )
    cell = ds["row_cell"].values.astype(np.int64)
    of_cell = {name: decode(name, ds[name].values) for name in factors}
    columns: dict[str, Any] = {name: values.take(cell).reset_index(drop=True) for name, values in of_cell.items()}
    data = {
        "outcome": ds["row_outcome"].values.astype(np.int64),
        "confidence": as_reported(ds["level_value"].values)[ds["row_level"].values.astype(np.int64)],
        "count": count,
    }
    return pd.DataFrame(columns | data).loc[count > 0].reset_index(drop=True)
