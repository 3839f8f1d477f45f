"""Conditions against a baseline: differences of measures with paired intervals and permutation tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from hmeta.assess.answers import ASKED, AnswerTable, answer_table
from hmeta.assess.cells import MEAN, cell_factors, cells_of
from hmeta.assess.compute import Progress
from hmeta.assess.distinct import Floats, Narrowed
from hmeta.assess.pairs import Paired, Unit, pair_units
from hmeta.assess.requests import requests_for
from hmeta.assess.table import check_level, check_seed
from hmeta.core.errors import DataError
from hmeta.core.registry import did_you_mean
from hmeta.core.streams import stream
from hmeta.metrics.catalogue import Request
from hmeta.resample.intervals import UNDEFINED, percentile
from hmeta.resample.multiplicity import check_correction, correct_p_values
from hmeta.resample.permutation import p_value, shuffle_groups, swap_pairs

ITEM = "item"


@dataclass(frozen=True)
class TestOptions:
    """How differences are tested.

    Attributes
    ----------
    resamples, permutations : int
    level : float
    pair : str or None
        The column whose levels are answered under both conditions; "auto" is `item` where the file has it.
    correction : {"holm", "bonferroni", "bh", "none"}
    seed : int
    """

    resamples: int = 10_000
    permutations: int = 10_000
    level: float = 0.95
    pair: str | None = "auto"
    correction: str = "holm"
    seed: int = 0

    __test__ = False  # no test class, whatever its name says to pytest

    def check(self) -> None:
        """Refuse impossible numbers and unknown corrections."""
        for name, number in (("resamples", self.resamples), ("permutations", self.permutations)):
            if number < 100:
                raise DataError(f"too few {name}", received=str(number), allowed="100 and more")
        check_level(self.level)
        check_seed(self.seed)
        check_correction(self.correction)


@dataclass(frozen=True)
class Comparison:
    """Differences from a baseline.

    Attributes
    ----------
    frame : DataFrame
        One row a unit, level and measure: the factors, `level`, `metric`, `at_baseline`, `at_level`, `difference`
        (level − baseline), `lower`, `upper`, `standard_error`, `p` (permutation, two-sided), `p_corrected`,
        `n_pairs`, `n_left_out` and `reason`. With several units, rows `(mean)` hold the average over them.
    condition, baseline : str
    pair : str or None
    options : TestOptions
    notes : tuple of str
    validation : str
    """

    frame: pd.DataFrame
    factors: tuple[str, ...]
    condition: str
    baseline: str
    pair: str | None
    options: TestOptions
    notes: tuple[str, ...]
    validation: str


def compare_conditions(
    ds: xr.Dataset,
    condition: str,
    *,
    baseline: str | None = None,
    metrics: Sequence[str] | None = None,
    by: Sequence[str] = (),
    options: TestOptions | None = None,
    on_violation: str = "auto",
    duplicates: str = "error",
    progress: Progress | None = None,
) -> Comparison:
    """Test whether measures differ between the levels of a condition and a baseline level.

    Items answered under both levels are pairs: resamples draw whole items, with all units' answers to them, and
    permutations swap the two levels within an item. Answers to items that only one level has are left out and
    counted. Without items, answers are drawn and shuffled by themselves.

    Parameters
    ----------
    ds : Dataset
        Layout `trials`; `counts` hold no items and are compared unpaired.
    condition : str
        The factor whose levels are compared.
    baseline : str, optional
        Default: the first level.
    metrics : sequence of str, optional
        As for `compute_metrics`.
    by : sequence of str
        Segments; each is compared by itself.
    options : TestOptions, optional
    on_violation, duplicates, progress
        As for `compute_metrics`.

    Returns
    -------
    Comparison

    Raises
    ------
    DataError
        For unknown factors, levels or measures, and a condition with one level.

    Examples
    --------
    >>> from hmeta.trials.tables import trials_dataset
    >>> table = pd.DataFrame({"model": "a", "item": [1, 2, 3, 4] * 2, "condition": ["x"] * 4 + ["y"] * 4})
    >>> table = table.assign(correct=[1, 1, 0, 0] * 2, confidence=[0.9, 0.8, 0.3, 0.2, 0.9, 0.4, 0.5, 0.6])
    >>> quick = TestOptions(resamples=100, permutations=100)
    >>> found = compare_conditions(trials_dataset(table, task="open"), "condition", metrics=["auroc2"], options=quick)
    >>> found.frame["difference"].tolist()
    [-0.5]
    """
    chosen = TestOptions() if options is None else options
    chosen.check()
    # A permutation gives a condition answers of the other one, and with them their scale.
    table = answer_table(ds, pool=[condition], on_violation=on_violation, duplicates=duplicates)
    levels, base = _levels(table, condition, baseline)
    requests = requests_for(table, metrics)
    _refuse_asked(requests)
    pair = _pair_column(table, condition, chosen.pair)
    kept, segments = cell_factors(table, by, ())
    factors = [name for name in (*kept, *segments) if name != condition]
    rows: list[dict[str, Any]] = []
    for number, level in enumerate(levels):
        rows += _one_level(table, (condition, level, base), factors, requests, (pair, chosen))
        if progress is not None:
            progress(number + 1, len(levels))
    frame = _corrected(pd.DataFrame(rows), factors, chosen.correction)
    notes = (*table.notes, *_notes(pair, factors, chosen, frame))
    return Comparison(frame, tuple(factors), condition, base, pair, chosen, notes, table.report.render())


def _levels(table: AnswerTable, condition: str, baseline: str | None) -> tuple[list[str], str]:
    if condition not in table.factors:
        raise DataError(
            f'factor "{condition}" is not in the data',
            received=condition,
            allowed=list(table.factors),
            mend=did_you_mean(condition, table.factors),
        )
    found = [cell.levels[condition] for cell in cells_of(table.used.factors, [condition], [])]
    if len(found) < 2:
        raise DataError(
            "a condition needs two levels or more", where=f"column {condition}", received=", ".join(found) or "none"
        )
    base = found[0] if baseline is None else baseline
    if base not in found:
        raise DataError(f'"{base}" is no level of {condition}', allowed=found, mend=did_you_mean(base, found))
    return [level for level in found if level != base], base


def _refuse_asked(requests: Sequence[Request]) -> None:
    asked = [r.name for r in requests if ASKED & set(r.measure.columns)]
    if asked:
        raise DataError(
            "measures of answers that validation may exclude cannot be compared here",
            received=", ".join(asked),
            mend="compute them for each level: hmeta metrics --by",
        )


def _pair_column(table: AnswerTable, condition: str, pair: str | None) -> str | None:
    if pair == "auto":
        return ITEM if ITEM in table.factors and condition != ITEM else None
    possible = [name for name in table.factors if name != condition and name not in table.kept]
    if pair is not None and pair not in possible:
        raise DataError(
            f'column "{pair}" cannot pair answers',
            where="--pair",
            allowed=possible or "none: this file has no column that could",
            mend=did_you_mean(pair, possible),
        )
    return pair


class _Run(NamedTuple):
    """One unit and measure on its way."""

    request: Request
    unit: Unit
    narrowed: Narrowed

    def value(self, weights: Floats) -> Floats:
        """Return the measure for weights over this unit's distinct rows."""
        return self.request.measure.compute(
            *self.narrowed.columns, weights=self.narrowed.weights(weights), **self.request.options
        )

    def of(self, weights: Floats) -> Floats:
        """Return the measure for weights over the distinct rows of all units."""
        return self.value(weights[..., self.unit.span])

    def undefined(self, weights: Floats) -> str:
        """Return why there is no value, or ""."""
        names = self.request.measure.columns
        named = dict(zip(names, self.narrowed.columns, strict=True))
        if not len(self.narrowed.kept):
            return f"{' and '.join(names)} missing for every answer"
        return self.request.measure.why_undefined(named, self.narrowed.weights(weights))


