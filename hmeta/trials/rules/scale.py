"""Confidences against their declared scale.

A value off a rating scale (at most 20 levels) is a coding error and refused unless the user decides; on a
wide scale it is one odd answer, clipped within 5 % of the width and excluded beyond.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hmeta.core.errors import DataError
from hmeta.trials.row_numbers import numbered
from hmeta.trials.rules import Mark, caution, exclusion, refusal
from hmeta.trials.scales import is_rating, n_levels, span
from hmeta.trials.study import Answers, Study, named

NEAR = 0.05
SMALLEST_PERCENT_SCALE = 20


class Violations(NamedTuple):
    """Which trials break their scale, and how; each (trial,)."""

    outside: NDArray[np.bool_]
    far: NDArray[np.bool_]  # outside by more than 5 % of the width
    between: NDArray[np.bool_]  # inside a rating scale, but on none of its levels
    rating: NDArray[np.bool_]  # the trial's scale is a rating scale


def violations(answers: Answers) -> Violations:
    """Compare each finite confidence with its declared scale."""
    value, declared = answers.confidence, answers.declared
    if declared is None:
        none = np.zeros(len(value), dtype=bool)
        return Violations(none, none, none, none)
    lower, upper, step = (declared[f"scale_{end}"].to_numpy(dtype=np.float64) for end in ("lower", "upper", "step"))
    beyond = np.where(np.isfinite(value), np.maximum(lower - value, value - upper), 0.0)
    slack = 1e-6 * (upper - lower)
    outside = beyond > slack
    rating = is_rating(declared)
    steps = np.where(rating & np.isfinite(value), (value - lower) / np.where(step > 0, step, 1.0), 0.0)
    between = rating & ~outside & (np.abs(steps - np.round(steps)) > 1e-6)
    return Violations(outside, beyond > NEAR * (upper - lower), between, rating)


@refusal
def scale_declared(answers: Answers) -> None:
    """Every scale that an answer names must be in the scale table."""
    if answers.scales is None or "scale" not in answers.frame:
        return
    there = list(map(str, answers.scales["scale_id"]))
    bad = (answers.frame["scale"].notna() & ~answers.frame["scale"].isin(there)).to_numpy(dtype=bool)
    if bad.any():
        raise DataError(
            "unknown scale",
            where=f"column scale, {numbered(bad)}",
            received=", ".join(sorted(map(str, answers.frame["scale"][bad].unique()))[:5]),
            allowed=there,
            mend="declare the scale on import",
        )


@refusal
def two_levels(answers: Answers) -> None:
    """Refuse a scale with a single level."""
    one_level(answers.scales)


def one_level(scales: pd.DataFrame | None) -> None:
    """Refuse a scale table with a scale of a single level."""
    if scales is None:
        return
    for _, row in scales.iterrows():
        lower, upper = row["scale_lower"], row["scale_upper"]
        if lower == upper or n_levels(lower, upper, row["scale_step"]) < 2:
            raise DataError(
                "at least two rating levels are needed",
                where=f"scale {row['scale_id']}",
                received="one level",
                mend="check the confidence column; d′ and accuracy need no confidence",
            )


@refusal
def percent_scale(answers: Answers) -> None:
    """Refuse probabilities on a scale declared as percent, and percents on a scale declared as 0–1."""
    if answers.declared is None:
        return
    for keys, rows in answers.declared.groupby(["scale_lower", "scale_upper"]).indices.items():
        lower, upper = keys  # pyright: ignore[reportGeneralTypeIssues]
        value = answers.confidence[rows]
        value = value[np.isfinite(value)]
        if upper >= SMALLEST_PERCENT_SCALE and lower <= 0 and len(value) and value.min() >= 0 and value.max() <= 1:
            raise DataError(
                f"all confidences lie in 0..1, but the scale is declared as {lower:g}..{upper:g}",
                where="column confidence",
                received=f"{len(value)} values, the largest {value.max():g}",
                mend="declare the scale as 0-1",
            )
        if (lower, upper) == (0, 1) and len(value) and np.mean(value > 1) > 0.5:
            raise DataError(
                "values above 1 on a scale declared as 0..1",
                where="column confidence",
                received=f"{int(np.sum(value > 1))} of {len(value)} values, the largest {value.max():g}",
                mend="declare the scale, for example --scale 0-100",
            )


@refusal
def ratings_on_scale(answers: Answers) -> None:
    """Refuse ratings that are none of the scale's levels, unless the user said what to do."""
    found = violations(answers)
    bad = (found.outside | found.between) & (found.rating | (answers.on_violation == "error"))
    if answers.on_violation not in ("auto", "error") or not bad.any() or answers.declared is None:
        return
    missing = np.isnan(answers.confidence)
    parts = {
        "outside the scale": found.outside & bad,
        "between its levels": found.between & bad,
        "missing": missing,
    }
    seen = ", ".join(f"{v:g}" for v in np.unique(answers.confidence[bad])[:5])
    raise DataError(
        f"{int((bad | missing).sum())} of {len(bad)} rows have confidence outside {span(answers.declared[bad])}",
        where=f"column confidence, {numbered(bad)}",
        received=f"{seen} ({', '.join(f'{int(m.sum())} {name}' for name, m in parts.items() if m.any())})",
        mend="correct the values or the declared scale, or pass --on-violation exclude, clip or keep",
    )


