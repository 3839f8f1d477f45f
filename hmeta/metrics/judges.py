"""Judges: a verdict 0 or 1 (`response`) on cases whose truth is 0 or 1 (`stimulus`), with a probability.

`p_positive` is the probability that the judge gives to class 1: its confidence where the verdict is 1, one
minus its confidence where the verdict is 0. Measures of p are about class 1; measures of confidence in the
verdict given (ECE, Brier, AUROC2) are those of the other families.

p is right only where confidence is the probability that the verdict is right, from 0, surely wrong, to 1, surely
right. On ratings (1 to 4) and on scales that start at chance (0.5 to 1) the lowest confidence means a guess, and p
makes of it the certainty that the verdict is wrong. `PROBABILITY_ASKED` says so wherever a value of p is shown.
"""

from __future__ import annotations

import numpy as np

from hmeta.metrics.binning import bin_sums
from hmeta.metrics.measure import Columns, Floats, curve, measure
from hmeta.metrics.needs import answers
from hmeta.metrics.rank_correlation import kendall_tau_b, varies
from hmeta.metrics.tally import Tally, ratio, tally

BINARY = ("binary",)

PROBABILITY_ASKED = (
    "This value reads confidence as the probability, from 0 to 1, that the verdict is right: p = confidence where the "
    "verdict is 1, 1 - confidence where it is 0. On ratings, and on scales that start at chance (0.5 to 1), the lowest "
    "confidence is a guess, but p takes it for the certainty that the verdict is wrong, and the value misleads."
)
"""Printed wherever a measure of p is shown."""


def both_truths(columns: Columns, weights: Floats) -> str:
    """Ask for cases of both classes."""
    absent = [code for code in (0, 1) if not weights[columns["stimulus"] == code].sum() > 0]
    return f"no cases whose truth is {absent[0]}" if absent else ""


def both_debates(columns: Columns, weights: Floats) -> str:
    """Ask for cases of both classes, judged with debate and without."""
    used = weights > 0
    if not np.isin(columns["debate"][used], (0, 1)).all():
        return "debate holds values other than 0 and 1"
    for code, name in ((0, "without"), (1, "with")):
        there = used & (columns["debate"] == code)
        for truth in (0, 1):
            if not (there & (columns["stimulus"] == truth)).any():
                return f"no cases {name} debate whose truth is {truth}"
    return ""


CLASSES = (answers, both_truths)


@measure(
    label="balanced accuracy of the verdict",
    family="judges",
    columns=("stimulus", "response"),
    unit="probability",
    better="higher",
    reference="Brodersen et al. (2010)",
    needs=CLASSES,
    tasks=BINARY,
    neutral=0.5,
)
def prediction_balanced_accuracy(stimulus: Floats, response: Floats, *, weights: Floats) -> Floats:
    """Mean over the two classes of the share of their cases on which the verdict is right.

    (P(verdict 1 | truth 1) + P(verdict 0 | truth 0))/2: a judge that always says the same scores 0.5, whatever the
    base rate. Undefined where a class has no cases.
    """
    return _balanced(stimulus, response, weights)


@measure(
    label="balanced accuracy at the best threshold",
    family="judges",
    columns=("stimulus", "p_positive"),
    unit="probability",
    better="higher",
    reference="maximum over t of the balanced accuracy of 1[p ≥ t]",
    needs=CLASSES,
    tasks=BINARY,
    neutral=0.5,
    caution=PROBABILITY_ASKED,
)
def oracle_balanced_accuracy(stimulus: Floats, p_positive: Floats, *, weights: Floats) -> Floats:
    """Largest balanced accuracy that any threshold on p reaches on these same cases.

    The verdict is 1 where p ≥ t; t runs over the gaps between the values of p and beyond both ends, so the smallest
    value is 0.5. The threshold is chosen on the cases it is judged on: an upper bound, optimistic with few cases.
    p is right only where confidence is the probability that the verdict is right, 0 to 1; with ratings and half scales
    guesses become certainties on the wrong side, and the value falls for that alone.
    """
    return _oracle(stimulus, p_positive, weights)