def _one_level(
    table: AnswerTable,
    place: tuple[str, str, str],
    factors: list[str],
    requests: tuple[Request, ...],
    how: tuple[str | None, TestOptions],
) -> list[dict[str, Any]]:
    condition, level, base = place
    pair, options = how
    word = _words(table, condition)
    rows = table.used.take(np.flatnonzero(np.isin(word, [level, base])))
    is_first = word[np.isin(word, [level, base])] == level
    every = cells_of(rows.factors, factors, [])
    cells = [c for c in every if is_first[c.entries].any() and (~is_first[c.entries]).any()]
    if not cells:
        return []
    columns = list(dict.fromkeys(name for r in requests for name in r.measure.columns))
    paired = pair_units(rows, cells, is_first, columns, pair)
    runs = [_Run(r, unit, unit.rows.narrowed(r.measure.columns)) for unit in paired.units for r in requests]
    drawn = null = [np.zeros(0)] * len(runs)
    if paired.n_rows:
        drawn = _differences(runs, _bootstrap(paired, options, f"{condition} {level}"))
        null = _differences(runs, _permuted(paired, options, f"{condition} {level}"))
    found = [_row(run, drawn[i], null[i], options) for i, run in enumerate(runs)]
    means = _means(found, drawn, null, requests, options) if len(paired.units) > 1 else []
    blank = dict.fromkeys(factors, MEAN)
    heads = [run.unit.levels for run in runs] + [blank] * len(means)
    return [{**head, "level": level, **row} for head, row in zip(heads, [*found, *means], strict=True)]


