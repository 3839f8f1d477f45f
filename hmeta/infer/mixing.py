"""How well chains agree and mix: rank-normalised R-hat, bulk and tail ESS, E-BFMI, for many quantities at once.

Definitions of Vehtari, Gelman, Simpson, Carpenter & Bürkner (2021), Bayesian Analysis 16, 667–718.
Letters: ``quantity`` counts what was sampled, ``half`` the halves of the chains.
"""

from __future__ import annotations

from functools import lru_cache
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

BLOCK = 256
"""Quantities worked on together, which bounds the memory."""

MIN_DRAWS = 4
TAILS = (0.05, 0.95)


class Mixing(NamedTuple):
    """One number a quantity; NaN where undefined."""

    r_hat: Floats  # (quantity,)
    ess_bulk: Floats  # (quantity,)
    ess_tail: Floats  # (quantity,)


def measure_mixing(draws: Floats) -> Mixing:
    """Measure how well the chains of many quantities mix.

    Parameters
    ----------
    draws : (quantity, chain, draw)

    Returns
    -------
    Mixing
        NaN for quantities with draws that are not finite, for constant ones, and with fewer than four draws;
        R-hat also with a single chain. R-hat is infinite where chains stand still at different values.
    """
    n_quantities, n_chains, n_draws = draws.shape
    found = np.full((3, n_quantities), np.nan)
    if n_draws < MIN_DRAWS or not n_quantities:
        return Mixing(*found)
    flat = draws.reshape(n_quantities, -1)
    usable = np.flatnonzero(np.isfinite(flat).all(axis=1) & (flat.max(axis=1) > flat.min(axis=1)))
    for start in range(0, len(usable), BLOCK):
        block = usable[start : start + BLOCK]
        found[:, block] = _measure(draws[block], with_r_hat=n_chains > 1)
    return Mixing(*found)


def e_bfmi(energy: Floats) -> Floats:
    """Return the energy Bayesian fraction of missing information of each chain (Betancourt 2016).

    Parameters
    ----------
    energy : (chain, draw)

    Returns
    -------
    (chain,)
        NaN where the energy never changes or is not finite.
    """
    out = np.full(len(energy), np.nan)
    if energy.shape[1] < 2:
        return out
    spread = np.var(energy, axis=1, ddof=1)
    moves = np.mean(np.square(np.diff(energy, axis=1)), axis=1)
    return np.divide(moves, spread, out=out, where=np.isfinite(moves) & (spread > 0))


def _measure(draws: Floats, *, with_r_hat: bool) -> Floats:
    """Return R-hat, bulk ESS and tail ESS of quantities that are finite and vary, (3, quantity)."""
    halves = _split(draws)
    ranked = _normal_scores(halves)
    r_hat = np.full(len(draws), np.nan)
    if with_r_hat:
        centre = np.median(halves, axis=(1, 2), keepdims=True)
        r_hat = np.maximum(_r_hat(ranked), _r_hat(_normal_scores(np.abs(halves - centre))))
    ends = np.quantile(draws, TAILS, axis=(1, 2))[..., None, None]
    tail = np.minimum(*[_ess((halves <= end).astype(np.float64)) for end in ends])
    return np.stack([r_hat, _ess(ranked), tail])


def _split(draws: Floats) -> Floats:
    """Return every chain as two: (quantity, half, draw); of an odd number of draws the middle one is left out."""
    size = draws.shape[2] // 2
    return np.concatenate([draws[:, :, :size], draws[:, :, -size:]], axis=1)


def _normal_scores(halves: Floats) -> Floats:
    """Return the normal score of each draw's rank among all draws of its quantity; ties share their mean rank."""
    flat = halves.reshape(len(halves), -1)
    order = np.argsort(flat, axis=1)
    values = np.take_along_axis(flat, order, axis=1)
    place = np.broadcast_to(np.arange(flat.shape[1]), flat.shape)
    starts = np.concatenate([np.ones((len(flat), 1), dtype=bool), values[:, 1:] != values[:, :-1]], axis=1)
    tied = ~starts.all(axis=1)
    twice = 2 * place  # first and last place among equals, added up
    if tied.any():
        ends = np.concatenate([starts[tied, 1:], np.ones((tied.sum(), 1), dtype=bool)], axis=1)
        first = np.maximum.accumulate(np.where(starts[tied], place[tied], 0), axis=1)
        last = np.minimum.accumulate(np.where(ends, place[tied], flat.shape[1])[:, ::-1], axis=1)[:, ::-1]
        twice[tied] = first + last
    scores = np.empty_like(flat)
    np.put_along_axis(scores, order, _score_table(flat.shape[1])[twice], axis=1)
    return scores.reshape(halves.shape)


@lru_cache(maxsize=8)
def _score_table(size: int) -> Floats:
    """Return the normal score of rank 1 + i/2 among `size`, (2 size - 1,), with Blom's offset."""
    # The standard library's quantile function: SciPy's would double the time that a command needs to start.
    quantile = NormalDist().inv_cdf
    return np.array([quantile((1.0 + i / 2 - 0.375) / (size + 0.25)) for i in range(2 * size - 1)])


def _r_hat(halves: Floats) -> Floats:
    size = halves.shape[2]
    between = np.var(halves.mean(axis=2), axis=1, ddof=1)
    within = np.var(halves, axis=2, ddof=1).mean(axis=1)
    # Chains that stand still have no spread within; rounding must not make their disagreement look finite.
    still = within <= 1e-24 * np.maximum(between, 1.0)
    ratio = np.divide(between, within, out=np.full_like(within, np.inf), where=~still)
    ratio[still & (between == 0)] = 0.0
    return np.sqrt(ratio + (size - 1) / size)


def _ess(halves: Floats) -> Floats:
    """Return the effective sample size by Geyer's initial monotone sequence, (quantity,)."""
    n_quantities, n_halves, size = halves.shape
    total = n_halves * size
    acov = _autocovariance(halves)  # (quantity, lag)
    within = acov[:, :1] * size / (size - 1.0)
    overall = acov[:, :1] + np.var(halves.mean(axis=2), axis=1, ddof=1)[:, None]
    rho = 1.0 - np.divide(within - acov, overall, out=np.zeros_like(acov), where=overall > 0)
    rho[:, 0] = 1.0
    n_pairs = max((size - 1) // 2, 1)
    pairs = rho[:, : 2 * n_pairs].reshape(n_quantities, n_pairs, 2).sum(axis=2)
    negative = pairs < 0
    cut = np.where(negative.any(axis=1), negative.argmax(axis=1), n_pairs - 1)
    kept = np.arange(n_pairs) < cut[:, None]
    summed = np.where(kept, np.minimum.accumulate(pairs, axis=1), 0.0).sum(axis=1)
    rest = np.maximum(rho[np.arange(n_quantities), 2 * cut], 0.0)
    time = np.maximum(2.0 * summed + rest - 1.0, 1.0 / np.log10(total))
    varies = halves.max(axis=(1, 2)) > halves.min(axis=(1, 2))
    return np.where(varies, total / time, float(total))


def _autocovariance(halves: Floats) -> Floats:
    """Return the autocovariance at each lag, averaged over the halves, (quantity, lag)."""
    size = halves.shape[2]
    centred = halves - halves.mean(axis=2, keepdims=True)
    power = np.square(np.abs(np.fft.rfft(centred, n=1 << (2 * size - 1).bit_length(), axis=2))).mean(axis=1)
    return np.fft.irfft(power, axis=1)[:, :size] / size
