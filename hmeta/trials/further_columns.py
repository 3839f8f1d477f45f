"""Columns of a foreign table beyond those of the schema: kept as factors and covariates."""

from __future__ import annotations

from collections.abc import Collection

import pandas as pd

from hmeta.core.errors import DataError
from hmeta.trials.import_options import ImportOptions
from hmeta.trials.reported import as_numbers, is_text

_NEW_NAMES = {"trial": "trial_number", "cell": "cell_name", "row": "row_number", "level": "level_name"}
_CODED = ("stimulus", "response", "correct", "n_options", "confidence")
_GRADED = ("label", "score")


def further_columns(
    rest: pd.DataFrame, taken: Collection[str], options: ImportOptions, notes: list[str], *, where: str
) -> dict[str, pd.Series]:
    """Return the further columns by names that do not clash with the schema's.

    Parameters
    ----------
    rest : DataFrame
        The columns that serve no other purpose.
    taken : collection of str
        Names in use.
    options : ImportOptions
        ``factors`` says which to keep; None keeps all.
    notes : list of str
        Gets what was kept, renamed and left out.
    where : str
        The file, for messages.

    Raises
    ------
    DataError
        Where a column that the user asked for does not exist.
    """
    names = _wanted(rest, taken, options, notes, where)
    kept: dict[str, pd.Series] = {}
    for name in names:
        column = as_factor(rest[name])
        new = _free_name(name, column, {*taken, *kept})
        if new != name:
            notes.append(f"column {name} kept as {new}")
        kept[new] = column
    if kept:
        notes.append("further columns kept: " + ", ".join(kept))
    return kept


def as_factor(column: pd.Series) -> pd.Series:
    """Return a column as numbers where it holds numbers only, else as text; truth values become 0 and 1."""
    if pd.api.types.is_bool_dtype(column.dtype):
        return column.astype("Int64")
    if not is_text(column):
        return column
    numbers = None if isinstance(column.dtype, pd.CategoricalDtype) else as_numbers(column)
    return column.astype("string") if numbers is None else numbers


def _wanted(
    rest: pd.DataFrame, taken: Collection[str], options: ImportOptions, notes: list[str], where: str
) -> list[str]:
    names = [str(name) for name in rest.columns]
    if options.factors is None:
        return names
    unknown = [name for name in options.factors if name not in names and name not in taken]
    if unknown:
        raise DataError(
            f'column "{unknown[0]}" is not among the further columns',
            where=f"{where}, --factor {unknown[0]}",
            allowed=", ".join(names) or "none",
        )
    left = [name for name in names if name not in options.factors]
    if left:
        notes.append("columns left out: " + ", ".join(left))
    return [name for name in names if name in options.factors]


def _free_name(name: str, column: pd.Series, taken: Collection[str]) -> str:
    new = _NEW_NAMES.get(name, name.replace("/", "_"))
    if new in _CODED or new.startswith("scale_") or (new in _GRADED and is_text(column)) or new in taken:
        new = f"{new}_column"
    while new in taken:
        new += "_"
    return new
