"""What the data of a unit can say about M at all, read from the counts stored with a fit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from hmeta.core.schema import OUTCOMES

Ints = NDArray[np.int64]


def observed_rows(tree: xr.DataTree, n_cells: int) -> pd.DataFrame | None:
    """Return the counts stored with a fit: cell, outcome, confidence, count; None where it holds none."""
    if "observed_data" not in tree.children:
        return None
    data = tree["observed_data"].to_dataset()
    if not {"count", "row_cell", "row_outcome", "row_confidence"} <= {str(name) for name in data.variables}:
        return None
    rows = pd.DataFrame(
        {
            "cell": np.asarray(data["row_cell"].values, dtype=np.int64),
            "outcome": np.asarray(data["row_outcome"].values, dtype=np.int64),
            "confidence": np.asarray(data["row_confidence"].values, dtype=np.float64),
            "count": np.asarray(data["count"].values, dtype=np.float64),
        }
    )
    return rows if rows["cell"].between(0, n_cells - 1).all() else None


def why_uninformative(rows: pd.DataFrame, task: str) -> str:
    """Return why some answers cannot identify M, or "" where they can.

    Parameters
    ----------
    rows : DataFrame
        Rows of one unit, as `observed_rows` gives them.
    task : str
    """
    used = rows[rows["count"] > 0]
    if not len(used):
        return "no answers"
    outcome = used["outcome"].to_numpy()
    right = is_right(outcome, task)
    if right.all():
        return "no wrong answers"
    if not right.any():
        return "no right answers"
    side = _side(outcome, task)
    if task == "binary" and len(np.unique(side)) < 2:
        return f"no S{2 - side[0]} responses"
    levels = used.assign(side=side).groupby(["cell", "side"])["confidence"].nunique()
    return "one confidence level used" if (levels < 2).all() else ""


def auroc2(rows: pd.DataFrame, task: str) -> float:
    """Return P(confidence of a right answer > of a wrong one) + ½ P(tie), within cells and responses.

    NaN where no cell and response has both right and wrong answers.
    """
    outcome = rows["outcome"].to_numpy()
    right = is_right(outcome, task)
    n = rows["count"].to_numpy()
    data = pd.DataFrame({"cell": rows["cell"], "side": _side(outcome, task), "level": rows["confidence"]})
    data = data.assign(right=n * right, wrong=n * ~right).groupby(["cell", "side", "level"])[["right", "wrong"]].sum()
    ladder = ["cell", "side"]
    below = data["wrong"].groupby(level=ladder).cumsum() - data["wrong"] / 2
    pairs = (data["right"] * below).groupby(level=ladder).sum().sum()
    totals = data.groupby(level=ladder).sum()
    possible = (totals["right"] * totals["wrong"]).sum()
    return float(pairs / possible) if possible > 0 else float("nan")


def unit_rows(rows: pd.DataFrame, cells: Sequence[int] | Ints) -> pd.DataFrame:
    """Return the rows of some cells."""
    return rows[rows["cell"].isin(cells)]


def is_right(outcome: Ints, task: str) -> NDArray[np.bool_]:
    """Say which codes of outcomes are right answers."""
    return np.isin(outcome, (0, 3)) if task == "binary" else outcome == OUTCOMES["mafc"].index("correct")


def _side(outcome: Ints, task: str) -> Ints:
    """Return which ladder an outcome reads: that of its response for `binary`."""
    return outcome % 2 if task == "binary" else np.zeros_like(outcome)
