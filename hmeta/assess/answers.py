"""A results file as the columns that measures read: by answer, or by distinct answer with its count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import xarray as xr

from hmeta.core.errors import DataError
from hmeta.core.schema import UNIT_COLUMNS
from hmeta.trials.columns import as_reported
from hmeta.trials.report import ValidationReport
from hmeta.trials.rows import factor_names, orient, row_scales, rows_of, task_of
from hmeta.trials.scales import is_rating
from hmeta.trials.tables import frame_of, scale_frame
from hmeta.trials.validation import validate

KEPT = (*UNIT_COLUMNS, "dataset", "scale", "signal")
"""Columns over which answers are never pooled unless the user says so."""

ASKED = frozenset({"reported", "answered"})
"""Columns that exist for every answer asked for, also where validation excludes it."""

GRADED = ("label", "score")
"""Columns stored in single precision, read as the numbers that were written."""

OUTCOME_COLUMNS = ("correct", "stimulus", "response", "p_positive")


@dataclass(frozen=True)
class AnswerTable:
    """What measures read, with the factors beside it.

    Attributes
    ----------
    task : str
    used : DataFrame
        Usable answers: factors, `confidence` (larger = surer), `probability` (share of the scale; NaN without a
        declared scale), `correct`, for `binary` also `stimulus`, `response` and `p_positive`, further numeric
        columns, and `count`.
    asked : DataFrame
        Every answer asked for: factors, `reported`, `answered`, `scale_lower`, `scale_upper`, `scale_step`,
        `correct` (NaN unknown), `count`. Of a counts file, which has none of the others, the usable ones.
    factors : tuple of str
    report : ValidationReport
    notes : tuple of str
    """

    task: str
    used: pd.DataFrame
    asked: pd.DataFrame
    factors: tuple[str, ...]
    report: ValidationReport
    notes: tuple[str, ...]

    @property
    def kept(self) -> list[str]:
        """The columns over which nothing is pooled silently, as far as the file has them."""
        return [name for name in KEPT if name in self.used]

    def rows_for(self, columns: Sequence[str]) -> pd.DataFrame:
        """Return the rows that a measure of these columns reads."""
        return self.asked if ASKED & set(columns) else self.used

    def has(self, columns: Sequence[str]) -> bool:
        """Return whether the file has these columns."""
        rows = self.rows_for(columns)
        return all(name in rows and pd.api.types.is_numeric_dtype(rows[name]) for name in columns)


def answer_table(ds: xr.Dataset, *, on_violation: str = "auto", duplicates: str = "error") -> AnswerTable:
    """Validate a results file and lay its answers out for measures.

    Parameters
    ----------
    ds : Dataset
        Layout `trials` or `counts`.
    on_violation, duplicates
        As for `validate`.

    Raises
    ------
    DataError
        As for `validate`; for estimates; for `on_violation="keep"`, under which confidence is no probability.
    """
    if ds.attrs.get("hmeta_layout") == "estimates":
        raise DataError("estimates are no answers: measures need trials or counts", allowed="layout trials or counts")
    if on_violation == "keep":
        raise DataError(
            "confidences outside their scale cannot be kept here",
            received="keep",
            allowed="auto, error, exclude, clip",
            mend="the share of violations is itself a measure: --metric violation_rate",
        )
    valid = validate(ds, on_violation=on_violation, duplicates=duplicates)
    used = _used(valid.dataset)
    asked = _asked_trials(ds, valid.dataset) if ds.attrs["hmeta_layout"] == "trials" else _asked_counts(valid.dataset)
    factors = tuple(name for name in factor_names(valid.dataset) if name not in ("n_options",))
    return AnswerTable(task_of(ds), used, asked, factors, valid.report, _notes(valid.dataset, used))


def _used(ds: xr.Dataset) -> pd.DataFrame:
    rows = rows_of(ds, factor_names(ds))
    scales = scale_frame(ds)
    outcome = rows.pop("outcome").to_numpy()
    confidence = orient(rows, scales)
    share = _share(rows, confidence, scales)
    columns: dict[str, np.ndarray] = {"confidence": confidence, "probability": share, "correct": outcome}
    columns["outcome"] = outcome
    if task_of(ds) == "binary":
        stimulus, response = outcome // 2, outcome % 2
        columns |= {"correct": stimulus == response, "stimulus": stimulus, "response": response}
        columns["n_options"] = np.zeros(len(rows))  # two responses, not two alternatives: see metrics.outcomes
        columns["p_positive"] = np.where(response == 1, share, 1.0 - share)
    columns |= {name: as_reported(rows[name].to_numpy()) for name in GRADED if name in rows}
    numbers = {name: np.asarray(values, dtype=np.float64) for name, values in columns.items()}
    return rows.assign(**numbers)


def _share(rows: pd.DataFrame, confidence: np.ndarray, scales: pd.DataFrame | None) -> np.ndarray:
    """Return (confidence − lower)/(upper − lower), NaN where the scale is not declared."""
    declared = row_scales(rows, scales)
    if declared is None:
        return np.full(len(rows), np.nan)
    lower, upper = (declared[name].to_numpy(dtype=np.float64) for name in ("scale_lower", "scale_upper"))
    with np.errstate(invalid="ignore", divide="ignore"):
        share = (confidence - lower) / (upper - lower)
    return np.round(share, 12)  # 0.1 + 0.2 and 0.3 are one level


def _asked_trials(ds: xr.Dataset, valid: xr.Dataset) -> pd.DataFrame:
    """Return every trial as it came; the scale table may be one that validation has read from the data."""
    frame = frame_of(ds)
    declared = row_scales(frame, scale_frame(valid))
    correct = _correctness(frame, task_of(ds))
    columns = {
        "reported": as_reported(ds["confidence"].values),
        "answered": correct.notna().to_numpy(dtype=np.float64),
        "correct": correct.to_numpy(dtype=np.float64),
        "count": np.ones(len(frame)),
    }
    if declared is not None:
        columns |= {name: declared[name].to_numpy(dtype=np.float64) for name in declared.columns}
    return frame.drop(columns=["confidence", *(c for c in OUTCOME_COLUMNS if c in frame)]).assign(**columns)


def _correctness(frame: pd.DataFrame, task: str) -> pd.Series:
    if task == "binary" or "correct" not in frame:
        known = frame["stimulus"].notna() & frame["response"].notna()
        return (frame["stimulus"] == frame["response"]).astype("Float64").where(known).astype("float64")
    return frame["correct"].astype("float64")


def _asked_counts(ds: xr.Dataset) -> pd.DataFrame:
    rows = rows_of(ds, factor_names(ds))
    outcome = rows.pop("outcome").to_numpy()
    correct = (outcome // 2 == outcome % 2) if task_of(ds) == "binary" else outcome
    declared = row_scales(rows, scale_frame(ds))
    columns = {"reported": rows.pop("confidence"), "correct": correct.astype(np.float64), "answered": 1.0}
    scale = {} if declared is None else {n: declared[n].to_numpy(dtype=np.float64) for n in declared.columns}
    return rows.assign(**columns, **scale)


def _notes(ds: xr.Dataset, used: pd.DataFrame) -> tuple[str, ...]:
    scales = scale_frame(ds)
    notes = []
    if used["probability"].isna().any():
        notes.append("no scale is declared, so confidence is no probability: calibration is not computed")
    if scales is not None and bool(is_rating(scales).any()) and used["probability"].nunique() <= 20:
        rating = scales[is_rating(scales)]
        ends = ", ".join(f"{row.scale_lower:g}..{row.scale_upper:g}" for row in rating.itertuples())
        notes.append(f"calibration reads the ratings {ends} as probabilities, equally spaced from 0 to 1")
    return tuple(notes)
