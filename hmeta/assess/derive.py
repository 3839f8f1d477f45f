"""A results file → a results file whose confidence comes from another signal, on the scale 0–1."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from hmeta.assess.signals import geometric_mean_probability, p_true, resampled_confidence
from hmeta.core.errors import DataError
from hmeta.core.schema import UNIT_COLUMNS
from hmeta.metrics.measurement import within
from hmeta.trials.columns import as_reported, decode
from hmeta.trials.rules.repeats import KEY
from hmeta.trials.tables import frame_of, missing_column, trials_dataset, unit_columns

REPEATS = ("repeat", "epoch", "run")
"""What tells the repeats of one item apart."""

OF_THE_OLD_CONFIDENCE = ("confidence_status", "confidence_rule", "confidence_raw", "missing_reason")
"""Columns that say how the replaced confidence was read."""

REMADE = ("correct", "confidence", "score", "stimulus", "response", "n_options", *REPEATS, *OF_THE_OLD_CONFIDENCE)
"""Columns of single answers that have no place beside an answer made of several."""

ONE_SCALE = "0-1"


@dataclass(frozen=True)
class Derived:
    """The new results file, and what became of the rows.

    `rows_in` is the number of rows that went into the answers of the new file plus the sum of `left_out`.
    """

    dataset: xr.Dataset
    rows_in: int
    left_out: Mapping[str, int] = field(default_factory=dict)  # rows by reason
    notes: tuple[str, ...] = ()

    @property
    def signal(self) -> str:
        """Where the confidence comes from."""
        return str(self.dataset["signal"].values[0])

    def render(self) -> str:
        """Return what was done as text."""
        n = self.dataset.sizes["trial"]
        lines = [f"{self.rows_in} rows in, {n} answers out, confidence on 0-1, signal {self.signal}"]
        lines += [f"  left out {count} rows: {reason}" for reason, count in self.left_out.items()]
        return "\n".join([*lines, *(f"  {note}" for note in self.notes)])

    def content(self) -> dict[str, Any]:
        """Return what was done for JSON."""
        return {
            "signal": self.signal,
            "rows_in": self.rows_in,
            "answers_out": self.dataset.sizes["trial"],
            "left_out": dict(self.left_out),
            "notes": list(self.notes),
        }


def derive_resampled(ds: xr.Dataset, epsilon: float) -> Derived:
    """Make one answer of the repeated scores of each item: the densest window, its share and its mean.

    Rows that agree in unit, dataset, scale, item and every other factor that is known by name, but for `repeat`,
    `epoch` and `run`, are repeats of one item. See `hmeta.assess.signals.resampled_confidence` for the window.

    Parameters
    ----------
    ds : xarray.Dataset
        Layout `trials` with `item` and `score`, and `label` where the truth is known. It is not modified.
    epsilon : float
        Half the width of the window, and the tolerance of correctness, in the units of the score.

    Returns
    -------
    Derived
        A file of task `open` with one row an item: `score` (the mean in the window), `confidence` (its share),
        `correct` (|score − label| ≤ ε, missing without a label), `n_scores`, `n_inside`, `label`, and the columns
        that do not vary among the repeats.

    Raises
    ------
    DataError
        Where a column is missing, an item has two labels, several signals are mixed, or no item has two scores.
    """
    frame = _frame(ds)
    for name in ("item", "score"):
        if name not in frame:
            raise missing_column(name, frame.columns)
    frame = frame.assign(score=as_reported(ds["score"].values))
    left_out = _unusable(frame)
    reasons = _reasons(frame, left_out)
    repeats = frame[reasons == ""].reset_index(drop=True)
    keys = [name for name in KEY if name in frame and name not in REPEATS]
    group = repeats.groupby(keys, dropna=False, sort=False).ngroup().to_numpy()
    found = resampled_confidence(_by_item(repeats, group), epsilon)
    enough = found.n_scores >= 2
    if not enough.any():
        raise DataError(
            "no item has two scores or more",
            where="column score",
            received=f"{len(enough)} items, each scored once" if len(enough) else "no scores",
            allowed=f"rows that agree in {', '.join(keys)}",
            mend="resampled confidence needs the same item scored repeatedly; name what tells repeats apart repeat",
        )
    constant, notes = _constant(repeats, group, keys)
    table = constant.assign(
        score=found.score, confidence=found.confidence, n_scores=found.n_scores, n_inside=found.n_inside
    )
    label = _label(ds, reasons == "", group)
    if label is None:
        table = table.assign(correct=np.nan)
        notes.append("there is no column label, so correctness is unknown")
    else:
        right = np.where(np.isnan(label), np.nan, within(found.score, label, epsilon))
        table = table.assign(label=label, correct=right)
    counts = {reason: int(rows.sum()) for reason, rows in left_out.items() if rows.any()}
    alone = int(found.n_scores[~enough].sum())
    if alone:
        counts["the only score of its item"] = alone
    out = _dataset(ds, table[enough].reset_index(drop=True), "open", "resampled", {"epsilon": float(epsilon)})
    return Derived(out, len(frame), counts, tuple(notes))


def derive_geometric_mean(ds: xr.Dataset, column: str, count: str) -> Derived:
    """Make the geometric mean of the token probabilities the confidence of each answer.

    Parameters
    ----------
    ds : xarray.Dataset
        Layout `trials`. It is not modified.
    column : str
        The sum of the natural logarithms of the token probabilities of each answer.
    count : str
        The number of tokens of each answer.

    Returns
    -------
    Derived
        The same rows; the former confidence is kept as `reported_confidence`.
    """
    frame = _frame(ds)
    found = geometric_mean_probability(_numbers(ds, column), _numbers(ds, count))
    return _replaced(ds, frame, found, "token_probability", {"logprob_sum": column, "n_tokens": count})


def derive_p_true(ds: xr.Dataset, true: str, false: str) -> Derived:
    """Make the normalised probability of "true" the confidence of each answer.

    Parameters
    ----------
    ds : xarray.Dataset
        Layout `trials`. It is not modified.
    true, false : str
        The columns with the natural logarithms of the probabilities of the answers "true" and "false".

    Returns
    -------
    Derived
        The same rows; the former confidence is kept as `reported_confidence`.
    """
    frame = _frame(ds)
    found = p_true(_numbers(ds, true), _numbers(ds, false))
    return _replaced(ds, frame, found, "p_true", {"logprob_true": true, "logprob_false": false})


def _frame(ds: xr.Dataset) -> pd.DataFrame:
    if ds.attrs.get("hmeta_layout") != "trials":
        raise DataError(
            "single answers are needed",
            where="attribute hmeta_layout",
            received=repr(ds.attrs.get("hmeta_layout")),
            allowed="trials",
            mend="pass the file that the counts were made from",
        )
    frame = frame_of(ds)
    if not unit_columns(frame.columns):
        raise missing_column(UNIT_COLUMNS[0], frame.columns)
    seen = sorted(frame["signal"].dropna().unique()) if "signal" in frame else []
    if len(seen) > 1:
        raise DataError(
            "confidence comes from several sources, so the same answer may stand here more than once",
            where="column signal",
            received=", ".join(map(str, seen)),
            mend="keep one of them: hmeta import … --only signal=NAME",
        )
    return frame


def _numbers(ds: xr.Dataset, name: str) -> NDArray[np.float64]:
    if name not in ds or ds[name].dims != ("trial",):
        raise missing_column(name, [str(k) for k, v in ds.variables.items() if v.dims == ("trial",)])
    if ds[name].dtype.kind not in "iuf":
        raise DataError(f"column {name} holds text in place of numbers", received=repr(str(ds[name].values[0])))
    column = decode(name, ds[name].values).astype("Float64")
    return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan), dtype=np.float64)


def _replaced(
    ds: xr.Dataset, frame: pd.DataFrame, found: NDArray[np.float64], signal: str, source: Mapping[str, Any]
) -> Derived:
    """Return the file with another confidence; the rows stay."""
    if not np.isfinite(found).any():
        raise DataError("no answer gets a confidence", where=", ".join(f"column {name}" for name in source.values()))
    notes = []
    table = frame.drop(columns=[name for name in OF_THE_OLD_CONFIDENCE if name in frame])
    if "confidence" in table and "reported_confidence" not in table:
        table = table.assign(reported_confidence=as_reported(ds["confidence"].values))
        notes.append("the former confidence is kept as reported_confidence")
    lost = int(np.isnan(found).sum())
    if lost:
        notes.append(f"{lost} of {len(found)} answers have no confidence, for want of the numbers it is made of")
    out = _dataset(ds, table.assign(confidence=found), str(ds.attrs["task"]), signal, source)
    return Derived(out, len(frame), {}, tuple(notes))


def _dataset(ds: xr.Dataset, table: pd.DataFrame, task: str, signal: str, source: Mapping[str, Any]) -> xr.Dataset:
    """Return a table as a results file whose confidences lie on 0–1, elicited scales kept apart."""
    names = [ONE_SCALE]
    if "scale" in table and table["scale"].nunique(dropna=False) > 1:
        renamed = ONE_SCALE + " (" + table["scale"].astype("object").fillna("no scale").astype(str) + ")"
        names = sorted(renamed.unique())
        table = table.assign(scale=renamed)
    elif "scale" in table:
        table = table.assign(scale=ONE_SCALE)
    scales = pd.DataFrame({"scale_id": names, "scale_lower": 0.0, "scale_upper": 1.0, "scale_step": 0.0})
    words = {name: str(ds.attrs.get(name, "")) for name in ("title", "source", "license")}
    out = trials_dataset(table.assign(signal=signal), task=task, scales=scales, **words)
    return out.assign_attrs(derived_from=json.dumps({"signal": signal, **source}, ensure_ascii=False))


def _unusable(frame: pd.DataFrame) -> dict[str, NDArray[np.bool_]]:
    """Return which rows cannot be used, by reason, most basic first."""
    units = {f"missing {name}": frame[name].isna() for name in unit_columns(frame.columns)}
    marks = {**units, "missing item": frame["item"].isna(), "missing score": frame["score"].isna()}
    taken = np.zeros(len(frame), dtype=bool)
    out = {}
    for reason, rows in marks.items():
        out[reason] = rows.to_numpy(dtype=bool) & ~taken
        taken |= out[reason]
    return out


def _reasons(frame: pd.DataFrame, left_out: Mapping[str, NDArray[np.bool_]]) -> NDArray[np.object_]:
    out = np.full(len(frame), "", dtype=object)
    for reason, rows in left_out.items():
        out[rows] = reason
    return out


def _by_item(repeats: pd.DataFrame, group: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the scores of each item side by side, NaN where it has fewer, (item, repeat)."""
    place = repeats.groupby(group).cumcount().to_numpy() if len(repeats) else np.zeros(0, dtype=np.int64)
    out = np.full((group.max(initial=-1) + 1, place.max(initial=-1) + 1), np.nan)
    out[group, place] = repeats["score"]
    return out


