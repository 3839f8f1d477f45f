"""A results file as the columns that measures read: by answer, or by distinct answer with its count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from hmeta.core.errors import DataError
from hmeta.core.schema import UNIT_COLUMNS
from hmeta.trials.columns import as_reported
from hmeta.trials.report import ValidationReport
from hmeta.trials.rows import factor_names, orient, row_scales, rows_of, task_of
from hmeta.trials.scales import is_rating
from hmeta.trials.tables import frame_of, scale_frame
from hmeta.trials.validation import validate

Floats = NDArray[np.float64]

KEPT = (*UNIT_COLUMNS, "dataset", "scale", "signal")
"""Columns over which answers are never pooled unless the user says so."""

ASKED = frozenset({"reported", "answered"})
"""Columns that exist for every answer asked for, also where validation excludes it."""

GRADED = ("label", "score")
"""Columns stored in single precision, read as the numbers that were written."""

OUTCOME_COLUMNS = ("correct", "stimulus", "response")


@dataclass(frozen=True)
class Rows:
    """Answers: what parts them, and what measures read; the two may share names and never meet.

    Attributes
    ----------
    factors : DataFrame
        (row, factor), as in the file.
    columns : dict of (row,) arrays
        By the names that measures use.
    count : (row,)
    """

    factors: pd.DataFrame
    columns: dict[str, Floats]
    count: Floats

    def take(self, entries: NDArray[np.int64]) -> Rows:
        """Return some of the rows."""
        columns = {name: values[entries] for name, values in self.columns.items()}
        return Rows(self.factors.iloc[entries].reset_index(drop=True), columns, self.count[entries])


@dataclass(frozen=True)
class AnswerTable:
    """What measures read, with the factors beside it.

    Attributes
    ----------
    task : str
    used : Rows
        Usable answers. Columns: `confidence` (larger = surer), `probability` (share of the scale; NaN without a
        declared scale), `correct`, `outcome`, for `binary` also `stimulus`, `response` and `p_positive`, and every
        numeric column of the file under its own name.
    asked : Rows
        Every answer asked for. Columns: `reported`, `answered`, `scale_lower`, `scale_upper`, `scale_step`, `correct`
        (NaN unknown). Of a counts file, which has no others, the usable ones.
    report : ValidationReport
    notes : tuple of str
    """

    task: str
    used: Rows
    asked: Rows
    report: ValidationReport
    notes: tuple[str, ...]

    @property
    def factors(self) -> list[str]:
        """The columns that can part answers."""
        return [str(name) for name in self.used.factors.columns if name != "n_options"]

    @property
    def kept(self) -> list[str]:
        """The columns over which nothing is pooled silently, as far as the file has them."""
        return [name for name in KEPT if name in self.used.factors]

    def rows_for(self, columns: Sequence[str]) -> Rows:
        """Return the rows that a measure of these columns reads."""
        return self.asked if ASKED & set(columns) else self.used

    def has(self, columns: Sequence[str]) -> bool:
        """Return whether the file has these columns."""
        return set(columns) <= set(self.rows_for(columns).columns)


def answer_table(
    ds: xr.Dataset, *, pool: Sequence[str] = (), on_violation: str = "auto", duplicates: str = "error"
) -> AnswerTable:
    """Validate a results file and lay its answers out for measures.

    Parameters
    ----------
    ds : Dataset
        Layout `trials` or `counts`.
    pool : sequence of str
        Columns over which answers will be put together, in a cell or by a permutation. Where scales are, confidence is
        read as a share of its scale.
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
    notes = list(_notes(valid.dataset, used))
    scales = scale_frame(valid.dataset)
    if "scale" in pool and scales is not None and len(scales[["scale_lower", "scale_upper"]].drop_duplicates()) > 1:
        used.columns["confidence"] = used.columns["probability"]
        notes.append("confidence is read as a share of each scale, for answers on different scales are put together")
    asked = _asked_trials(ds, valid.dataset) if ds.attrs["hmeta_layout"] == "trials" else _asked_counts(valid.dataset)
    return AnswerTable(task_of(ds), used, asked, valid.report, tuple(notes))


