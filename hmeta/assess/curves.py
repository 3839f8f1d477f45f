"""Curves by cell: tables of points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from hmeta.assess.answers import answer_table
from hmeta.assess.cells import cell_factors, cells_of
from hmeta.assess.requests import obstacle
from hmeta.metrics.catalogue import curves, look_up, read_call


def compute_curve(
    ds: xr.Dataset,
    name: str,
    *,
    by: Sequence[str] = (),
    pool: Sequence[str] = (),
    on_violation: str = "auto",
    duplicates: str = "error",
) -> pd.DataFrame:
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
    DataFrame
        One row a point: the factors, and the columns of the curve. A cell without a curve has one row that says
        why in `reason`.

    Raises
    ------
    DataError
        For an unknown curve, option or factor, or a file that does not allow it.
    """
    word, options = read_call(name)
    card = look_up(word, curves(), "curve")
    chosen = {key: card.option(key).check(value, word) for key, value in options.items()}
    table = answer_table(ds, on_violation=on_violation, duplicates=duplicates)
    refusal = obstacle(card, table)
    if refusal is not None:
        raise refusal
    rows = table.rows_for(card.columns)
    kept, segments = cell_factors(table, by, pool)
    points = []
    for cell in cells_of(rows, kept, segments):
        part = rows.iloc[cell.entries]
        columns = {column: part[column].to_numpy(dtype=np.float64) for column in card.columns}
        weights = part["count"].to_numpy(dtype=np.float64)
        reason = card.why_undefined(columns, weights)
        found: dict[str, Any] = {} if reason else card.compute(*columns.values(), weights=weights, **chosen)
        points.append(pd.DataFrame(found if found else {"reason": [reason]}).assign(**cell.levels))
    whole = pd.concat(points, ignore_index=True)
    first = [*kept, *segments]
    return whole[[*first, *(column for column in whole if column not in first)]]
