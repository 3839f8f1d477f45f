"""The same results file with its confidence replaced: probabilities on a declared scale from 0 to 1."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from hmeta.calibrate.answers import PLACE, Answers, as_text, scale_words
from hmeta.calibrate.folds import ALL, Folded
from hmeta.calibrate.map_file import MapFile
from hmeta.trials.counts import counts_dataset
from hmeta.trials.rows import factor_names, task_of
from hmeta.trials.tables import scale_frame, scale_variables

REPORTED = "reported"
"""What a signal is called where the file does not say."""


def rewritten(
    answers: Answers, folded: Folded, calibrated: NDArray[np.float64], maps: MapFile, judged: str
) -> xr.Dataset:
    """Return the file with calibrated confidence.

    Layout `trials` keeps every row: those without a calibrated value have a missing confidence, and the reported
    one is in `confidence_raw`, and `calibration_fold` says which map a value is from (-1: one of all answers, or
    none). Layout `counts` is counted again; answers without a calibrated value are not in it.
    In both, `signal` names the source and the map ("verbal+beta"), every scale goes from 0 to 1, and the attributes
    `calibration` (JSON) and `calibration_words` say what was done.

    Parameters
    ----------
    answers, folded
        The usable answers, and their parts.
    calibrated : (part,)
    maps : MapFile
    judged : str
        Where the values come from, in words.
    """
    new = (
        _counts(answers, folded, calibrated, maps.method.name)
        if answers.layout == "counts"
        else _trials(answers, folded, calibrated, maps.method.name)
    )
    return new.assign_attrs(_attributes(answers, maps, judged))


def unit_scale(scales: pd.DataFrame | None) -> pd.DataFrame:
    """Return the scale table with every scale from 0 to 1, continuous, larger = surer."""
    names = ["0-1"] if scales is None else list(scales["scale_id"])
    return pd.DataFrame(
        {"scale_id": names, "scale_lower": 0.0, "scale_upper": 1.0, "scale_step": 0.0, "scale_reversed": 0}
    )


def _scales(ds: xr.Dataset) -> pd.DataFrame:
    """Return the new scale table; names stay where a column refers to them."""
    if "scale" not in ds.variables:
        return unit_scale(None)
    declared = scale_frame(ds)
    if declared is not None:
        return unit_scale(declared)
    names = sorted({str(name) for name in ds["scale"].values if str(name)})
    return unit_scale(pd.DataFrame({"scale_id": names}))


def _trials(answers: Answers, folded: Folded, calibrated: NDArray[np.float64], name: str) -> xr.Dataset:
    ds = answers.original
    value = np.full(ds.sizes["trial"], np.nan, dtype=np.float32)
    place = answers.rows[PLACE].to_numpy(dtype=np.int64)
    value[place[folded.row]] = calibrated.astype(np.float32)
    fold = np.full(len(value), ALL, dtype=np.int64)
    fold[place[folded.row]] = np.where(np.isfinite(calibrated), folded.fold, ALL)
    signal = ds["signal"].values if "signal" in ds else np.full(len(value), REPORTED, dtype=object)
    named = np.array([f"{one or REPORTED}+{name}" for one in map(str, signal)], dtype=object)
    bare = ds.drop_dims("scale_id") if "scale_id" in ds.dims else ds
    return bare.assign(
        confidence=("trial", value),
        confidence_raw=("trial", ds["confidence"].values.copy()),
        calibration_fold=("trial", fold),
        signal=("trial", named),
        **scale_variables(_scales(ds)),
    )


def _counts(answers: Answers, folded: Folded, calibrated: NDArray[np.float64], name: str) -> xr.Dataset:
    ds = answers.original
    rows = answers.rows.iloc[folded.row].reset_index(drop=True)
    outcome = rows["outcome"].to_numpy(dtype=np.int64)
    sides = {"stimulus": outcome // 2, "response": outcome % 2} if task_of(ds) == "binary" else {"correct": outcome}
    factors = rows[factor_names(ds)]
    before = factors["signal"].astype("object").fillna(REPORTED).astype(str) if "signal" in factors else REPORTED
    table = factors.assign(**sides, confidence=calibrated, count=folded.count, signal=before + f"+{name}")
    words = {key: str(ds.attrs.get(key, "")) for key in ("title", "source", "license")}
    return counts_dataset(
        table[np.isfinite(calibrated)],
        task=task_of(ds),
        scales=_scales(ds),
        padded=bool(ds.attrs.get("padded", 0)),
        **words,
    )


def _attributes(answers: Answers, maps: MapFile, judged: str) -> dict[str, str]:
    content: dict[str, Any] = {
        "method": maps.method.name,
        "options": maps.options,
        "values": judged,
        "segment_columns": list(maps.keys),
        "pooled": list(maps.pooled),
        "raw_scales": _raw_scales(answers),
        "segments": [
            {"at": one.at, "n": one.n} | ({"reason": one.reason} if one.parameters is None else {})
            for one in maps.segments
        ],
    }
    words = f"confidence is {maps.method.words}; values {judged}"
    return {"calibration": json.dumps(content, ensure_ascii=False), "calibration_words": words}


def _raw_scales(answers: Answers) -> list[dict[str, Any]]:
    """Return the scales on which the confidence was stated, with their names where answers name them."""
    table = answers.scales.reset_index(drop=True)
    if "scale" in answers.rows:
        table = table.assign(scale=as_text(answers.rows["scale"]).to_numpy())
    return [
        ({"scale": row["scale"]} if "scale" in row else {}) | scale_words(row)
        for row in table.drop_duplicates().to_dict("records")
    ]