@measure(
    label="OP gap",
    family="judges",
    columns=("stimulus", "response", "p_positive"),
    unit="probability",
    better="lower",
    reference="oracle less prediction balanced accuracy",
    needs=CLASSES,
    tasks=BINARY,
    neutral=0.0,
    caution=PROBABILITY_ASKED,
)
def op_gap(stimulus: Floats, response: Floats, p_positive: Floats, *, weights: Floats) -> Floats:
    """Balanced accuracy that the judge loses by where it sets its threshold.

    `oracle_balanced_accuracy` − `prediction_balanced_accuracy`. It is 0 or more where the verdict is a threshold on p;
    below 0 it says that the verdict knows more than p.

    Where confidence is no probability of being right from 0 to 1 (ratings, half scales), p puts guesses on the wrong
    side of every threshold: a value below 0 can then be the scale's doing and not the judge's.
    """
    return _oracle(stimulus, p_positive, weights) - _balanced(stimulus, response, weights)


@measure(
    label="debate stress",
    family="judges",
    columns=("stimulus", "response", "debate"),
    unit="probability",
    better="lower",
    reference="balanced accuracy without debate less with debate",
    needs=(answers, both_debates),
    tasks=BINARY,
    neutral=0.0,
)
def debate_stress(stimulus: Floats, response: Floats, debate: Floats, *, weights: Floats) -> Floats:
    """Balanced accuracy of the verdict without the debate ingredient less that with it.

    `debate` is 1 for verdicts given after a debate and 0 for others; above 0 the debate does harm. Undefined where one
    of the four combinations of debate and truth has no cases.
    """
    alone = _balanced(stimulus, response, weights * (debate == 0))
    debated = _balanced(stimulus, response, weights * (debate == 1))
    other = (weights * ~np.isin(debate, (0, 1))).sum(axis=-1)
    return np.where(other > 0, np.nan, alone - debated)


@measure(
    label="adaptive ECE of p",
    family="judges",
    columns=("p_positive", "stimulus"),
    unit="probability",
    better="lower",
    reference="Nguyen & O'Connor (2015), bins of equal mass",
    needs=(answers,),
    tasks=BINARY,
    neutral=0.0,
    caution=PROBABILITY_ASKED,
)
def judge_aece(p_positive: Floats, stimulus: Floats, *, weights: Floats, bins: int = 10) -> Floats:
    """Calibration error of p, the probability of class 1, over bins with equal shares of the cases.

    Σ_b (n_b/n) |share of truth 1 − mean p|. This is the class view: p against "the truth is 1". The answer view,
    confidence in the verdict against "the verdict is right", is `adaptive_ece`; with bins across 0.5 they differ.

    p must come from confidence that is the probability of being right, 0 to 1: on ratings or half scales a guess is
    read as certainty, and counts as a calibration error that the judge has not made.
    """
    return bin_sums(p_positive, stimulus, weights, bins, "equal_mass").expected_error


@measure(
    label="spread of p",
    family="judges",
    columns=("p_positive",),
    unit="1",
    better="none",
    reference="Bhattacharyya (1943), histogram against the uniform one",
    needs=(answers,),
    tasks=BINARY,
    neutral=1.0,
    caution=PROBABILITY_ASKED,
)
def spread(p_positive: Floats, *, weights: Floats, bins: int = 10) -> Floats:
    """How evenly p uses the unit interval: Bhattacharyya coefficient with the uniform histogram.

    Σ_b √(h_b/B) over B bins of equal width, (a, b] with 0 in the first: 1 for equal shares in all bins, 1/√B where one
    bin holds every case. It says nothing about being right.

    On ratings or half scales p runs over other values than the judge stated (guesses lie at 0 and 1), so that the value
    is the evenness of something else: confidence must be the probability of being right, 0 to 1.
    """
    filled = bin_sums(p_positive, p_positive, weights, bins).weight
    share = ratio(filled, weights.sum(axis=-1, keepdims=True))
    return np.sqrt(share / bins).sum(axis=-1)


