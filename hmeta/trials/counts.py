"""The layout `counts`: rows (cell, outcome, level, count) and the occupied levels of each criteria group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from hmeta.core.errors import DataError
from hmeta.core.schema import OUTCOMES
from hmeta.trials.columns import as_reported, encode, numeric
from hmeta.trials.count_table import cell_keys, pool, split_cells
from hmeta.trials.row_numbers import numbered
from hmeta.trials.rows import ANSWER_COLUMNS, FACTORS, check_factors, factor_names, rows_of, task_of
from hmeta.trials.scales import rating_scale
from hmeta.trials.tables import (
    SCALE_COLUMNS,
    attributes,
    check_names,
    check_task,
    missing_column,
    scale_frame,
    scale_variables,
    unit_columns,
)

LAYOUT_NAMES = (
    "cell",
    "row",
    "level",
    "outcome",
    "count",
    "row_cell",
    "row_outcome",
    "row_level",
    "level_value",
    "group_start",
    "group_label",
    "cell_group",
    "criteria_group",
    "group_edge",
    "scale_id",
    *SCALE_COLUMNS,
)


def to_counts(ds: xr.Dataset, by: Sequence[str] | None = None) -> xr.Dataset:
    """Return the answers counted by cell, outcome and confidence.

    Parameters
    ----------
    ds : xarray.Dataset
        Layout `trials` (validated) or `counts` (pooled further).
    by : sequence of str, optional
        The factors that make the cells. Default: the columns that are factors by name (`FACTORS`).
        `scale` is always kept.

    Returns
    -------
    xarray.Dataset
        Layout `counts`, with the scale table and the attributes of `ds`.

    Raises
    ------
    DataError
        Where a factor is unknown or its name belongs to the layout.
    """
    if ds.attrs["hmeta_layout"] == "estimates":
        raise DataError("estimates cannot be counted", allowed="layout trials or counts")
    keys = cell_keys(ds, default_factors(ds) if by is None else by)
    if "scale" in ds.variables and "scale" not in keys:
        keys.append("scale")
    check_factors(keys, ds)
    counted = pool(rows_of(ds, keys), keys)
    words = {key: ds.attrs.get(key, "") for key in ("title", "source", "license")}
    return _layout(counted, keys, task=task_of(ds), scales=scale_frame(ds), padded=is_padded(ds), **words)


def default_factors(ds: xr.Dataset) -> list[str]:
    """Return the columns that are factors by their names: `FACTORS`, or every factor of a counts file."""
    there = factor_names(ds)
    return there if ds.attrs["hmeta_layout"] == "counts" else [name for name in FACTORS if name in there]


def left_out(ds: xr.Dataset, counts: xr.Dataset) -> list[str]:
    """Return the columns of `ds` over which `counts` are summed."""
    return [name for name in factor_names(ds) if name not in counts.variables]


def is_padded(ds: xr.Dataset) -> bool:
    """Return whether the counts are declared as padded, and so may be fractions."""
    return int(ds.attrs.get("padded", 0)) == 1


def counts_dataset(
    frame: pd.DataFrame,
    *,
    task: str,
    scales: pd.DataFrame | None = None,
    padded: bool = False,
    title: str = "",
    source: str = "",
    license: str = "",
) -> xr.Dataset:
    """Return a table of counts as a dataset of layout `counts`.

    Parameters
    ----------
    frame : DataFrame
        Columns `confidence` and `count`, the outcome (`stimulus` and `response` for `binary`, `correct`
        otherwise), `n_options` for `mafc`; every other column is a factor. Rows with a count of 0 say
        that a level belongs to the scale. It is not modified.
    task : {"binary", "mafc", "open"}
        The kind of task.
    scales : DataFrame, optional
        As for `trials_dataset`. Default: where all confidences are ratings, one scale over the whole
        table, so that the number of levels is that of the study, never that of one unit.
    padded : bool
        Whether something was added to the counts, so that they may be fractions.
    title, source, license : str
        Kept as attributes of the file.

    Raises
    ------
    DataError
        Where a column is missing or cannot be stored, or a count is impossible.
    """
    check_task(task)
    outcome = ("stimulus", "response") if task == "binary" else ("correct",)
    for name in (*outcome, "confidence", "count", *(("n_options",) if task == "mafc" else ())):
        if name not in frame.columns:
            raise missing_column(name, frame.columns)
    keys = [str(c) for c in frame.columns if c not in (*ANSWER_COLUMNS, "count")]
    columns: dict[str, Any] = {name: frame[name].reset_index(drop=True) for name in keys}
    columns |= {"outcome": _outcome(frame, task), "count": numeric(frame["count"])}
    rows = pd.DataFrame(columns | {"confidence": as_reported(encode(frame["confidence"]))})
    check_count_values(rows["count"].to_numpy(), padded=padded)
    check_level_values(rows["confidence"].to_numpy())
    if scales is None and "scale" not in keys:
        scales = rating_scale(rows["confidence"].to_numpy())
    seen = pool(rows, keys)
    words = {"title": title, "source": source, "license": license}
    return _layout(seen, keys, task=task, scales=scales, padded=padded, **words)


def check_count_values(count: NDArray[Any], *, padded: bool) -> None:
    """Refuse counts that are missing, negative, or, unless padded, not whole."""
    count = np.asarray(count, dtype=np.float64)
    checks = {
        "counts are missing": ~np.isfinite(count),
        "counts are negative": count < 0,
        "counts are not whole numbers": np.isfinite(count) & (count != np.round(count)) & (not padded),
    }
    for what, bad in checks.items():
        if bad.any():
            raise DataError(
                f"{int(bad.sum())} {what}",
                where=f"count, {numbered(bad)}",
                received=", ".join(f"{v:g}" for v in count[bad][:5]),
                allowed="0 or more" if padded else "whole numbers, 0 or more",
                mend="declare the counts as padded if something was added to them" if "whole" in what else None,
            )


def check_level_values(confidence: NDArray[Any]) -> None:
    """Refuse counts of answers whose confidence is missing or infinite."""
    bad = ~np.isfinite(np.asarray(confidence, dtype=np.float64))
    if bad.any():
        raise DataError(
            f"{int(bad.sum())} counts have no confidence",
            where=f"column confidence, {numbered(bad)}",
            mend="leave these rows out; answers without confidence cannot be counted by confidence",
        )


def _outcome(frame: pd.DataFrame, task: str) -> NDArray[np.int64]:
    names = ("stimulus", "response") if task == "binary" else ("correct",)
    codes = [encode(frame[name]).astype(np.int64) for name in names]
    for name, code in zip(names, codes, strict=True):
        bad = (code != 0) & (code != 1)
        if bad.any():
            raise DataError(
                f"column {name} of a table of counts must be 0 or 1",
                where=f"column {name}, {numbered(bad)}",
                received=", ".join(map(str, np.unique(code[bad])[:5])),
            )
    return 2 * codes[0] + codes[1] if task == "binary" else codes[0]


def _layout(
    counted: pd.DataFrame, keys: list[str], *, task: str, scales: pd.DataFrame | None, padded: bool, **words: str
) -> xr.Dataset:
    check_names(counted[keys], reserved=LAYOUT_NAMES)
    cells, cell = split_cells(counted, keys)
    group, labels = _criteria_groups(cells)
    kept = counted["count"].to_numpy() != 0
    start, values, level = _levels(group[cell][kept], counted["confidence"].to_numpy()[kept])
    count = counted["count"].to_numpy()[kept]
    whole = bool(np.all(count == np.round(count)))
    data: dict[str, Any] = {name: ("cell", encode(cells[name])) for name in keys}
    data |= {
        "row_cell": ("row", cell[kept]),
        "row_outcome": ("row", counted["outcome"].to_numpy(dtype=np.int8)[kept]),
        "row_level": ("row", level),
        "count": ("row", count.astype(np.int64) if whole else count),
        "level_value": ("level", values),
        "group_start": ("group_edge", start),
        "group_label": ("criteria_group", labels),
        "cell_group": ("cell", group),
    }
    attrs: dict[str, Any] = attributes("counts", task=task, **words) | {"outcomes": ",".join(OUTCOMES[task])}
    return xr.Dataset(data | scale_variables(scales), attrs=attrs | ({"padded": 1} if padded else {}))


def _criteria_groups(cells: pd.DataFrame) -> tuple[NDArray[np.int64], NDArray[np.object_]]:
    """Return the criteria group of each cell (unit × scale), and what each group is called."""
    names = [*unit_columns(cells.columns), *(["scale"] if "scale" in cells.columns else [])]
    groups, group = split_cells(cells, names)
    labels = [", ".join(f"{k}={v}" for k, v in row.items()) for row in groups.to_dict("records")] if names else ["all"]
    return group, np.array(labels, dtype=object)


def _levels(
    group: NDArray[np.int64], confidence: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]:
    """Return the CSR of occupied levels by group, and the level of each row in it."""
    pairs = pd.DataFrame({"group": group, "confidence": confidence})
    distinct, level = split_cells(pairs, ["group", "confidence"])
    n_groups = int(group.max()) + 1 if len(group) else 0
    sizes = np.bincount(distinct["group"].to_numpy(dtype=np.int64), minlength=n_groups)
    start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return start, distinct["confidence"].to_numpy(dtype=np.float64), level
