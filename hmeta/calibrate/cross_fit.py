"""Maps by segment, and for each answer the value of a map that was fitted without its fold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hmeta.calibrate.answers import Answers
from hmeta.calibrate.folds import ALL, Folded
from hmeta.calibrate.levels import CannotFit
from hmeta.calibrate.map_file import SegmentMap
from hmeta.calibrate.maps import Method

CELL = ["segment", "fold", "probability", "correct"]


@dataclass(frozen=True)
class Cells:
    """Answers counted by segment, fold, confidence and correctness, with their calibrated values."""

    table: pd.DataFrame  # (cell, segment + fold + probability + correct + count + calibrated + whole)
    cell: NDArray[np.int64]  # (part,): which cell each part of a row is in

    @property
    def calibrated(self) -> NDArray[np.float64]:
        """The calibrated probability of each part, NaN where its segment has no map, (part,)."""
        return self.table["calibrated"].to_numpy()[self.cell]


def count_cells(answers: Answers, folded: Folded) -> Cells:
    """Count the parts of rows by segment, fold, confidence and correctness."""
    parts = pd.DataFrame(
        {
            "segment": answers.segment[folded.row],
            "fold": folded.fold,
            "probability": answers.probability[folded.row],
            "correct": answers.correct[folded.row],
            "count": folded.count,
        }
    )
    groups = parts.groupby(CELL, sort=True)
    return Cells(groups["count"].sum().reset_index(), np.asarray(groups.ngroup(), dtype=np.int64))


def fit_segments(
    answers: Answers, folded: Folded, method: Method, options: Mapping[str, Any]
) -> tuple[Cells, tuple[SegmentMap, ...]]:
    """Fit a map in each segment on all of its answers, and on those outside each fold.

    A segment in which any of these fits is impossible has no calibrated values at all, since what is left of it
    would be a selection by outcome.

    Returns
    -------
    Cells
        With `calibrated`, from the map that has not seen the fold (or from the whole map where no answer is
        held out), and `whole`, from the map of all answers.
    tuple of SegmentMap
        The maps of all answers.
    """
    cells = count_cells(answers, folded)
    calibrated, whole = (np.full(len(cells.table), np.nan) for _ in range(2))
    maps = []
    for number, place in enumerate(answers.segments):
        rows = np.flatnonzero(cells.table["segment"].to_numpy() == number)
        part = cells.table.iloc[rows]
        scales = answers.scales_of(number)
        n, n_right = float(part["count"].sum()), float((part["count"] * part["correct"]).sum())
        try:
            parameters, calibrated[rows], whole[rows] = _fit_one(part, method, _with_edge(method, options, scales))
        except CannotFit as refused:
            why, mend = refused.what, refused.mend or ""
            maps.append(SegmentMap(place, tuple(scales), n, n_right, reason=why, mend=mend))
            continue
        maps.append(SegmentMap(place, tuple(scales), n, n_right, parameters=parameters))
    return Cells(cells.table.assign(calibrated=calibrated, whole=whole), cells.cell), tuple(maps)


def _fit_one(
    part: pd.DataFrame, method: Method, options: Mapping[str, Any]
) -> tuple[dict[str, Any], NDArray[np.float64], NDArray[np.float64]]:
    """Return the parameters of all answers, the held-out values and the values of the whole map."""
    probability, correct, count, fold = (part[k].to_numpy() for k in ("probability", "correct", "count", "fold"))
    parameters = method.fit(probability, correct, count, **options)
    whole = method.apply(parameters, probability)
    calibrated = whole.copy()
    for k in np.unique(fold[fold != ALL]):
        held = fold == k
        try:
            seen = method.fit(probability[~held], correct[~held], count[~held], **options)
        except CannotFit as refused:
            raise CannotFit(f"{refused.what}, once a fold is held out", mend=refused.mend) from refused
        calibrated[held] = method.apply(seen, probability[held])
    return parameters, calibrated, whole


def _with_edge(method: Method, options: Mapping[str, Any], scales: list[dict[str, float]]) -> dict[str, Any]:
    """Return the options, with the edge of logit maps at half a step of the scale where it has steps.

    Half a step of the finest scale, and at most a quarter of the whole, which keeps two levels apart.
    """
    steps = [scale["step"] / (scale["upper"] - scale["lower"]) for scale in scales]
    if "edge" not in method.options or options.get("edge") or min(steps) <= 0:
        return dict(options)
    return {**options, "edge": min(min(steps) / 2, 0.25)}
