"""What a results file must look like before any value is judged: dimensions, whole codes, the scale table."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import xarray as xr

from hmeta.core.errors import DataError
from hmeta.trials.columns import CODES, NUMBERS, TEXTS
from hmeta.trials.row_numbers import numbered
from hmeta.trials.tables import SCALE_COLUMNS

COUNT_DIMS = {
    "row_cell": "row",
    "row_outcome": "row",
    "row_level": "row",
    "count": "row",
    "level_value": "level",
    "n_options": "cell",
    **dict.fromkeys((name for name in TEXTS if name != "item"), "cell"),
}
WHOLE = (*CODES, "row_cell", "row_outcome", "row_level")


def check_structure(ds: xr.Dataset) -> None:
    """Refuse a file whose known columns have another dimension or kind than the layout says.

    Raises
    ------
    DataError
        For a column along another dimension, codes that are no whole numbers, a scale table with an
        impossible step or direction, a mark for padding that is neither 0 nor 1.
    """
    layout = str(ds.attrs["hmeta_layout"])
    if layout == "counts":
        _check_dims(ds, COUNT_DIMS)
    else:
        names = ("estimate", "standard_error") if layout == "estimates" else (*CODES, *NUMBERS, *TEXTS)
        _check_dims(ds, dict.fromkeys(names, "row" if layout == "estimates" else "trial"))
    _check_whole(ds, WHOLE if layout != "estimates" else ())
    _check_scales(ds)
    if str(ds.attrs.get("padded", 0)) not in ("0", "1"):
        raise DataError(
            "the mark for padded counts is unknown",
            where="attribute padded",
            received=repr(ds.attrs["padded"]),
            allowed="0 or 1",
        )


def _check_dims(ds: xr.Dataset, dims: dict[str, str]) -> None:
    for name, dim in dims.items():
        if name in ds and ds[name].dims != (dim,):
            raise DataError(
                f"column {name} has another dimension than its layout",
                where=f"column {name}",
                received=", ".join(map(str, ds[name].dims)) or "a single value",
                allowed=dim,
                mend="make the file with hmeta import, or see docs/data-format.md",
            )


def _check_whole(ds: xr.Dataset, names: Iterable[str]) -> None:
    for name in names:
        if name not in ds or ds[name].dtype.kind in "iub":
            continue
        values = ds[name].values
        if values.dtype.kind != "f":
            raise DataError(
                f"column {name} holds text in place of numbers",
                where=f"column {name}",
                received=repr(str(values[0])) if len(values) else "text",
                allowed="whole numbers, -1 for missing",
            )
        bad = ~(np.isfinite(values) & (values == np.round(values)))
        if bad.any():
            raise DataError(
                f"column {name} holds values that are not whole numbers",
                where=f"column {name}, {numbered(bad)}",
                received=", ".join(map(str, values[bad][:5])),
                allowed="whole numbers, -1 for missing",
            )


def _check_scales(ds: xr.Dataset) -> None:
    if "scale_id" not in ds.variables:
        return
    for name in SCALE_COLUMNS:
        if name not in ds:
            raise DataError(
                f"the scale table lacks {name}", where="scale table", allowed=SCALE_COLUMNS, mend="declare the scale"
            )
    step, reverse = (np.atleast_1d(ds[name].values) for name in ("scale_step", "scale_reversed"))
    for name, values, bad, allowed in (
        ("scale_step", step, ~(step >= 0), "0 for continuous, or the step"),
        ("scale_reversed", reverse, ~np.isin(reverse, (0, 1)), "0 or 1"),
    ):
        if bad.any():
            raise DataError(f"{name} is impossible", where="scale table", received=str(values[bad][0]), allowed=allowed)
