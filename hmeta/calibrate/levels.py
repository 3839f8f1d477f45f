"""Right answers by confidence level: all that a map is fitted to, however many answers there are."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hmeta.core.errors import DataError
from hmeta.metrics.measure import Floats
from hmeta.metrics.tally import tally


class CannotFit(DataError):
    """The map has no fit to these answers; `what` is the reason."""


class Levels(NamedTuple):
    """Distinct confidences in use, lowest first; each (level,)."""

    value: Floats
    right: Floats
    total: Floats

    @property
    def wrong(self) -> Floats:
        """Wrong answers by level."""
        return self.total - self.right


def levels(probability: Floats, correct: Floats, weights: Floats) -> Levels:
    """Add up right and wrong answers by distinct confidence.

    Raises
    ------
    CannotFit
        Without answers, without right or without wrong ones, or with a single level: a map fitted to these
        would look perfect for nothing, or say nothing.
    """
    used = weights > 0
    if not used.any():
        raise CannotFit("no answers")
    t = tally(probability[used], correct[used], weights[used])
    if not t.wrong.sum() > 0:
        raise CannotFit("no wrong answers")
    if not t.right.sum() > 0:
        raise CannotFit("no right answers")
    if len(t.value) < 2:
        raise CannotFit("one confidence level used")
    return Levels(t.value, t.right, t.total)


def refuse_separated(found: Levels, *, falling: bool, mend: str | None = None) -> None:
    """Refuse levels that part right from wrong answers without overlap, where the best slope is infinite.

    Parameters
    ----------
    found : Levels
    falling : bool
        Whether the map may also fall with confidence.
    mend : str, optional
        What to do about it.
    """
    wrong, right = found.value[found.wrong > 0], found.value[found.right > 0]
    if wrong.max() <= right.min() or (falling and right.max() <= wrong.min()):
        raise CannotFit(
            "confidence parts right from wrong answers completely, so the best slope is infinite", mend=mend
        )


def interior(value: Floats) -> Floats:
    """Return the values strictly between 0 and 1."""
    return value[(value > 0) & (value < 1)]


def edge_for(found: Levels, asked: float) -> float:
    """Return how close to 0 and 1 a confidence may come before its logit is taken.

    Stated confidences of exactly 0 and 1 have no finite logit. They are moved to `asked` from the end; where
    that is 0, to 1/(2n), n answers, but no further than half way to the nearest level in use, so that they stay
    the outermost ones. The value is kept among the parameters.
    """
    if asked:
        return check_edge(asked)
    inside = interior(found.value)
    nearest = np.minimum(inside, 1 - inside).min() if len(inside) else 0.5
    return float(min(1 / (2 * found.total.sum()), nearest / 2, 0.25))


def check_edge(edge: float) -> float:
    """Return an edge that leaves room between both ends, or refuse it."""
    if not 0 < edge < 0.5:
        raise DataError("unusable option", where="option edge", received=f"{edge:g}", allowed="above 0 and below 0.5")
    return float(edge)


def at_edge(found: Levels, edge: float) -> float:
    """Return how many answers lie nearer to 0 or 1 than the edge, and are moved."""
    return float(found.total[(found.value < edge) | (found.value > 1 - edge)].sum())
