"""Point estimates for many weightings of the same answers, with the reason where there is none."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from hmeta.mle.fit import SMALLEST_D, efficiency, fit_cells, likelihood_of
from hmeta.mle.status import D_ZERO, blank_failed, type1_reasons, undefined_reasons
from hmeta.mle.table import N_OUTCOMES, from_weights, occupied, spans
from hmeta.mle.type1 import invert_accuracy, outcome_point
from hmeta.mle.zroc import zroc_slopes

Floats = NDArray[np.float64]


class Answers(NamedTuple):
    """Many weightings of the same rows, one a cell."""

    task: str
    outcome: Floats  # (row,)
    confidence: Floats  # (row,)
    weights: Floats  # (cell, row)
    n_options: Floats  # (cell,)


class Type1Point(NamedTuple):
    """Sensitivity and criterion; NaN with a reason where there is none."""

    d: Floats  # (cell,)
    c: Floats  # (cell,), 0 for `mafc`
    reason: list[str]


class MetaPoint(NamedTuple):
    """meta_d and M; NaN with a reason where there is none."""

    d: Floats  # (cell,)
    meta_d: Floats  # (cell,)
    M: Floats  # (cell,)
    meta_d_reason: list[str]
    M_reason: list[str]


def count_outcomes(answers: Answers) -> Floats:
    """Return the answers of each outcome code, ``(cell, outcome)``."""
    codes = np.arange(N_OUTCOMES[answers.task])
    return answers.weights @ (answers.outcome[:, None] == codes).astype(np.float64)


def type1_point(answers: Answers, noise: str) -> Type1Point:
    """Estimate d and c of every cell from its outcome counts."""
    counts = count_outcomes(answers)
    reason = type1_reasons(answers.task, counts)
    fine = np.array([not text for text in reason], dtype=bool)
    d, c = np.full(len(counts), np.nan), np.full(len(counts), np.nan)
    if fine.any():
        with jax.enable_x64(True):
            if answers.task == "binary":
                d[fine], c[fine] = outcome_point(counts[fine], noise, np.ones(int(fine.sum())))
            else:
                d[fine], c[fine] = _mafc_d(counts[fine], answers.n_options[fine], noise), 0.0
    return Type1Point(d, c, reason)


def _mafc_d(counts: Floats, n_options: Floats, noise: str) -> Floats:
    if noise == "gumbel":  # accuracy = e^d / (e^d + m - 1)
        return np.log(counts[:, 1] / counts[:, 0]) + np.log(n_options - 1.0)
    options = {"noise": noise, "n_options": tuple(sorted({int(m) for m in n_options}))}
    likelihood = likelihood_of("mafc", tuple(sorted(options.items())))
    accuracy = counts[:, 1] / counts.sum(axis=1)
    return np.asarray(invert_accuracy(likelihood, jnp.asarray(accuracy), jnp.asarray(n_options)))


def meta_point(answers: Answers, options: dict[str, object]) -> MetaPoint:
    """Estimate meta_d and M of every cell by maximum likelihood, as `fit_mle` does."""
    parts = [_meta_point(part, options) for part in _parts(answers)]
    d, meta_d, ratio = (np.concatenate([np.zeros(0), *found]) for found in ([p[i] for p in parts] for i in range(3)))
    return MetaPoint(
        d, meta_d, ratio, [t for p in parts for t in p.meta_d_reason], [t for p in parts for t in p.M_reason]
    )


def _parts(answers: Answers) -> list[Answers]:
    """Return the answers some cells at a time, so that the long tables made of them have a bounded size."""
    each = spans(answers.weights)
    return [answers._replace(weights=answers.weights[s], n_options=answers.n_options[s]) for s in each]


def _meta_point(answers: Answers, options: dict[str, object]) -> MetaPoint:
    data = from_weights(answers.task, answers.outcome, answers.confidence, answers.weights, answers.n_options)
    levels = occupied(data)
    undefined = undefined_reasons(data, data, levels.informative, levels.too_many)
    with jax.enable_x64(True):
        fits = fit_cells(data, options, np.array([not reason for reason in undefined], dtype=bool))
    reason = blank_failed(fits, undefined)
    ratio, _ = efficiency(fits)
    with np.errstate(invalid="ignore"):
        at_zero = np.abs(fits.type1.d) < SMALLEST_D
    own = [text or (D_ZERO if zero else "") for text, zero in zip(reason, at_zero, strict=True)]
    return MetaPoint(fits.type1.d, fits.meta_d, ratio, reason, own)


def zroc_point(answers: Answers) -> tuple[Floats, list[str]]:
    """Return the slope of the type-1 z-ROC of every cell, and the reason where there is none."""
    parts = [_zroc_point(part) for part in _parts(answers)]
    return np.concatenate([np.zeros(0), *(part[0] for part in parts)]), [text for part in parts for text in part[1]]


def _zroc_point(answers: Answers) -> tuple[Floats, list[str]]:
    data = from_weights(answers.task, answers.outcome, answers.confidence, answers.weights, answers.n_options)
    levels = occupied(data)
    reason = undefined_reasons(data, data, levels.informative, levels.too_many)
    with jax.enable_x64(True):
        slope = zroc_slopes(levels, np.array([not text for text in reason], dtype=bool))[:, 0]
    return slope, [text or ("no finite maximum" if np.isnan(s) else "") for text, s in zip(reason, slope, strict=True)]
