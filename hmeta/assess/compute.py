"""Every measure of every cell, with bootstrap intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from threading import Event
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from hmeta.assess.answers import ASKED, AnswerTable, Rows, answer_table
from hmeta.assess.cells import Cell, cell_factors, cells_of
from hmeta.assess.chance import can_shuffle, shuffled
from hmeta.assess.distinct import Distinct, Floats, Ints, Narrowed, distinct
from hmeta.assess.requests import requests_for
from hmeta.assess.screen import screen
from hmeta.assess.table import MetricTable, Resampling
from hmeta.core.errors import DataError
from hmeta.core.streams import stream
from hmeta.metrics.catalogue import Request
from hmeta.metrics.measure import MAY_LACK
from hmeta.resample.design import Design, design
from hmeta.resample.intervals import UNDEFINED, Interval, bca, percentile
from hmeta.resample.permutation import p_above, p_value

N_THREADS = 2
"""NumPy lets go of the interpreter while it draws and adds up."""

BY_LEVEL = frozenset({"brier_reliability", "brier_resolution"})
"""Measures, beside those of information, that learn something at each distinct confidence."""

MANY_LEVELS = 0.2
"""Levels an answer from which on that is hopeless."""

EFFICIENCY = "efficiency"
"""Family of the measures before which the validity screen speaks."""

Progress = Callable[[int, int], None]
"""Called with the cells done and the cells in all."""


def compute_metrics(
    ds: xr.Dataset,
    metrics: Sequence[str] | None = None,
    *,
    by: Sequence[str] = (),
    pool: Sequence[str] = (),
    resampling: Resampling | None = None,
    on_violation: str = "auto",
    duplicates: str = "error",
    progress: Progress | None = None,
) -> MetricTable:
    """Compute measures of confidence for each cell of a results file.

    Parameters
    ----------
    ds : Dataset
        Layout `trials` or `counts`.
    metrics : sequence of str, optional
        Names as `hmeta list metrics` shows them, with options in brackets: ``"ece(bins=15)"``. ``"all"`` is every
        measure that the file allows. Default: the main ones.
    by : sequence of str
        Segments, beside who answered, data set, scale and signal, which are always kept apart. With segments, a row
        for all of them together stands beside each.
    pool : sequence of str
        Columns to pool over that are otherwise kept apart.
    resampling : Resampling, optional
        Default: 10,000 bootstrap resamples of the answers, 95 % BCa intervals.
    on_violation, duplicates
        As for `validate`.
    progress : callable, optional

    Returns
    -------
    MetricTable

    Raises
    ------
    DataError
        For unknown measures, options or columns, and as for `validate`.

    Examples
    --------
    >>> from hmeta.trials.tables import trials_dataset
    >>> answers = pd.DataFrame({"model": "a", "correct": [1, 1, 0, 0], "confidence": [0.9, 0.6, 0.7, 0.2]})
    >>> table = compute_metrics(trials_dataset(answers, task="open"), ["auroc2"], resampling=Resampling(size=0))
    >>> table.frame["estimate"].tolist()
    [0.75]
    """
    table = answer_table(ds, pool=pool, on_violation=on_violation, duplicates=duplicates)
    plan = Resampling() if resampling is None else resampling
    plan.check(table)
    requests = requests_for(table, metrics)
    kept, segments = cell_factors(table, by, pool)
    jobs = _jobs(table, kept, segments)
    found = _run(jobs, table, requests, plan, progress or _ignore)
    frame = pd.DataFrame([row for rows in found for row in rows])
    notes = (
        *table.notes,
        *_pool_notes(table, pool),
        *_file_notes(ds),
        *_level_note(table, requests),
        *_cautions(requests, plan),
        *_bias_note(frame, plan),
    )
    screened = (
        screen(ds, duplicates=duplicates).brief() if any(r.measure.family == EFFICIENCY for r in requests) else []
    )
    factors = (*kept, *segments)
    return MetricTable(frame, factors, requests, plan, notes, table.report.render(), tuple(screened))


@dataclass(frozen=True)
class _Job:
    levels: dict[str, str]
    used: np.ndarray
    asked: np.ndarray
    number: int


def _jobs(table: AnswerTable, kept: list[str], segments: list[str]) -> list[_Job]:
    """Return every cell that was asked for anything; none of its answers may be usable."""
    used = {tuple(cell.levels.items()): cell.entries for cell in cells_of(table.used.factors, kept, segments)}
    asked: list[Cell] = cells_of(table.asked.factors, kept, segments)
    none = np.zeros(0, dtype=np.int64)
    return [
        _Job(cell.levels, used.get(tuple(cell.levels.items()), none), cell.entries, number)
        for number, cell in enumerate(asked)
    ]


def _run(
    jobs: list[_Job], table: AnswerTable, requests: tuple[Request, ...], plan: Resampling, progress: Progress
) -> list[list[dict[str, Any]]]:
    done: list[list[dict[str, Any]]] = [[] for _ in jobs]
    pool, stop = ThreadPoolExecutor(N_THREADS), Event()
    try:
        waiting = {pool.submit(_cell, job, table, requests, plan, stop): job.number for job in jobs}
        for count, future in enumerate(as_completed(waiting), start=1):
            done[waiting[future]] = future.result()
            progress(count, len(jobs))
    finally:
        stop.set()  # after an interruption the cells under way end at their next step
        pool.shutdown(wait=True, cancel_futures=True)
    return done


def _cell(
    job: _Job, table: AnswerTable, requests: tuple[Request, ...], plan: Resampling, stop: Event
) -> list[dict[str, Any]]:
    out: dict[str, dict[str, Any]] = {}
    sources = {"asked": table.asked.take(job.asked), "used": table.used.take(job.used)}
    for source, rows in sources.items():
        mine = [r for r in requests if bool(ASKED & set(r.measure.columns)) == (source == "asked")]
        if mine:
            rng = np.random.default_rng([stream(plan.seed, f"bootstrap {source}"), job.number])
            out |= {r.name: row for r, row in zip(mine, _measure(rows, mine, plan, rng, stop), strict=True)}
    n_excluded = float(sources["asked"].count.sum() - sources["used"].count.sum())
    return [{**job.levels, "metric": r.name, **out[r.name], "n_excluded": n_excluded} for r in requests]


@dataclass
class _Running:
    """One measure of one cell on its way."""

    request: Request
    narrowed: Narrowed
    estimate: float
    reason: str
    n: float
    replicates: list[Floats] = field(default_factory=list)

    def values(self, weights: Floats) -> Floats:
        """Return the measure for weights of its own rows."""
        return self.request.measure.compute(*self.narrowed.columns, weights=weights, **self.request.options)


def _measure(
    rows: Rows, requests: list[Request], plan: Resampling, rng: np.random.Generator, stop: Event
) -> list[dict[str, Any]]:
    names = list(dict.fromkeys(name for r in requests for name in r.measure.columns))
    wide = distinct({name: rows.columns[name] for name in names})
    observed = np.bincount(wide.row, weights=rows.count, minlength=wide.n_rows)
    narrowed = {r.measure.columns: wide.narrowed(r.measure.columns, may_lack=MAY_LACK) for r in requests}
    running = [_start(r, narrowed[r.measure.columns], wide, observed) for r in requests]
    design_, trouble = _design(rows, wide, plan)
    live = [one for one in running if one.request.resampled and not np.isnan(one.estimate)]
    if live and design_ is not None:
        for weights in design_.replicates(rng, plan.size):
            # Measures of the same columns get the same array, so that what they share is computed once.
            own = {id(one.narrowed): one.narrowed.weights(weights) for one in live}
            for one in live:
                _check(stop)
                one.replicates.append(one.values(own[id(one.narrowed)]))
    found = []
    for one in running:
        _check(stop)
        interval = _interval(one, design_, plan, rng)
        found.append({**_row(one, interval, plan, trouble), **_by_chance(one, observed, plan, rng)})
    return found


def _check(stop: Event) -> None:
    """End this cell's work where the user has interrupted."""
    if stop.is_set():
        raise KeyboardInterrupt


