"""Averages of measures over the units of a column: many people, one row."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from hmeta.assess.cells import ALL, MEAN
from hmeta.assess.table import MetricTable, Resampling
from hmeta.core.errors import DataError
from hmeta.core.registry import did_you_mean
from hmeta.core.streams import stream
from hmeta.resample.intervals import UNDEFINED, Interval, percentile


def average(table: MetricTable, column: str, resampling: Resampling | None = None) -> MetricTable:
    """Return the mean of each measure over the levels of a column, with intervals that draw whole levels.

    Parameters
    ----------
    table : MetricTable
    column : str
        One of its factors, for example `participant`.
    resampling : Resampling, optional
        Size, level and seed of the intervals. Default: those of the table. The units' own intervals are not used, so
        that a table made without them will do.

    Returns
    -------
    MetricTable
        `estimate` is the unweighted mean over the levels with a value, `n_units` how many those are, `n` their
        answers; the interval is for the mean over the population that the levels were drawn from.

    Raises
    ------
    DataError
        For a column that is no factor of the table.
    """
    if column not in table.factors:
        raise DataError(
            f'the table has no factor "{column}"',
            where="--average",
            allowed=table.factors,
            mend=did_you_mean(column, table.factors),
        )
    plan = replace(
        table.resampling if resampling is None else resampling, cluster=column, strata=None, null=0, kind="percentile"
    )
    rest = [name for name in table.factors if name != column]
    rng = np.random.default_rng(stream(plan.seed, "average"))
    rows: list[dict[str, Any]] = []
    levels_only = table.frame[table.frame[column] != ALL]
    for key, part in levels_only.groupby([*rest, "metric"], sort=False):
        levels = dict(zip([*rest, "metric"], key, strict=True))
        rows.append({column: MEAN, **levels, **_mean(part, plan, rng)})
    frame = pd.DataFrame(rows)
    note = f"{MEAN} weighs every {column} alike; its percentile interval draws whole {column}s"
    notes = (*table.notes, note)
    return replace(table, frame=frame, factors=(column, *rest), resampling=plan, notes=notes)


def _mean(part: pd.DataFrame, plan: Resampling, rng: np.random.Generator) -> dict[str, Any]:
    there = part[part["estimate"].notna()]
    values = there["estimate"].to_numpy()
    interval = _interval(values, plan, rng)
    return {
        "estimate": float(values.mean()) if len(values) else np.nan,
        "lower": interval.lower,
        "upper": interval.upper,
        "standard_error": interval.standard_error,
        "bias": interval.bias,
        "n": float(there["n"].sum()),
        "n_units": len(values),
        "n_undefined": len(part) - len(values),
        "reason": _left_out(part, len(values)),
        "n_excluded": float(part["n_excluded"].sum()),
    }


def _interval(values: np.ndarray, plan: Resampling, rng: np.random.Generator) -> Interval:
    if len(values) < 2 or not plan.size or not np.isfinite(values).all():
        return UNDEFINED
    shares = rng.multinomial(len(values), np.full(len(values), 1 / len(values)), size=plan.size)
    return percentile(shares @ values / len(values), float(values.mean()), plan.level)


def _left_out(part: pd.DataFrame, n_units: int) -> str:
    """Return how many units have no value and the commonest reason; the reason alone where none has."""
    reasons = part[part["estimate"].isna()]["reason"]
    if not len(reasons):
        return ""
    commonest = str(reasons.mode().iloc[0])
    return f"{len(reasons)} of {len(part)} have no value ({commonest})" if n_units else commonest
