"""Tiny data for the tests of this folder, built from rows."""

from collections.abc import Mapping, Sequence
from itertools import product

import pandas as pd
import xarray as xr

from hmeta.trials.tables import trials_dataset


def mafc(rows: Sequence[tuple[object, ...]], columns: Sequence[str], n_options: int = 4) -> xr.Dataset:
    """Return trials of a choice among alternatives: the factors, then correct and confidence."""
    frame = pd.DataFrame(rows, columns=[*columns, "correct", "confidence"]).assign(n_options=n_options)
    return trials_dataset(frame, task="mafc", scales=_scales(frame))


def open_answers(rows: Sequence[tuple[object, ...]], columns: Sequence[str]) -> xr.Dataset:
    """Return trials of free answers: the factors, then correct and confidence."""
    frame = pd.DataFrame(rows, columns=[*columns, "correct", "confidence"])
    return trials_dataset(frame, task="open", scales=_scales(frame))


def binary(rows: Sequence[tuple[object, ...]], columns: Sequence[str]) -> xr.Dataset:
    """Return trials of two classes: the factors, then stimulus, response and confidence."""
    frame = pd.DataFrame(rows, columns=[*columns, "stimulus", "response", "confidence"])
    return trials_dataset(frame, task="binary", scales=_scales(frame))


def crossed_mafc(**factors: Sequence[object]) -> xr.Dataset:
    """Return every combination of the factors with six answers at three levels."""
    return mafc(_six_answers(factors), list(factors))


def crossed_open(**factors: Sequence[object]) -> xr.Dataset:
    """Return every combination of the factors with six free answers at three levels."""
    return open_answers(_six_answers(factors), list(factors))


def _six_answers(factors: Mapping[str, Sequence[object]]) -> list[tuple[object, ...]]:
    answers = [(1, 90), (1, 90), (1, 50), (0, 50), (0, 10), (1, 10)]
    return [(*cell, *answer) for cell in product(*factors.values()) for answer in answers]


def crossed_binary(**factors: Sequence[object]) -> xr.Dataset:
    """Return every combination of the factors with all outcomes at levels 1 to 3."""
    answers = [(s, r, c) for s, r in product((0, 1), repeat=2) for c in ((1, 2, 3) if s == r else (1, 2))]
    rows = [(*cell, *answer) for cell in product(*factors.values()) for answer in answers]
    return binary(rows, list(factors))


def _scales(frame: pd.DataFrame) -> pd.DataFrame | None:
    if "scale" not in frame:
        return None
    names = sorted(frame["scale"].unique())
    return pd.DataFrame({"scale_id": names, "scale_lower": 0.0, "scale_upper": 100.0, "scale_step": 1.0})
