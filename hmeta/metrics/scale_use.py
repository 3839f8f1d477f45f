"""How a confidence scale is used: which values, how many, and what the favourite one is worth.

`reported` is the confidence as it stands in the file, NaN where none was given; every share is of the confidences
given. Values outside the scale are part of these measures and of no others.
"""

from __future__ import annotations

import numpy as np
from scipy.special import xlogy

from hmeta.core.errors import DataError
from hmeta.metrics.binning import LevelSums, level_sums
from hmeta.metrics.measure import Columns, Floats, measure
from hmeta.metrics.needs import answers
from hmeta.metrics.tally import ratio

NEAR = 1e-6
"""Rounding that is forgiven, as a share of the width of the scale or of a multiple: single precision has 6e-8."""

NEAR_RANK = 1e-9
"""The same for ranks, in answers."""


def confidences_given(columns: Columns, weights: Floats) -> str:
    """Ask for any confidence."""
    return "" if weights[~np.isnan(columns["reported"])].sum() > 0 else "no confidence given"


def confidences_inside(columns: Columns, weights: Floats) -> str:
    """Ask for any confidence within the scale."""
    inside = _inside(columns["reported"], columns["scale_lower"], columns["scale_upper"])
    return "" if weights[inside].sum() > 0 else "no confidence within the scale"


@measure(
    label="round share",
    family="scale use",
    columns=("reported", "scale_lower", "scale_upper"),
    unit="probability",
    better="none",
    reference="share of multiples of five among the raw values within the scale",
    needs=(confidences_given, confidences_inside),
)
def round_share(
    reported: Floats, scale_lower: Floats, scale_upper: Floats, *, weights: Floats, step: float = 5.0
) -> Floats:
    """Share of multiples of five among the confidences within the scale, as reported.

    Raw values, so that 35 on a scale of 0–37 counts. On a scale no wider than 1, where confidence is a share, the step
    is in hundredths: 0.05 for five. Whole numbers drawn evenly from 0–100 would give about 0.2. Undefined when no
    value is within the scale.
    """
    if step <= 0:
        raise DataError("unusable step", received=f"{step:g}", allowed="above 0")
    inside = _inside(reported, scale_lower, scale_upper)
    each = np.where(scale_upper - scale_lower <= 1, step / 100, step)
    multiples = np.where(inside, reported, 0.0) / each
    even = inside & (np.abs(multiples - np.rint(multiples)) <= NEAR * np.maximum(1.0, np.abs(multiples)))
    return ratio(weights @ even.astype(np.float64), weights @ inside.astype(np.float64))


@measure(
    label="violation rate",
    family="scale use",
    columns=("reported", "scale_lower", "scale_upper"),
    unit="probability",
    better="lower",
    reference="share of values outside the scale by more than 5 % of its width",
    needs=(confidences_given,),
)
def violation_rate(
    reported: Floats, scale_lower: Floats, scale_upper: Floats, *, weights: Floats, margin: float = 0.05
) -> Floats:
    """Share of the confidences that lie outside the scale by more than `margin` of its width.

    On [l, u]: below l − margin·(u − l) or above u + margin·(u − l). ``margin=0`` counts every value outside. Undefined
    when no confidence was given.
    """
    if margin < 0:
        raise DataError("unusable margin", received=f"{margin:g}", allowed="0 or more")
    place = _place(reported, scale_lower, scale_upper)
    return _share((place < -margin - NEAR) | (place > 1 + margin + NEAR), reported, weights)


@measure(
    label="utilisation",
    family="scale use",
    columns=("reported", "scale_lower", "scale_upper"),
    unit="1",
    better="none",
    reference="(q95 − q05)/(u − l); quantiles as Hyndman & Fan (1996), type 7",
    needs=(confidences_given,),
)
def utilisation(reported: Floats, scale_lower: Floats, scale_upper: Floats, *, weights: Floats) -> Floats:
    """Share of the scale's width between the 5 % and the 95 % quantile of the confidences.

    Quantiles interpolate between neighbours as in NumPy. 0 when nine tenths or more are one value; above 1 only when
    values lie outside the scale. Undefined when no confidence was given.
    """
    levels = _levels(_place(reported, scale_lower, scale_upper), weights)
    return weighted_quantile(levels, 0.95) - weighted_quantile(levels, 0.05)


