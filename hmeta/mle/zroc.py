"""The slope of the type-1 z-ROC: ordinal signal detection with unequal variances, per cell.

Responses and ratings together order the answers from sure S1 to sure S2. With evidence N(0, 1) for S1
and N(m, s²) for S2 the z-ROC is a line of slope 1/s; equal variances give slope 1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hmeta.mle.binormal import fit_binormal
from hmeta.mle.table import Occupied, blocks

Z_95 = 1.959963984540054


def zroc_slopes(levels: Occupied, chosen: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return slope, lower and upper end of its 95 % interval (Wald, on the log scale), ``(cell, 3)``.

    NaN for cells not chosen, with fewer than three categories, or without a finite maximum.
    """
    out = np.full((len(levels.n_levels), 3), np.nan)
    enough = chosen & (levels.n_levels.sum(axis=1) >= 3)
    for block in blocks(levels, enough):
        n = len(block.cells)
        fit = fit_binormal(_in_order(block.counts, block.n_levels), block.n_levels.sum(axis=1))
        with np.errstate(invalid="ignore", over="ignore"):  # of cells without a finite maximum
            half = Z_95 * np.sqrt(fit.covariance[:, 1, 1])
            found = np.exp(np.stack([-fit.log_s, -fit.log_s - half, -fit.log_s + half], axis=1))
        out[block.cells] = np.where(fit.converged[:, None], found, np.nan)[:n]
    return out


def _in_order(counts: NDArray[np.float64], n_levels: NDArray[np.int64]) -> NDArray[np.float64]:
    """Line the ratings up from sure S1 to sure S2, ``(cell, stimulus, category)``."""
    n, _, _, width = counts.shape
    out = np.zeros((n, 2, 2 * width))
    cell, level = np.ogrid[:n, :width]
    place = n_levels[:, :1] - 1 - level
    mirrored = np.where(place >= 0, place, 2 * width - 1)
    for stimulus in (0, 1):
        np.add.at(out[:, stimulus], (cell, mirrored), counts[:, 0, stimulus])
        np.add.at(out[:, stimulus], (cell, np.minimum(n_levels[:, :1] + level, 2 * width - 1)), counts[:, 1, stimulus])
    return out
