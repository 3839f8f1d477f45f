"""Which rows of a file of estimates can be used: those without an estimate say why, and are counted."""

from __future__ import annotations

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from hmeta.core.errors import DataError
from hmeta.trials.columns import decode
from hmeta.trials.report import EXCLUSION_COLUMNS, ValidationReport
from hmeta.trials.rules import Caution
from hmeta.trials.study import named, places
from hmeta.trials.tables import check_estimates, frame_of, unusable_estimates

OK = "ok"
FLAGGED = "flagged"


def usable_estimates(ds: xr.Dataset) -> tuple[xr.Dataset, ValidationReport]:
    """Leave out the rows that say why they have no estimate, as `hmeta fit --method mle` writes them.

    Parameters
    ----------
    ds : xarray.Dataset
        Layout `estimates`; with a column `status` (and `reason`), a row whose status is not "ok" may lack
        its estimate. It is not modified.

    Returns
    -------
    Dataset, ValidationReport
        The usable rows, and what was left out by unit and reason.

    Raises
    ------
    DataError
        Where an estimate cannot be used and its row does not say why, or none is left.
    """
    reasons = _reasons(ds)
    lost = reasons != ""
    check_estimates(ds, lost)
    if lost.all():
        received = ", ".join(f"{n} {reason}" for reason, n in pd.Series(reasons).value_counts().items())
        raise DataError("no estimate can be used", received=received or "an empty table")
    report = _report(ds, reasons)
    return (ds.isel(row=np.flatnonzero(~lost)) if lost.any() else ds), report


def _reasons(ds: xr.Dataset) -> NDArray[np.object_]:
    """Return why each row has no estimate, "" where it has one or does not say."""
    out = np.full(ds.sizes.get("row", 0), "", dtype=object)
    if "status" not in ds:
        return out
    status = decode("status", ds["status"].values).fillna("").astype(str)
    reason = decode("reason", ds["reason"].values).fillna("").astype(str) if "reason" in ds else status
    unusable = unusable_estimates(ds, "estimate") | unusable_estimates(ds, "standard_error")
    said = unusable & ~status.isin(["", OK]).to_numpy(dtype=bool)
    out[said] = reason.where(reason != "", status)[said]
    return out


def _report(ds: xr.Dataset, reasons: NDArray[np.object_]) -> ValidationReport:
    data = places(frame_of(ds)).assign(count=1, used=(reasons == "").astype(int), reason=reasons)
    keys = ["unit", "dataset", "scale"]
    usage = data.groupby(keys, sort=True)[["count", "used"]].sum().reset_index()
    dropped = data[data["reason"] != ""].groupby([*keys, "reason"], sort=True)["count"].sum().reset_index()
    return ValidationReport(
        layout="estimates",
        task=str(ds.attrs["task"]),
        rows_in=len(data),
        rows_used=int(data["used"].sum()),
        exclusions=dropped[list(EXCLUSION_COLUMNS)],
        usage=usage.rename(columns={"count": "rows_in", "used": "rows_used"}),
        warnings=_flagged(ds, data),
    )


def _flagged(ds: xr.Dataset, data: pd.DataFrame) -> tuple[Caution, ...]:
    """Name the estimates that are used though their row says that they are doubtful."""
    if "status" not in ds:
        return ()
    doubtful = (decode("status", ds["status"].values) == FLAGGED).to_numpy(dtype=bool) & (data["used"] == 1)
    if not doubtful.any():
        return ()
    units = named(list(dict.fromkeys(data["unit"][doubtful])))
    return (Caution("flagged_estimates", f"{int(doubtful.sum())} estimates are flagged by their reason: {units}"),)
