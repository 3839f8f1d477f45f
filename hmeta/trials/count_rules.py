"""What a file of counts must be before anything is computed from it."""

from __future__ import annotations

import numpy as np
import xarray as xr

from hmeta.core.errors import DataError
from hmeta.core.schema import OUTCOMES
from hmeta.trials.columns import decode
from hmeta.trials.counts import check_count_values, check_level_values, is_padded
from hmeta.trials.row_numbers import numbered
from hmeta.trials.rules.scale import one_level
from hmeta.trials.scales import is_rating, span
from hmeta.trials.tables import missing_column, scale_frame, unit_columns

NEEDED = ("row_cell", "row_outcome", "row_level", "count", "level_value")


def check_counts(ds: xr.Dataset) -> None:
    """Refuse counts that cannot be: missing variables, indices out of range, negative or broken counts, one level."""
    for name in (*NEEDED, *(("n_options",) if ds.attrs["task"] == "mafc" else ())):
        if name not in ds:
            raise missing_column(name, map(str, ds.variables))
    _check_indices(ds)
    check_count_values(ds["count"].values, padded=is_padded(ds))
    check_level_values(ds["level_value"].values)
    one_level(scale_frame(ds))
    _check_levels(ds)
    _check_classes(ds)
    _check_owners(ds)


def _check_owners(ds: xr.Dataset) -> None:
    """Refuse cells that do not say whose answers they count."""
    for name in unit_columns(ds.variables):
        blank = decode(name, ds[name].values).isna().to_numpy(dtype=bool)
        if blank.any():
            raise DataError(
                f"cells without a {name}",
                where=f"column {name}, {numbered(blank)}",
                received="blank",
                mend="leave these cells out, or count again from the answers: hmeta counts",
            )


def _check_indices(ds: xr.Dataset) -> None:
    limits = {
        "row_cell": ds.sizes.get("cell", 0),
        "row_level": ds.sizes.get("level", 0),
        "row_outcome": len(OUTCOMES[ds.attrs["task"]]),
    }
    for name, limit in limits.items():
        bad = (ds[name].values < 0) | (ds[name].values >= limit)
        if bad.any():
            raise DataError(
                f"{name} points outside the file",
                where=f"{name}, {numbered(bad)}",
                received=", ".join(map(str, np.unique(ds[name].values[bad])[:5])),
                allowed=f"0 to {limit - 1}",
            )


def _check_levels(ds: xr.Dataset) -> None:
    """Refuse counts at levels that are none of the scale's, and a study that has one level without a scale."""
    scales = scale_frame(ds)
    value = ds["level_value"].values
    if scales is None:
        if len(np.unique(value)) == 1:
            raise DataError(
                "at least two rating levels are needed", where="level_value", received=f"one level, {value[0]:g}"
            )
        return
    declared = scales if len(scales) == 1 else None
    if declared is None:
        return
    lower, upper, step = (float(declared[f"scale_{end}"].iloc[0]) for end in ("lower", "upper", "step"))
    slack = 1e-6 * (upper - lower)
    bad = (value < lower - slack) | (value > upper + slack)
    if is_rating(declared)[0]:
        steps = (value - lower) / step
        bad |= np.abs(steps - np.round(steps)) > 1e-6
    if bad.any():
        raise DataError(
            f"counts have confidence outside {span(declared)}",
            where="level_value",
            received=", ".join(f"{v:g}" for v in np.unique(value[bad])[:5]),
            mend="correct the levels or the declared scale, or count again from the answers: hmeta counts",
        )


def _check_classes(ds: xr.Dataset) -> None:
    if ds.attrs["task"] != "binary":
        if ds.attrs["task"] == "mafc" and bool((ds["n_options"] < 2).any()):
            raise DataError("n_options is below 2", where="n_options", allowed="2 or more")
        return
    count, outcome = ds["count"].values, ds["row_outcome"].values
    totals = [float(count[outcome // 2 == code].sum()) for code in (0, 1)]
    for code in (0, 1):
        if totals[code] == 0 and sum(totals) > 0:
            raise DataError(
                f"no S{code + 1} trials: stimulus is never {code}",
                where="row_outcome",
                received=f"{totals[1 - code]:g} trials, all with stimulus {1 - code}",
                mend="d′ and meta-d′ compare two stimuli; check the order of the counts",
            )
