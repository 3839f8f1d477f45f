"""Proper scores of stated probabilities, the parts of the Brier score, and how much the confidence moves.

A map can make any confidence calibrated by making it constant: the resolution, the spread and the number of
outputs show that, and stand beside every calibration error.
"""

from __future__ import annotations

import numpy as np

from hmeta.metrics.binning import BinSums, Edges, Mass, bin_sums, level_sums
from hmeta.metrics.measure import Floats, measure
from hmeta.metrics.needs import answers
from hmeta.metrics.tally import ratio


@measure(
    label="Brier score",
    family="calibration",
    columns=("probability", "correct"),
    unit="squared probability",
    better="lower",
    reference="Brier (1950), for the event that the answer is right",
    needs=(answers,),
    default=True,
)
def brier(probability: Floats, correct: Floats, *, weights: Floats) -> Floats:
    """Mean squared distance of the stated probability from 1 for right and 0 for wrong answers.

    Σ (p − c)²/n, from 0 to 1. It equals `brier_reliability` − `brier_resolution` + `brier_uncertainty`. Always stating
    the accuracy a gives a(1 − a), always 0.5 gives 0.25. Undefined without answers.
    """
    return ratio(weights @ (probability - correct) ** 2, weights.sum(axis=-1))


@measure(
    label="Brier reliability",
    family="calibration",
    columns=("probability", "correct"),
    unit="squared probability",
    better="lower",
    reference="Murphy (1973), eq. 5, first term",
    needs=(answers,),
    neutral=0.0,
)
def brier_reliability(
    probability: Floats,
    correct: Floats,
    *,
    weights: Floats,
    bins: int = 0,
    mass: Mass = "equal_width",
    edges: Edges = "left",
) -> Floats:
    """Part of the Brier score due to miscalibration.

    Σ_k (n_k/n)·(p_k − a_k)² over the distinct probabilities p_k with accuracy a_k. With ``bins`` above 0 it is taken
    over that many bins and their mean confidence (bins as for `ece`): then the three parts miss the Brier score by the
    variance and covariance within bins. With nearly as many levels as answers the exact parts are dominated by noise:
    use bins. Undefined without answers.
    """
    return _groups(probability, correct, weights, bins, mass, edges).rms_error ** 2


@measure(
    label="Brier resolution",
    family="calibration",
    columns=("probability", "correct"),
    unit="squared probability",
    better="higher",
    reference="Murphy (1973), eq. 5, second term",
    needs=(answers,),
    neutral=0.0,
)
def brier_resolution(
    probability: Floats,
    correct: Floats,
    *,
    weights: Floats,
    bins: int = 0,
    mass: Mass = "equal_width",
    edges: Edges = "left",
) -> Floats:
    """Part of the Brier score earned by telling right from wrong answers: 0 for a confidence that never moves.

    Σ_k (n_k/n)·(a_k − a)² over the distinct probabilities, a the accuracy of all answers; `bins` as for
    `brier_reliability`. It needs no correct scale, only levels that differ in accuracy. Undefined without answers.
    """
    sums = _groups(probability, correct, weights, bins, mass, edges)
    n = sums.weight.sum(axis=-1)
    overall = ratio(sums.outcome.sum(axis=-1), n)
    difference = ratio(sums.outcome, sums.weight) - overall[..., None]
    return ratio(np.where(sums.weight > 0, sums.weight * difference**2, 0.0).sum(axis=-1), n)


@measure(
    label="Brier uncertainty",
    family="calibration",
    columns=("correct",),
    unit="squared probability",
    better="none",
    reference="Murphy (1973), eq. 5, third term",
    needs=(answers,),
)
def brier_uncertainty(correct: Floats, *, weights: Floats) -> Floats:
    """Part of the Brier score that no confidence can remove: a(1 − a) at accuracy a.

    The Brier score of someone who always states the accuracy. Undefined without answers.
    """
    overall = ratio(weights @ correct, weights.sum(axis=-1))
    return overall * (1 - overall)


@measure(
    label="log score",
    family="calibration",
    columns=("probability", "correct"),
    unit="nat",
    better="lower",
    reference="Good (1952), negative logarithmic score",
    needs=(answers,),
)
def log_score(probability: Floats, correct: Floats, *, weights: Floats) -> Floats:
    """Mean negative log of the probability stated for what happened.

    −Σ [c·ln p + (1 − c)·ln(1 − p)]/n, in nats. It is infinite as soon as one wrong answer was stated with probability
    1, or one right answer with 0; that is the true value and is not cut off. Always 0.5 gives ln 2 = 0.693.
    Undefined without answers.
    """
    stated = np.where(correct == 1, probability, 1 - probability)
    impossible = stated <= 0
    loss = -np.log(np.where(impossible, 1.0, stated))
    infinite = (weights[..., impossible] > 0).any(axis=-1)
    return np.where(infinite, np.inf, ratio(weights @ loss, weights.sum(axis=-1)))


@measure(
    label="distinct outputs",
    family="calibration",
    columns=("probability",),
    unit="1",
    better="none",
    reference="number of distinct probabilities given",
    needs=(answers,),
)
def n_outputs(probability: Floats, *, weights: Floats) -> Floats:
    """Count how many different probabilities were given.

    One means that the confidence has collapsed to a constant, as recalibrated ones can. A bootstrap interval of it is
    biased downwards: a resample cannot show a value that the sample lacks. Undefined without answers.
    """
    used = level_sums(probability, np.ones_like(probability), weights).weight > 0
    return np.where(used.any(axis=-1), used.sum(axis=-1), np.nan)


@measure(
    label="confidence SD",
    family="calibration",
    columns=("probability",),
    unit="probability",
    better="none",
    reference="standard deviation with divisor n; sharpness of Gneiting, Balabdaoui & Raftery (2007)",
    needs=(answers,),
)
def confidence_sd(probability: Floats, *, weights: Floats) -> Floats:
    """Spread of the stated probabilities: their standard deviation, 0 when the confidence never moves.

    Divisor n, not n − 1. Undefined without answers.
    """
    n = weights.sum(axis=-1)
    start = probability[:1].sum()  # deviations from a value that occurs keep a constant at exactly 0
    mean = ratio(weights @ (probability - start), n)
    return np.sqrt(np.maximum(ratio(weights @ (probability - start) ** 2, n) - mean**2, 0.0))


def _groups(probability: Floats, correct: Floats, weights: Floats, bins: int, mass: Mass, edges: Edges) -> BinSums:
    """Return the sums by bin, or by distinct probability where `bins` is 0."""
    if bins:
        return bin_sums(probability, correct, weights, bins, mass, edges)
    levels = level_sums(probability, correct, weights)
    return BinSums(levels.weight, levels.weight * levels.value, levels.outcome)