def _used(ds: xr.Dataset) -> Rows:
    rows = rows_of(ds, factor_names(ds))
    scales = scale_frame(ds)
    confidence = orient(rows, scales)
    declared = row_scales(rows, scales)
    outcome = rows["outcome"].to_numpy()
    factors = rows.drop(columns=["outcome", "confidence", "count"])
    share = _share(confidence, declared)
    columns: dict[str, NDArray] = {**_numeric(factors), "confidence": confidence, "probability": share}
    columns |= {"correct": outcome, "outcome": outcome}
    if task_of(ds) == "binary":
        stimulus, response = outcome // 2, outcome % 2
        columns |= {"correct": stimulus == response, "stimulus": stimulus, "response": response}
        columns["n_options"] = np.zeros(len(rows))  # two responses, not two alternatives: see metrics.outcomes
        certain = share if declared is None else np.where(is_rating(declared), np.nan, share)
        columns["p_positive"] = np.where(response == 1, certain, 1.0 - certain)
    return Rows(factors, _floats(columns), rows["count"].to_numpy(dtype=np.float64))


def _numeric(factors: pd.DataFrame) -> dict[str, NDArray]:
    """Return the numeric columns of the file; a missing value is NaN."""
    found = {}
    for name in map(str, factors.columns):
        if pd.api.types.is_numeric_dtype(factors[name]):
            values = factors[name].astype("Float64").to_numpy(dtype=np.float64, na_value=np.nan)
            found[name] = as_reported(factors[name].to_numpy()) if name in GRADED else values
    return found


def _floats(columns: dict[str, NDArray]) -> dict[str, Floats]:
    return {name: np.asarray(values, dtype=np.float64) for name, values in columns.items()}


def _share(confidence: Floats, declared: pd.DataFrame | None) -> Floats:
    """Return (confidence − lower)/(upper − lower), NaN where the scale is not declared."""
    if declared is None:
        return np.full(len(confidence), np.nan)
    lower, upper = (declared[name].to_numpy(dtype=np.float64) for name in ("scale_lower", "scale_upper"))
    with np.errstate(invalid="ignore", divide="ignore"):
        share = (confidence - lower) / (upper - lower)
    return np.round(share, 12)  # 0.1 + 0.2 and 0.3 are one level


def _asked_trials(ds: xr.Dataset, valid: xr.Dataset) -> Rows:
    """Return every trial as it came; the scale table may be one that validation has read from the data."""
    frame = frame_of(ds)
    declared = row_scales(frame, scale_frame(valid))
    correct = _correctness(frame, task_of(ds))
    columns: dict[str, NDArray] = {
        "reported": as_reported(ds["confidence"].values),
        "answered": correct.notna().to_numpy(),
        "correct": correct.to_numpy(),
    }
    columns |= {} if declared is None else {str(name): declared[name].to_numpy() for name in declared.columns}
    factors = frame.drop(columns=["confidence", *(c for c in OUTCOME_COLUMNS if c in frame)])
    return Rows(factors, _floats(columns), np.ones(len(frame)))


def _correctness(frame: pd.DataFrame, task: str) -> pd.Series:
    if task == "binary" or "correct" not in frame:
        known = frame["stimulus"].notna() & frame["response"].notna()
        return (frame["stimulus"] == frame["response"]).astype("Float64").where(known).astype("float64")
    return frame["correct"].astype("float64")


def _asked_counts(ds: xr.Dataset) -> Rows:
    rows = rows_of(ds, factor_names(ds))
    outcome = rows["outcome"].to_numpy()
    correct = (outcome // 2 == outcome % 2) if task_of(ds) == "binary" else outcome
    declared = row_scales(rows, scale_frame(ds))
    columns: dict[str, NDArray] = {"reported": rows["confidence"].to_numpy(), "correct": correct}
    columns["answered"] = np.ones(len(rows))
    columns |= {} if declared is None else {str(name): declared[name].to_numpy() for name in declared.columns}
    factors = rows.drop(columns=["outcome", "confidence", "count"])
    return Rows(factors, _floats(columns), rows["count"].to_numpy(dtype=np.float64))


def _notes(ds: xr.Dataset, used: Rows) -> list[str]:
    scales = scale_frame(ds)
    if scales is None or np.isnan(used.columns["probability"]).any():
        return ["no scale is declared, so confidence is no probability: calibration is not computed"]
    notes = []
    rating = scales[is_rating(scales)]
    if len(rating):
        ends = ", ".join(f"{row.scale_lower:g}..{row.scale_upper:g}" for row in rating.itertuples())
        notes.append(f"calibration reads the ratings {ends} as probabilities, equally spaced from 0 to 1")
    half = scales[(scales["scale_upper"] == 2 * scales["scale_lower"]) & (scales["scale_lower"] > 0)]
    for row in half[~is_rating(half)].itertuples():
        notes.append(
            f"calibration reads {row.scale_lower:g} on the scale {row.scale_id} as no chance of being right; where it "
            f"means an even chance, declare the scale 0-{row.scale_upper:g}"
        )
    return notes
