"""Wide tables: one row an item, two columns a model, made long."""

from __future__ import annotations

import pandas as pd

from hmeta.core.errors import DataError
from hmeta.trials.import_options import ImportOptions
from hmeta.trials.recognition import recognise

ENDINGS = (
    ("_confidence", "_correctness"),
    ("_confidence", "_correct"),
    ("_confidence", "_is_correct"),
    ("_confidence", "_accuracy"),
    ("_conf", "_correct"),
    ("_conf", "_acc"),
)
"""Endings of the confidence and the correctness columns that are found without being named."""


def find_endings(columns: list[str], options: ImportOptions) -> tuple[str, str] | None:
    """Return the endings of a wide table: those declared, or those that two or more models share.

    A table whose confidence column is recognised or mapped is not wide.
    """
    if options.wide is not None:
        return options.wide
    if "confidence" in recognise(columns, options.columns, options.constants).columns:
        return None
    for endings in ENDINGS:
        if len(_names(columns, endings[0]) & _names(columns, endings[1])) >= 2:
            return endings
    return None


def make_long(frame: pd.DataFrame, endings: tuple[str, str], notes: list[str], *, where: str) -> pd.DataFrame:
    """Return a wide table with one row a model and item.

    Parameters
    ----------
    frame : DataFrame
        One row an item. It is not modified.
    endings : (str, str)
        Endings of the confidence and of the correctness columns; what stands before is the model.
    notes : list of str
        Gets what was done.
    where : str
        The file, for messages.

    Returns
    -------
    DataFrame
        Columns `item`, `model`, `correct`, `confidence` and every column that belongs to no model. Models
        stand in the order of their confidence columns.

    Raises
    ------
    DataError
        Where a model has one of its two columns only, or there is none.
    """
    columns = [str(name) for name in frame.columns]
    confident, right = (_names(columns, ending) for ending in endings)
    if not confident | right:
        raise DataError(
            f"no column ends in {endings[0]} or {endings[1]}", where=where, received="columns " + ", ".join(columns)
        )
    lonely = sorted(confident ^ right)
    if lonely:
        raise DataError(
            f"{len(lonely)} models have one column of two",
            where=where,
            received=", ".join(name + endings[0 if name in confident else 1] for name in lonely[:5]),
            allowed=f"a column in {endings[0]} and one in {endings[1]} for each model",
            mend="rename or drop the columns, or name other endings: --wide CONFIDENCE_ENDING,CORRECT_ENDING",
        )
    models = [name[: -len(endings[0])] for name in columns if name.endswith(endings[0])]
    per_model = {model + ending for model in models for ending in endings}
    shared = frame[[name for name in columns if name not in per_model]]
    if not _has_item(columns):
        shared = shared.assign(item=range(len(frame)))
    parts = [
        shared.assign(model=name, correct=frame[name + endings[1]], confidence=frame[name + endings[0]])
        for name in models
    ]
    notes.append(
        f"wide table: {len(frame)} rows × {len(models)} models read as {len(frame) * len(models)} answers; the models "
        f"stand before {endings[0]} and {endings[1]}; --wide names other endings"
    )
    return pd.concat(parts, ignore_index=True)


def _names(columns: list[str], ending: str) -> set[str]:
    return {name[: -len(ending)] for name in columns if name.endswith(ending) and len(name) > len(ending)}


def _has_item(columns: list[str]) -> bool:
    return "item" in recognise(columns, {}, {}).columns
