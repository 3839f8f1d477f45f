"""Confidence criteria as users give them: one ladder, one for each response, or some for each unit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hmeta.core.errors import HmetaError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SHAPES = {
    "mafc": "increasing numbers above 0, or such a sequence for each unit",
    "open": "increasing numbers, or such a sequence for each unit",
    "binary": "increasing numbers above 0, a pair of such sequences (of responses 0 and 1), or a pair for each unit",
}


class Ladders(NamedTuple):
    """Criteria of every unit and side (the response of a binary task), padded with infinity."""

    edges: Floats  # (unit, side, criterion)

    @property
    def n_levels(self) -> Ints:
        """The top rating of each unit, (unit,)."""
        return 1 + np.isfinite(self.edges).sum(axis=2).max(axis=1)

    def passed(self, confidence: Floats, unit: Ints, side: Ints) -> Ints:
        """Return how many criteria each value of the confidence variable is above, (trial,)."""
        return (confidence[:, None] > self.edges[unit, side]).sum(axis=1)


def read_criteria(criteria: Sequence[object] | Floats, task: str, n_units: int) -> Ladders:
    """Return the criteria of every unit and side.

    Raises
    ------
    HmetaError
        For anything but the shapes that `SHAPES` names.
    """
    depth, sides = _depth(criteria), 2 if task == "binary" else 1
    if depth == 1:
        nested = [[criteria] * sides] * n_units
    elif depth == 2 and task == "binary":
        nested = [criteria] * n_units
    elif depth == 2:
        nested = [[one] for one in criteria]
    elif depth == 3 and task == "binary":
        nested = list(criteria)
    else:
        raise _refusal(task, criteria)
    if len(nested) != n_units or any(len(pair) != sides for pair in nested):  # type: ignore[arg-type]
        raise _refusal(task, criteria)
    ladders = [[_ladder(one, task) for one in pair] for pair in nested]  # type: ignore[union-attr]
    longest = max(len(one) for pair in ladders for one in pair)
    edges = np.full((n_units, sides, longest), np.inf)
    for unit, pair in enumerate(ladders):
        for side, one in enumerate(pair):
            edges[unit, side, : len(one)] = one
    return Ladders(edges)


def _depth(criteria: object) -> int:
    if isinstance(criteria, str) or not isinstance(criteria, Sequence | np.ndarray):
        return 0
    return 1 + (_depth(criteria[0]) if len(criteria) else 0)


def _ladder(one: object, task: str) -> Floats:
    try:
        ladder = np.asarray(one, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise _refusal(task, one) from error
    usable = ladder.ndim == 1 and len(ladder) and np.isfinite(ladder).all() and (task == "open" or ladder[0] > 0)
    if not usable or (np.diff(ladder) <= 0).any():
        raise _refusal(task, one)
    return ladder


def _refusal(task: str, received: object) -> HmetaError:
    return HmetaError("criteria cannot be used", received=str(received)[:200], allowed=SHAPES[task])
