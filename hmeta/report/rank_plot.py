"""Do chains agree? Ranks of each chain's draws among the draws of all chains, with a band for chains that do.

After Säilynoja, Bürkner & Vehtari (2022), Statistics and Computing 32, 32; the band here has equal precision at every
rank, and is found by permuting which draw belongs to which chain.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hmeta.core.streams import stream
from hmeta.infer.mixing import measure_mixing

Floats = NDArray[np.float64]

PLACES = 50
"""Shares at which the curves are read off."""

PERMUTATIONS = 2000
BAND = 0.95
"""Probability that all curves lie within the band throughout, if chains agree."""


class Ranks(NamedTuple):
    """What the curves show."""

    share: Floats  # (place,), of all draws
    difference: Floats  # (chain, place): share of the chain's own draws at or below that rank, minus `share`
    half_width: Floats  # (place,), of the band around 0
    kept: int  # draws a chain after thinning


def rank_curves(draws: Floats) -> Ranks | None:
    """Return how far each chain's ranks are from uniform; None with one chain or draws that are not finite or constant.

    Draws are thinned so far that those of a chain are about independent (bulk effective sample size), which the band
    assumes.

    Parameters
    ----------
    draws : (chain, draw)
    """
    n_chains, n_draws = draws.shape
    if n_chains < 2 or not np.isfinite(draws).all() or np.ptp(draws) == 0:
        return None
    # Of each chain by itself: that chains disagree is what the curves are to show.
    size = float(np.nan_to_num(measure_mixing(draws[:, None]).ess_bulk, nan=1.0).min())
    step = max(1, int(np.ceil(n_draws / max(size, 1.0))))
    kept = draws[:, ::step]
    n = kept.shape[1]
    if n * n_chains < PLACES:
        return None
    chain = np.repeat(np.arange(n_chains), n)[np.argsort(kept.ravel(), kind="stable")]
    ends = _ends(n * n_chains)
    share = ends / (n * n_chains)
    return Ranks(share, _shares(chain[None], n_chains, ends)[0] - share, half_width(n_chains, n), n)


@lru_cache(maxsize=8)
def half_width(n_chains: int, n: int) -> Floats:
    """Return half the width of the band for chains of n independent draws each, (place,)."""
    ends = _ends(n_chains * n)
    share = ends / (n_chains * n)
    # The variance of a hypergeometric count, over n².
    sd = np.sqrt(share * (1 - share) * (n_chains - 1) / (n_chains * n - 1))
    random = np.random.default_rng(stream(0, "rank band"))
    labels = np.repeat(np.arange(n_chains, dtype=np.int8), n)
    widest = []
    for _ in range(0, PERMUTATIONS, 200):
        mixed = random.permuted(np.tile(labels, (200, 1)), axis=1)
        off = np.abs(_shares(mixed, n_chains, ends) - share)[..., :-1] / sd[:-1]
        widest.append(off.max(axis=(1, 2)))
    return float(np.quantile(np.concatenate(widest), BAND)) * sd


def _ends(total: int) -> NDArray[np.int64]:
    """Return the ranks at which curves are read off, the last of them all."""
    return np.linspace(0, total, PLACES + 1).round().astype(np.int64)[1:]


def _shares(chain: NDArray[np.integer], n_chains: int, ends: NDArray[np.int64]) -> Floats:
    """Return the share of each chain's draws up to each rank, (sample, chain, place); `chain`: (sample, rank)."""
    starts = np.concatenate([[0], ends[:-1]])
    n = chain.shape[1] // n_chains
    counts = [np.add.reduceat(chain == c, starts, axis=1, dtype=np.int64) for c in range(n_chains)]
    return np.stack([np.cumsum(count, axis=1) for count in counts], axis=1) / n
