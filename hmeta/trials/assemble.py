"""A foreign table and the user's declarations → the one trial table."""

from __future__ import annotations

import json

import pandas as pd
import xarray as xr

from hmeta.core.errors import DataError
from hmeta.core.schema import UNIT_COLUMNS
from hmeta.trials.foreign_table import ForeignTable
from hmeta.trials.further_columns import as_factor, further_columns
from hmeta.trials.import_answers import take_answers, take_n_options
from hmeta.trials.import_estimates import assemble_estimates
from hmeta.trials.import_options import ImportOptions
from hmeta.trials.import_scales import declared_scales, scale_rows
from hmeta.trials.labels import as_labels, levels_of
from hmeta.trials.recognition import missing_role, recognise
from hmeta.trials.reported import apply_missing, find_sentinels, read_confidence, refuse_sentinels
from hmeta.trials.tables import trials_dataset

ROLES_KEPT_AS_TEXT = ("model", "participant", "dataset", "scale", "item", "signal")


def assemble(frame: pd.DataFrame, options: ImportOptions, *, where: str, notes: list[str] | None = None) -> xr.Dataset:
    """Turn a foreign table into a dataset of layout `trials`, saying what was taken for what.

    Parameters
    ----------
    frame : DataFrame
        Columns as they stand in the file. It is not modified.
    options : ImportOptions
        What the user declared.
    where : str
        The file, for messages.
    notes : list of str, optional
        What was done to the table before.

    Returns
    -------
    xarray.Dataset
        Layout `trials`, or `estimates` where a column was mapped to `estimate`. The attributes
        ``import_notes``, ``import_columns`` and ``import_labels`` are JSON texts that say what was done.

    Raises
    ------
    DataError
        Where a needed column is missing or ambiguous; nothing is guessed in silence.
    """
    said = list(notes or [])
    _check_not_empty(frame, where)
    raw = _select_rows(apply_missing(frame.reset_index(drop=True), options, said, where=where), options, said, where)
    if "estimate" in options.columns:
        return assemble_estimates(raw, options, where=where)
    found = recognise(list(raw.columns), options.columns, options.constants)
    table = ForeignTable(raw, found, options, where, notes=said)
    _check_confidence_column(table)
    _check_sentinels(table)
    _units(table)
    task = take_answers(table)
    scales = _confidence(table)
    take_n_options(table, task)
    _say_columns(table)
    rest = [name for name in raw.columns if name not in table.used]
    further = further_columns(raw[rest], table.out, options, table.notes, where=where)
    dataset = trials_dataset(
        pd.DataFrame(table.out | further),
        task=task,
        scales=scales,
        title=options.title,
        source=options.source or where,
        license=options.license,
    )
    return dataset.assign_attrs(_record(table))


def _record(table: ForeignTable) -> dict[str, str]:
    return {
        "import_notes": json.dumps(table.notes, ensure_ascii=False),
        "import_columns": json.dumps(dict(table.found.columns), ensure_ascii=False),
        "import_labels": json.dumps(table.labels, ensure_ascii=False),
    }


def _check_not_empty(frame: pd.DataFrame, where: str) -> None:
    if not len(frame):
        raise DataError(
            "the file has no rows", where=where, received="columns " + (", ".join(map(str, frame.columns)) or "none")
        )


def _select_rows(frame: pd.DataFrame, options: ImportOptions, notes: list[str], where: str) -> pd.DataFrame:
    """Keep the rows the user asked for, and say how many were left out."""
    for name, values in options.only.items():
        if name not in frame.columns:
            raise DataError(f'column "{name}" is not in the file', where=where, allowed=", ".join(frame.columns))
        labels = as_labels(frame[name])
        kept = labels.isin(values).to_numpy(dtype=bool)
        if not kept.any():
            raise DataError(
                f"no row has {name} {' or '.join(values)}", where=where, allowed=", ".join(levels_of(frame[name])[:12])
            )
        notes.append(f"only {name} {', '.join(values)}: {int(kept.sum())} of {len(frame)} rows imported")
        frame = frame[kept].reset_index(drop=True)
    return frame


def _check_confidence_column(table: ForeignTable) -> None:
    if "confidence" not in table.found.columns:
        raise missing_role(
            "confidence",
            list(table.raw.columns),
            where=table.where,
            more="for a wide table pass --wide CONFIDENCE_ENDING,CORRECT_ENDING, for published estimates --column "
            "estimate=NAME with --column standard_error=NAME or --column lower=NAME --column upper=NAME",
        )


def _check_sentinels(table: ForeignTable) -> None:
    columns = table.found.columns
    roles = ("stimulus", "response", "correct", "confidence")
    names = [columns[role] for role in roles if columns.get(role) in table.raw.columns]
    scales = [scale for scale in (table.options.scale, *table.options.scales.values()) if scale is not None]
    found = [
        entry
        for entry in find_sentinels(table.raw, names)
        if entry.column != columns.get("confidence") or not any(s.lower <= entry.value <= s.upper for s in scales)
    ]
    refuse_sentinels(found, where=table.where)


def _units(table: ForeignTable) -> None:
    """Model or participant, dataset, item and the other names."""
    for role in (*ROLES_KEPT_AS_TEXT, "repeat"):
        column = table.take(role)
        if column is not None:
            table.out[role] = as_labels(column) if role != "repeat" else as_factor(column)
    rows = table.raw.index
    handled = {*ROLES_KEPT_AS_TEXT, "repeat", "stimulus", "response", "correct", "confidence", "n_options"}
    for role in table.found.mapped - handled:
        column = table.take(role)
        if column is not None:
            table.out[role] = as_factor(column)
    for name, value in table.options.constants.items():
        table.out[name] = pd.Series(value, index=rows, dtype="string")
    if not any(name in table.out for name in UNIT_COLUMNS):
        raise missing_role(
            "participant",
            list(table.raw.columns),
            where=table.where,
            more="or --column model=NAME; where one model or person gave every answer pass --constant model=NAME",
        )


def _confidence(table: ForeignTable) -> pd.DataFrame | None:
    column = table.take("confidence")
    assert column is not None, "checked at the start"
    single = None if table.options.scales else table.options.scale
    read = read_confidence(column, table.options, single, table.notes, where=table.where)
    table.out["confidence"] = read.values
    table.out |= {name: values for name, values in read.details.items() if name not in table.raw.columns}
    scales = declared_scales(read.values, table.out.get("scale"), table.options, table.notes, where=table.where)
    return scale_rows(scales)


def _say_columns(table: ForeignTable) -> None:
    said = [f"{role} from {source}" for role, source in table.found.columns.items() if role != source]
    if said:
        table.notes.append("columns taken: " + ", ".join(said))
