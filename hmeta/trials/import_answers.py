"""Stimulus, response, correctness and the number of options of a foreign table."""

from __future__ import annotations

from typing import Any

import pandas as pd

from hmeta.core.errors import DataError
from hmeta.trials.foreign_table import ForeignTable
from hmeta.trials.labels import Coded, as_labels, code_options, code_two_levels, levels_of
from hmeta.trials.recognition import answer_columns, missing_role
from hmeta.trials.reported import read_correct
from hmeta.trials.row_numbers import numbered

MOST_OPTIONS = 32767
"""What the file's integers hold."""


def take_answers(table: ForeignTable) -> str:
    """Take stimulus, response and correctness, and return the kind of task.

    Raises
    ------
    DataError
        Where a needed column is missing or its labels do not fit the task.
    """
    columns, task = table.found.columns, table.options.task
    both = "stimulus" in columns and "response" in columns
    if task is None and both:
        task = "binary"
        table.notes.append("task binary: stimulus and response are there; --task declares another")
    if task == "binary":
        _binary(table)
        return "binary"
    _correct(table)
    if task is None:
        counted = table.options.n_options or table.options.n_options_by or "n_options" in columns
        task = "mafc" if counted else "open"
        table.notes.append(_why(task, table.raw))
    if task == "mafc" and both:
        _option_codes(table)
    return task


def _why(task: str, raw: pd.DataFrame) -> str:
    if task == "mafc":
        return "task mafc: the number of options is known"
    pair = answer_columns(list(raw.columns))
    levels = levels_of(raw[pair[0]]) if pair else []
    hint = f" ({pair[0]} has the {len(levels)} values {', '.join(levels)})" if pair and 2 <= len(levels) <= 10 else ""
    return (
        "task open: there is correctness but no stimulus with response and no number of options, so meta-d' cannot "
        f"be estimated; for a choice among m options pass --n-options m{hint}"
    )


def _binary(table: ForeignTable) -> None:
    pair: list[pd.Series] = []
    for role in ("stimulus", "response"):
        column = table.take(role)
        if column is None:
            raise missing_role(role, list(table.raw.columns), where=table.where, more="or pass --task open")
        pair.append(column)
    options = table.options
    coded = code_two_levels(
        pair[0].rename("stimulus"),
        pair[1].rename("response"),
        labels=options.labels,
        codes=options.label_codes,
        where=table.where,
    )
    _keep_codes(table, coded)
    correct = table.take("correct")
    if correct is not None:
        table.out["correct"] = read_correct(correct, where=table.where)
        return
    table.out["correct"] = (coded[0].codes == coded[1].codes).astype("Int64")
    table.notes.append("correct derived from stimulus and response")


def _keep_codes(table: ForeignTable, coded: tuple[Coded, Coded]) -> None:
    for name, column in zip(("stimulus", "response"), coded, strict=True):
        table.out[name] = column.codes
        table.labels[name] = column.labels
    for name, labels in table.labels.items():
        if any(label != str(code) for label, code in labels.items()):
            table.notes.append(f"{name} coded as " + ", ".join(f"{label} = {code}" for label, code in labels.items()))


def _option_codes(table: ForeignTable) -> None:
    """Keep the index of the right and the chosen option where the labels are those of the options."""
    stimulus, response, most = table.take("stimulus"), table.take("response"), table.options.n_options
    coded = None if stimulus is None or response is None or most is None else code_options(stimulus, response, most)
    if coded is not None:
        _keep_codes(table, coded)
    elif stimulus is not None and response is not None:
        table.used -= {str(stimulus.name), str(response.name)}


def _correct(table: ForeignTable) -> None:
    """Correctness from its column, else from the right and the given answer."""
    column = table.take("correct")
    if column is not None:
        table.out["correct"] = read_correct(column, where=table.where)
        return
    columns = table.found.columns
    truth, given = columns.get("stimulus"), columns.get("response")
    pair = (truth, given) if truth and given else answer_columns(list(table.raw.columns))
    if pair is not None:
        right, answer = (as_labels(table.raw[name]) for name in pair)
        table.out["correct"] = (right == answer).astype("Int64").mask(right.isna() | answer.isna())
        table.notes.append(f"correct derived: {pair[1]} equal to {pair[0]}")
    elif table.options.ungraded:
        table.out["correct"] = pd.Series(pd.NA, index=table.raw.index, dtype="Int64")
        table.notes.append("no correctness: it is missing for every row, and no row can enter a fit yet")
    else:
        raise missing_role(
            "correct",
            list(table.raw.columns),
            where=table.where,
            more="or import stimulus and response; for answers not yet graded pass --ungraded",
        )


def take_n_options(table: ForeignTable, task: str) -> None:
    """Take the number of options of each trial, which `mafc` needs.

    Raises
    ------
    DataError
        Where it is not known for every trial.
    """
    options, column = table.options, table.take("n_options")
    stated = None if column is None else _whole_options(column, table.where)
    if options.n_options is not None:
        table.out["n_options"] = pd.Series(options.n_options, index=table.raw.index)
    elif options.n_options_by is not None:
        table.out["n_options"] = _looked_up(table, *options.n_options_by)
    elif stated is not None:
        table.out["n_options"] = stated
    elif task == "mafc":
        raise missing_role(
            "n_options", list(table.raw.columns), where=table.where, more="or pass --n-options for the whole file"
        )
    if stated is not None:
        _check_agreement(table.out["n_options"], stated, table.where)


def _whole_options(column: pd.Series, where: str) -> pd.Series:
    """Return the numbers of options of a column, refusing what is no whole number from 2."""
    numbers = pd.to_numeric(column.astype("object"), errors="coerce").astype("float64")
    given = column.notna() & (column.astype("string").str.strip() != "").fillna(False)
    bad = (given & ~((numbers >= 2) & (numbers <= MOST_OPTIONS) & (numbers % 1 == 0))).to_numpy(dtype=bool)
    if bad.any():
        raise DataError(
            "the number of options is impossible",
            where=f"{where}, column {column.name}, {numbered(bad)}",
            received=", ".join(levels_of(column[bad])[:5]),
            allowed=f"whole numbers from 2 to {MOST_OPTIONS}, or blank for missing",
        )
    return numbers.astype("Int64")


def _check_agreement(declared: pd.Series, stated: pd.Series, where: str) -> None:
    bad = (stated.notna() & (declared != stated)).fillna(False).to_numpy(dtype=bool)
    if bad.any():
        raise DataError(
            "the declared number of options contradicts the file",
            where=f"{where}, column {stated.name}, {numbered(bad)}",
            received=f"declared {', '.join(levels_of(declared[bad])[:5])}; the file says "
            f"{', '.join(levels_of(stated[bad])[:5])}",
            mend="leave the declaration out, or import the file without that column",
        )


def _looked_up(table: ForeignTable, name: str, values: Any) -> pd.Series:
    if name not in table.raw.columns:
        raise DataError(f'column "{name}" is not in the file', where=table.where, allowed=", ".join(table.raw.columns))
    labels = as_labels(table.raw[name])
    unknown = sorted(set(labels.fillna("").unique()) - set(values))
    if unknown:
        rows = int((~labels.isin(list(values))).sum())
        raise DataError(
            f"{rows} rows have no number of options",
            where=f"{table.where}, column {name}",
            received=", ".join(unknown),
            allowed=", ".join(values),
            mend=f"declare every value, or import the others alone: --only {name}={','.join(values)}",
        )
    return labels.map(dict(values)).astype("Int64")