@measure(
    label="Kendall τ_b of p with the label",
    family="judges",
    columns=("p_positive", "label"),
    unit="1",
    better="higher",
    reference="Kendall (1945), τ_b",
    needs=(answers, varies("p_positive"), varies("label")),
    tasks=BINARY,
    neutral=0.0,
    caution=PROBABILITY_ASKED,
)
def kendall_probability(p_positive: Floats, label: Floats, *, weights: Floats) -> Floats:
    """Rank agreement of p with a graded label.

    (concordant − discordant pairs)/√(pairs untied in p × pairs untied in the label). Undefined where either takes
    one value only.

    p orders the cases rightly only where confidence is the probability of being right, 0 to 1. On ratings or half
    scales a guess of class 1 ranks with the surest verdicts of class 0, and the order is partly turned round.
    """
    return kendall_tau_b(p_positive, label, weights)


@measure(
    label="Kendall τ_b of the verdict with the label",
    family="judges",
    columns=("response", "label"),
    unit="1",
    better="higher",
    reference="Kendall (1945), τ_b",
    needs=(answers, varies("response"), varies("label")),
    tasks=BINARY,
    neutral=0.0,
)
def kendall_verdict(response: Floats, label: Floats, *, weights: Floats) -> Floats:
    """Rank agreement of the verdict with a graded label.

    As `kendall_probability`, with the verdict 0 or 1 in place of p: the difference is what p adds. Ties of the verdict
    keep it below 1 unless the label has two values.
    """
    return kendall_tau_b(response, label, weights)


@curve(
    label="balanced accuracy by threshold",
    family="judges",
    columns=("stimulus", "p_positive"),
    reference="balanced accuracy of 1[p ≥ t]",
    needs=CLASSES,
    tasks=BINARY,
    caution=PROBABILITY_ASKED,
)
def balanced_accuracy_curve(stimulus: Floats, p_positive: Floats, *, weights: Floats) -> dict[str, Floats]:
    """Balanced accuracy of the verdict "p ≥ t", for t at each value of p and above all of them.

    Columns `threshold` (the last is infinite: the verdict is always 0), `true_positive_rate`, `true_negative_rate`,
    `balanced_accuracy`.

    p must come from confidence that is the probability of being right, 0 to 1: on ratings or half scales guesses lie at
    its ends, and the thresholds are in no order of the judge's sureness.
    """
    t = tally(p_positive, stimulus, weights)
    positive, negative = _rates(t)
    return {
        "threshold": np.append(t.value, np.inf),
        "true_positive_rate": positive,
        "true_negative_rate": negative,
        "balanced_accuracy": (positive + negative) / 2,
    }


def _balanced(stimulus: Floats, response: Floats, weights: Floats) -> Floats:
    right = weights * (stimulus == response)
    rates = [ratio(right @ (stimulus == code), weights @ (stimulus == code)) for code in (0.0, 1.0)]
    return (rates[0] + rates[1]) / 2


def _oracle(stimulus: Floats, p_positive: Floats, weights: Floats) -> Floats:
    positive, negative = _rates(tally(p_positive, stimulus, weights))
    return ((positive + negative) / 2).max(axis=-1)


def _rates(t: Tally) -> tuple[Floats, Floats]:
    """Return the rates of right verdicts among truths 1 and 0 for a threshold at each level and above all."""
    below = [np.insert(np.cumsum(part, axis=-1), 0, 0.0, axis=-1) for part in (t.wrong, t.right)]
    total = [part[..., -1:] for part in below]
    return ratio(total[1] - below[1], total[1]), ratio(below[0], total[0])
