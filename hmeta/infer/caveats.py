"""What to know before reading a number: the flags of a summary."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hmeta.infer.evidence import auroc2, unit_rows, why_uninformative
from hmeta.infer.fitted import Fitted

Floats = NDArray[np.float64]
Cells = NDArray[np.int64]

UNINFORMATIVE = "uninformative"
"""The flag of a unit whose parameter rests on the other units or the prior."""

NOT_CONVERGED = "fit not converged"

D_BELOW_ZERO = 0.05
"""The share of draws with d ≤ 0 from which a row is flagged."""


class Ratio(NamedTuple):
    """What must stand beside M, a ratio with d below the line, for some cells."""

    below: float  # share of draws in which the mean d is not positive
    difference: float  # median of meta_d - d
    d: float  # median
    meta_d: float  # median


def beside_ratio(fitted: Fitted, cells: Cells) -> Ratio | None:
    """Return what must stand beside M averaged over some cells; None for predictions and unusable d."""
    if not len(cells) or fitted.ratio is None:
        return None
    d, meta_d = fitted.ratio
    d, meta_d = d[cells].mean(axis=0), meta_d[cells].mean(axis=0)
    if not (np.isfinite(d).all() and np.isfinite(meta_d).all()):
        return None
    below = float((d <= 0).mean())
    return Ratio(below, float(np.median(meta_d - d)), float(np.median(d)), float(np.median(meta_d)))


def list_flags(fitted: Fitted, draws: Floats, cells: Cells, *, unit: bool) -> str:
    """Return what to know before reading one row of a summary, joined with "; ".

    Parameters
    ----------
    fitted : Fitted
    draws : (chain, draw)
        Of the row.
    cells : (cell,)
        The cells averaged; none for a prediction.
    unit : bool
        Whether the row is one unit, whose data are judged.
    """
    flags = [] if fitted.converged else [NOT_CONVERGED]
    if not np.isfinite(draws).all():
        flags.append("invalid draws")
    ratio = beside_ratio(fitted, cells) if fitted.parameter == "M" else None
    flags += _ratio_flags(ratio) if ratio is not None else []
    if unit and len(cells) and fitted.judged:
        flags += _data_flags(fitted, cells, d_positive=ratio is not None and ratio.below < 0.5)
    return "; ".join(flags)


def _ratio_flags(ratio: Ratio) -> list[str]:
    flags = [f"d ≤ 0 in {ratio.below:.0%} of draws"] if ratio.below >= D_BELOW_ZERO else []
    if ratio.below > 0.5:
        flags.append("answers below chance: is the coding inverted?")
    if ratio.meta_d < 0 and ratio.d > 1:
        flags.append("meta_d < 0 though d > 1: is the rating order reversed?")
    return flags


def _data_flags(fitted: Fitted, cells: Cells, *, d_positive: bool) -> list[str]:
    if fitted.observed is None:
        return []
    rows, task = unit_rows(fitted.observed, cells), str(fitted.attributes.get("task", ""))
    reason = why_uninformative(rows, task)
    if reason:
        return [f"{UNINFORMATIVE}: {reason}"]
    if fitted.parameter != "M" or fitted.link != "log" or not d_positive:
        return []
    area = auroc2(rows, task)
    return [f"the data point to M ≤ 0 (AUROC2 {area:.2f}), which a log link excludes"] if area < 0.5 else []
