"""Which answers make a cell: who answered, the segments asked for, and all segments together beside them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hmeta.assess.answers import AnswerTable
from hmeta.core.errors import DataError
from hmeta.core.registry import did_you_mean

ALL = "(all)"
"""Stands in a factor's column for all its levels together."""

MISSING = "(missing)"
"""Stands for no value."""

MEAN = "(mean)"
"""Stands in a factor's column for the average over its levels."""

RESULT_COLUMNS = frozenset(
    "metric estimate lower upper standard_error bias n n_units n_excluded n_undefined reason null_mean p_null level "
    "at_baseline at_level difference p p_corrected n_pairs n_left_out".split()
)
"""Columns of tables of measures and of differences."""

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Cell:
    """One combination of levels, and which entries of a table of answers belong to it."""

    levels: dict[str, str]
    entries: Ints


def cell_factors(table: AnswerTable, by: Sequence[str], pool: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the factors that always part the answers, and the segments asked for beside them.

    Raises
    ------
    DataError
        For factors that the file does not have, and factors both named and pooled.
    """
    for name in (*by, *pool):
        if name not in table.factors:
            raise DataError(
                f'factor "{name}" is not in the data',
                received=name,
                allowed=list(table.factors),
                mend=did_you_mean(name, table.factors),
            )
    taken = [name for name in (*by, *table.kept) if name in RESULT_COLUMNS]
    if taken:
        raise DataError(
            f'the factor "{taken[0]}" has the name of a column of the table',
            received=", ".join(taken),
            mend="rename it on import: --column NEW_NAME=OLD_NAME",
        )
    both = [name for name in by if name in pool]
    if both:
        raise DataError("a factor is both a segment and pooled", received=", ".join(both))
    kept = [name for name in table.kept if name not in pool]
    return kept, [name for name in dict.fromkeys(by) if name not in kept]


def cells_of(rows: pd.DataFrame, kept: Sequence[str], segments: Sequence[str]) -> list[Cell]:
    """Return every cell in the order of its levels; with segments, first all of them together."""
    if not segments:
        return _grouped(rows, kept)
    whole = {tuple(cell.levels.values()): cell for cell in _grouped(rows, kept)}
    out: list[Cell] = []
    for cell in _grouped(rows, [*kept, *segments]):
        above = whole.pop(tuple(cell.levels[name] for name in kept), None)
        if above is not None:
            out.append(Cell({**above.levels, **dict.fromkeys(segments, ALL)}, above.entries))
        out.append(cell)
    return out


def _grouped(rows: pd.DataFrame, names: Sequence[str]) -> list[Cell]:
    if not names:
        return [Cell({}, np.arange(len(rows)))]
    coded = [pd.factorize(rows[name], sort=True) for name in names]
    words = [_level_names(name, found) for name, (_, found) in zip(names, coded, strict=True)]
    groups = pd.DataFrame({name: codes for name, (codes, _) in zip(names, coded, strict=True)})
    out = []
    for level, entries in groups.groupby(list(names), sort=True).indices.items():
        codes = [int(code) for code in np.atleast_1d(np.asarray(level))]
        named = {name: of[code] if code >= 0 else MISSING for name, of, code in zip(names, words, codes, strict=True)}
        order = [code if code >= 0 else len(of) for of, code in zip(words, codes, strict=True)]  # missing is last
        out.append((order, Cell(named, np.asarray(entries, dtype=np.int64))))
    return [cell for _, cell in sorted(out, key=lambda pair: pair[0])]


def _level_names(column: str, found: Iterable[object]) -> list[str]:
    """Return the levels of a column as text that tells them apart; words that mean something here are refused."""
    words = [f"{value:.15g}" if isinstance(value, float) else str(value) for value in found]
    taken = sorted({ALL, MISSING, MEAN} & set(words))
    if taken:
        raise DataError(
            f"a level of {column} has a name that tables keep for themselves",
            where=f"column {column}",
            received=", ".join(taken),
            mend="rename this level in the file",
        )
    return words