def _words(table: AnswerTable, condition: str) -> np.ndarray:
    words = np.empty(len(table.used.count), dtype=object)
    for cell in cells_of(table.used.factors, [condition], []):
        words[cell.entries] = cell.levels[condition]
    return words


def _bootstrap(paired: Paired, options: TestOptions, name: str) -> Iterator[tuple[Floats, Floats]]:
    rng = np.random.default_rng(stream(options.seed, f"bootstrap {name}"))
    for weights in paired.design.replicates(rng, options.resamples):
        yield paired.halves(weights)


def _permuted(paired: Paired, options: TestOptions, name: str) -> Iterator[tuple[Floats, Floats]]:
    rng = np.random.default_rng(stream(options.seed, f"permutation {name}"))
    if paired.first is not None:
        yield from swap_pairs(rng, paired.first, paired.second, paired.multiplicity, options.permutations)
        return
    sides = [shuffle_groups(rng, _whole(u.first), _whole(u.second), options.permutations) for u in paired.units]
    parts = [list(pairs) for pairs in sides]
    yield tuple(np.concatenate([np.concatenate([pair[i] for pair in unit]) for unit in parts], axis=-1) for i in (0, 1))  # type: ignore[misc]


def _whole(counts: Floats) -> np.ndarray:
    return counts.astype(np.int64)


def _differences(runs: Sequence[_Run], weights: Iterator[tuple[Floats, Floats]]) -> list[Floats]:
    """Return the difference of each run in every replicate, level − baseline."""
    out: list[list[Floats]] = [[] for _ in runs]
    for first, second in weights:
        for values, run in zip(out, runs, strict=True):
            with np.errstate(invalid="ignore"):
                values.append(run.of(first) - run.of(second))
    return [np.concatenate(values) if values else np.zeros(0) for values in out]


def _row(run: _Run, drawn: Floats, null: Floats, options: TestOptions) -> dict[str, Any]:
    why = run.undefined(run.unit.first) or run.undefined(run.unit.second)
    at = [np.nan if why else float(run.value(side)) for side in (run.unit.first, run.unit.second)]
    if np.isinf(at).any():
        why = "infinite: an answer at certainty was wrong" if run.request.measure.name == "log_score" else "infinite"
    row = _summary(run.request.name, (at[0], at[1]), drawn, null, options)
    return {**row, "n_pairs": run.unit.n_pairs, "n_left_out": run.unit.n_left_out, "reason": why}