@exclusion
def on_scale(answers: Answers) -> Iterable[Mark]:
    """Drop what the policy does not keep or clip."""
    found = violations(answers)
    if answers.on_violation == "keep":
        return
    dropped = found.far if answers.on_violation == "auto" else found.outside
    if answers.on_violation != "clip":
        yield Mark("confidence outside the scale", dropped)
    yield Mark("confidence between the levels", found.between)


def clipped(answers: Answers) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the confidences with those that the policy clips moved to the end of their scale, and which."""
    found = violations(answers)
    moved = found.outside & {"auto": ~found.far, "clip": True}.get(answers.on_violation, False)
    if answers.declared is None or not np.any(moved):
        return answers.confidence, np.zeros(len(answers.confidence), dtype=bool)
    lower, upper = (answers.declared[f"scale_{end}"].to_numpy(dtype=np.float64) for end in ("lower", "upper"))
    return np.where(moved, np.clip(answers.confidence, lower, upper), answers.confidence), moved


@caution
def scale_broken(study: Study) -> Iterable[str]:
    """Say how many answers broke their scale and what became of them."""
    if study.answers is None:
        return
    found = violations(study.answers)
    moved = clipped(study.answers)[1]
    broken = found.outside | found.between
    for rows, fate in ((moved, "clipped to its ends"), (broken & ~moved, _fate(study.answers))):
        if rows.any():
            yield f"{int(rows.sum())} confidences off their scale were {fate}: {numbered(rows)}"


@caution
def scale_read_from_data(study: Study) -> Iterable[str]:
    """Say so where no scale was declared and the whole table was taken instead."""
    if study.answers is not None and study.answers.scales_inferred and study.answers.declared is not None:
        yield f"no confidence scale is declared; taken from the whole table as {span(study.answers.declared)}"


@caution
def unit_on_percent(study: Study) -> Iterable[str]:
    """Name units whose confidences all lie in 0–1 on a scale that goes to 20 or more."""
    if study.answers is None or study.answers.declared is None:
        return
    wide = study.answers.declared["scale_upper"].to_numpy() >= SMALLEST_PERCENT_SCALE
    value = pd.Series(np.where(wide & np.isfinite(study.answers.confidence), study.answers.confidence, np.nan))
    units = value.groupby(study.answers.places["unit"].to_numpy()).agg(["max", "count"])
    small = units[(units["max"] <= 1) & (units["max"] > 0) & (units["count"] >= 20)]
    if len(small):
        yield f"all confidences lie in 0..1 on a wider scale, and may be probabilities: {named(list(small.index))}"


def _fate(answers: Answers) -> str:
    return "kept as they are" if answers.on_violation == "keep" else "excluded"
