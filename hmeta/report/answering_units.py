"""Curves and measures of a results file by unit: who answered, or the levels of a factor that the user chose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pandas as pd
import xarray as xr

from hmeta.assess.answers import KEPT
from hmeta.assess.cells import ALL
from hmeta.assess.compute import compute_metrics
from hmeta.assess.curves import compute_curve
from hmeta.assess.table import Resampling
from hmeta.core.errors import DataError
from hmeta.core.schema import UNIT_COLUMNS
from hmeta.report.inputs import ResultsInput
from hmeta.trials.rows import factor_names

JOIN = " · "
"""Between the levels that name a unit."""


@dataclass(frozen=True)
class UnitTable:
    """Points or values by unit.

    Attributes
    ----------
    frame : DataFrame
        `unit`, the name of each, and the columns of the curve or `metric`, `estimate` and what stands beside them.
    units : tuple of str
        Every unit with a value, in the order of the file's levels.
    by : str
        What a unit is: "model", "participant, scale".
    pooled : str
        What was put together: "33 levels of model", or "".
    without : tuple of str
        Units without a value, each with its reason.
    notes : tuple of str
        What to know before a number is read.
    """

    frame: pd.DataFrame
    units: tuple[str, ...]
    by: str
    pooled: str
    without: tuple[str, ...]
    notes: tuple[str, ...]


def counted(n: int, what: str = "unit") -> str:
    """Return "1 unit" or "3 units"."""
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def curve_by_unit(source: ResultsInput, curve: str, by: str | None) -> UnitTable:
    """Return the points of a curve by unit.

    Parameters
    ----------
    source : ResultsInput
    curve : str
        As `hmeta list curves` shows it, options in brackets.
    by : str, optional
        Answers are put together over who gave them, and parted by this factor instead.

    Raises
    ------
    DataError
        As for `compute_curve`; where no unit has a point.
    """
    pool = _pooled(source.dataset, by)
    found = compute_curve(source.dataset, curve, by=[by] if by else [], pool=pool)
    frame = _alone(found.frame, found.factors)
    reasons = frame["reason"] if "reason" in frame else pd.Series("", index=frame.index)
    lacking = reasons.fillna("").ne("")
    names, what = _names(frame, found.factors, by, source.name)
    frame = frame.assign(unit=names)
    without = tuple(f"{unit}: {reason}" for unit, reason in zip(names[lacking], reasons[lacking], strict=True))
    kept = frame[~lacking].reset_index(drop=True)
    if not len(kept):
        raise _nothing(curve, sorted(set(reasons[lacking])), source.file)
    units = tuple(dict.fromkeys(map(str, kept["unit"])))
    points = [c for c in kept if c not in (*found.factors, "unit", "reason")]
    return UnitTable(kept[["unit", *points]], units, what, _told(source.dataset, pool), without, found.notes)


def values_by_unit(source: ResultsInput, measures: Sequence[str], by: str | None) -> UnitTable:
    """Return measures by unit, without intervals; arguments as for `curve_by_unit`."""
    pool = _pooled(source.dataset, by)
    plan = Resampling(size=0)
    found = compute_metrics(source.dataset, measures, by=[by] if by else [], pool=pool, resampling=plan)
    frame = _alone(found.frame, found.factors)
    names, what = _names(frame, found.factors, by, source.name)
    frame = frame.assign(unit=names).drop(columns=list(found.factors)).reset_index(drop=True)
    table = UnitTable(frame, tuple(dict.fromkeys(names)), what, _told(source.dataset, pool), (), found.notes)
    return replace(table, frame=frame[["unit", *(c for c in frame if c != "unit")]])


def _pooled(ds: xr.Dataset, by: str | None) -> list[str]:
    """Return which columns of who answered are put together where the user has chosen another factor."""
    return [] if by is None else [name for name in UNIT_COLUMNS if name in factor_names(ds) and name != by]


def _told(ds: xr.Dataset, pool: Sequence[str]) -> str:
    levels = {name: len(pd.unique(pd.Series(ds[name].values))) for name in pool}
    return ", ".join(counted(n, name) for name, n in levels.items())


def _alone(frame: pd.DataFrame, factors: Sequence[str]) -> pd.DataFrame:
    """Return the cells without those that stand for all levels of a factor together."""
    together = (frame[list(factors)] == ALL).any(axis=1) if factors else pd.Series(False, index=frame.index)
    return frame[~together].reset_index(drop=True)


def _names(frame: pd.DataFrame, factors: Sequence[str], by: str | None, file: str) -> tuple[pd.Series, str]:
    """Return a name for each row from the factors that tell its unit apart, and what they are called together."""
    telling = [name for name in factors if name == by or frame[name].nunique() > 1]
    telling = telling or [name for name in factors if name in KEPT[:2]]
    if not telling:
        return pd.Series(file, index=frame.index), "file"
    return frame[telling].astype(str).agg(JOIN.join, axis=1), ", ".join(telling)


def _nothing(curve: str, reasons: Sequence[str], file: str) -> DataError:
    scale = any("probability" in reason for reason in reasons)
    return DataError(
        f"no unit has a curve {curve.split('(')[0]}",
        where=file,
        received="; ".join(reasons),
        mend="declare the scale of confidence on import: --scale 0-100" if scale else None,
    )
