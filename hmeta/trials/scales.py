"""Confidence scales as the study uses them: declared, or read from the whole table where that is safe."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hmeta.core.errors import DataError

MOST_RATING_LEVELS = 20
"""A stepped scale with at most this many levels is a rating scale; any other is wide."""


def rating_scale(values: NDArray[np.float64], name: str | None = None) -> pd.DataFrame | None:
    """Return the rating scale that the values of a whole study span, or None where they are no ratings.

    Ratings are whole numbers from 0 to `MOST_RATING_LEVELS`. The scale starts at 0 or 1 and ends at the
    largest value anywhere in the study, so that a level which one unit never uses stays a level.

    Examples
    --------
    >>> rating_scale(np.array([2.0, 4.0, 3.0]))["scale_id"].item()
    '1-4'
    """
    found = np.unique(values[np.isfinite(values)])
    whole = len(found) > 0 and bool(np.all(found == np.round(found)))
    if not whole or found[0] < 0 or found[-1] > MOST_RATING_LEVELS or set(found) == {0.0, 1.0}:
        return None
    lower = min(1.0, found[0]) if len(found) > 1 else found[0]
    return _scale(name, lower, found[-1], 1.0)


def infer_scale(values: NDArray[np.float64], name: str | None = None) -> pd.DataFrame | None:
    """Return the scale that the values of a whole study show beyond doubt, or refuse.

    Raises
    ------
    DataError
        Where the values could belong to more than one scale.
    """
    found = np.unique(values[np.isfinite(values)])
    if not len(found):
        return None
    ratings = rating_scale(values, name)
    if ratings is not None:
        return ratings
    if found[0] >= 0 and found[-1] <= 1 and set(found) != {0.0, 1.0}:
        return _scale(name, 0.0, 1.0, 0.0)
    where = "column confidence" if name is None else f"column confidence, scale {name}"
    if set(found) == {0.0, 1.0}:
        raise DataError(
            "confidence holds only 0 and 1, and no scale is declared",
            where=where,
            allowed="a declared scale: two ratings 0-1, or the ends of a scale such as 0-1 or 0-100",
            mend="declare the scale on import: --scale 0-1",
        )
    raise DataError(
        "confidence holds values above 1, and no scale is declared" if found[0] >= 0 else "no scale is declared",
        where=where,
        received=f"{len(found)} values from {found[0]:g} to {found[-1]:g}",
        mend="declare the scale on import: --scale 0-100",
    )


def n_levels(lower: float, upper: float, step: float) -> float:
    """Return how many levels a scale has; infinite where it is continuous.

    Examples
    --------
    >>> n_levels(0, 100, 1), n_levels(0, 1, 0)
    (101.0, inf)
    """
    return float(np.floor((upper - lower) / step + 1 + 1e-9)) if step > 0 else np.inf


def is_rating(declared: pd.DataFrame) -> NDArray[np.bool_]:
    """Return for each row whether its declared scale is a rating scale."""
    lower, upper, step = (declared[f"scale_{end}"].to_numpy(dtype=np.float64) for end in ("lower", "upper", "step"))
    with np.errstate(divide="ignore", invalid="ignore"):
        return (step > 0) & ((upper - lower) / step + 1 <= MOST_RATING_LEVELS + 1e-9)


def span(declared: pd.DataFrame) -> str:
    """Return the ends of the declared scales as text, "1..4" or "1..4, 0..100"."""
    pairs = declared[["scale_lower", "scale_upper"]].dropna().drop_duplicates().to_numpy()
    return ", ".join(f"{lower:g}..{upper:g}" for lower, upper in pairs)


def _scale(name: str | None, lower: float, upper: float, step: float) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "scale_id": [f"{lower:g}-{upper:g}" if name is None else name],
            "scale_lower": [float(lower)],
            "scale_upper": [float(upper)],
            "scale_step": [step],
            "scale_reversed": [0],
        }
    )
