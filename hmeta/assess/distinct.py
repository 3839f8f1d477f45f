"""Distinct rows of the needed columns, and the way from them to the columns of one measure."""

from __future__ import annotations

from collections.abc import Container, Sequence
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

    def narrowed(self, names: Sequence[str], *, may_lack: Container[str] = ()) -> Narrowed:
        """Return the distinct rows of fewer columns, and how weights are added up to them.

        Parameters
        ----------
        names : sequence of str
        may_lack : container of str
            Columns in which NaN is a value; rows in which any other column is NaN are left out.
        """
        inner = distinct({name: self.columns[name] for name in names})
        order = np.argsort(inner.row, kind="stable")
        start = np.searchsorted(inner.row[order], np.arange(inner.n_rows))
        missing = [np.isnan(inner.columns[name]) for name in names if name not in may_lack]
        kept = np.flatnonzero(~np.any(missing, axis=0)) if missing else np.arange(inner.n_rows)
        return Narrowed(tuple(inner.columns[name][kept] for name in names), order, start, kept)


@dataclass(frozen=True)
class Narrowed:
    """The columns of one measure over its distinct rows."""

    columns: tuple[Floats, ...]  # (kept row,) each
    order: Ints  # (wide row,), sorted by narrow row
    start: Ints  # (narrow row,), where each begins in `order`
    kept: Ints  # (kept row,), narrow rows without a missing value

    def weights(self, wide: Floats) -> Floats:
        """Add up weights ``(..., wide row)`` to ``(..., kept row)``."""
        if not len(self.kept):
            return np.zeros((*wide.shape[:-1], 0))
        ordered = wide[..., self.order]
        narrow = ordered if len(self.start) == len(self.order) else np.add.reduceat(ordered, self.start, axis=-1)
        return narrow if len(self.kept) == len(self.start) else narrow[..., self.kept]


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
