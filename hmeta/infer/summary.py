"""Tables of a fit: each unit's parameter, the observed average, and the prediction for a new unit."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from hmeta.infer.caveats import beside_ratio, list_flags
from hmeta.infer.fitted import Fitted, default_unit, find_factor, level_labels, read_fit
from hmeta.infer.intervals import MASS, Kind, check_interval, describe_draws, share_of
from hmeta.infer.mixing import measure_mixing
from hmeta.infer.new_unit import NewUnit, predict_new, typical
from hmeta.infer.parameter_words import words_of

Floats = NDArray[np.float64]

LEVEL, OVERALL, TYPICAL, NEW = "level", "overall", "typical", "new"
"""Kinds of rows: a level of the factor, the observed average, group effects at 0, a new unit."""


class Row(NamedTuple):
    """One row of a summary: what it is of, and its draws."""

    kind: str
    level: str
    estimand: str
    draws: Floats  # (chain, draw)
    cells: NDArray[np.int64]  # empty for predictions


def summarize(
    tree: xr.DataTree,
    *,
    by: str | None = None,
    parameter: str | None = None,
    interval: float = MASS,
    kind: Kind = "eti",
) -> pd.DataFrame:
    """Summarise a parameter by the levels of a factor.

    Parameters
    ----------
    tree : DataTree
        A fit.
    by : str, optional
        The factor; by default the one that says who answered (`model` or `participant`).
    parameter : str, optional
        A quantity at the cells: `M`, `d`, `meta_d`, `c` …; of an `open` task `auroc2`, `d_a`, `zroc_slope`,
        `accuracy`. Default: the fit's headline, M or auroc2.
    interval : float
        Mass of the interval.
    kind : {"eti", "hdi"}
        Equal-tailed or highest-density.

    Returns
    -------
    DataFrame
        One row a level, then the average over everything observed and the prediction for a new unit. `level`
        and `estimand` say of what; every average gives each cell the same weight. `median`, `sd`, `lower`,
        `upper`; `p_below_zero` is the posterior probability of a negative value (for auroc2 `p_below_half`, of less
        than chance). For M also `p_d_below_zero` (share of draws in which the mean d is not positive) and
        `meta_d_minus_d` (median), because a ratio says little where d may be 0. `flags` is empty where nothing is the
        matter; `attrs` names interval, noise, verdict and notes.

    Raises
    ------
    DataError
        Where the fit has no such parameter or factor.
    """
    check_interval(interval, kind)
    fitted = read_fit(tree, parameter)
    words = words_of(fitted.parameter)
    unit = default_unit(fitted) if by is None else find_factor(fitted, by)
    rows, notes = _rows(fitted, unit)
    draws = np.stack([row.draws for row in rows])
    flat = draws.reshape(len(rows), -1)
    frame = pd.DataFrame(
        {
            "kind": [row.kind for row in rows],
            "level": [row.level for row in rows],
            "estimand": [row.estimand for row in rows],
            "n_cells": [len(row.cells) for row in rows],
            "n_answers": [int(fitted.n_answers[row.cells].sum()) for row in rows],
            **describe_draws(flat, interval, kind),
            words.below: share_of(flat < words.chance, flat),
        }
    )
    if fitted.parameter == "M":
        ratios = [beside_ratio(fitted, row.cells) for row in rows]
        frame["p_d_below_zero"] = [np.nan if r is None else r.below for r in ratios]
        frame["meta_d_minus_d"] = [np.nan if r is None else r.difference for r in ratios]
    frame = frame.assign(**measure_mixing(draws)._asdict())
    one = len(fitted.factors) == 1
    frame["flags"] = [list_flags(fitted, r.draws, r.cells, unit=one or r.kind == LEVEL) for r in rows]
    frame.attrs.update(_attributes(fitted, unit, notes), interval=interval, kind=kind)
    return frame


def _rows(fitted: Fitted, unit: str | None) -> tuple[list[Row], list[str]]:
    n_cells = len(fitted.factors)
    everything = np.arange(n_cells)
    if unit is None:
        return [Row(OVERALL, "all answers", "the only cell", fitted.draws.mean(axis=0), everything)], []
    others = [name for name in fitted.names if name != unit and fitted.factors[name].nunique() > 1]
    over = f"average over observed {' × '.join(others)}" if others else "observed"
    values, cells_of = _levels(fitted.factors[unit])
    rows = [
        Row(LEVEL, label, over, fitted.draws[cells].mean(axis=0), cells)
        for label, cells in zip(level_labels(values), cells_of, strict=True)
    ]
    observed = " × ".join([unit, *others])
    overall = f"average over observed {observed} ({n_cells} cells)"
    rows.append(Row(OVERALL, f"average of all {len(values)}", overall, fitted.draws.mean(axis=0), everything))
    centre = typical(fitted) if fitted.link != "identity" else None
    if centre is not None:
        rows.append(Row(TYPICAL, f"typical {unit}", "all group effects at 0", centre, everything[:0]))
    predicted, who = predict_new(fitted, unit), default_unit(fitted)
    if not isinstance(predicted, str):
        return rows + _predictions(fitted, unit, predicted), []
    by_level = predict_new(fitted, who) if who is not None and who != unit else predicted
    if isinstance(by_level, str):
        return rows, [f"no prediction for a new {unit}: {predicted}"]
    return rows + _predictions(fitted, str(who), by_level, by=unit), []


def _predictions(fitted: Fitted, unit: str, predicted: NewUnit, by: str | None = None) -> list[Row]:
    """Return the prediction for a new unit: one a level of `by`, or of a factor that differs between units only."""
    names = [str(f) for f in predicted.contexts]
    between = [by] if by is not None else [f for f in names if _between(fitted.factors, unit, f)]
    none = np.arange(0)
    if len(between) == 1:
        values, contexts_of = _levels(predicted.contexts[between[0]])
        return [
            Row(NEW, f"new {unit}, {between[0]} {label}", f"prediction for a new {unit}", draws, none)
            for label, draws in zip(
                level_labels(values), [predicted.draws[c].mean(axis=0) for c in contexts_of], strict=True
            )
        ]
    others = [f for f in names if predicted.contexts[f].nunique() > 1]
    over = f", average over observed {' × '.join(others)}" if others else ""
    return [Row(NEW, f"new {unit}", f"prediction for a new {unit}{over}", predicted.draws.mean(axis=0), none)]


def _between(factors: pd.DataFrame, unit: str, name: str) -> bool:
    """Say whether a factor has a few levels of which each unit has one, like the group of a person."""
    few = 1 < factors[name].nunique() <= min(10, factors[unit].nunique() - 1)
    return few and bool((factors.groupby(unit)[name].nunique() == 1).all())


def _levels(values: pd.Series) -> tuple[list[Any], list[NDArray[np.int64]]]:
    levels = sorted(values.unique())
    return levels, [np.flatnonzero(values == level) for level in levels]


def _attributes(fitted: Fitted, unit: str | None, notes: list[str]) -> dict[str, Any]:
    return {
        "parameter": fitted.parameter,
        "by": unit or "",
        "noise": fitted.noise,
        "converged": fitted.converged,
        "reasons": fitted.reasons,
        "notes": tuple(notes),
    }
