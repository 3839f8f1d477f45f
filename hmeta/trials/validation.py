"""One function decides which answers can be used, and says so in one report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from hmeta.core.errors import DataError
from hmeta.core.registry import did_you_mean
from hmeta.core.schema import LAYOUTS, UNIT_COLUMNS
from hmeta.trials.columns import as_reported
from hmeta.trials.count_rules import check_counts
from hmeta.trials.estimates import usable_estimates
from hmeta.trials.report import EXCLUSION_COLUMNS, ValidationReport
from hmeta.trials.rows import factor_names, orient, outcome_codes, row_scales, rows_of, task_of
from hmeta.trials.rules import Caution, rules
from hmeta.trials.rules.scale import clipped
from hmeta.trials.scales import infer_scale
from hmeta.trials.structure import check_structure
from hmeta.trials.study import Answers, Study, places
from hmeta.trials.tables import (
    check_task,
    frame_of,
    missing_column,
    scale_frame,
    scale_variables,
    unit_columns,
)

ON_VIOLATION = ("auto", "error", "exclude", "clip", "keep")
DUPLICATES = ("error", "first", "last")
PLACE = ["unit", "dataset", "scale"]


@dataclass(frozen=True)
class Validated:
    """The usable rows, and the report about all of them."""

    dataset: xr.Dataset
    report: ValidationReport


def validate(ds: xr.Dataset, *, on_violation: str = "auto", duplicates: str = "error") -> Validated:
    """Check a results file of any layout and keep what can be used.

    Parameters
    ----------
    ds : xarray.Dataset
        Layout `trials`, `counts` or `estimates`. It is not modified.
    on_violation : {"auto", "error", "exclude", "clip", "keep"}
        What happens to confidences off their scale. `auto` refuses them on rating scales (at most 20
        levels), where they are coding errors; on wide scales it clips within 5 % of the width and
        excludes beyond. Values between the levels of a rating scale cannot be clipped and are excluded.
    duplicates : {"error", "first", "last"}
        What happens where a unit answers the same item twice.

    Returns
    -------
    Validated
        `dataset` with every row usable (for `binary` with `correct`, and always with a scale table
        where the scale is known), and `report`.

    Raises
    ------
    DataError
        Where the data cannot be what they are said to be: see the rules in `hmeta.trials.rules`.

    Examples
    --------
    >>> from hmeta.trials.tables import trials_dataset
    >>> table = pd.DataFrame({"model": ["a"] * 3, "correct": [1, 1, 0], "confidence": [4, None, 2]})
    >>> report = validate(trials_dataset(table, task="open")).report
    >>> report.rows_in, report.rows_used
    (3, 2)
    """
    _check_option("on_violation", on_violation, ON_VIOLATION)
    _check_option("duplicates", duplicates, DUPLICATES)
    layout = ds.attrs.get("hmeta_layout")
    if layout not in LAYOUTS:
        raise DataError("unknown layout", where="attribute hmeta_layout", received=repr(layout), allowed=LAYOUTS)
    if layout == "metrics":
        raise DataError(
            "this is a table of measures, not answers", mend="pass the file that was given to hmeta metrics"
        )
    check_task(str(ds.attrs.get("task")))
    check_structure(ds)
    if layout == "estimates":
        return Validated(*usable_estimates(ds))
    if layout == "counts":
        return _validate_counts(ds)
    return _validate_trials(ds, on_violation, duplicates)


def _check_option(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise DataError(
            f"unknown choice for {name}", received=repr(value), allowed=allowed, mend=did_you_mean(value, allowed)
        )


def _validate_trials(ds: xr.Dataset, on_violation: str, duplicates: str) -> Validated:
    _check_columns(ds)
    complete = _with_correct(ds)
    answers = _answers(complete, on_violation, duplicates)
    for rule in rules("refusal").values():
        rule(answers)
    reasons = _reasons(answers)
    used = reasons == ""
    if not used.any():
        found = ", ".join(f"{n} {reason}" for reason, n in pd.Series(reasons).value_counts().items())
        raise DataError("no answer can be used", received=found or "an empty table")
    kept = _kept(complete, answers, used)
    usage, exclusions = _tallies(answers.places, np.ones(len(used)), reasons)
    study = Study(answers.task, _study_rows(kept), answers.scales, usage, exclusions, answers)
    return Validated(kept, _report(study, "trials"))


def _validate_counts(ds: xr.Dataset) -> Validated:
    check_counts(ds)
    _check_units(ds)
    scales = scale_frame(ds)
    if scales is None and "scale" not in ds:
        scales = infer_scale(as_reported(ds["level_value"].values))
    rows = _study_rows(ds if scales is None else ds.assign(scale_variables(scales)))
    if not len(rows):
        raise DataError("no answer can be used", where="count", received="all counts are 0")
    usage, exclusions = _tallies(places(rows), rows["count"].to_numpy(), np.full(len(rows), "", dtype=object))
    study = Study(task_of(ds), rows, scales, usage, exclusions, None)
    return Validated(ds if scales is None else ds.assign(scale_variables(scales)), _report(study, "counts"))


def _check_units(ds: xr.Dataset) -> None:
    if not unit_columns(ds.variables):
        raise missing_column(UNIT_COLUMNS[0], map(str, ds.variables))


def _check_columns(ds: xr.Dataset) -> None:
    _check_units(ds)
    task = task_of(ds)
    needed = {"binary": ("stimulus", "response"), "mafc": ("n_options",), "open": ()}[task]
    for name in (*needed, "confidence"):
        if name not in ds:
            raise missing_column(name, map(str, ds.variables))
    if task != "binary" and "correct" not in ds and not (task == "mafc" and {"stimulus", "response"} <= set(ds)):
        raise missing_column("correct", map(str, ds.variables))


def _with_correct(ds: xr.Dataset) -> xr.Dataset:
    """Return the dataset with `correct` derived from stimulus and response where it lacks."""
    if "correct" in ds:
        return ds
    stimulus, response = ds["stimulus"].values, ds["response"].values
    known = (stimulus >= 0) & (response >= 0)
    return ds.assign(correct=("trial", np.where(known, stimulus == response, -1).astype(np.int8)))


def _answers(ds: xr.Dataset, on_violation: str, duplicates: str) -> Answers:
    frame = frame_of(ds)
    confidence = as_reported(ds["confidence"].values)
    declared = scale_frame(ds)
    scales = _inferred(frame, confidence) if declared is None else declared
    return Answers(
        task=task_of(ds),
        frame=frame,
        outcome=outcome_codes(ds),
        confidence=confidence,
        scales=scales,
        declared=row_scales(frame, scales),
        scales_inferred=declared is None,
        on_violation=on_violation,
        duplicates=duplicates,
    )


def _inferred(frame: pd.DataFrame, confidence: NDArray[np.float64]) -> pd.DataFrame | None:
    if "scale" not in frame:
        return infer_scale(confidence)
    groups = pd.Series(confidence).groupby(frame["scale"].to_numpy())
    found = [infer_scale(values.to_numpy(), str(name)) for name, values in groups]
    known = [one for one in found if one is not None]
    return pd.concat(known, ignore_index=True) if known else None


def _reasons(answers: Answers) -> NDArray[np.object_]:
    """Return why each trial is excluded, "" where it is used; the first rule that drops it gives the reason."""
    out = np.full(len(answers.frame), "", dtype=object)
    for rule in rules("exclusion").values():
        marks: Any = rule(answers)
        for mark in marks:
            out[mark.rows & (out == "")] = mark.reason
    return out


def _kept(ds: xr.Dataset, answers: Answers, used: NDArray[np.bool_]) -> xr.Dataset:
    confidence, moved = clipped(answers)
    if moved.any():
        ds = ds.assign(confidence=("trial", confidence.astype(ds["confidence"].dtype)))
    return ds.isel(trial=np.flatnonzero(used)).assign(scale_variables(answers.scales))


def _study_rows(ds: xr.Dataset) -> pd.DataFrame:
    rows = rows_of(ds, factor_names(ds))
    return rows.assign(confidence=orient(rows, scale_frame(ds)))


def _tallies(where: pd.DataFrame, count: NDArray[np.float64], reasons: Any) -> tuple[pd.DataFrame, pd.DataFrame]:
    data = where.assign(count=count, used=count * (reasons == ""), reason=reasons)
    usage = data.groupby(PLACE, sort=True)[["count", "used"]].sum().reset_index()
    dropped = data[data["reason"] != ""].groupby([*PLACE, "reason"], sort=True)["count"].sum().reset_index()
    usage = usage.rename(columns={"count": "rows_in", "used": "rows_used"})
    return _whole(usage, ["rows_in", "rows_used"]), _whole(dropped[list(EXCLUSION_COLUMNS)], ["count"])


def _whole(frame: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    numbers = frame[columns].to_numpy(dtype=np.float64)
    return frame.astype(dict.fromkeys(columns, "int64")) if np.all(numbers == np.round(numbers)) else frame


def _report(study: Study, layout: str) -> ValidationReport:
    cautions: list[Caution] = []
    for name, rule in rules("caution").items():
        messages: Any = rule(study)
        cautions += [Caution(name, text) for text in messages]
    return ValidationReport(
        layout=layout,
        task=study.task,
        rows_in=_number(study.usage["rows_in"]),
        rows_used=_number(study.usage["rows_used"]),
        exclusions=study.exclusions,
        usage=study.usage,
        warnings=tuple(cautions),
    )


def _number(column: pd.Series) -> float:
    total = float(column.sum())
    return int(total) if total.is_integer() else total
