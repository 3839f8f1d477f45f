"""How good the answers are, and how sure: the numbers that every other measure stands beside."""

from __future__ import annotations

from hmeta.metrics.measure import Floats, measure
from hmeta.metrics.needs import answers
from hmeta.metrics.tally import ratio


@measure(
    label="accuracy",
    family="performance",
    columns=("correct",),
    unit="probability",
    better="higher",
    reference="share of right answers",
    needs=(answers,),
    default=True,
)
def accuracy(correct: Floats, *, weights: Floats) -> Floats:
    """Share of the answers that are right."""
    return ratio(weights @ correct, weights.sum(axis=-1))


@measure(
    label="mean confidence",
    family="performance",
    columns=("probability",),
    unit="probability",
    better="none",
    reference="mean of the confidence on the unit interval",
    needs=(answers,),
    default=True,
)
def mean_confidence(probability: Floats, *, weights: Floats) -> Floats:
    """Mean confidence, as a share of its scale.

    The scale [l, u] is mapped to (c − l)/(u − l); beside the accuracy it shows over- or underconfidence.
    """
    return ratio(weights @ probability, weights.sum(axis=-1))
