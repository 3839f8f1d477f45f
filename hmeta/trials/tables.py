"""Between a pandas table and the results file: the layouts `trials` and `estimates`."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from hmeta.core.errors import DataError
from hmeta.core.registry import did_you_mean
from hmeta.core.schema import SCHEMA_VERSION, TASKS, UNIT_COLUMNS
from hmeta.trials.columns import decode, encode, numeric
from hmeta.trials.row_numbers import numbered

SCALE_COLUMNS = ("scale_lower", "scale_upper", "scale_step", "scale_reversed")
ROW_DIM = {"trials": "trial", "estimates": "row", "metrics": "row"}


def trials_dataset(
    frame: pd.DataFrame,
    *,
    task: str,
    scales: pd.DataFrame | None = None,
    title: str = "",
    source: str = "",
    license: str = "",
) -> xr.Dataset:
    """Return a table with one row an answer as a dataset of layout `trials`.

    Parameters
    ----------
    frame : DataFrame
        Columns named as in docs/data-format.md; any further column is kept as a factor or covariate.
        It is not modified.
    task : {"binary", "mafc", "open"}
        The kind of task.
    scales : DataFrame, optional
        One row a confidence scale: `scale_id`, `scale_lower`, `scale_upper`, `scale_step` (0 for
        continuous) and `scale_reversed` (0 or 1).
    title, source, license : str
        Kept as attributes of the file.

    Returns
    -------
    xarray.Dataset
        Dimension `trial`, and `scale_id` where scales were given.

    Raises
    ------
    DataError
        Where a column cannot be stored as what its name says it is.

    Examples
    --------
    >>> table = pd.DataFrame({"model": ["a", "a"], "correct": [1, 0], "confidence": [90, None]})
    >>> int(trials_dataset(table, task="open")["confidence"].isnull().sum())
    1
    """
    check_task(task)
    check_names(frame, reserved=("scale_id", *SCALE_COLUMNS))
    data: dict[str, Any] = {str(name): ("trial", encode(frame[name])) for name in frame.columns}
    attrs = attributes("trials", task=task, title=title, source=source, license=license)
    return xr.Dataset(data | scale_variables(scales), attrs=attrs)


def estimates_dataset(
    frame: pd.DataFrame, *, task: str = "open", title: str = "", source: str = "", license: str = ""
) -> xr.Dataset:
    """Return a table of estimates with standard errors as a dataset of layout `estimates`.

    Parameters
    ----------
    frame : DataFrame
        Columns `estimate`, `standard_error`, and any factors.
    task, title, source, license : str
        Kept as attributes of the file.

    Raises
    ------
    DataError
        Where a needed column is missing, an estimate is not finite or a standard error not positive.
    """
    check_task(task)
    check_names(frame, reserved=())
    for name in ("estimate", "standard_error"):
        if name not in frame.columns:
            raise missing_column(name, frame.columns)
    data: dict[str, Any] = {
        str(name): ("row", numeric(frame[name]) if name in ("estimate", "standard_error") else encode(frame[name]))
        for name in frame.columns
    }
    ds = xr.Dataset(data, attrs=attributes("estimates", task=task, title=title, source=source, license=license))
    check_estimates(ds)
    return ds


def check_estimates(ds: xr.Dataset, excused: NDArray[np.bool_] | bool = False) -> None:
    """Refuse estimates that are not finite and standard errors that are not positive.

    Parameters
    ----------
    ds : xarray.Dataset
        Layout `estimates`.
    excused : (row,) bool
        Rows that say why they have no estimate.
    """
    for name in ("estimate", "standard_error"):
        bad = unusable_estimates(ds, name) & ~np.asarray(excused)
        if bad.any():
            values = ds[name].values
            raise DataError(
                f"{int(bad.sum())} values of {name} cannot be used",
                where=f"column {name}, {numbered(bad)}",
                received=", ".join(map(str, values[bad][:5])),
                allowed="finite numbers above 0" if name == "standard_error" else "finite numbers",
                mend="leave these rows out",
            )


def unusable_estimates(ds: xr.Dataset, name: str) -> NDArray[np.bool_]:
    """Return which rows have an estimate, or a standard error, that cannot be used."""
    if name not in ds:
        raise missing_column(name, map(str, ds.variables))
    values = ds[name].values.astype(np.float64)
    return ~np.isfinite(values) | ((values <= 0) & (name == "standard_error"))


def frame_of(ds: xr.Dataset) -> pd.DataFrame:
    """Return the rows of a dataset as a table: the inverse of `trials_dataset` and `estimates_dataset`.

    Codes come back as nullable integers, texts as str, both with missing values as pandas knows them.
    Layout `counts` has no such table; see `hmeta.trials.rows.rows_of`.
    """
    dim = ROW_DIM[ds.attrs["hmeta_layout"]]
    return pd.DataFrame({str(k): decode(str(k), v.values) for k, v in ds.variables.items() if v.dims == (dim,)})


def scale_frame(ds: xr.Dataset) -> pd.DataFrame | None:
    """Return the scale table with `scale_id` as a column, or None where none was declared."""
    if "scale_id" not in ds.variables:
        return None
    columns = {"scale_id": ds["scale_id"].values.astype(object)}
    return pd.DataFrame(columns | {name: ds[name].values for name in SCALE_COLUMNS})


def scale_variables(scales: pd.DataFrame | None) -> dict[str, Any]:
    """Return the scale table as variables on the dimension `scale_id`."""
    if scales is None:
        return {}
    for name in ("scale_id", "scale_lower", "scale_upper"):
        if name not in scales.columns:
            raise missing_column(name, scales.columns)
    full = scales.assign(**{name: 0 for name in ("scale_step", "scale_reversed") if name not in scales.columns})
    if full["scale_id"].duplicated().any():
        raise DataError("a scale is declared twice", received=", ".join(map(str, full["scale_id"])))
    numbers = {name: ("scale_id", numeric(full[name])) for name in SCALE_COLUMNS[:3]}
    reverse = ("scale_id", numeric(full["scale_reversed"]).astype(np.int8))
    bad = ~(numbers["scale_upper"][1] >= numbers["scale_lower"][1])
    if bad.any():
        raise DataError(
            "the upper end of a scale lies below its lower end",
            where="scale table",
            received=", ".join(map(str, full["scale_id"][bad])),
        )
    names = np.array([str(v) for v in full["scale_id"]], dtype=object)
    return {"scale_id": ("scale_id", names), **numbers, "scale_reversed": reverse}


def attributes(layout: str, **words: str) -> dict[str, str]:
    """Return the global attributes of a results file."""
    head = {"hmeta_layout": layout, "hmeta_schema": SCHEMA_VERSION, "created_by": f"hmeta {version('hmeta')}"}
    return head | {key: str(value) for key, value in words.items()}


def check_task(task: str) -> None:
    """Refuse a task kind that is not one of the three."""
    if task not in TASKS:
        raise DataError("unknown kind of task", received=repr(task), allowed=TASKS, mend=did_you_mean(task, TASKS))


def check_names(frame: pd.DataFrame, *, reserved: tuple[str, ...]) -> None:
    """Refuse column names that the file cannot hold."""
    names = [str(name) for name in frame.columns]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise DataError("a column name occurs twice", received=", ".join(twice), mend="rename one of them")
    bad = [name for name in names if "/" in name or not name.strip() or name in reserved]
    if bad:
        raise DataError(
            "a column name cannot be stored",
            received=", ".join(map(repr, bad)),
            allowed="non-empty names without a slash, other than those of the layout itself",
            mend="rename the column",
        )


def unit_columns(names: Any) -> list[str]:
    """Return which of `model` and `participant` are among the names."""
    present = {str(name) for name in names}
    return [name for name in UNIT_COLUMNS if name in present]


def missing_column(name: str, columns: Any) -> DataError:
    """Return the refusal for a column that is not there."""
    there = [str(c) for c in columns]
    return DataError(
        f'column "{name}" is missing',
        received=f"columns: {', '.join(there) or 'none'}",
        mend=did_you_mean(name, there) or f"name the column that holds it, for example --column {name}=...",
    )