def _start(request: Request, narrowed: Narrowed, wide: Distinct, observed: Floats) -> _Running:
    names = request.measure.columns
    weights = narrowed.weights(observed)
    n = float(weights.sum())
    if n == 0 and observed.sum() > 0:
        return _Running(request, narrowed, np.nan, _lack(names, wide), n)
    reason = request.measure.why_undefined(dict(zip(names, narrowed.columns, strict=True)), weights)
    value = np.nan if reason else float(request.measure.compute(*narrowed.columns, weights=weights, **request.options))
    return _Running(request, narrowed, value, reason or ("" if value == value else "no finite value"), n)


def _lack(names: Sequence[str], wide: Distinct) -> str:
    empty = [name for name in names if name not in MAY_LACK and np.isnan(wide.columns[name]).all()]
    if "p_positive" in empty:
        return "confidence is a rating or has no declared scale: no probability of a verdict"
    if any(name == "probability" or name.startswith("scale_") for name in empty):
        return "no scale is declared"
    return f"{' and '.join(empty or names)} missing for every answer"


def _design(rows: Rows, wide: Distinct, plan: Resampling) -> tuple[Design | None, str]:
    """Return what is drawn, or None and why there can be no interval."""
    if not plan.size or not rows.count.sum():
        return None, ""
    if rows.count.sum() < 2:
        return None, "no interval: one answer"
    cluster = None if plan.cluster is None else _clusters(rows.factors[plan.cluster])
    stratum = None if plan.strata is None else _codes(rows.factors[plan.strata])
    try:
        return design(wide.row, rows.count, wide.n_rows, cluster=cluster, stratum=stratum), ""
    except DataError as error:
        if plan.cluster is None or "one cluster" not in error.what:
            raise
        return None, f"no interval: one {plan.cluster}"


def _codes(column: pd.Series) -> Ints:
    return pd.factorize(column, use_na_sentinel=False)[0].astype(np.int64)