@measure(
    label="top-1 value",
    family="scale use",
    columns=("reported",),
    unit="scale",
    better="none",
    reference="mode of the reported values",
    needs=(confidences_given,),
)
def top1_value(reported: Floats, *, weights: Floats) -> Floats:
    """Value reported most often; of several equally frequent ones, the highest.

    As reported, in the units of the scale. Undefined when no confidence was given.
    """
    levels = _levels(reported, weights)
    return _where_any(_pick(levels.value, _mode(levels.weight)), levels.weight)


@measure(
    label="top-1 share",
    family="scale use",
    columns=("reported",),
    unit="probability",
    better="none",
    reference="share of the mode",
    needs=(confidences_given,),
)
def top1_share(reported: Floats, *, weights: Floats) -> Floats:
    """Share of the confidences that are the value reported most often.

    Undefined when no confidence was given.
    """
    return _top_share(_levels(reported, weights).weight, 1)


@measure(
    label="top-3 share",
    family="scale use",
    columns=("reported",),
    unit="probability",
    better="none",
    reference="share of the three most frequent values",
    needs=(confidences_given,),
)
def top3_share(reported: Floats, *, weights: Floats) -> Floats:
    """Share of the confidences that are one of the three values reported most often.

    1 with three values or fewer. Undefined when no confidence was given.
    """
    return _top_share(_levels(reported, weights).weight, 3)


@measure(
    label="distinct values",
    family="scale use",
    columns=("reported",),
    unit="1",
    better="none",
    reference="number of distinct reported values",
    needs=(confidences_given,),
)
def distinct_values(reported: Floats, *, weights: Floats) -> Floats:
    """Count how many different values were reported.

    It grows with the number of answers, and a bootstrap interval of it is biased downwards. Undefined when no
    confidence was given.
    """
    used = _levels(reported, weights).weight > 0
    return np.where(used.any(axis=-1), used.sum(axis=-1), np.nan)


@measure(
    label="entropy of the confidences",
    family="scale use",
    columns=("reported",),
    unit="bit",
    better="none",
    reference="Shannon (1948), plug-in estimate",
    needs=(confidences_given,),
)
def entropy(reported: Floats, *, weights: Floats) -> Floats:
    """Entropy of the distribution of reported values, in bits.

    −Σ_v s_v·log₂ s_v over the shares of the values: 0 for one value, log₂ K for K values used equally. Plug-in, so too
    small by about (K − 1)/(2n·ln 2) bits in small samples. Undefined when no confidence was given.
    """
    weight = _levels(reported, weights).weight
    share = ratio(weight, weight.sum(axis=-1, keepdims=True))
    return _where_any(-(xlogy(share, share)).sum(axis=-1) / np.log(2) + 0.0, weight)


@measure(
    label="ceiling rate",
    family="scale use",
    columns=("reported", "scale_upper"),
    unit="probability",
    better="none",
    reference="share of values at the top of the scale",
    needs=(confidences_given,),
)
def ceiling_rate(reported: Floats, scale_upper: Floats, *, weights: Floats) -> Floats:
    """Share of the confidences at the highest number of the scale.

    The number as reported: on a reversed scale it is the least confidence. Values above the scale do not count; see
    `violation_rate`. Undefined when no confidence was given.
    """
    return _share(_same(reported, scale_upper), reported, weights)


@measure(
    label="floor rate",
    family="scale use",
    columns=("reported", "scale_lower"),
    unit="probability",
    better="none",
    reference="share of values at the bottom of the scale",
    needs=(confidences_given,),
)
def floor_rate(reported: Floats, scale_lower: Floats, *, weights: Floats) -> Floats:
    """Share of the confidences at the lowest number of the scale, as for `ceiling_rate`.

    Undefined when no confidence was given.
    """
    return _share(_same(reported, scale_lower), reported, weights)


@measure(
    label="accuracy at the top-1 value",
    family="scale use",
    columns=("probability", "correct"),
    unit="probability",
    better="none",
    reference="accuracy at the mode of the confidences",
    needs=(answers,),
)
def top1_accuracy(probability: Floats, correct: Floats, *, weights: Floats) -> Floats:
    """Share of right answers among those with the confidence given most often.

    Of several equally frequent confidences the highest. Only graded answers with a confidence count. Undefined without
    answers.
    """
    levels = level_sums(probability, correct, weights)
    return ratio(*(_pick(part, _mode(levels.weight)) for part in (levels.outcome, levels.weight)))


