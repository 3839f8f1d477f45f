"""Rows as messages name them: counted from 0, the first few."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

MOST_NAMES = 5
"""A message names at most this many rows or units."""


def numbered(mask: NDArray[np.bool_]) -> str:
    """Return the first row numbers of a mask, counted from 0.

    Examples
    --------
    >>> numbered(np.array([False, True, True]))
    'rows (from 0) 1, 2'
    """
    rows = np.flatnonzero(mask)
    more = len(rows) - MOST_NAMES
    return "rows (from 0) " + ", ".join(map(str, rows[:MOST_NAMES])) + (f" and {more} more" if more > 0 else "")
