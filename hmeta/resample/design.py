"""What is drawn again: answers, or whole clusters of them, within strata; as weights of distinct rows.

Answers that contribute alike are drawn together: ten thousand answers at twelve levels are two dozen rows with
counts, and a replicate is one multinomial draw of the counts. A cluster contributes a *pattern*, the counts that it
adds to each row; clusters with equal patterns are one pattern with a multiplicity, so that the same draw serves
both. Letters: ``row`` counts the distinct rows, ``pattern`` the distinct contributions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hmeta.core.errors import DataError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Sparse = Any
"""A scipy.sparse.csr_array; its stubs know neither shapes nor products."""

LARGEST_CHUNK = 1_000_000
"""Numbers in the weights of one chunk of replicates (8 MB)."""

MOST_LEFT_OUT = 2_000
"""Patterns of which the jackknife leaves one unit out: its use, the acceleration of BCa, is a skewness."""


@dataclass(frozen=True)
class Design:
    """Patterns of what one drawn unit adds, how many units have each, and within which stratum they are drawn."""

    patterns: Sparse  # (pattern, row)
    multiplicity: Ints  # (pattern,)
    stratum: Ints  # (pattern,)

    @property
    def n_units(self) -> int:
        """How many units (answers or clusters) are drawn."""
        return int(self.multiplicity.sum())

    @property
    def observed(self) -> Floats:
        """The weights of the data themselves, (row,)."""
        return np.asarray(self.multiplicity @ self.patterns, dtype=np.float64)

    def replicates(self, rng: np.random.Generator, size: int) -> Iterator[Floats]:
        """Draw `size` bootstrap replicates, in chunks of weights ``(replicate, row)``."""
        step = max(1, LARGEST_CHUNK // max(self.patterns.shape))
        for first in range(0, size, step):
            yield self._draw(rng, min(step, size - first))

    def _draw(self, rng: np.random.Generator, size: int) -> Floats:
        counts = np.zeros((size, len(self.multiplicity)), dtype=np.int64)
        for stratum in np.unique(self.stratum):
            mine = np.flatnonzero(self.stratum == stratum)
            n = self.multiplicity[mine]
            counts[:, mine] = rng.multinomial(int(n.sum()), n / n.sum(), size=size)
        if _is_identity(self.patterns):
            return counts.astype(np.float64)
        return np.asarray(counts @ self.patterns, dtype=np.float64)

    def jackknife(self, rng: np.random.Generator) -> Iterator[tuple[Floats, Ints]]:
        """Leave out one unit of each pattern, or of `MOST_LEFT_OUT` patterns chosen at random where there are more.

        Yields
        ------
        weights : (pattern, row)
            In chunks.
        multiplicity : (pattern,)
            How many units are alike.
        """
        n, observed = len(self.multiplicity), self.observed
        chosen = np.arange(n) if n <= MOST_LEFT_OUT else np.sort(rng.choice(n, MOST_LEFT_OUT, replace=False))
        step = max(1, LARGEST_CHUNK // max(self.patterns.shape[1], 1))
        for first in range(0, len(chosen), step):
            some = chosen[first : first + step]
            yield observed - self.patterns[some].toarray(), self.multiplicity[some]


def design(
    row: Ints, count: Floats, n_rows: int, *, cluster: Ints | None = None, stratum: Ints | None = None
) -> Design:
    """Build the design from a table of entries.

    Parameters
    ----------
    row : (entry,) int
        The distinct row of each entry.
    count : (entry,) float
        Answers of each entry; whole numbers.
    n_rows : int
    cluster, stratum : (entry,) int, optional
        Codes from 0. Without clusters each answer is drawn by itself.

    Raises
    ------
    DataError
        Where counts are not whole, there is one cluster only, or a cluster lies in several strata.
    """
    if not np.all(count == np.round(count)):
        raise DataError(
            "counts that are not whole cannot be resampled",
            received=", ".join(f"{v:g}" for v in count[count != np.round(count)][:5]),
            mend="resample the counts as observed, before anything is added to them",
        )
    strata = np.zeros(len(row), dtype=np.int64) if stratum is None else stratum
    if cluster is None:
        return _by_answer(row, count.astype(np.int64), n_rows, strata)
    return _by_cluster(row, count, n_rows, cluster, strata)


def _by_answer(row: Ints, count: Ints, n_rows: int, stratum: Ints) -> Design:
    key = stratum * n_rows + row
    distinct, entry = np.unique(key, return_inverse=True)
    total = np.bincount(entry, weights=count, minlength=len(distinct)).astype(np.int64)
    kept = total > 0
    rows, strata = distinct[kept] % n_rows, distinct[kept] // n_rows
    ones: Sparse = sp.csr_array((np.ones(len(rows)), (np.arange(len(rows)), rows)), shape=(len(rows), n_rows))
    return Design(ones, total[kept], strata)


def _by_cluster(row: Ints, count: Floats, n_rows: int, cluster: Ints, stratum: Ints) -> Design:
    n_clusters = int(cluster.max()) + 1 if len(cluster) else 0
    if n_clusters < 2:
        raise DataError(
            "one cluster cannot be resampled",
            received=f"{n_clusters} cluster",
            allowed="2 clusters or more",
            mend="choose another column for --cluster, or leave it out",
        )
    lowest, highest = (np.full(n_clusters, fill) for fill in (np.iinfo(np.int64).max, -1))
    np.minimum.at(lowest, cluster, stratum)
    np.maximum.at(highest, cluster, stratum)
    if (lowest != highest).any():
        raise DataError(
            f"{int((lowest != highest).sum())} clusters lie in several strata",
            mend="a cluster is drawn whole; stratify by a column that does not split it",
        )
    whole: Sparse = sp.csr_array((count, (cluster, row)), shape=(n_clusters, n_rows))
    whole.sum_duplicates()
    label: Sparse = sp.csr_array(lowest[:, None] + 1.0)
    marked = sp.hstack([whole, label], format="csr")
    first, multiplicity = distinct_rows(marked)
    return Design(sp.csr_array(whole[first]), multiplicity, lowest[first])


def distinct_rows(matrix: Sparse) -> tuple[Ints, Ints]:
    """Return the first place of each distinct row, and how often it occurs."""
    matrix.sort_indices()
    seen: dict[bytes, int] = {}
    first: list[int] = []
    counts: list[int] = []
    for i in range(matrix.shape[0]):
        span = slice(matrix.indptr[i], matrix.indptr[i + 1])
        key = matrix.indices[span].tobytes() + matrix.data[span].tobytes()
        place = seen.setdefault(key, len(first))
        if place == len(first):
            first.append(i)
            counts.append(0)
        counts[place] += 1
    return np.array(first, dtype=np.int64), np.array(counts, dtype=np.int64)


def _is_identity(patterns: Sparse) -> bool:
    n = patterns.shape[0]
    return (
        patterns.shape == (n, n)
        and patterns.nnz == n
        and bool((patterns.indices == np.arange(n)).all() and (patterns.data == 1).all())
    )
