"""Measurement: a graded answer (`score`) beside a graded truth (`label`), for example a human rating.

An answer is right when |score − label| ≤ ε, with ε in the units of the score; a distance that exceeds ε by no
more than 1e-9 still counts, so that 0.7 − 0.2 is within 0.5.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from hmeta.core.errors import DataError
from hmeta.metrics.binning import bin_sums
from hmeta.metrics.measure import Floats, measure
from hmeta.metrics.needs import answers
from hmeta.metrics.rank_correlation import pearson, spearman, varies
from hmeta.metrics.tally import ratio

EDGE = 1e-9
"""How far beyond ε a distance may lie and still count as within it: binary rounding of decimal scores."""


def within(score: Floats, label: Floats, epsilon: float) -> Floats:
    """Return 1 where a graded answer lies within ε of the graded truth, else 0."""
    if epsilon < 0:
        raise DataError("epsilon is negative", received=f"{epsilon:g}", allowed="0 or more, in the units of the score")
    return (np.abs(score - label) <= epsilon + EDGE).astype(np.float64)


@measure(
    label="accuracy within ε",
    family="measurement",
    columns=("score", "label"),
    unit="probability",
    better="higher",
    reference="share of answers with |score − label| ≤ ε",
    needs=(answers,),
)
def tolerance_accuracy(score: Floats, label: Floats, *, weights: Floats, epsilon: float) -> Floats:
    """Share of the graded answers that lie within ε of the truth.

    |score − label| ≤ ε, in the units of the score; distances up to 1e-9 beyond ε count as within.
    """
    return ratio(weights @ within(score, label, epsilon), weights.sum(axis=-1))


@measure(
    label="Brier score within ε",
    family="measurement",
    columns=("probability", "score", "label"),
    unit="probability²",
    better="lower",
    reference="Brier (1950) on 1[|score − label| ≤ ε]",
    needs=(answers,),
    neutral=0.0,
)
def tolerance_brier(probability: Floats, score: Floats, label: Floats, *, weights: Floats, epsilon: float) -> Floats:
    """Mean squared distance of confidence from being within ε of the truth.

    mean (p − 1[|score − label| ≤ ε])², with p the confidence as a share of its scale.
    """
    return ratio(weights @ (probability - within(score, label, epsilon)) ** 2, weights.sum(axis=-1))


@measure(
    label="ECE within ε",
    family="measurement",
    columns=("probability", "score", "label"),
    unit="probability",
    better="lower",
    reference="Guo et al. (2017), eq. 3, on 1[|score − label| ≤ ε]",
    needs=(answers,),
    neutral=0.0,
)
def tolerance_ece(
    probability: Floats,
    score: Floats,
    label: Floats,
    *,
    weights: Floats,
    epsilon: float,
    bins: int = 10,
    mass: Literal["equal_width", "equal_mass"] = "equal_width",
    edges: Literal["left", "right"] = "left",
) -> Floats:
    """Calibration error of confidence in being within ε of the truth, over bins.

    Σ_b (n_b/n) |mean 1[|score − label| ≤ ε] − mean confidence| over bins b of the confidence. Bins and edges are
    those of `hmeta.metrics.binning`.
    """
    return bin_sums(probability, within(score, label, epsilon), weights, bins, mass, edges).expected_error


@measure(
    label="Spearman correlation with the human score (MH)",
    family="measurement",
    columns=("score", "label"),
    unit="1",
    better="higher",
    reference="Spearman (1904)",
    needs=(answers, varies("score"), varies("label")),
    neutral=0.0,
)
def spearman_score(score: Floats, label: Floats, *, weights: Floats) -> Floats:
    """Rank correlation of the graded answer with the graded truth (MH, machine with human).

    The product-moment correlation of the ranks, ties at their average rank. Undefined where either takes one
    value only.
    """
    return spearman(score, label, weights)


@measure(
    label="Pearson correlation with the human score",
    family="measurement",
    columns=("score", "label"),
    unit="1",
    better="higher",
    reference="Pearson (1896)",
    needs=(answers, varies("score"), varies("label")),
    neutral=0.0,
)
def pearson_score(score: Floats, label: Floats, *, weights: Floats) -> Floats:
    """Product-moment correlation of the graded answer with the graded truth.

    Undefined where either takes one value only.
    """
    return pearson(score, label, weights)


@measure(
    label="mean absolute error",
    family="measurement",
    columns=("score", "label"),
    unit="score",
    better="lower",
    reference="mean |score − label|",
    needs=(answers,),
)
def mean_absolute_error(score: Floats, label: Floats, *, weights: Floats) -> Floats:
    """Mean absolute distance of the graded answer from the graded truth, in the units of the score."""
    return ratio(weights @ np.abs(score - label), weights.sum(axis=-1))


@measure(
    label="root mean squared error",
    family="measurement",
    columns=("score", "label"),
    unit="score",
    better="lower",
    reference="√ mean (score − label)²",
    needs=(answers,),
)
def rms_error_score(score: Floats, label: Floats, *, weights: Floats) -> Floats:
    """Root of the mean squared distance of the graded answer from the truth, in the units of the score."""
    return np.sqrt(ratio(weights @ (score - label) ** 2, weights.sum(axis=-1)))


@measure(
    label="bias of the score",
    family="measurement",
    columns=("score", "label"),
    unit="score",
    better="none",
    reference="mean (score − label)",
    needs=(answers,),
    neutral=0.0,
)
def bias_score(score: Floats, label: Floats, *, weights: Floats) -> Floats:
    """Mean of the graded answer less the graded truth, in the units of the score; above 0 it grades too high."""
    return ratio(weights @ (score - label), weights.sum(axis=-1))
