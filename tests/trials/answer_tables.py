"""Small tables of answers for the tests of this folder and of tests/cases."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import xarray as xr

from hmeta.trials.counts import counts_dataset
from hmeta.trials.tables import trials_dataset

SHARED = Path(os.environ.get("HMETA_SHARED", Path(__file__).resolve().parents[2].parent / "shared"))

N_S1 = [36, 24, 17, 20, 10, 12, 9, 2]
N_S2 = [1, 4, 10, 11, 19, 18, 28, 39]


def scale(lower: float, upper: float, step: float = 1, *, reverse: int = 0, name: str | None = None) -> pd.DataFrame:
    row = {"scale_lower": lower, "scale_upper": upper, "scale_step": step, "scale_reversed": reverse}
    return pd.DataFrame([{"scale_id": name or f"{lower:g}-{upper:g}"} | row])


def cells(n_s1: Sequence[float], n_s2: Sequence[float], **factors: str) -> pd.DataFrame:
    """Return the table of counts of two arrays in the order S1 high … low, S2 low … high."""
    k = len(n_s1) // 2
    order = [(0, level) for level in range(k, 0, -1)] + [(1, level) for level in range(1, k + 1)]
    rows = [
        {"stimulus": s, "response": r, "confidence": level, "count": n}
        for s, counts in enumerate((n_s1, n_s2))
        for (r, level), n in zip(order, counts, strict=True)
    ]
    return pd.DataFrame(rows).assign(**({"participant": "p1"} | factors))


def repeated(counts: pd.DataFrame) -> pd.DataFrame:
    """Return a table of counts as one row an answer."""
    return counts.loc[counts.index.repeat(counts["count"])].drop(columns="count").reset_index(drop=True)


def from_counts(n_s1: Sequence[float], n_s2: Sequence[float], *, padded: bool = False, **factors: str) -> xr.Dataset:
    k = len(n_s1) // 2
    return counts_dataset(cells(n_s1, n_s2, **factors), task="binary", scales=scale(1, k), padded=padded)


def from_trials(n_s1: Sequence[int], n_s2: Sequence[int], **factors: str) -> xr.Dataset:
    k = len(n_s1) // 2
    return trials_dataset(repeated(cells(n_s1, n_s2, **factors)), task="binary", scales=scale(1, k))