def _summary(name: str, at: tuple[float, float], drawn: Floats, null: Floats, options: TestOptions) -> dict[str, Any]:
    with np.errstate(invalid="ignore"):
        difference = float(np.subtract(*at))
    interval = percentile(drawn, difference, options.level) if len(drawn) else UNDEFINED
    return {
        "metric": name,
        "at_baseline": at[1],
        "at_level": at[0],
        "difference": difference,
        "lower": interval.lower,
        "upper": interval.upper,
        "standard_error": interval.standard_error,
        "n_undefined": len(drawn) - interval.n_defined,
        "p": p_value(null, difference),
    }


def _means(
    found: list[dict[str, Any]],
    drawn: list[Floats],
    null: list[Floats],
    requests: tuple[Request, ...],
    options: TestOptions,
) -> list[dict[str, Any]]:
    """Return the average over the units that have a value, for each measure."""
    rows = []
    for place, request in enumerate(requests):
        mine = [i for i in range(place, len(found), len(requests)) if not np.isnan(found[i]["difference"])]
        if not mine:
            nothing = _summary(request.name, (np.nan, np.nan), np.zeros(0), np.zeros(0), options)
            rows.append({**nothing, "n_pairs": 0, "n_left_out": 0.0, "reason": "no unit has a value"})
            continue
        at = tuple(float(np.mean([found[i][side] for i in mine])) for side in ("at_level", "at_baseline"))
        average = [_mean_of_defined([values[i] for i in mine]) for values in (drawn, null)]
        row = _summary(request.name, (at[0], at[1]), average[0], average[1], options)
        numbers = {key: sum(found[i][key] for i in mine) for key in ("n_pairs", "n_left_out")}
        rows.append({**row, **numbers, "reason": ""})
    return rows


def _mean_of_defined(values: list[Floats]) -> Floats:
    """Return the mean over the units in each replicate, of those that have a value in it; NaN where none has."""
    stacked = np.array(values)
    there = ~np.isnan(stacked)
    n = there.sum(axis=0)
    return np.where(n > 0, np.where(there, stacked, 0.0).sum(axis=0) / np.maximum(n, 1), np.nan)


def _corrected(frame: pd.DataFrame, factors: list[str], method: str) -> pd.DataFrame:
    """Correct p-values over all tests of units, and over all tests of averages, each family by itself."""
    if not len(frame):
        raise DataError(
            "no unit has answers under both conditions",
            mend="different units at each level are compared by a model: hmeta fit with the column in a formula, then "
            "hmeta contrast; hmeta metrics --by COLUMN --average UNIT shows the levels side by side",
        )
    is_mean = (frame[factors] == MEAN).all(axis=1) if factors else pd.Series(False, index=frame.index)
    out = np.full(len(frame), np.nan)
    for family in (is_mean.to_numpy(), ~is_mean.to_numpy()):
        out[family] = correct_p_values(frame["p"].to_numpy()[family], method)
    frame.insert(list(frame.columns).index("p") + 1, "p_corrected", out)
    return frame


def _notes(pair: str | None, factors: list[str], options: TestOptions, frame: pd.DataFrame) -> list[str]:
    if pair is None:
        notes = ["answers are not paired: they are drawn and shuffled by themselves, each condition keeping its number"]
    else:
        notes = [
            f"paired by {pair}: resamples draw whole {pair}s, permutations swap the conditions within the same {pair}"
        ]
    lost = int((frame["n_undefined"] > 0.05 * options.resamples).sum())
    if lost:
        notes.append(
            f"{lost} intervals leave out more than 5 % of the resamples, where a measure has no value: n_undefined"
        )
    left_out = frame["n_left_out"].max()
    if left_out:
        notes.append(f"up to {left_out:g} answers of a unit are left out: their {pair} has no partner")
    if options.correction != "none":
        n = int((frame["p"].notna()).sum())
        notes.append(
            f"p-values corrected by {options.correction} over {n} tests, units and averages each by themselves"
        )
    if factors and (frame[factors] == MEAN).all(axis=1).any():
        notes.append(f"{MEAN} averages over the observed units; it says nothing about new ones")
    return notes
