"""From a specification and data to a `ModelPlan`: a pure function of both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from math import isinf

import pandas as pd
import xarray as xr

from hmeta.core.errors import SpecError
from hmeta.core.registry import did_you_mean
from hmeta.spec.design import Designed, design_parameter
from hmeta.spec.formula_parts import Formula, parse_criteria, parse_formula, refuse_unknown
from hmeta.spec.ladders import Counts, CriteriaPriors, Laddered, build_ladders
from hmeta.spec.likelihoods import FAMILIES
from hmeta.spec.model_file import ModelSpec
from hmeta.spec.plan import ModelPlan, Prior
from hmeta.spec.priors import CRITERIA_DEFAULTS, DEFAULTS, PriorTable
from hmeta.spec.refusals import (
    factor_names,
    refuse_derived_verdict,
    refuse_mismatch,
    refuse_missing,
    refuse_mixed_scales,
    refuse_one_level,
    refuse_outcome,
    refuse_task,
    refuse_uninformative,
    source_name,
)
from hmeta.spec.toml_text import render_model
from hmeta.trials.count_table import CountTable, count_table


def plan(spec: ModelSpec, ds: xr.Dataset, *, columns: Mapping[str, str] | None = None) -> ModelPlan:
    """Make a model ready for a backend.

    Parameters
    ----------
    spec : ModelSpec
    ds : Dataset
        Validated trials or counts.
    columns : mapping, optional
        The model's words to columns of the data, for example ``{"dataset": "domain"}``; words that are
        not named are columns themselves.

    Returns
    -------
    ModelPlan
        Its cells are the distinct combinations of every column that a formula uses.

    Raises
    ------
    SpecError
        Where model and data do not go together.
    """
    source = source_name(ds)
    task = refuse_task(ds)
    refuse_mismatch(task, spec.likelihood, where=spec.where, source=source)
    formulas = {name: parse_formula(p.formula, p.where) for name, p in spec.parameters.items()}
    criteria = parse_criteria(spec.criteria.formula, spec.criteria.where)
    names = _words(spec, formulas, criteria, ds, columns or {})
    refuse_missing(ds, [*names.values(), *(["n_options"] if task == "mafc" else [])])
    refuse_mixed_scales(ds, () if spec.criteria.pooling == "partial" else criteria, names, spec.criteria.where)
    table = count_table(ds, _counted_by(ds, names))
    refuse_one_level(table.confidence, source)
    if task == "binary":
        refuse_derived_verdict(table.outcome, table.confidence, source)
    cells = _rename(table, names)
    priors = PriorTable(spec.priors)
    laddered = _ladders(spec, criteria, task, cells, table, priors)
    refuse_uninformative(laddered.n_informative, spec.criteria.where)
    designed = {
        name: design_parameter(
            name,
            formulas[name],
            parameter.link,
            cells,
            defaults=DEFAULTS[spec.likelihood, name, parameter.link],
            priors=priors,
        )
        for name, parameter in spec.parameters.items()
    }
    priors.refuse_unused(spec.where)
    return _assemble(spec, cells, laddered, designed, priors)


def _words(
    spec: ModelSpec,
    formulas: Mapping[str, Formula],
    criteria: tuple[str, ...],
    ds: xr.Dataset,
    columns: Mapping[str, str],
) -> dict[str, str]:
    """Return every word of the formulas with the column it is read from."""
    known, source = factor_names(ds), source_name(ds)
    used: dict[str, str] = {word: f.where for f in formulas.values() for word in f.columns}
    used |= {word: spec.criteria.where for word in criteria if word not in used}
    for word, column in columns.items():
        where = f"--map {word}={column}"
        if word not in used:
            raise SpecError(
                f'the model has no word "{word}"', where=where, allowed=tuple(used), mend=did_you_mean(word, used)
            )
        refuse_unknown([column], known, where=where, source=source)
    for word, where in used.items():
        if word not in columns:
            refuse_outcome(word, ds, where)
            refuse_unknown([word], known, where=where, source=source)
    return {word: columns.get(word, word) for word in used}


def _counted_by(ds: xr.Dataset, names: Mapping[str, str]) -> list[str]:
    """Return the columns to count by; `scale` always, for a criteria group has one scale anyway."""
    there = [*names.values(), *(["scale"] if "scale" in ds.variables else [])]
    return [column for column in dict.fromkeys(there) if column != "n_options"]


def _rename(table: CountTable, names: Mapping[str, str]) -> pd.DataFrame:
    """Return the cells in the model's words."""
    cells = {word: table.cells[column].reset_index(drop=True) for word, column in names.items()}
    if table.task == "mafc":
        cells["n_options"] = table.cells["n_options"].reset_index(drop=True)
    return pd.DataFrame(cells, index=range(len(table.cells)))


def _ladders(
    spec: ModelSpec, columns: tuple[str, ...], task: str, cells: pd.DataFrame, table: CountTable, priors: PriorTable
) -> Laddered:
    pooled = spec.criteria.pooling == "partial"
    family = FAMILIES[spec.likelihood]
    return build_ladders(
        task,
        cells,
        Counts(table.cell, table.outcome, table.confidence, table.count),
        columns=columns,
        formula=spec.criteria.formula,
        pooled=pooled,
        priors=_criteria_priors(priors, pooled=pooled, free=isinf(family.lowest)),
        headline=family.headline,
    )


def _criteria_priors(priors: PriorTable, *, pooled: bool, free: bool) -> CriteriaPriors:
    """Return the priors of the criteria; `free` ladders have an anchor."""
    name = "criteria.mean" if pooled else "criteria"
    return CriteriaPriors(
        gap=priors.take(name, CRITERIA_DEFAULTS[name]),
        sd=priors.take("criteria.sd", CRITERIA_DEFAULTS["criteria.sd"]) if pooled else None,
        anchor=priors.take("criteria.anchor", CRITERIA_DEFAULTS["criteria.anchor"]) if free else None,
    )


def _assemble(
    spec: ModelSpec, cells: pd.DataFrame, laddered: Laddered, designed: Mapping[str, Designed], priors: PriorTable
) -> ModelPlan:
    return ModelPlan(
        task=FAMILIES[spec.likelihood].task,
        likelihood=spec.likelihood,
        options=dict(spec.options),
        cells=cells,
        rows=laddered.rows,
        parameters={name: d.plan for name, d in designed.items()},
        criteria=laddered.criteria,
        spec_text=render_model(replace(spec, priors=dict(_ordered(priors, designed)))),
        notes=tuple(dict.fromkeys([*laddered.notes, *(note for d in designed.values() for note in d.notes)])),
    )


def _ordered(priors: PriorTable, designed: Iterable[str]) -> list[tuple[str, Prior]]:
    """Return every prior that the model uses, parameters first, criteria last."""
    order = [*designed, "criteria"]
    return sorted(priors.asked.items(), key=lambda item: order.index(item[0].split(".")[0]))
