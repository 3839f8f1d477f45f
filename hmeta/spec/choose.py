"""The shipped model that fits the task and the factors at hand, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pandas as pd
import xarray as xr

from hmeta.spec.likelihoods import FAMILIES
from hmeta.spec.refusals import factor, factor_names, refuse_task

UNITS = ("participant", "model")
DATASETS = ("dataset", "domain")
WITHIN = ("condition", "task")

MAX_CONDITIONS = 20
"""A column with more values than this is a covariate rather than a set of conditions."""


@dataclass(frozen=True)
class Choice:
    """A shipped model, the columns its words are read from, and why it was chosen."""

    name: str
    why: str
    columns: dict[str, str] = field(default_factory=dict)


def choose_model(ds: xr.Dataset) -> Choice:
    """Choose a shipped model by the kind of task and the factors that vary.

    Parameters
    ----------
    ds : Dataset
        Validated trials or counts.

    Returns
    -------
    Choice
        Its `columns` go to `plan`.

    Raises
    ------
    SpecError
        For data that lack what their kind of task needs, and for published estimates.
    """
    task = refuse_task(ds)
    names = (*UNITS, *DATASETS, *WITHIN, "group", "scale")
    there = [name for name in factor_names(ds) if name in names]
    factors = pd.DataFrame({name: factor(ds, name) for name in there}).drop_duplicates()
    return _choose_binary(factors) if task == "binary" else _choose_crossed(factors, task)


def _choose_binary(factors: pd.DataFrame) -> Choice:
    unit = _varying(factors, UNITS)
    if unit is None:
        return Choice("binary_single", _why("binary", factors, ()))
    columns = _columns(participant=unit)
    within = [name for name in WITHIN if _varies_within(factors, unit, name)]
    if within:
        columns |= _columns(condition=within[0])
        return Choice("binary_within_person", _why("binary", factors, (unit, within[0])), columns)
    if _count(factors, "group") > 1 and not _varies_within(factors, unit, "group"):
        return Choice("binary_two_group", _why("binary", factors, (unit, "group")), columns)
    return Choice("binary_hierarchical", _why("binary", factors, (unit,)), columns)


def _choose_crossed(factors: pd.DataFrame, task: str) -> Choice:
    family = next(name for name, family in FAMILIES.items() if family.task == task)
    unit, dataset = _varying(factors, UNITS[::-1]), _varying(factors, DATASETS)
    scaled = _count(factors, "scale") > 1
    if unit is not None and dataset is not None:
        kind = "by_scale" if scaled else "pooled"
        used = [unit, dataset]
        columns = _columns(model=unit, dataset=dataset)
    elif unit is not None or dataset is not None:
        only = unit if unit is not None else str(dataset)
        kind = "by_scale_hierarchical" if scaled else "hierarchical"
        used = [only]
        columns = _columns(model=only)
    else:
        kind, used, columns = ("by_scale_single" if scaled else "single"), [], {}
    return Choice(f"{family}_{kind}", _why(task, factors, (*used, "scale") if scaled else used), columns)


def _columns(**words: str) -> dict[str, str]:
    return {word: column for word, column in words.items() if word != column}


def _count(factors: pd.DataFrame, name: str) -> int:
    return int(factors[name].nunique()) if name in factors else 0


def _varying(factors: pd.DataFrame, names: Sequence[str]) -> str | None:
    return next((name for name in names if _count(factors, name) > 1), None)


def _varies_within(factors: pd.DataFrame, unit: str, name: str) -> bool:
    """Say whether at least half of the units have two or more levels of a factor."""
    if not 2 <= _count(factors, name) <= MAX_CONDITIONS:
        return False
    return float((factors.groupby(unit)[name].nunique() > 1).mean()) >= 0.5


def _why(task: str, factors: pd.DataFrame, used: Sequence[str]) -> str:
    modelled = " × ".join(f"{_count(factors, name)} levels of {name}" for name in used) or "one unit"
    ignored = [name for name in factors if _count(factors, str(name)) > 1 and name not in used]
    pooled = f"; pooled over {', '.join(map(str, ignored))}" if ignored else ""
    return f"{task} task with {modelled}{pooled}"
