"""Distinct rows of the needed columns, and the way from them to the columns of one measure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Distinct:
    """Distinct rows of some columns.

    Attributes
    ----------
    columns : dict of (row,) arrays
    row : (entry,)
        Which distinct row each entry is.
    """

    columns: dict[str, Floats]
    row: Ints

    @property
    def n_rows(self) -> int:
        """How many distinct rows there are."""
        return len(next(iter(self.columns.values())))

    def narrowed(self, names: Sequence[str]) -> Narrowed:
        """Return the distinct rows of fewer columns, and how weights are added up to them."""
        inner = distinct({name: self.columns[name] for name in names})
        order = np.argsort(inner.row, kind="stable")
        start = np.searchsorted(inner.row[order], np.arange(inner.n_rows))
        return Narrowed(tuple(inner.columns[name] for name in names), order, start)


@dataclass(frozen=True)
class Narrowed:
    """The columns of one measure over its distinct rows."""

    columns: tuple[Floats, ...]  # (row,) each
    order: Ints  # (wide row,), sorted by narrow row
    start: Ints  # (row,), where each begins in `order`

    def weights(self, wide: Floats) -> Floats:
        """Add up weights ``(..., wide row)`` to ``(..., row)``."""
        if len(self.start) == len(self.order):
            return wide[..., self.order]
        return np.add.reduceat(wide[..., self.order], self.start, axis=-1)


def distinct(columns: dict[str, Floats]) -> Distinct:
    """Find the distinct rows, sorted by the columns in order; NaN equals NaN."""
    codes = []
    for values in columns.values():
        found, code = np.unique(values, return_inverse=True)
        codes.append((code, len(found)))
    key = np.zeros(len(codes[0][0]), dtype=np.int64)
    for code, size in codes:
        key = pd.factorize(key * max(size, 1) + code, sort=True)[0]  # packed again, so that keys never overflow
    _, first = np.unique(key, return_index=True)
    return Distinct({name: values[first] for name, values in columns.items()}, key.astype(np.int64))
