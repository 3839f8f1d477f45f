"""Metacognitive information: how many bits about correctness the confidence carries (Dayan, 2023)."""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy.special import xlogy

from hmeta.metrics.expected import ALLOWED, Noise
from hmeta.metrics.ideal import LN2, binary_entropy, ideal_information
from hmeta.metrics.measure import Floats, measure
from hmeta.metrics.needs import BOTH_OUTCOMES, answers
from hmeta.metrics.outcomes import RATING_COLUMNS, TYPE1, WITH_TYPE1, correct_of, d_not_zero, flat_answers, noise_of
from hmeta.metrics.tally import Tally, ratio, tally

DAYAN = "Dayan (2023), Open Mind 7, 392–411"

Correction = Literal["none", "miller_madow", "jackknife"]


def _entropy(counts: Floats) -> Floats:
    """Return the plug-in entropy of counts on the last axis, in nats."""
    n = counts.sum(axis=-1)
    return np.log(np.where(n > 0, n, 1.0)) - ratio(xlogy(counts, counts).sum(axis=-1), n)


def information_of(t: Tally, correction: Correction = "none") -> Floats:
    """Return the mutual information of level and correctness in bits, ``(...,)``."""
    cells = np.concatenate([t.wrong, t.right], axis=-1)
    outcome = np.stack([t.wrong.sum(axis=-1), t.right.sum(axis=-1)], axis=-1)
    plug_in = _entropy(t.total) + _entropy(outcome) - _entropy(cells)
    n = outcome.sum(axis=-1)
    if correction == "miller_madow":
        occupied = [(x > 0).sum(axis=-1) for x in (t.total, outcome, cells)]
        plug_in = plug_in + ratio(np.asarray(occupied[0] + occupied[1] - occupied[2], dtype=np.float64) - 1.0, 2.0 * n)
    elif correction == "jackknife":
        plug_in = n * plug_in - (n - 1.0) * _left_out(t, outcome, n)
    return np.where((outcome > 0).all(axis=-1), plug_in / LN2, np.nan)


def _left_out(t: Tally, outcome: Floats, n: Floats) -> Floats:
    """Return the mean of the plug-in information with each answer left out in turn, in nats."""

    def change(x: Floats) -> Floats:
        """Return by how much Σ x log x falls when one answer leaves x."""
        return xlogy(x, x) - xlogy(np.maximum(x - 1.0, 0.0), np.maximum(x - 1.0, 0.0))

    of_level = change(t.total)
    lost = sum(
        (part * (of_level + change(outcome[..., code, None]) - change(part))).sum(axis=-1)
        for code, part in enumerate((t.wrong, t.right))
    )
    sums = [xlogy(x, x).sum(axis=-1) for x in (t.total, outcome, t.wrong, t.right)]
    whole = sums[0] + sums[1] - sums[2] - sums[3]
    # I = log N - (S_x + S_y - S_xy)/N; without one answer N - 1 and the sums less what they lose
    fewer = np.where(n > 1.0, n - 1.0, 1.0)
    return np.log(fewer) - (whole - ratio(np.asarray(lost), n)) / fewer


@measure(
    label="meta-I",
    family="information",
    columns=("confidence", "correct"),
    unit="bit",
    better="higher",
    reference=f"{DAYAN}; Miller (1955) for the correction",
    needs=BOTH_OUTCOMES,
    neutral=0.0,
    default=True,
)
def meta_i(confidence: Floats, correct: Floats, *, weights: Floats, correction: Correction = "none") -> Floats:
    """Mutual information of confidence and correctness.

    I = Σ p(level, correctness) log2 [p(level, correctness) / (p(level) p(correctness))], each distinct confidence a
    level. Observed shares overstate it, by about (levels - 1)/(2 N ln 2) bit without metacognition. `correction`
    miller_madow adds (K_level + 2 - K_both - 1)/(2 N ln 2), K the numbers of occupied levels and cells; jackknife
    leaves out one answer at a time. Corrected values can fall below 0 and are not cut there. Jackknife is the better
    one: simulated with four alternatives, 4, 11 and 21 levels and M from 0 to 0.8, the plug-in value is too large by
    0.024, 0.08 and 0.14 bit with 100 answers, miller_madow by 0.008, 0.03 and 0.07, jackknife by 0.002, 0.01 and 0.03;
    with 1,500 answers they err by up to 0.010, 0.0012 and 0.0005. Its mean squared error is as small or smaller but
    for 4 levels and 100 answers. Undefined without right or without wrong answers.
    """
    return information_of(tally(confidence, correct, weights), correction)


@measure(
    label="H(correct)",
    family="information",
    columns=("correct",),
    unit="bit",
    better="none",
    reference=DAYAN,
    needs=(answers,),
)
def h_correct(correct: Floats, *, weights: Floats) -> Floats:
    """Entropy of correctness: the most that any confidence could tell about it.

    H = -a log2 a - (1 - a) log2 (1 - a), a the accuracy.
    """
    return binary_entropy(ratio(weights @ correct, weights.sum(axis=-1)))


@measure(
    label="meta-I2r",
    family="information",
    columns=("confidence", "correct"),
    unit="1",
    better="higher",
    reference=DAYAN,
    needs=BOTH_OUTCOMES,
    neutral=0.0,
)
def meta_i2r(confidence: Floats, correct: Floats, *, weights: Floats, correction: Correction = "none") -> Floats:
    """meta-I as a share of the entropy of correctness.

    meta_i / H(correct): 1 where confidence parts right from wrong answers without error. `correction` as for meta_i.
    Undefined without right or without wrong answers.
    """
    t = tally(confidence, correct, weights)
    n_right = t.right.sum(axis=-1)
    return information_of(t, correction) / _positive(binary_entropy(ratio(n_right, t.total.sum(axis=-1))))


@measure(
    label="meta-I1r",
    family="information",
    columns=RATING_COLUMNS,
    unit="1",
    better="higher",
    reference=DAYAN,
    needs=(*TYPE1, d_not_zero),
    tasks=WITH_TYPE1,
    neutral=0.0,
)
def meta_i1r(
    outcome: Floats,
    n_options: Floats,
    confidence: Floats,
    *,
    weights: Floats,
    noise: Noise = "default",
    correction: Correction = "none",
) -> Floats:
    """meta-I over the information in the confidence of an ideal observer with the same d.

    meta_i / I(d). Of two responses: evidence N(±d/2, 1), no bias, and confidence is the distance u of the evidence from
    0 in full, so that P(right | u) = 1/(1 + e^(-d·u)) and I(d) = H(Φ(d/2)) - E[H(P(right | u))]. Of m alternatives:
    the gap between the two largest samples takes the place of u (Gumbel noise by default, or normal). As a scale of few
    levels carries less than the distance itself, an ideal observer who rates on it stays below 1. `correction` as for
    meta_i. Undefined without a finite d and at d = 0.
    """
    given = flat_answers(outcome, n_options, confidence, weights)
    ideal = ideal_information(given, noise_of(given.task, noise, ALLOWED[given.task]))
    found = information_of(tally(confidence, correct_of(outcome, n_options), given.weights), correction)
    return (found / _positive(ideal)).reshape(weights.shape[:-1])


def _positive(x: Floats) -> Floats:
    """Return x, NaN where it is not above 0."""
    return np.where(x > 0.0, x, np.nan)
