"""From a checked formula and the cells to the design of one parameter.

No matrix has a column for each level of a grouping factor: a group term keeps its coefficients' columns
and, for every design row, the position of its level.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from hmeta.core.errors import SpecError
from hmeta.spec.formula_parts import Formula, Group
from hmeta.spec.formula_tree import columns_of
from hmeta.spec.formulas import Term, evaluate
from hmeta.spec.plan import CommonTerm, Floats, GroupTerm, Ints, ParameterPlan
from hmeta.spec.priors import Defaults, PriorTable

SPAN_TOLERANCE = 1e-8
"""A vector is in a column span when its residual is below this share of its length."""


class Designed(NamedTuple):
    """The design of one parameter and what its user should know."""

    plan: ParameterPlan
    notes: tuple[str, ...]


def distinct(cells: pd.DataFrame, columns: Sequence[str]) -> tuple[pd.DataFrame, Ints]:
    """Return the distinct combinations of some columns, sorted, and for each cell which one it has."""
    if not columns:
        return pd.DataFrame(index=range(1)), np.zeros(len(cells), dtype=np.int64)
    grouped = cells.groupby(list(columns), sort=True, observed=True, dropna=False)
    codes = np.asarray(grouped.ngroup(), dtype=np.int64)
    _, first = np.unique(codes, return_index=True)
    return cells.iloc[first][list(columns)].reset_index(drop=True), codes


def label(row: Sequence[object]) -> str:
    """Return how a combination of factor values is named, "a" or "a:b"."""
    return ":".join(str(value) for value in row)


def design_parameter(
    name: str, formula: Formula, link: str, cells: pd.DataFrame, *, defaults: Defaults, priors: PriorTable
) -> Designed:
    """Build the design of one parameter over the distinct rows that its formula sees.

    Parameters
    ----------
    name : str
        The parameter.
    formula : Formula
    link : str
    cells : DataFrame
        (cell, column), with every column of the formula.
    defaults : Defaults
        The default priors of this parameter.
    priors : PriorTable
        The priors that the model file gives; it takes note of what is used.

    Raises
    ------
    SpecError
        For a predictor or grouping factor with one value, or a term that cannot be evaluated.
    """
    predictors = [*columns_of(formula.common), *(c for g in formula.groups for c in columns_of(g.expression))]
    _refuse_constant(predictors, cells, formula.where)
    units, unit_of_cell = distinct(cells, formula.columns)
    terms, notes = _observed(evaluate(formula.common, units, formula.where), name)
    common = tuple(_common(name, term, defaults, priors) for term in terms)
    span = np.column_stack([term.matrix for term in terms]) if terms else np.zeros((len(units), 0))
    if span.shape[1] and np.linalg.matrix_rank(span) < span.shape[1]:
        notes.append(f"{name}: some common terms are linear combinations of others; the prior decides between them")
    groups = tuple(_group(name, g, units, span, formula.where, defaults, priors) for g in formula.groups)
    notes += _same_partitions(name, groups)
    plan = ParameterPlan(name, formula.text, link, units, unit_of_cell, common, groups)
    return Designed(plan, tuple(notes))


def _refuse_constant(predictors: Sequence[str], cells: pd.DataFrame, where: str) -> None:
    for column in dict.fromkeys(predictors):
        values = cells[column].unique()
        if len(values) < 2:
            raise SpecError(
                f'column "{column}" has one value in these data, so that it predicts nothing',
                where=where,
                received=str(values[0]),
                allowed="predictors with two or more values",
                mend="leave the term out of the formula, or choose another model",
            )


def _observed(terms: list[Term], name: str) -> tuple[list[Term], list[str]]:
    """Leave out columns of combinations that no cell has."""
    kept, notes = [], []
    for term in terms:
        used = term.matrix.any(axis=0)
        if not used.all():
            absent = [level for level, u in zip(term.levels, used, strict=True) if not u]
            notes.append(f"{name}: {term.name} leaves out combinations without data: {', '.join(absent[:10])}")
            term = Term(
                term.name,
                term.matrix[:, used],
                tuple(level for level, u in zip(term.levels, used, strict=True) if u),
            )
        if term.matrix.shape[1]:
            kept.append(term)
    return kept, notes


def _common(name: str, term: Term, defaults: Defaults, priors: PriorTable) -> CommonTerm:
    # Indicators that sum to one in every row are levels of the parameter, not differences between levels.
    indicators = np.isin(term.matrix, (0.0, 1.0)).all() and (term.matrix.sum(axis=1) == 1.0).all()
    default = defaults.level if indicators else defaults.contrast
    prior = priors.take(f"{name}.{term.name}", default, f"{name}.common")
    return CommonTerm(term.name, term.matrix, term.levels, prior)


def _group(
    name: str, group: Group, units: pd.DataFrame, span: Floats, where: str, defaults: Defaults, priors: PriorTable
) -> GroupTerm:
    levels, index = distinct(units, group.factor)
    if len(levels) < 2:
        raise SpecError(
            f'grouping factor "{group.name}" has one level in these data, so that nothing varies over it',
            where=where,
            received=label(levels.iloc[0].tolist()),
            allowed="grouping factors with two or more levels",
            mend=f'leave out the term with "| {group.name}", or choose another model',
        )
    terms = evaluate(group.expression, units, where)
    if not terms:
        raise SpecError(f'the group term of "{group.name}" has no coefficient', where=where, mend="write (1 | group)")
    matrix = np.column_stack([term.matrix for term in terms])
    coefficients = tuple(f"{t.name}[{v}]" if v else t.name for t in terms for v in t.levels)
    correlated = group.correlated and len(coefficients) > 1
    cor = priors.take(f"{name}.cor.{group.name}", defaults.cor, f"{name}.cor") if correlated else None
    return GroupTerm(
        name=group.name,
        coefficients=coefficients,
        matrix=matrix,
        index=index,
        levels=tuple(label(row) for row in levels.itertuples(index=False, name=None)),
        zero_sum=len(group.factor) == 1 and _in_span(matrix, span),
        correlated=correlated,
        sd_prior=priors.take(f"{name}.sd.{group.name}", defaults.sd, f"{name}.sd"),
        cor_prior=cor,
    )


def _in_span(vectors: Floats, span: Floats) -> bool:
    """Say whether every column of `vectors` is a linear combination of the columns of `span`."""
    if span.shape[1] == 0:
        return False
    solution = np.linalg.lstsq(span, vectors, rcond=None)[0]
    residual = np.linalg.norm(vectors - span @ solution, axis=0)
    return bool((residual <= SPAN_TOLERANCE * np.linalg.norm(vectors, axis=0)).all())


def _same_partitions(name: str, groups: Sequence[GroupTerm]) -> list[str]:
    notes = []
    for i, a in enumerate(groups):
        for b in groups[i + 1 :]:
            pairs = len(np.unique(np.column_stack([a.index, b.index]), axis=0))
            shared = set(a.coefficients) & set(b.coefficients)
            if shared and pairs == len(a.levels) == len(b.levels):
                notes.append(
                    f'{name}: "{a.name}" and "{b.name}" split the data alike; only the sum of their effects is known'
                )
    return notes
