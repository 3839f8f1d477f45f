"""Before and after a map on the same answers, with what shows a collapse to the base rate beside the error."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from hmeta.calibrate.cross_fit import Cells
from hmeta.calibrate.map_file import SegmentMap
from hmeta.core.errors import DataError
from hmeta.metrics.catalogue import measures
from hmeta.metrics.measure import Floats
from hmeta.trials.study import named

BINS = {"bins": 10}
MEASURES: Mapping[str, Mapping[str, Any]] = {
    "accuracy": {},
    "mean_confidence": {},
    "ece": BINS,
    "brier": {},
    "brier_uncertainty": {},
    "brier_reliability": BINS,
    "brier_resolution": BINS,
    "log_score": {},
    "auroc2": {},
    "confidence_sd": {},
}
"""Measures of the table and their options. Parts of the Brier score are taken over the bins of the ECE: over
distinct values, each fold's own outputs would count as levels, and the noise between them as resolution."""

LEAST_RESOLUTION = 0.20
LEAST_SPREAD = 0.25
LEAST_SKILL = 0.02

COLLAPSED = (
    "the calibrated confidence hardly moves: its error is low because it states little more than the share of right "
    "answers, whatever the answer"
)
USELESS = (
    "calibrated, it is no better than always stating the share of right answers (Brier score within 2 % of the base "
    "rate's)"
)
WORSE = "the map makes the Brier score worse: there was little to mend, or too few answers to learn it from"
FALLING = "surer answers are less often right, so the map turns the order round"
MOVED = "ties or changes of order made by the map moved AUROC2; maps that keep the order leave it alone inside a fold"
SURE = "the map states a certainty that answers contradict, so the log score is infinite"


def compare(cells: Cells, maps: Sequence[SegmentMap]) -> pd.DataFrame:
    """Return the measures of each segment before and after its map, on the same answers.

    Returns
    -------
    DataFrame
        Two rows a segment, one where it has no map: the columns of the segment, `when` ("before", "after"), `n`,
        the measures by name (`brier_uncertainty` is the Brier score of always stating the accuracy),
        `auroc2_within_folds` (right and wrong answers compared inside a fold only, where one map made all
        values), `n_outputs` (distinct values in, and distinct values out of the map of all answers), `reason`.
    """
    taken = {"when", "n", "reason", "auroc2_within_folds", "n_outputs", *MEASURES}
    if clash := sorted(taken & {key for one in maps for key in one.at}):
        raise DataError("a column has the name of a measure", received=", ".join(clash), mend="rename the column")
    rows: list[dict[str, Any]] = []
    for number, one in enumerate(maps):
        part = cells.table[cells.table["segment"] == number]
        head = {**one.at, "n": one.n, "reason": one.reason}
        rows.append(head | {"when": "before"} | _measured(part, "probability", "probability"))
        if one.parameters is not None:
            rows.append(head | {"when": "after"} | _measured(part, "calibrated", "whole"))
    order = [*(maps[0].at if maps else []), "when", "n"]
    frame = pd.DataFrame(rows)
    return frame[[*order, *(c for c in frame.columns if c not in order)]]


def mean_over_segments(comparison: pd.DataFrame) -> pd.DataFrame:
    """Return the plain mean of each measure over the segments that have a map, one row before and one after."""
    numbers = comparison.select_dtypes("number").columns
    keys = [c for c in comparison.columns if c not in numbers and c not in ("when", "reason")]
    paired = comparison[comparison["reason"] == ""]
    groups = paired.groupby("when", sort=False)
    out = groups[list(numbers)].mean().assign(n=groups["n"].sum()).reset_index()
    names = {key: "(mean)" if i == 0 else "" for i, key in enumerate(keys)}
    return out.assign(**names, reason="")[list(comparison.columns)]


def _measured(part: pd.DataFrame, value: str, whole: str) -> dict[str, float]:
    columns = {"probability": part[value].to_numpy(), "correct": part["correct"].to_numpy()}
    columns["confidence"] = columns["probability"]
    weights = part["count"].to_numpy(dtype=np.float64)
    found = {name: _value(name, columns, weights, options) for name, options in MEASURES.items()}
    found["auroc2_within_folds"] = _within_folds(columns, weights, part["fold"].to_numpy())
    found["n_outputs"] = _value("n_outputs", {"probability": part[whole].to_numpy()}, weights, {})
    return found


def _value(name: str, columns: Mapping[str, Floats], weights: Floats, options: Mapping[str, Any]) -> float:
    card = measures()[name]
    return float(card.compute(*(columns[c] for c in card.columns), weights=weights, **options))


def _within_folds(columns: Mapping[str, Floats], weights: Floats, fold: np.ndarray) -> float:
    """Return the mean AUROC2 of the folds, each weighted by its number of pairs of a right and a wrong answer."""
    inside = np.where(fold == np.unique(fold)[:, None], weights, 0.0)  # (fold, row)
    area = measures()["auroc2"].compute(columns["confidence"], columns["correct"], weights=inside)
    right = inside @ columns["correct"]
    pairs = right * (inside.sum(axis=-1) - right)
    return float(np.sum(np.where(pairs > 0, area, 0.0) * pairs) / pairs.sum()) if pairs.sum() > 0 else np.nan


def cautions(comparison: pd.DataFrame, maps: Sequence[SegmentMap]) -> tuple[str, ...]:
    """Say in plain words what the table should not hide.

    Collapse
        The spread after is below a quarter of that before, or the Brier score's resolution below a fifth.
    No better than the base rate
        The Brier score after is above 98 % of that of always stating the accuracy.
    Loss
        The Brier score after is more than 1 % above that before.
    Order
        Platt's slope is negative; or isotonic and histogram maps have made ties that moved AUROC2 by 0.01.
    """
    fitted = [one for one in maps if one.parameters is not None]
    labels = [one.label for one in fitted]
    before, after = (comparison[(comparison["when"] == w) & (comparison["reason"] == "")] for w in ("before", "after"))
    b, a = before.reset_index(drop=True), after.reset_index(drop=True)
    collapsed = (a["confidence_sd"] < LEAST_SPREAD * b["confidence_sd"]) | (
        a["brier_resolution"] < LEAST_RESOLUTION * b["brier_resolution"]
    )
    useless = a["brier"] > (1 - LEAST_SKILL) * a["brier_uncertainty"]
    worse = a["brier"] > 1.01 * b["brier"]
    falling = pd.Series([one.parameters is not None and one.parameters.get("slope", 0) < 0 for one in fitted])
    moved = (a["auroc2_within_folds"] - b["auroc2_within_folds"]).abs() > 0.01
    sure = np.isinf(a["log_score"]) & ~np.isinf(b["log_score"])
    found = [(collapsed, COLLAPSED), (useless, USELESS), (worse, WORSE), (falling, FALLING)]
    found += [(moved & ~falling, MOVED), (sure, SURE)]
    return tuple(_lines(found, labels))


def _lines(found: Iterable[tuple[pd.Series, str]], labels: Sequence[str]) -> Iterable[str]:
    for which, text in found:
        hit = [label for label, yes in zip(labels, which, strict=True) if yes]
        if hit:
            yield f"{text}: {named(hit)}" if len(labels) > 1 else text