def _clusters(column: pd.Series) -> Ints:
    """Return codes in which every missing value is a cluster of its own."""
    codes = pd.factorize(column)[0].astype(np.int64)
    missing = np.flatnonzero(codes < 0)
    codes[missing] = codes.max(initial=-1) + 1 + np.arange(len(missing))
    return codes


def _row(one: _Running, interval: Interval, plan: Resampling, trouble: str) -> dict[str, Any]:
    n_undefined = plan.size - interval.n_defined if one.replicates else 0
    return {
        "estimate": one.estimate,
        "lower": interval.lower,
        "upper": interval.upper,
        "standard_error": interval.standard_error,
        "bias": interval.bias,
        "n": one.n,
        "n_undefined": n_undefined,
        "reason": one.reason or trouble or _no_ends(interval, one),
    }


def _no_ends(interval: Interval, one: _Running) -> str:
    if one.replicates and np.isfinite(one.estimate) and np.isnan(interval.lower):
        return "no interval: every resample lies on one side of the estimate"
    return ""


def _by_chance(one: _Running, observed: Floats, plan: Resampling, rng: np.random.Generator) -> dict[str, float]:
    """Return the mean of the measure where confidence is dealt out at random, and the p-value of the estimate."""
    if not plan.null:
        return {}
    request = one.request
    if np.isnan(one.estimate) or not can_shuffle(request.measure.columns):
        return {"null_mean": np.nan, "p_null": np.nan}
    named = dict(zip(request.measure.columns, one.narrowed.columns, strict=True))
    dealt = shuffled(rng, named, one.narrowed.weights(observed), plan.null)
    null = np.concatenate(
        [request.measure.compute(*columns, weights=weights, **request.options) for columns, weights in dealt]
    )
    if not np.isfinite(null).any():
        return {"null_mean": np.nan, "p_null": np.nan}
    mean = float(np.nanmean(null))
    sign = {"higher": 1.0, "lower": -1.0}.get(request.measure.better)
    p = p_value(null - mean, one.estimate - mean) if sign is None else p_above(sign * null, sign * one.estimate)
    return {"null_mean": mean, "p_null": p}


def _interval(one: _Running, design_: Design | None, plan: Resampling, rng: np.random.Generator) -> Interval:
    if not one.replicates or design_ is None:
        return UNDEFINED
    replicates = np.concatenate(one.replicates)
    if plan.kind == "percentile":
        return percentile(replicates, one.estimate, plan.level)
    left_out = [(one.values(one.narrowed.weights(weights)), n) for weights, n in design_.jackknife(rng)]
    values, multiplicity = (np.concatenate(parts) for parts in zip(*left_out, strict=True))
    return bca(replicates, one.estimate, plan.level, values, multiplicity)


def _pool_notes(table: AnswerTable, pool: Sequence[str]) -> list[str]:
    return [
        f"pooled over {table.used.factors[name].nunique()} levels of {name}: differences between them count as well"
        for name in pool
        if table.used.factors[name].nunique() > 1
    ]


def _file_notes(ds: xr.Dataset) -> list[str]:
    """Say what a file that hmeta calibrate wrote cannot tell."""
    if "calibration" not in ds.attrs or "calibration_fold" not in ds:
        return []
    return [
        "this confidence was calibrated by a map for each fold: measures of order and of information mix those maps; "
        "compute them from confidence_raw"
    ]


def _level_note(table: AnswerTable, requests: Sequence[Request]) -> list[str]:
    """Say that measures of what each level tells are nonsense where nearly every answer has a level of its own."""
    named = [r.name for r in requests if r.measure.family == "information" or r.measure.name in BY_LEVEL]
    levels = len(np.unique(table.used.columns["confidence"]))
    if not named or levels < MANY_LEVELS * table.used.count.sum():
        return []
    return [
        f"{', '.join(named)}: confidence takes {levels:,} values in {table.used.count.sum():,.0f} answers, and what a "
        "value tells cannot be learnt from one answer; round the confidences first"
    ]


def _cautions(requests: Sequence[Request], plan: Resampling) -> list[str]:
    """Return what is to be said wherever the measures are shown."""
    named: dict[str, list[str]] = {}
    for request in requests:
        if request.measure.caution:
            named.setdefault(request.measure.caution, []).append(request.name)
    slow = [r.name for r in requests if not r.resampled]
    told = [f"{', '.join(names)}: {text}" for text, names in named.items()]
    if slow and plan.size:
        told.append(f"{', '.join(slow)}: no interval, for that takes minutes a cell; name the measure to get it")
    return told


def _bias_note(frame: pd.DataFrame, plan: Resampling) -> list[str]:
    """Name the measures whose resamples lie beside the estimate by more than half a standard error."""
    if plan.kind != "percentile" or not len(frame) or not frame["standard_error"].notna().any():
        return []
    rounding = 1e-9 * frame["estimate"].abs().clip(lower=1.0)
    far = frame[frame["bias"].abs() > (0.5 * frame["standard_error"]).clip(lower=rounding)]
    names = ", ".join(dict.fromkeys(far["metric"]))
    return (
        [f"resamples are biased for {names}: percentile intervals lie beside the truth, bca corrects"] if names else []
    )


def _ignore(done: int, total: int) -> None:
    del done, total
