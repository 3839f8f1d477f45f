"""The answers of a results file as a map needs them: segment, confidence on the unit interval, right or wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from hmeta.core.errors import DataError
from hmeta.core.registry import did_you_mean
from hmeta.core.schema import UNIT_COLUMNS
from hmeta.trials.report import ValidationReport
from hmeta.trials.rows import check_factors, factor_names, orient, row_scales, rows_of, task_of
from hmeta.trials.tables import SCALE_COLUMNS, scale_frame
from hmeta.trials.validation import validate

KEPT_APART = (*UNIT_COLUMNS, "scale", "signal")
"""Columns whose values get maps of their own unless the user pools them."""

PLACE = "calibrate_place"
MISSING = "(missing)"


@dataclass(frozen=True)
class Answers:
    """The usable answers of a file.

    Letters: ``row`` counts trials, or the occupied combinations of a file of counts.
    """

    original: xr.Dataset
    report: ValidationReport
    rows: pd.DataFrame  # (row, factor + outcome, confidence, count)
    scales: pd.DataFrame  # (row, scale column): the declared scale of each row
    probability: NDArray[np.float64]  # (row,), larger = surer
    correct: NDArray[np.float64]  # (row,)
    keys: tuple[str, ...]  # the columns that make the segments
    pooled: tuple[str, ...]

    @property
    def layout(self) -> str:
        """Trials or counts."""
        return str(self.original.attrs["hmeta_layout"])

    @cached_property
    def labels(self) -> pd.DataFrame:
        """The columns that make the segments, as text, (row, key)."""
        return pd.DataFrame({name: as_text(self.rows[name]) for name in self.keys}, index=self.rows.index)

    @cached_property
    def segment(self) -> NDArray[np.int64]:
        """Which segment each row belongs to, in the order of the keys' values, (row,)."""
        if not self.keys:
            return np.zeros(len(self.rows), dtype=np.int64)
        order = [_sortable(self.labels[name]).rename(name) for name in self.keys]
        return np.asarray(self.labels.groupby(order, sort=True).ngroup(), dtype=np.int64)

    @cached_property
    def segments(self) -> tuple[dict[str, str], ...]:
        """The values of the keys in each segment."""
        if not self.keys:
            return ({},)
        _, first = np.unique(self.segment, return_index=True)
        return tuple({str(k): str(v) for k, v in row.items()} for row in self.labels.iloc[first].to_dict("records"))

    @cached_property
    def _segment_scales(self) -> pd.DataFrame:
        return self.scales[list(SCALE_COLUMNS)].assign(segment=self.segment).drop_duplicates()

    def scales_of(self, segment: int) -> list[dict[str, float]]:
        """Return the distinct scales on which a segment's confidence was stated."""
        found = self._segment_scales
        return [scale_words(row) for row in found[found["segment"] == segment].to_dict("records")]


def scale_words(row: Mapping[Any, Any]) -> dict[str, float]:
    """Return lower, upper, step and reversed of a scale."""
    return {name.removeprefix("scale_"): float(row[name]) for name in SCALE_COLUMNS}


def as_text(column: pd.Series) -> pd.Series:
    """Return a factor as text, missing values included."""
    return column.astype("object").where(column.notna(), MISSING).astype(str)


def _sortable(text: pd.Series) -> pd.Series:
    """Return a label as numbers where it has nothing else, so that 10 comes after 9."""
    number = pd.to_numeric(text, errors="coerce")
    return number if number.notna().all() and number.nunique() == text.nunique() else text


def read_answers(
    ds: xr.Dataset,
    *,
    by: Sequence[str] = (),
    pool: Sequence[str] = (),
    on_violation: str = "auto",
    duplicates: str = "error",
) -> Answers:
    """Validate a results file and lay out its answers by segment.

    Parameters
    ----------
    ds : xarray.Dataset
        Layout `trials` or `counts`.
    by : sequence of str
        Further columns whose values get maps of their own.
    pool : sequence of str
        Which of model, participant, scale and signal share a map.
    on_violation, duplicates : str
        As for `hmeta.trials.validation.validate`.

    Raises
    ------
    DataError
        Where the file cannot be used, or a column is unknown.
    """
    _check_fresh(ds)
    placed = ds if ds.attrs["hmeta_layout"] == "counts" else ds.assign({PLACE: ("trial", np.arange(ds.sizes["trial"]))})
    valid = validate(placed, on_violation=on_violation, duplicates=duplicates)
    keys = _keys(ds, by, pool)
    rows = rows_of(valid.dataset, _needed(valid.dataset, keys))
    scales = row_scales(rows, scale_frame(valid.dataset))
    if scales is None:
        raise DataError("no confidence scale is declared", mend="declare the scale on import: --scale 0-100")
    return Answers(
        original=ds,
        report=valid.report,
        rows=rows,
        scales=scales,
        probability=_probability(orient(rows, scale_frame(valid.dataset)), scales),
        correct=_correct(rows["outcome"].to_numpy(), task_of(ds)),
        keys=keys,
        pooled=tuple(pool),
    )


def _needed(ds: xr.Dataset, keys: Sequence[str]) -> list[str]:
    """Return the columns to lay out: all of a file of counts, which is counted again, else those that decide."""
    there = factor_names(ds)
    return [k for k in there if ds.attrs["hmeta_layout"] == "counts" or k in {*keys, *KEPT_APART, "item", PLACE}]


def _check_fresh(ds: xr.Dataset) -> None:
    if ds.attrs["hmeta_layout"] == "estimates":
        raise DataError("estimates hold no confidence", allowed="layout trials or counts")
    if {"confidence_raw", "calibration_fold"} & {*map(str, ds.variables)} or "calibration" in ds.attrs:
        raise DataError(
            "the confidence of this file is calibrated already",
            received=str(ds.attrs.get("calibration_words", "a column confidence_raw")),
            mend="calibrate the file that it was made from",
        )


def _keys(ds: xr.Dataset, by: Sequence[str], pool: Sequence[str]) -> tuple[str, ...]:
    there = factor_names(ds)
    check_factors(by, ds)
    for name in pool:
        if name not in KEPT_APART or name not in there:
            allowed = [key for key in KEPT_APART if key in there]
            raise DataError(
                f"{name} cannot be pooled: it is not kept apart",
                received=name,
                allowed=allowed,
                mend=did_you_mean(name, allowed),
            )
        if name in by:
            raise DataError(f"{name} is both pooled and kept apart", received=name)
    apart = [name for name in KEPT_APART if name in there and name not in pool]
    return tuple(dict.fromkeys([*apart, *by]))


def _probability(confidence: NDArray[np.float64], scales: pd.DataFrame) -> NDArray[np.float64]:
    lower, upper = (scales[f"scale_{end}"].to_numpy(dtype=np.float64) for end in ("lower", "upper"))
    value = (confidence - lower) / (upper - lower)
    outside = ~((value >= -1e-9) & (value <= 1 + 1e-9))
    if outside.any():
        raise DataError(
            f"{int(outside.sum())} confidences are outside their scale",
            received=", ".join(f"{v:g}" for v in np.unique(confidence[outside])[:5]),
            mend="let validation clip or exclude them: --on-violation clip",
        )
    return np.clip(value, 0.0, 1.0)


def _correct(outcome: NDArray[np.int64], task: str) -> NDArray[np.float64]:
    return (np.isin(outcome, (0, 3)) if task == "binary" else outcome == 1).astype(np.float64)