def _constant(repeats: pd.DataFrame, group: NDArray[np.int64], keys: list[str]) -> tuple[pd.DataFrame, list[str]]:
    """Return the columns that do not vary among the repeats of any item, one row an item, and what was left out."""
    others = [name for name in repeats.columns if name not in (*REMADE, "label", *keys)]
    several = repeats[others].groupby(group).nunique(dropna=False).max() > 1 if others else pd.Series(dtype=bool)
    varying = [str(name) for name in others if several[name]]
    kept = [name for name in repeats.columns if name in keys or (name in others and name not in varying)]
    first = pd.Series(group).drop_duplicates().index
    notes = [f"columns that vary among repeats are left out: {', '.join(varying)}"] if varying else []
    return repeats.loc[first, kept].reset_index(drop=True), notes


def _label(ds: xr.Dataset, used: NDArray[np.bool_], group: NDArray[np.int64]) -> NDArray[np.float64] | None:
    """Return the label of each item, NaN where it has none."""
    if "label" not in ds:
        return None
    labels = pd.Series(as_reported(ds["label"].values)[used]).groupby(group)
    twice = labels.nunique() > 1
    if twice.any():
        seen = sorted(set(labels.get_group(twice.idxmax()).dropna()))
        raise DataError(
            f"{int(twice.sum())} items have more than one label",
            where="column label",
            received=", ".join(f"{value:g}" for value in seen[:5]) + " for the first of them",
            allowed="one truth for all repeats of an item",
            mend="average the labels, or give the items different names",
        )
    return np.asarray(labels.first(), dtype=np.float64)
