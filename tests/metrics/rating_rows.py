"""Count arrays of two stimuli as the columns that measures take."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

S1, S2 = [36, 24, 17, 20, 10, 12, 9, 2], [1, 4, 10, 11, 19, 18, 28, 39]
O5 = ([100, 50, 20, 10, 5, 1], [3, 7, 8, 12, 27, 89])
O7 = [216, 155, 194, 208, 80, 62, 42, 43]
O9 = [326, 154, 157, 137, 102, 65, 35, 26]


class Rows(NamedTuple):
    """Distinct answers with their counts."""

    stimulus: Floats
    response: Floats
    confidence: Floats
    count: Floats

    @property
    def correct(self) -> Floats:
        return (self.stimulus == self.response).astype(float)

    @property
    def probability(self) -> Floats:
        return (self.confidence - 1.0) / max(self.confidence.max() - 1.0, 1.0)

    @property
    def rating(self) -> tuple[Floats, Floats, Floats]:
        """outcome, n_options, confidence."""
        return 2.0 * self.stimulus + self.response, np.zeros_like(self.count), self.confidence

    def columns(self, names: tuple[str, ...]) -> list[Floats]:
        outcome, n_options, _ = self.rating
        given = {"outcome": outcome, "n_options": n_options}
        return [given[name] if name in given else getattr(self, name) for name in names]


def rows_of(s1: ArrayLike, s2: ArrayLike) -> Rows:
    """Read ``[S1 high … S1 low, S2 low … S2 high]`` for each stimulus."""
    counts = np.array([s1, s2], dtype=float)
    k = counts.shape[1] // 2
    stimulus, place = (x.ravel().astype(float) for x in np.indices(counts.shape))
    response = (place >= k).astype(float)
    confidence = np.where(response == 1, place - k + 1, k - place)
    return Rows(stimulus, response, confidence, counts.ravel())


def mafc_rows(wrong: ArrayLike, right: ArrayLike, n_options: int) -> tuple[tuple[Floats, Floats, Floats], Floats]:
    """Return (outcome, n_options, confidence) and counts of wrong and right answers by level, lowest first."""
    counts = np.array([wrong, right], dtype=float)
    outcome, level = (x.ravel().astype(float) for x in np.indices(counts.shape))
    return (outcome, np.full(outcome.size, float(n_options)), level), counts.ravel()
