"""Curves by cell: tables of points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from hmeta.assess.answers import ASKED, answer_table
from hmeta.assess.cells import cell_factors, cells_of
from hmeta.assess.requests import obstacle
from hmeta.core.errors import DataError
from hmeta.metrics.catalogue import curves, look_up, read_call


@dataclass(frozen=True)
class CurveTable:
    """Points by cell.

    Attributes
    ----------
    frame : DataFrame
        One row a point: the factors, and the columns of the curve. A cell without a curve has one row that says why
        in `reason`.
    factors : tuple of str
    notes : tuple of str
    validation : str
        The validation report as text.
    """

    frame: pd.DataFrame
    factors: tuple[str, ...]
    notes: tuple[str, ...]
    validation: str


def compute_curve(
    ds: xr.Dataset,
    name: str,
    *,
    by: Sequence[str] = (),
    pool: Sequence[str] = (),
    on_violation: str = "auto",
    duplicates: str = "error",
) -> CurveTable:
    """Compute a curve for each cell of a results file.

    Parameters
    ----------
    ds : Dataset
        Layout `trials` or `counts`.
    name : str
        As `hmeta list curves` shows it, with options in brackets: ``"reliability(bins=15)"``.
    by, pool, on_violation, duplicates
        As for `compute_metrics`.

    Returns
    -------
    CurveTable

    Raises
    ------
    DataError
        For an unknown curve, option or factor, or a file that does not allow it.
    """
    word, options = read_call(name)
    card = look_up(word, curves(), "curve")
    chosen = {key: card.option(key).check(value, word) for key, value in options.items()}
    table = answer_table(ds, pool=pool, on_violation=on_violation, duplicates=duplicates)
    refusal = obstacle(card, table)
    if refusal is not None:
        raise refusal
    kept, segments = cell_factors(table, by, pool)
    factors = [*kept, *segments]
    rows = table.rows_for(card.columns)
    there = {tuple(cell.levels.items()): cell.entries for cell in cells_of(rows.factors, kept, segments)}
    none = np.zeros(0, dtype=np.int64)
    points = []
    for cell in cells_of(table.asked.factors, kept, segments):
        part = rows.take(there.get(tuple(cell.levels.items()), none))
        columns = {name: part.columns[name] for name in card.columns}
        reason = _lack(columns) or card.why_undefined(columns, part.count)
        found: dict[str, Any] = {} if reason else card.compute(*columns.values(), weights=part.count, **chosen)
        _refuse_names(factors, found)
        points.append(pd.DataFrame(found if found else {"reason": [reason]}).assign(**cell.levels))
    whole = pd.concat(points, ignore_index=True)
    frame = whole[[*factors, *(column for column in whole if column not in factors)]]
    notes = (*table.notes, card.caution) if card.caution else table.notes
    return CurveTable(frame, tuple(factors), notes, table.report.render())


def _lack(columns: dict[str, np.ndarray]) -> str:
    missing = [name for name, values in columns.items() if name not in ASKED and np.isnan(values).any()]
    return f"{missing[0]} is not known for every answer" if missing else ""


def _refuse_names(factors: Sequence[str], found: dict[str, Any]) -> None:
    taken = [name for name in factors if name in found]
    if taken:
        raise DataError(
            f'the factor "{taken[0]}" has the name of a column of the curve',
            received=", ".join(taken),
            mend="rename it on import: --column NEW_NAME=OLD_NAME",
        )
