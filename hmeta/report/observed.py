"""Observed ratings of a fit and those that it replicates, unit by unit.

Letters: ``draw`` counts replicated data sets, ``level`` the confidence levels that a unit's criteria separate.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hmeta.core.errors import DataError
from hmeta.infer.evidence import is_right
from hmeta.infer.fitted import Fitted, default_unit, find_factor, level_labels
from hmeta.report.inputs import FitInput

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ALL = "all answers"
"""The name of the only unit, where nothing tells units apart."""

SCALE = "scale"
MOST_FACETS = 56
"""More units than this cannot be shown in facets of one figure."""


@dataclass(frozen=True)
class Ratings:
    """Ratings of one unit, all its cells and responses taken together."""

    label: str
    scale: str  # "" where the units' ratings are on one scale
    levels: Floats  # (level,), ascending
    observed: Floats  # (2, level): wrong, right
    replicated: Floats  # (draw, 2, level), given the observed outcomes

    @property
    def n_wrong(self) -> int:
        """Wrong answers."""
        return int(self.observed[0].sum())

    @property
    def n_right(self) -> int:
        """Right answers."""
        return int(self.observed[1].sum())

    @property
    def lacks(self) -> str:
        """What both outcomes would be needed for and one is missing: "no wrong answers", or ""."""
        if not self.n_wrong + self.n_right:
            return "no answers"
        return "" if self.n_wrong and self.n_right else "no wrong answers" if self.n_right else "no right answers"


@dataclass(frozen=True)
class Observed:
    """The units of a fit."""

    by: str
    """The factor; "" for a single unit."""
    converged: bool
    units: tuple[Ratings, ...]
    n_replicates: int


def observed_by_unit(source: FitInput, by: str | None = None) -> Observed:
    """Return observed and replicated ratings by the levels of a factor.

    Ratings on different scales are never added up: there a unit comes once a scale.

    Parameters
    ----------
    source : FitInput
    by : str, optional
        Default: who answered.

    Raises
    ------
    DataError
        Where the fit has no such factor, or holds no observed or no replicated counts.
    """
    fitted = source.headline
    rows = fitted.observed
    if rows is None:
        raise _without("observed counts", source)
    replicated = _replicated(source, len(rows))
    unit = default_unit(fitted) if by is None else find_factor(fitted, by)
    names, scales, of_cell = _units(fitted, unit)
    right = is_right(rows["outcome"].to_numpy(), str(fitted.attributes.get("task", "mafc")))
    key = pd.DataFrame({"unit": of_cell[rows["cell"]], "level": rows["confidence"], "right": right})
    counts = np.vstack([rows["count"].to_numpy(), replicated])
    units = tuple(
        Ratings(names[u], scales[u], levels, both[0], both[1:]) for u, levels, both in _split(key, counts, len(names))
    )
    return Observed(unit or "", fitted.converged, units, len(replicated))


def auroc2(counts: Floats) -> Floats:
    """Return the area under the type-2 ROC of counts, (..., 2, level) -> (...,): ties count half.

    NaN without right or without wrong answers.

    Examples
    --------
    >>> float(auroc2(np.array([[3.0, 1.0], [1.0, 3.0]])))
    0.75
    """
    wrong, right = counts[..., 0, :], counts[..., 1, :]
    pairs = (right * (np.cumsum(wrong, axis=-1) - wrong / 2)).sum(axis=-1)
    possible = wrong.sum(axis=-1) * right.sum(axis=-1)
    return np.where(possible > 0, pairs / np.where(possible > 0, possible, 1.0), np.nan)


def shares_above(counts: Floats) -> tuple[Floats, Floats]:
    """Return the type-2 ROC of counts, (..., 2, level): shares of wrong and of right answers, (..., 1 + level).

    From (0, 0) over each level, the highest first, to (1, 1).
    """
    from_top = np.cumsum(counts[..., ::-1], axis=-1)
    shares = from_top / from_top[..., -1:]
    shares = np.concatenate([np.zeros_like(shares[..., :1]), shares], axis=-1)
    return shares[..., 0, :], shares[..., 1, :]


def evenly_spaced(n: int, most: int = MOST_FACETS) -> list[int]:
    """Return at most `most` of n places in a row, evenly spaced, both ends among them.

    Examples
    --------
    >>> evenly_spaced(3), evenly_spaced(9, 3)
    ([0, 1, 2], [0, 4, 8])
    """
    return list(range(n)) if n <= most else [int(i) for i in np.linspace(0, n - 1, most).round()]


def _without(what: str, source: FitInput) -> DataError:
    return DataError(f"the fit holds no {what}", where=source.file, mend="fit it again: hmeta fit RESULTS -o fit.nc")


def _replicated(source: FitInput, n_rows: int) -> Floats:
    """Return replicated counts, (draw, row), in the order of the observed ones."""
    if "posterior_predictive" not in source.tree.children:
        raise _without("replicated ratings", source)
    counts = source.tree["posterior_predictive"].to_dataset().get("count")
    if counts is None or counts.sizes.get("row") != n_rows:
        raise _without("replicated ratings of its observed counts", source)
    return np.asarray(counts.transpose("chain", "draw", "row").values, dtype=np.float64).reshape(-1, n_rows)


def _units(fitted: Fitted, unit: str | None) -> tuple[list[str], list[str], Ints]:
    """Return names and scales of the units, and which unit each cell belongs to."""
    factors = fitted.factors
    if unit is None:
        return [ALL], [""], np.zeros(len(factors), dtype=np.int64)
    scale = fitted.factor_name(SCALE)
    if scale is None or factors[scale].nunique() < 2:
        levels = sorted(factors[unit].unique())
        return level_labels(levels), [""] * len(levels), np.array([levels.index(v) for v in factors[unit]])
    pairs = list(zip(factors[unit], factors[scale], strict=True))
    known = sorted(set(pairs))
    scales = level_labels([s for _, s in known])
    labels = level_labels([u for u, _ in known])
    names = labels if len(set(labels)) == len(labels) else [f"{u} · {s}" for u, s in zip(labels, scales, strict=True)]
    return names, scales, np.array([known.index(pair) for pair in pairs])


def _split(key: pd.DataFrame, counts: Floats, n_units: int) -> Iterator[tuple[int, Floats, Floats]]:
    """Yield each unit's levels and its counts, (1 + draw, 2, level), summed over rows of the same level."""
    place = key["level"].to_numpy()
    unit, right = key["unit"].to_numpy(), key["right"].to_numpy()
    for u in range(n_units):
        mine = np.flatnonzero(unit == u)
        levels, level = np.unique(place[mine], return_inverse=True)
        into = np.zeros((len(mine), 2 * len(levels)))
        into[np.arange(len(mine)), right[mine] * len(levels) + level] = 1.0
        yield u, levels, (counts[:, mine] @ into).reshape(len(counts), 2, len(levels))