@measure(
    label="top-1 accuracy gap",
    family="scale use",
    columns=("probability", "correct"),
    unit="probability",
    better="none",
    reference="stated confidence at its mode less the accuracy there",
    needs=(answers,),
    neutral=0.0,
)
def top1_accuracy_gap(probability: Floats, correct: Floats, *, weights: Floats) -> Floats:
    """Confidence given most often, as a share of the scale, less the accuracy of the answers that got it.

    Above 0 the favourite number is overconfident. Of several equally frequent ones the highest. Undefined without
    answers.
    """
    levels = level_sums(probability, correct, weights)
    at = _mode(levels.weight)
    return _pick(levels.value, at) - ratio(_pick(levels.outcome, at), _pick(levels.weight, at))


def weighted_quantile(levels: LevelSums, q: float) -> Floats:
    """Return the q-quantile of values with frequencies, NaN without any, ``(...,)``.

    As NumPy's default of the values written out as often as they occur: position (n − 1)·q, linear between neighbours.
    """
    reached = np.cumsum(levels.weight, axis=-1)
    n = reached[..., -1:] if reached.shape[-1] else np.zeros((*reached.shape[:-1], 1))
    position = np.maximum(n - 1, 0) * q
    low = np.floor(position + NEAR_RANK)
    ends = [_at_rank(levels.value, reached, rank) for rank in (low, np.minimum(low + 1, np.maximum(n - 1, 0)))]
    value = ends[0] + np.maximum(position - low, 0.0)[..., 0] * (ends[1] - ends[0])
    return _where_any(value, levels.weight)


def _at_rank(value: Floats, reached: Floats, rank: Floats) -> Floats:
    """Return the values at ranks counted from 0: the first level whose cumulative frequency exceeds the rank."""
    at = (reached <= rank + NEAR_RANK).sum(axis=-1)
    return _pick(value, np.minimum(at, max(len(value) - 1, 0)))


def _levels(values: Floats, weights: Floats) -> LevelSums:
    """Return the frequencies of the values that are not NaN."""
    given = ~np.isnan(values)
    return level_sums(values[given], np.ones(int(given.sum())), weights[..., given])


def _mode(weight: Floats) -> np.ndarray:
    """Return the position of the greatest weight, the last of equals, ``(...,)``; 0 where there is no level."""
    n = weight.shape[-1]
    return n - 1 - np.argmax(weight[..., ::-1], axis=-1) if n else np.zeros(weight.shape[:-1], dtype=np.intp)


def _pick(values: Floats, at: np.ndarray) -> Floats:
    """Return ``values (level,)`` or ``(..., level)`` at positions ``(...,)``, NaN where there is no level."""
    if not values.shape[-1]:
        return np.full(at.shape, np.nan)
    return values[at] if values.ndim == 1 else np.take_along_axis(values, at[..., None], axis=-1)[..., 0]


def _where_any(value: Floats, weight: Floats) -> Floats:
    """Return the value where any weight is, else NaN."""
    return np.where(weight.sum(axis=-1) > 0, value, np.nan)


def _top_share(weight: Floats, n_top: int) -> Floats:
    return ratio(np.sort(weight, axis=-1)[..., -n_top:].sum(axis=-1), weight.sum(axis=-1))


def _share(chosen: np.ndarray, reported: Floats, weights: Floats) -> Floats:
    return ratio(weights @ chosen.astype(np.float64), weights @ (~np.isnan(reported)).astype(np.float64))


def _place(reported: Floats, scale_lower: Floats, scale_upper: Floats) -> Floats:
    """Return where values lie on their scale: 0 at its lower end, 1 at its upper one, NaN for no value."""
    return (reported - scale_lower) / (scale_upper - scale_lower)


def _inside(reported: Floats, scale_lower: Floats, scale_upper: Floats) -> np.ndarray:
    place = _place(reported, scale_lower, scale_upper)
    return (place >= -NEAR) & (place <= 1 + NEAR)


def _same(reported: Floats, end: Floats) -> np.ndarray:
    return np.abs(reported - end) <= NEAR * np.maximum(1.0, np.abs(end))
