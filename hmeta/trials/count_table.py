"""The count table: what every cell-level likelihood reads, from either layout."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from hmeta.core.errors import DataError
from hmeta.trials.rows import orient, row_scales, rows_of, task_of
from hmeta.trials.tables import SCALE_COLUMNS, missing_column, scale_frame


@dataclass(frozen=True)
class CountTable:
    """Counts of the occupied (cell, outcome, confidence) combinations.

    Letters: ``cell`` counts the combinations of the factors, ``row`` the occupied combinations.
    """

    task: str
    cells: pd.DataFrame  # (cell, factor), sorted by the factors; with n_options for mafc
    cell: NDArray[np.int64]  # (row,)
    outcome: NDArray[np.int64]  # (row,), code of hmeta.core.schema.OUTCOMES
    confidence: NDArray[np.float64]  # (row,), larger = surer
    count: NDArray[np.float64]  # (row,), above 0


def count_table(ds: xr.Dataset, by: Sequence[str]) -> CountTable:
    """Count the answers of each cell by outcome and confidence, pooled over everything not in `by`.

    Parameters
    ----------
    ds : xarray.Dataset
        Layout `trials` (validated: every row usable) or `counts`.
    by : sequence of str
        The factors that make the cells; none gives one cell. For `mafc` the number of options is added.

    Returns
    -------
    CountTable
        Rows sorted by cell, outcome and confidence; reversed scales are mirrored.

    Raises
    ------
    DataError
        Where a factor is unknown, or confidences on different scales would be pooled.

    Examples
    --------
    >>> from hmeta.trials.tables import trials_dataset
    >>> answers = pd.DataFrame({"model": ["a", "a", "a"], "correct": [1, 1, 0], "confidence": [90, 90, 50]})
    >>> count_table(trials_dataset(answers, task="open"), ["model"]).count
    array([1., 2.])
    """
    keys = cell_keys(ds, by)
    extra = [name for name in ("scale",) if name in ds.variables and name not in keys]
    rows = rows_of(ds, [*keys, *extra])
    scales = scale_frame(ds)
    _check_one_scale(rows, scales, keys)
    counted = pool(rows.assign(confidence=orient(rows, scales)), keys)
    cells, cell = split_cells(counted, keys)
    return CountTable(
        task=task_of(ds),
        cells=cells,
        cell=cell,
        outcome=counted["outcome"].to_numpy(dtype=np.int64),
        confidence=counted["confidence"].to_numpy(dtype=np.float64),
        count=counted["count"].to_numpy(dtype=np.float64),
    )


def cell_keys(ds: xr.Dataset, by: Sequence[str]) -> list[str]:
    """Return the factors that make the cells: `by`, and the number of options for `mafc`."""
    keys = list(dict.fromkeys(by))
    if task_of(ds) == "mafc" and "n_options" not in keys:
        if "n_options" not in ds:
            raise missing_column("n_options", map(str, ds.variables))
        keys.append("n_options")
    return keys


def pool(rows: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Add up the counts of equal (keys, outcome, confidence), sorted by them."""
    together = [*keys, "outcome", "confidence"]
    return rows.groupby(together, sort=True, dropna=False, observed=True)["count"].sum().reset_index()


def split_cells(counted: pd.DataFrame, keys: Sequence[str]) -> tuple[pd.DataFrame, NDArray[np.int64]]:
    """Return the distinct combinations of the keys, and which one each row belongs to."""
    if not keys:
        return pd.DataFrame(index=pd.RangeIndex(min(len(counted), 1))), np.zeros(len(counted), dtype=np.int64)
    ids = counted.groupby(list(keys), sort=True, dropna=False, observed=True).ngroup()
    number = np.asarray(ids, dtype=np.int64)
    _, first = np.unique(number, return_index=True)
    cells = counted[list(keys)].iloc[first].reset_index(drop=True)
    if "n_options" in cells:
        cells = cells.astype({"n_options": np.int64})
    return cells, number


def _check_one_scale(rows: pd.DataFrame, scales: pd.DataFrame | None, keys: Sequence[str]) -> None:
    if "scale" in keys:
        return
    declared = row_scales(rows, scales)
    if declared is None or len(declared[list(SCALE_COLUMNS)].drop_duplicates()) < 2:
        return
    raise DataError(
        "confidences on different scales cannot be pooled",
        where="column scale",
        received=", ".join(map(str, sorted(rows["scale"].dropna().unique()))),
        mend="keep scale among the factors, for example --by model,scale, or in the criteria formula",
    )
