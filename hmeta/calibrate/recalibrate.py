"""From a results file to the same file with calibrated confidence, and what that did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import xarray as xr

from hmeta.calibrate.answers import KEPT_APART, Answers, read_answers
from hmeta.calibrate.comparison import cautions, compare
from hmeta.calibrate.cross_fit import Cells, count_cells, fit_segments
from hmeta.calibrate.folds import Folded, hold_out, nothing_held_out
from hmeta.calibrate.levels import CannotFit
from hmeta.calibrate.map_file import MapFile, SegmentMap, same_scale
from hmeta.calibrate.maps import read_method
from hmeta.calibrate.rewrite import rewritten
from hmeta.core.errors import DataError
from hmeta.trials.report import ValidationReport
from hmeta.trials.rows import factor_names
from hmeta.trials.study import named

MOST_FOLDS = 1000
LEAST_GAP = 0.005
"""Between AUROC2 inside folds and over all answers, before a note says why they differ."""


@dataclass(frozen=True)
class Calibrated:
    """A results file with calibrated confidence, the maps, and the measures before and after."""

    dataset: xr.Dataset
    maps: MapFile  # fitted on all answers; the values in `dataset` are from maps that had not seen the item
    comparison: pd.DataFrame  # see hmeta.calibrate.comparison.compare
    judged: str  # on which answers, in words
    grouped_by: str  # what the folds keep together: item, answer, or "" without folds
    folds: int  # 0 without
    seed: int
    report: ValidationReport
    notes: tuple[str, ...]
    cautions: tuple[str, ...]


def recalibrate(
    ds: xr.Dataset,
    *,
    method: str = "beta",
    by: Sequence[str] = (),
    pool: Sequence[str] = (),
    folds: int = 5,
    seed: int = 0,
    in_sample: bool = False,
    on_violation: str = "auto",
    duplicates: str = "error",
) -> Calibrated:
    """Replace confidence by a calibrated probability of being right, cross-fitted.

    A map is fitted in each segment: each model or participant, on each scale, for each signal, and each value of
    the columns in `by`. The calibrated confidence of an answer is the value of a map fitted without its fold.

    Parameters
    ----------
    ds : xarray.Dataset
        Layout `trials` or `counts`. It is not modified.
    method : str
        A map of `hmeta.calibrate.maps`, with options in brackets: "beta", "platt(smoothing=true)", "temperature",
        "isotonic(ties=raw)", "histogram(bins=15, mass=equal_mass)".
    by : sequence of str
        Further columns whose values get maps of their own.
    pool : sequence of str
        Which of model, participant, scale and signal share a map after all.
    folds : int
        All answers to an item are in one fold, where the file has a column item.
    seed : int
        Decides the folds.
    in_sample : bool
        Use and judge the maps on the answers that they were fitted to: errors are then too low, and said to be so.
    on_violation, duplicates : str
        As for `hmeta.validate`.

    Returns
    -------
    Calibrated

    Raises
    ------
    DataError
        Where the data or options cannot be used, or no segment can have a map.

    Examples
    --------
    >>> from hmeta.trials.tables import trials_dataset
    >>> answers = pd.DataFrame({"model": "a", "confidence": [90, 80, 70, 60] * 30, "correct": [1, 1, 0, 1, 0] * 24})
    >>> scales = pd.DataFrame({"scale_id": ["0-100"], "scale_lower": 0, "scale_upper": 100, "scale_step": 1})
    >>> done = recalibrate(trials_dataset(answers, task="open", scales=scales), method="platt")
    >>> bool(done.comparison["ece"].iloc[1] < done.comparison["ece"].iloc[0])
    True
    """
    chosen, options = read_method(method)
    if not 2 <= folds <= MOST_FOLDS:
        raise DataError("unusable number of folds", received=str(folds), allowed=f"2 to {MOST_FOLDS}")
    if seed < 0:
        raise DataError("unusable seed", received=str(seed), allowed="0 or more")
    answers = read_answers(ds, by=by, pool=pool, on_violation=on_violation, duplicates=duplicates)
    folded = nothing_held_out(answers) if in_sample else hold_out(answers, folds, seed)
    cells, fitted = fit_segments(answers, folded, chosen, options)
    _refuse_none(fitted)
    maps = MapFile(chosen, options, answers.keys, answers.pooled, fitted, source=str(ds.attrs.get("source", "")))
    if in_sample:
        judged = "on the answers that the maps were fitted to (in-sample: errors are too low)"
    else:
        judged = f"on held-out answers, {folds} folds by {folded.grouped_by}, seed {seed}"
    return _result(answers, folded, cells, maps, judged, (0 if in_sample else folds, seed))


def apply_maps(ds: xr.Dataset, maps: MapFile, *, on_violation: str = "auto", duplicates: str = "error") -> Calibrated:
    """Replace confidence by the probability that saved maps give.

    Parameters
    ----------
    ds : xarray.Dataset
        Layout `trials` or `counts`, with the columns that kept the maps apart.
    maps : MapFile
        From `recalibrate` or `hmeta.calibrate.map_file.read_map`.
    on_violation, duplicates : str
        As for `hmeta.validate`.

    Raises
    ------
    DataError
        Where a segment of the file has no entry among the maps, its confidence is on another scale than the map
        was fitted on, or several signals would go through one map that is not declared to pool them.
    """
    answers = _answers_for(ds, maps, on_violation, duplicates)
    folded = nothing_held_out(answers)
    counted = count_cells(answers, folded)
    known = {tuple(one.at[k] for k in maps.keys): one for one in maps.segments}
    used: list[SegmentMap] = []
    value = np.full(len(counted.table), np.nan)
    for number, place in enumerate(answers.segments):
        one = known[tuple(place[k] for k in maps.keys)]
        rows = np.flatnonzero(counted.table["segment"].to_numpy() == number)
        part = counted.table.iloc[rows]
        facts = float(part["count"].sum()), float((part["count"] * part["correct"]).sum())
        used.append(SegmentMap(place, one.scales, *facts, parameters=one.parameters, reason=one.reason))
        if one.parameters is not None:
            value[rows] = maps.method.apply(one.parameters, part["probability"].to_numpy())
    _refuse_none(used)
    cells = Cells(counted.table.assign(calibrated=value, whole=value), counted.cell)
    shown = MapFile(maps.method, maps.options, maps.keys, maps.pooled, tuple(used), source=maps.source)
    known_n = {tuple(one.at.items()): one.n for one in maps.segments}
    own = bool(maps.source) and maps.source == str(ds.attrs.get("source", ""))
    own = own and all(known_n.get(tuple(one.at.items())) == one.n for one in used)
    judged = (
        "in-sample: by a saved map, on the answers that it was fitted to" if own else "by a saved map, on new answers"
    )
    return _result(answers, folded, cells, shown, judged, (0, 0))


def _result(
    answers: Answers, folded: Folded, cells: Cells, maps: MapFile, judged: str, plan: tuple[int, int]
) -> Calibrated:
    comparison = compare(cells, maps.segments)
    folds, seed = plan
    return Calibrated(
        dataset=rewritten(answers, folded, cells.calibrated, maps, judged),
        maps=maps,
        comparison=comparison,
        judged=judged,
        grouped_by=folded.grouped_by,
        folds=folds,
        seed=seed,
        report=answers.report,
        notes=(*folded.notes, *_left_out(maps.segments), *_edges(maps.segments), *_mixed_folds(comparison)),
        cautions=cautions(comparison, maps.segments),
    )


def _refuse_none(fitted: Sequence[SegmentMap]) -> None:
    if any(one.parameters is not None for one in fitted):
        return
    reasons = pd.Series([one.reason for one in fitted]).value_counts()
    mends = dict.fromkeys(one.mend for one in fitted if one.mend)
    raise CannotFit(
        "no map can be fitted",
        received="; ".join(f"{reason} ({n} of {len(fitted)} segments)" for reason, n in list(reasons.items())[:5]),
        mend="; ".join(mends) or None,
    )


def _left_out(fitted: Sequence[SegmentMap]) -> list[str]:
    out = []
    for reason in dict.fromkeys(one.reason for one in fitted if one.parameters is None):
        hit = [one for one in fitted if one.parameters is None and one.reason == reason]
        n = sum(one.n for one in hit)
        out.append(
            f"no map, and no calibrated confidence for {n:g} answers ({reason}): {named([o.label for o in hit])}"
        )
    return out


def _edges(fitted: Sequence[SegmentMap]) -> list[str]:
    moved = [one for one in fitted if (one.parameters or {}).get("n_at_edge", 0) > 0]
    if not moved:
        return []
    edges = sorted({float((one.parameters or {})["edge"]) for one in moved})
    span = f"{edges[0]:.3g}" if len(edges) == 1 else f"{edges[0]:.3g} to {edges[-1]:.3g}"
    return [
        f"answers nearer than {span} to 0 or 1 were moved to that distance for their logit "
        f"({sum((one.parameters or {})['n_at_edge'] for one in moved):g} of the answers that the maps were fitted to)"
    ]


def _mixed_folds(comparison: pd.DataFrame) -> list[str]:
    after = comparison[comparison["when"] == "after"]
    if not (after["auroc2_within_folds"] - after["auroc2"] > LEAST_GAP).any():
        return []
    return [
        "AUROC2 over all held-out answers compares outputs of different maps, which lowers it; judge the order by "
        "AUROC2 in folds, and compute AUROC2 from the confidence as reported, not from the calibrated file"
    ]


def _answers_for(ds: xr.Dataset, maps: MapFile, on_violation: str, duplicates: str) -> Answers:
    """Return the answers of a file laid out by the segments of saved maps, all of them known and on their scales."""
    there = factor_names(ds)
    lacking = [key for key in maps.keys if key not in there]
    if lacking:
        raise DataError(
            f'the maps are apart by {lacking[0]}, and the file has no column "{lacking[0]}"',
            received=f"columns: {', '.join(there)}",
        )
    answers = read_answers(
        ds,
        by=[key for key in maps.keys if key not in KEPT_APART],
        pool=[key for key in KEPT_APART if key in there and key not in maps.keys],
        on_violation=on_violation,
        duplicates=duplicates,
    )
    if "signal" in answers.rows and not {"signal"} & {*maps.keys, *maps.pooled}:
        signals = sorted(map(str, answers.rows["signal"].dropna().unique()))
        if len(signals) > 1:
            raise DataError("one map for several signals", received=", ".join(signals), mend="apply it to one signal")
    known = {tuple(one.at[k] for k in maps.keys): one for one in maps.segments}
    unknown = [", ".join(s.values()) for s in answers.segments if tuple(s[k] for k in maps.keys) not in known]
    if unknown:
        raise DataError(
            f"{len(unknown)} segments of the file have no map",
            received=named(unknown),
            allowed=named([one.label for one in maps.segments]),
            mend="fit a map to answers of these, or one that pools them: --pool model",
        )
    _check_scales(answers, known)
    return answers


def _check_scales(answers: Answers, known: dict[tuple[str, ...], SegmentMap]) -> None:
    for number, place in enumerate(answers.segments):
        fitted = known[tuple(place[k] for k in answers.keys)]
        for scale in answers.scales_of(number):
            if not any(same_scale(scale, other) for other in fitted.scales):
                raise DataError(
                    "the map was fitted on another scale",
                    where=f"segment {fitted.label}",
                    received=f"confidence on {scale['lower']:g} to {scale['upper']:g}",
                    allowed=", ".join(f"{s['lower']:g} to {s['upper']:g}" for s in fitted.scales),
                    mend="fit a map on the scale of this file",
                )
