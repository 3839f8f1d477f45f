"""What the validity screen looks at: one rater on one scale, its answers summed up by level."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from hmeta.core.errors import DataError
from hmeta.trials.columns import as_reported
from hmeta.trials.report import ValidationReport
from hmeta.trials.rows import factor_names, orient, outcome_codes, row_scales, rows_of, task_of
from hmeta.trials.scales import MOST_RATING_LEVELS, n_levels
from hmeta.trials.study import places
from hmeta.trials.tables import frame_of, scale_frame
from hmeta.trials.validation import PLACE, validate

Floats = NDArray[np.float64]

CELL = [*PLACE, "signal"]
"""Answers that differ in any of these are never pooled."""

SLACK = 1e-6
"""Share of a scale's width by which rounding may carry a value past its end, or off a level."""


class Scale(NamedTuple):
    """A scale as declared, or as validation has read it from the whole table; NaN where neither is known."""

    lower: float
    upper: float
    step: float
    reverse: bool

    @property
    def known(self) -> bool:
        """Whether the ends are known."""
        return bool(np.isfinite(self.lower) and np.isfinite(self.upper))

    @property
    def width(self) -> float:
        """Upper less lower end."""
        return self.upper - self.lower

    @property
    def levels(self) -> float:
        """How many levels it has, infinite where continuous, NaN where unknown."""
        return n_levels(self.lower, self.upper, self.step) if self.known else np.nan

    @property
    def wide(self) -> bool:
        """Whether it is known and no rating scale of at most twenty levels."""
        return self.known and self.levels > MOST_RATING_LEVELS


class Auroc2(NamedTuple):
    """AUROC2 with its 95 % interval (DeLong), and its distance from 0.5 in standard errors of no difference."""

    value: float
    lower: float
    upper: float
    z: float


@dataclass(frozen=True)
class Rater:
    """The answers of one unit × dataset × scale × signal.

    Letters: ``level`` counts the distinct confidences of the usable answers, least sure first.
    """

    place: dict[str, str]
    task: str
    scale: Scale
    value: Floats  # (level,), confidence, larger = surer
    wrong: Floats  # (level,)
    right: Floats  # (level,)
    outcomes: dict[int, float]  # usable answers by outcome code
    levels_by_response: tuple[int, ...]  # levels used in each response given; empty unless the task is binary
    elsewhere: Floats  # (level,), answers of the other raters of the scale at each of these levels
    n_elsewhere: float
    n_asked: float
    n_missing: float  # no confidence
    n_unanswered: float  # no gradable answer
    reported: pd.Series  # answers asked for by confidence as reported, missing left out
    signals: tuple[str, ...]  # every signal of this unit × dataset × scale

    @property
    def label(self) -> str:
        """As a person would say it."""
        return ", ".join(text for text in self.place.values() if text)

    @cached_property
    def total(self) -> Floats:
        """Usable answers by level, (level,)."""
        return self.wrong + self.right

    @property
    def n(self) -> float:
        """Usable answers."""
        return float(self.total.sum())

    @property
    def n_right(self) -> float:
        """Right usable answers."""
        return float(self.right.sum())

    @property
    def n_wrong(self) -> float:
        """Wrong usable answers."""
        return float(self.wrong.sum())

    def number(self, outcomes: tuple[int, ...]) -> float:
        """Return how many usable answers have one of these outcome codes."""
        return sum(self.outcomes.get(code, 0.0) for code in outcomes)

    @property
    def accuracy(self) -> float:
        """Share of right among usable answers, NaN without any."""
        return self.n_right / self.n if self.n else np.nan

    @property
    def top(self) -> tuple[float, float]:
        """The most frequent confidence as reported, and its share; NaN without usable answers."""
        if not self.n:
            return np.nan, np.nan
        most = int(np.argmax(self.total))
        return self.as_reported(self.value[most]), float(self.total[most] / self.n)

    def as_reported(self, value: float) -> float:
        """Turn a confidence back into what was reported on a reversed scale."""
        return float(np.round(self.scale.lower + self.scale.upper - value, 9)) if self.scale.reverse else float(value)

    @cached_property
    def auroc2(self) -> Auroc2:
        """AUROC2 with interval; NaN without both right and wrong answers."""
        n, m = self.n_right, self.n_wrong
        if not n or not m:
            return Auroc2(*[np.nan] * 4)
        beaten = (np.cumsum(self.wrong) - self.wrong / 2) / m  # of a right answer: share of wrong ones below
        lost = 1 - (np.cumsum(self.right) - self.right / 2) / n  # of a wrong answer: share of right ones above
        area = float(beaten @ self.right / n)
        spread = [
            float((weight @ (part - area) ** 2) / (size - 1) / size) if size > 1 else np.nan
            for part, weight, size in ((beaten, self.right, n), (lost, self.wrong, m))
        ]
        reach = 1.96 * np.sqrt(sum(spread))
        z = (area - 0.5) / np.sqrt((n + m + 1) / (12 * n * m))
        return Auroc2(area, max(0.0, area - reach), min(1.0, area + reach), float(z))


