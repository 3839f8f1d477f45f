"""Single columns, to and from what NetCDF can hold; a missing value stays missing both ways."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hmeta.core.errors import DataError
from hmeta.trials.row_numbers import numbered

MISSING_CODE = -1
"""Stands for a missing integer code on disk."""

MISSING_TEXT = ""
"""Stands for a missing text on disk; NetCDF strings know no other."""

CODES: dict[str, type[np.signedinteger[Any]]] = {
    "correct": np.int8,
    "stimulus": np.int16,
    "response": np.int16,
    "n_options": np.int16,
}
NUMBERS: dict[str, type[np.floating[Any]]] = {"confidence": np.float32, "label": np.float32, "score": np.float32}
TEXTS = ("model", "participant", "dataset", "scale", "item", "signal")


def encode(column: pd.Series, *, where: str = "") -> NDArray[Any]:
    """Return a column as an array that NetCDF holds without loss.

    Parameters
    ----------
    column : Series
        Its name decides: known names get the type of the schema, others keep their own.
    where : str
        What to call the table in a refusal.

    Returns
    -------
    ndarray
        int8 or int16 with −1 for missing, float32, int64, float64, or an object array of str with ""
        for missing.

    Raises
    ------
    DataError
        Where a column that must be numeric holds something else.
    """
    name = str(column.name)
    if name in CODES:
        return _codes(column, CODES[name], where)
    if name in NUMBERS:
        return numeric(column, where=where).astype(NUMBERS[name])
    if name in TEXTS or not _is_number(column):
        return texts(column)
    if column.isna().any() or pd.api.types.is_float_dtype(column):
        return column.astype("Float64").to_numpy(dtype=np.float64, na_value=np.nan)
    return column.to_numpy(dtype=np.int64)


def decode(name: str, values: NDArray[Any]) -> pd.Series:
    """Return an array of the file as a column, with missing values as pandas knows them."""
    if name in CODES:
        return pd.Series(values.astype(np.int64), name=name).astype("Int64").mask(values == MISSING_CODE)
    if values.dtype.kind in "OSUT":
        text = pd.Series(values.astype(object), name=name, dtype="str")
        return text.mask(text == MISSING_TEXT)
    return pd.Series(values, name=name)


def numeric(column: pd.Series, *, where: str = "") -> NDArray[np.float64]:
    """Return a column as float64 with NaN for missing, or refuse what is not a number."""
    blank = column.isna() | (column.astype("str").str.strip() == "")
    found = pd.to_numeric(column.where(~blank).astype("object"), errors="coerce").astype("float64")
    bad = ~blank & found.isna()
    if bad.any():
        raise DataError(
            f"{int(bad.sum())} values of column {column.name} are not numbers",
            where=_place(where, f"column {column.name}, {numbered(np.asarray(bad))}"),
            received=", ".join(repr(str(v)) for v in column[bad].unique()[:5]),
            allowed="numbers, or empty for missing",
            mend="map these values to numbers on import",
        )
    return np.asarray(found, dtype=np.float64)


def texts(column: pd.Series) -> NDArray[np.object_]:
    """Return a column as str, whole numbers without a decimal point, missing as ""."""
    missing = column.isna().to_numpy(dtype=bool)
    out = np.array([_text(v) for v in column.astype("object")], dtype=object)
    out[missing] = MISSING_TEXT
    return out


def as_reported(values: NDArray[Any]) -> NDArray[Any]:
    """Return float32 confidences as the float64 numbers that people wrote: 0.85, not 0.8500000238."""
    if values.dtype != np.float32:
        return values.astype(np.float64)
    distinct, inverse = np.unique(values, return_inverse=True)
    return np.array([float(str(v)) for v in distinct], dtype=np.float64)[inverse].reshape(values.shape)


def _codes(column: pd.Series, kind: type[np.signedinteger[Any]], where: str) -> NDArray[Any]:
    found = numeric(column.astype("Int64") if pd.api.types.is_bool_dtype(column) else column, where=where)
    missing = np.isnan(found)
    limits = np.iinfo(kind)
    bad = ~missing & ((found != np.round(found)) | (found < limits.min) | (found > limits.max))
    if bad.any():
        raise DataError(
            f"column {column.name} holds values that are not codes",
            where=_place(where, f"column {column.name}, {numbered(np.asarray(bad))}"),
            received=", ".join(map(str, found[bad][:5])),
            allowed=f"whole numbers from {limits.min} to {limits.max}, or empty for missing",
        )
    return np.where(missing, MISSING_CODE, found).astype(kind)


def _text(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _is_number(column: pd.Series) -> bool:
    return pd.api.types.is_numeric_dtype(column) and not isinstance(column.dtype, pd.CategoricalDtype)


def _place(where: str, what: str) -> str:
    return f"{where}, {what}" if where else what
