"""Maximum-likelihood meta-d′ for one cell or thousands, with standard errors and reasons.

Two steps, as Maniscalco & Lau (2012): d and c from the type-1 table, then meta_d and the confidence
criteria from the ratings given the outcomes. Standard errors are those of the stacked estimating
equations, so that they carry the error of d and c.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import jax
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hmeta.core.errors import DataError
from hmeta.infer.mle_check import Counts, check_options, check_pad, check_pair
from hmeta.mle.fit import Fits, efficiency, fit_cells
from hmeta.mle.status import FAILED, FLAGGED, OK, UNDEFINED, blank_failed, doubts, undefined_reasons
from hmeta.mle.table import (
    CountTable,
    Ratings,
    auroc2,
    from_counts,
    is_correct,
    occupied,
    outcome_counts,
    padded,
    ratings,
)
from hmeta.mle.zroc import zroc_slopes
from hmeta.spec.plan import ModelPlan

Floats = NDArray[np.float64]

COLUMNS = (
    "n", "accuracy", "auroc2", "n_levels", "d", "c", "meta_d", "M", "se_d", "se_meta_d", "se_M",
    "zroc_slope", "zroc_low", "zroc_high", "log_likelihood", "pad_change", "status", "reason",
)  # fmt: skip
"""Columns of `fit_mle` beside the factors, in order."""


@dataclass(frozen=True)
class CellFit:
    """The maximum-likelihood fit of one cell; undefined numbers are NaN, `reason` says why.

    Attributes
    ----------
    n : float
        Number of trials, without padding.
    accuracy, auroc2 : float
        Without padding.
    d, c, meta_d, M : float
    se_d, se_meta_d, se_M : float
    criteria : tuple of tuple of float
        Distances of the criteria between occupied levels from meta_c, for each response.
    log_likelihood : float
        Of the ratings given the outcomes.
    zroc_slope, zroc_low, zroc_high : float
        Slope of the type-1 z-ROC with its 95 % interval.
    pad : float or str
    pad_change : float
        Relative change of M by padding; NaN without padding.
    noise, meta_c : str
    status : {"ok", "flagged", "undefined", "failed"}
    reason : str
        Reasons joined with "; "; empty when `status` is ok.
    """

    n: float
    accuracy: float
    auroc2: float
    d: float
    c: float
    meta_d: float
    M: float
    se_d: float
    se_meta_d: float
    se_M: float
    criteria: tuple[tuple[float, ...], ...]
    log_likelihood: float
    zroc_slope: float
    zroc_low: float
    zroc_high: float
    pad: float | str
    pad_change: float
    noise: str
    meta_c: str
    status: str
    reason: str


def _fit(raw: Ratings, options: dict[str, object], pad: float | str) -> tuple[pd.DataFrame, Fits]:
    amount = check_pad(pad)
    with jax.enable_x64(True):
        used = raw if amount == 0.0 else padded(raw, amount)
        undefined = undefined_reasons(raw, used, occupied(raw).informative, occupied(used).too_many)
        fits = fit_cells(used, options, np.array([not reason for reason in undefined]))
        slope = _slopes(raw, options, undefined)
    failed = blank_failed(fits, undefined)
    ratio, error = efficiency(fits)
    change = np.full(raw.n_cells, np.nan)
    if used is not raw:
        change = ratio / _fit(raw, options, 0.0)[0]["M"].to_numpy() - 1.0
    auroc, n = auroc2(raw), outcome_counts(raw)
    found = doubts(fits, auroc, change, slope)
    frame = _frame(fits, n, auroc, raw.task)
    frame = frame.assign(M=ratio, se_M=error, pad_change=change)
    if slope is not None:
        frame[["zroc_slope", "zroc_low", "zroc_high"]] = slope
    used_levels = raw.table[raw.table["count"] > 0].groupby("cell")["value"].nunique()
    frame["n_levels"] = used_levels.reindex(range(raw.n_cells), fill_value=0).to_numpy()
    frame["status"] = [_status(u, f, x) for u, f, x in zip(undefined, failed, found, strict=True)]
    frame["reason"] = [f or "; ".join(x) for f, x in zip(failed, found, strict=True)]
    return frame, fits


def _status(undefined: str, failed: str, found: list[str]) -> str:
    if undefined or failed.startswith("d = 0"):
        return UNDEFINED
    return FAILED if failed else FLAGGED if found else OK


def _slopes(raw: Ratings, options: dict[str, object], undefined: list[str]) -> Floats | None:
    if raw.task != "binary" or options["noise"] != "normal" or (raw.sd_ratio != 1.0).any():
        return None
    return zroc_slopes(occupied(raw), np.array([not reason for reason in undefined]))


def _frame(fits: Fits, n: Floats, auroc: Floats, task: str) -> pd.DataFrame:
    total = n.sum(axis=1)
    right = n[:, is_correct(task, np.arange(n.shape[1]))].sum(axis=1)
    accuracy = np.divide(right, total, out=np.full_like(total, np.nan), where=total > 0)
    with np.errstate(invalid="ignore"):
        error = np.sqrt(fits.covariance[:, [0, 1], [0, 1]])
    columns = {"n": total, "accuracy": accuracy, "auroc2": auroc, "d": fits.type1.d}
    if task == "binary":
        columns["c"] = np.where(np.isfinite(fits.type1.d), fits.type1.c, np.nan)
    columns |= {"meta_d": fits.meta_d, "se_d": error[:, 0], "se_meta_d": error[:, 1]}
    return pd.DataFrame(columns).assign(log_likelihood=fits.log_likelihood)


def fit_counts(
    nR_S1: Counts,
    nR_S2: Counts,
    *,
    meta_c: Literal["absolute", "relative"] = "absolute",
    pad: float | str = 0.0,
    noise: str = "normal",
    on_undefined: Literal["reason", "raise"] = "reason",
) -> CellFit:
    """Fit binary meta-d′ to one pair of count arrays by maximum likelihood.

    Parameters
    ----------
    nR_S1, nR_S2 : sequence of float
        Counts of S1 and of S2 trials, ``[S1 high … S1 low, S2 low … S2 high]`` by response and rating.
    meta_c : {"absolute", "relative"}
        Where ratings part: at c (as HMeta-d), or at M·c (as Maniscalco & Lau).
    pad : float or {"1/(2K)", "included"}
        Added to every count before both steps; "included" allows fractions in counts padded already.
    noise : {"normal", "logistic", "gumbel_min", "gumbel_max"}
    on_undefined : {"reason", "raise"}
        Whether undefined estimates come back as NaN with a reason, or as an error.

    Returns
    -------
    CellFit

    Raises
    ------
    DataError
        For arrays that are no counts, fewer than two rating levels, or a stimulus without trials.

    Examples
    --------
    >>> fit = fit_counts([36, 24, 17, 20, 10, 12, 9, 2], [1, 4, 10, 11, 19, 18, 28, 39], meta_c="relative")
    >>> round(fit.d, 4), round(fit.meta_d, 4), round(fit.M, 4)
    (1.5041, 1.4607, 0.9712)
    """
    options = check_options("binary", {"noise": noise, "meta_c": meta_c})
    raw = check_pair(nR_S1, nR_S2, pad=pad)
    frame, fits = _fit(raw, options, pad)
    row = frame.iloc[0].to_dict()
    if on_undefined == "raise" and row["status"] in (UNDEFINED, FAILED):
        what = f"meta-d′ is undefined: {row['reason']} ({row['n']:g} trials)"
        raise DataError(what, where="nR_S1, nR_S2", mend="AUROC2 may still be reported")
    criteria = tuple(tuple(float(x) for x in side) for side in fits.criteria.get(0, ((), ())))
    names = CellFit.__dataclass_fields__
    numbers = {name: value if isinstance(value, str) else float(value) for name, value in row.items() if name in names}
    blank = dict.fromkeys(("zroc_slope", "zroc_low", "zroc_high"), np.nan)
    words: dict[str, Any] = {"criteria": criteria, "pad": pad, "noise": noise, "meta_c": meta_c}
    return CellFit(**{**blank, **numbers, **words})


def fit_mle(
    data: ModelPlan | CountTable,
    *,
    noise: str | None = None,
    meta_c: str | None = None,
    rule: str | None = None,
    pad: float | str = 0.0,
) -> pd.DataFrame:
    """Fit every cell by itself, with criteria of its own.

    Parameters
    ----------
    data : ModelPlan or CountTable
        A plan's formulas are not used: its cells, rows and likelihood options are.
    noise, meta_c, rule : str, optional
        Options of the likelihood; the plan's, or else the likelihood's defaults, where not given.
    pad : float or {"1/(2K)", "included"}
        Added to every outcome at every level of a criteria group before both steps.

    Returns
    -------
    DataFrame
        One row a cell: its factors, n, accuracy, auroc2, d, c (binary), meta_d, M, their standard errors,
        n_levels, log_likelihood, status and reason. No cell raises; undefined numbers are NaN.

    Raises
    ------
    SpecError
        For an option that the likelihood does not have, or an open task.
    """
    given = {"noise": noise, "meta_c": meta_c, "rule": rule}
    own = dict(data.options) if isinstance(data, ModelPlan) else {}
    options = check_options(data.task, {**own, **{k: v for k, v in given.items() if v is not None}})
    raw = _from_plan(data) if isinstance(data, ModelPlan) else from_counts(data)
    frame, _ = _fit(raw, options, pad)
    order = [name for name in COLUMNS if name in frame]
    return pd.concat([data.cells.reset_index(drop=True), frame[order]], axis=1).assign(
        **{k: str(v) for k, v in options.items()}
    )


def _from_plan(plan: ModelPlan) -> Ratings:
    """Read the rows of a plan; every cell gets criteria of its own."""
    rows, values = plan.rows, plan.criteria.level_values
    offset = np.concatenate([[0], np.cumsum([len(v) for v in values])])
    value = np.concatenate([np.asarray(v, dtype=float) for v in values])[offset[rows.ladder] + rows.level]
    columns = {"cell": rows.cell, "outcome": rows.outcome, "value": value, "count": rows.count}
    sd_ratio = float(plan.options.get("sd_ratio", 1.0))
    return ratings(plan.task, plan.cells, columns, sd_ratio=sd_ratio, ladder=rows.ladder)
