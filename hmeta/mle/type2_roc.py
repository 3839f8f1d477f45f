"""The binormal type-2 ROC: right and wrong answers over confidence levels, for many weightings at once."""

from __future__ import annotations

from typing import NamedTuple

import jax
import numpy as np
from numpy.typing import NDArray

from hmeta.mle.binormal import fit_binormal
from hmeta.mle.table import blocks, from_weights, occupied, spans

Floats = NDArray[np.float64]

FEWEST_LEVELS = 3
"""Levels from which the slope is identified."""

NO_MAXIMUM = "no finite maximum: right and wrong answers overlap too little"


class Type2Roc(NamedTuple):
    """Estimates, NaN where undefined."""

    d_a: Floats  # (cell,)
    slope: Floats  # (cell,), of the z-transformed type-2 ROC


def fit_type2_roc(confidence: Floats, correct: Floats, weights: Floats) -> Type2Roc:
    """Fit N(0, 1) for wrong and N(m, s²) for right answers.

    Parameters
    ----------
    confidence, correct : (row,)
    weights : (cell, row)

    Returns
    -------
    Type2Roc
        NaN with fewer than three levels or more than `hmeta.mle.table.MOST_LEVELS`, without right or wrong answers,
        or without a finite maximum.
    """
    parts = [_fit(confidence, correct, weights[span]) for span in spans(weights)]
    return Type2Roc(*(np.concatenate([np.zeros(0), *(part[i] for part in parts)]) for i in range(2)))


def _fit(confidence: Floats, correct: Floats, weights: Floats) -> Type2Roc:
    levels = occupied(from_weights("mafc", correct, confidence, weights, np.full(len(weights), 2.0)))
    d_a, slope = np.full((2, len(weights)), np.nan)
    enough = levels.informative & (levels.n_levels[:, 0] >= FEWEST_LEVELS)
    with jax.enable_x64(True):
        for block in blocks(levels, enough):
            fit = fit_binormal(block.counts[:, 0], block.n_levels[:, 0])
            n = len(block.cells)
            with np.errstate(over="ignore"):
                values = fit.d_a, np.exp(-fit.log_s)
            for out, value in zip((d_a, slope), values, strict=True):
                out[block.cells] = np.where(fit.converged, value, np.nan)[:n]
    return Type2Roc(d_a, slope)