def raters(ds: xr.Dataset, *, duplicates: str = "error") -> tuple[list[Rater], ValidationReport]:
    """Return every unit × dataset × scale × signal of a file, and what validation says of the whole.

    Confidences off their scale are kept, so that they can be counted.

    Raises
    ------
    DataError
        As for `validate`, and for estimates, which are no answers.
    """
    if ds.attrs.get("hmeta_layout") == "estimates":
        raise DataError("estimates are no answers: there is nothing to screen", allowed="layout trials or counts")
    valid = validate(ds, on_violation="keep", duplicates=duplicates)
    used = _used(valid.dataset)
    asked = _asked(ds) if ds.attrs["hmeta_layout"] == "trials" else _asked_counts(valid.dataset)
    return list(_raters(asked, used, task_of(ds))), valid.report


def _used(ds: xr.Dataset) -> pd.DataFrame:
    rows = rows_of(ds, factor_names(ds))
    declared = row_scales(rows, scale_frame(ds))
    ends = {
        name: np.nan if declared is None else declared[f"scale_{name}"].to_numpy(dtype=np.float64)
        for name in ("lower", "upper", "step", "reversed")
    }
    confidence = orient(rows, scale_frame(ds))
    return _cells(rows).assign(value=confidence, outcome=rows["outcome"], count=rows["count"], **ends)


def _asked(ds: xr.Dataset) -> pd.DataFrame:
    reported = as_reported(ds["confidence"].values)
    unknown = ("correct" not in ds) if task_of(ds) != "binary" else False
    answered = outcome_codes(ds) >= 0 if not unknown else (ds["stimulus"].values >= 0) & (ds["response"].values >= 0)
    return _cells(frame_of(ds)).assign(reported=reported, answered=answered, count=1.0)


def _asked_counts(ds: xr.Dataset) -> pd.DataFrame:
    rows = rows_of(ds, factor_names(ds))
    return _cells(rows).assign(reported=rows["confidence"], answered=True, count=rows["count"])


def _cells(frame: pd.DataFrame) -> pd.DataFrame:
    signal = frame["signal"].astype("object").fillna("(missing)").astype("str") if "signal" in frame else ""
    return places(frame).assign(signal=signal)


def _raters(asked: pd.DataFrame, used: pd.DataFrame, task: str) -> Iterator[Rater]:
    everyone = {scale: rows.groupby("value")["count"].sum() for scale, rows in used.groupby("scale")}
    mine = dict(iter(used.groupby(CELL)))
    signals = asked.groupby(PLACE)["signal"].unique()
    for key, all_rows in asked.groupby(CELL, sort=True):
        names = tuple(map(str, np.atleast_1d(np.asarray(key, dtype=object))))
        rows = mine.get(names, used.iloc[:0])
        levels = _levels(rows, task)
        scale = everyone.get(names[2], pd.Series(dtype=np.float64))
        own = levels["wrong"] + levels["right"]
        count, missing = all_rows["count"], all_rows["reported"].isna()
        yield Rater(
            place=dict(zip(CELL, names, strict=True)),
            task=task,
            scale=_scale(rows),
            value=levels.index.to_numpy(dtype=np.float64),
            wrong=levels["wrong"].to_numpy(dtype=np.float64),
            right=levels["right"].to_numpy(dtype=np.float64),
            outcomes={code: float(rows["count"][rows["outcome"] == code].sum()) for code in range(4)},
            levels_by_response=_levels_by_response(rows) if task == "binary" else (),
            elsewhere=(scale.reindex(levels.index).fillna(0.0) - own).to_numpy(dtype=np.float64),
            n_elsewhere=float(scale.sum() - own.sum()),
            n_asked=float(count.sum()),
            n_missing=float(count[missing].sum()),
            n_unanswered=float(count[~all_rows["answered"].to_numpy(dtype=bool)].sum()),
            reported=all_rows[~missing].groupby("reported")["count"].sum(),
            signals=tuple(sorted(map(str, signals[names[:3]]))),
        )


def _levels(rows: pd.DataFrame, task: str) -> pd.DataFrame:
    right = rows["outcome"].isin((0, 3)) if task == "binary" else rows["outcome"] == 1
    parts = pd.DataFrame({"value": rows["value"], "wrong": rows["count"] * ~right, "right": rows["count"] * right})
    return parts.groupby("value", sort=True)[["wrong", "right"]].sum()


def _levels_by_response(rows: pd.DataFrame) -> tuple[int, ...]:
    return tuple(int(n) for n in rows.groupby(rows["outcome"] % 2)["value"].nunique())


def _scale(rows: pd.DataFrame) -> Scale:
    if not len(rows):
        return Scale(np.nan, np.nan, np.nan, False)
    lower, upper, step, reverse = (float(rows[name].iloc[0]) for name in ("lower", "upper", "step", "reversed"))
    return Scale(lower, upper, step, reverse == 1)
