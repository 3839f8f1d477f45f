"""Which cells of two levels of a factor can be compared: those alike in every other factor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Cells = NDArray[np.int64]

SINGLE = "one cell each"


@dataclass(frozen=True)
class Pairing:
    """The cells of two levels, gathered by what they share.

    A key is a combination of the other factors that was observed under both levels. Factors without a value in
    common, such as the person where each has one group, cannot be paired over: their cells are averaged within
    a key.
    """

    level: tuple[Cells, ...]  # for each shared key the cells of the level
    baseline: tuple[Cells, ...]
    words: str  # "198 model × domain"
    n_shared: int

    @property
    def words_if_any(self) -> list[str]:
        """What was paired, nothing where each level is a single cell."""
        return [] if self.words == SINGLE else [self.words]

    def mean_over_keys(self, draws: Floats, side: Literal["level", "baseline"]) -> Floats:
        """Return the average over the shared keys, each with the same weight: (chain, draw)."""
        cells_of = self.level if side == "level" else self.baseline
        return np.mean([draws[cells].mean(axis=0) for cells in cells_of], axis=0)


def pair_levels(factors: pd.DataFrame, by: str, level: Any, baseline: Any) -> Pairing:
    """Pair the cells of two levels of a factor.

    Parameters
    ----------
    factors : DataFrame
        (cell, factor).
    by : str
    level, baseline : value
        Two values of the factor, both observed.
    """
    sides = [factors[factors[by] == value] for value in (level, baseline)]
    others = [f for f in factors.columns if f != by and factors[f].nunique(dropna=False) > 1]
    shared = [f for f in others if set(sides[0][f]) & set(sides[1][f])]
    keys = [_cells_by_key(side, shared) for side in sides]
    common = [key for key in keys[0] if key in keys[1]]
    if not common:
        shared, keys = [], [_cells_by_key(side, []) for side in sides]
        common = list(keys[0])
    apart = [f for f in others if f not in shared]
    return Pairing(
        level=tuple(keys[0][key] for key in common),
        baseline=tuple(keys[1][key] for key in common),
        words=_words(shared, apart, len(common), max(len(keys[0]), len(keys[1]))),
        n_shared=len(common),
    )


def shared_rows(factors: pd.DataFrame, by: str, values: list[Any]) -> list[Cells] | None:
    """Return for each level its cells whose combination of the other factors was observed under every level.

    None where there is no such combination.
    """
    others = [f for f in factors.columns if f != by]
    keys = [_cells_by_key(factors[factors[by] == value], others) for value in values]
    common = set(keys[0]).intersection(*keys[1:])
    if not common:
        return None
    return [np.concatenate([cells for key, cells in k.items() if key in common]) for k in keys]


def _cells_by_key(side: pd.DataFrame, names: list[str]) -> dict[tuple[Any, ...], Cells]:
    cells = side.index.to_numpy()
    if not names:
        return {(): cells}
    found: dict[tuple[Any, ...], list[int]] = {}
    for cell, key in zip(cells, side[names].itertuples(index=False, name=None), strict=True):
        found.setdefault(key, []).append(int(cell))
    return {key: np.array(found[key]) for key in found}


def _words(shared: list[str], apart: list[str], n: int, n_all: int) -> str:
    if not shared:
        return f"not paired: different {' × '.join(apart)}" if apart else SINGLE
    of = f" of {n_all}" if n_all > n else ""
    more = f"; different {' × '.join(apart)}" if apart else ""
    return f"paired over {n}{of} {' × '.join(shared)}{more}"
