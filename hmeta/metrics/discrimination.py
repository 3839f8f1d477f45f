"""How well confidence tells right answers from wrong ones, and what signal detection expects of it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hmeta.metrics.expected import Comparison, Noise, compare
from hmeta.metrics.measure import Floats, Measure, measure
from hmeta.metrics.needs import BOTH_OUTCOMES, two_levels
from hmeta.metrics.outcomes import OUTCOME_COLUMNS, RATING_COLUMNS, TYPE1, WITH_TYPE1, d_not_zero
from hmeta.metrics.tally import Tally, ratio, tally

ASSESSED = "Rahnev (2025), Nature Communications"
SHARE_COLUMNS = (*OUTCOME_COLUMNS, "probability")
EXPECTED = (*TYPE1, two_levels)
"""What a comparison with the expectation asks for."""


def auroc2_of(t: Tally) -> Floats:
    """Return P(level of a right answer > that of a wrong one) + P(tie)/2."""
    below = np.cumsum(t.wrong, axis=-1) - 0.5 * t.wrong
    pairs = t.right.sum(axis=-1) * t.wrong.sum(axis=-1)
    return ratio((t.right * below).sum(axis=-1), pairs)


def gamma_of(t: Tally) -> Floats:
    """Return (concordant - discordant) / (concordant + discordant) pairs of a right and a wrong answer."""
    right_above = (t.right * (np.cumsum(t.wrong, axis=-1) - t.wrong)).sum(axis=-1)
    wrong_above = (t.wrong * (np.cumsum(t.right, axis=-1) - t.right)).sum(axis=-1)
    return ratio(right_above - wrong_above, right_above + wrong_above)


def delta_conf_of(t: Tally) -> Floats:
    """Return the mean level of right answers minus that of wrong ones."""
    return ratio(t.right @ t.value, t.right.sum(axis=-1)) - ratio(t.wrong @ t.value, t.wrong.sum(axis=-1))


def phi_of(t: Tally) -> Floats:
    """Return the Pearson correlation of level and correctness."""
    n_right, n_wrong = t.right.sum(axis=-1), t.wrong.sum(axis=-1)
    n = n_right + n_wrong
    mean = ratio(t.total @ t.value, n)
    spread = (t.total * (t.value - mean[..., None]) ** 2).sum(axis=-1)
    varied = np.where(_many(t), spread, 0.0)  # rounding must not make one level vary
    return delta_conf_of(t) * np.sqrt(ratio(n_right * n_wrong, n * varied))


def _many(t: Tally) -> np.ndarray:
    """Return whether two levels or more are used, ``(...,)``."""
    return (t.total > 0).sum(axis=-1) > 1


@measure(
    label="AUROC2",
    family="discrimination",
    columns=("confidence", "correct"),
    unit="probability",
    better="higher",
    reference="Fleming & Lau (2014), type-2 ROC; the Mann–Whitney statistic over its maximum",
    needs=BOTH_OUTCOMES,
    neutral=0.5,
    default=True,
)
def auroc2(confidence: Floats, correct: Floats, *, weights: Floats) -> Floats:
    """Area under the type-2 ROC curve.

    P(confidence of a right answer > confidence of a wrong one) + P(tie)/2. It depends on accuracy as well as on
    metacognition, and on no property of the confidences but their order.
    """
    return auroc2_of(tally(confidence, correct, weights))


@measure(
    label="gamma",
    family="discrimination",
    columns=("confidence", "correct"),
    unit="1",
    better="higher",
    reference="Goodman & Kruskal (1954); Nelson (1984)",
    needs=(*BOTH_OUTCOMES, two_levels),
    neutral=0.0,
)
def gamma(confidence: Floats, correct: Floats, *, weights: Floats) -> Floats:
    """Goodman–Kruskal gamma of confidence and correctness.

    (C - D)/(C + D) over pairs of a right and a wrong answer: C where the right one is surer, D where the wrong one is;
    ties are left out, so that coarse scales give larger values. It depends on accuracy. Undefined where every pair is
    a tie, that is with one confidence level.
    """
    return gamma_of(tally(confidence, correct, weights))


@measure(
    label="phi",
    family="discrimination",
    columns=("confidence", "correct"),
    unit="1",
    better="higher",
    reference="Nelson (1984); Kornell, Son & Terrace (2007); Pearson correlation",
    needs=(*BOTH_OUTCOMES, two_levels),
    neutral=0.0,
)
def phi(confidence: Floats, correct: Floats, *, weights: Floats) -> Floats:
    """Pearson correlation of confidence and correctness.

    It takes the confidences as numbers on an interval scale, and depends on accuracy. Undefined with one confidence
    level.
    """
    return phi_of(tally(confidence, correct, weights))


@measure(
    label="ΔConf",
    family="discrimination",
    columns=("probability", "correct"),
    unit="share of the scale",
    better="higher",
    reference=ASSESSED,
    needs=BOTH_OUTCOMES,
    neutral=0.0,
)
def delta_conf(probability: Floats, correct: Floats, *, weights: Floats) -> Floats:
    """Mean confidence of right answers minus that of wrong answers.

    As a share of the scale, (c - l)/(u - l), so that scales can be compared; times u - l it is in the units of the
    ratings. It depends on accuracy and on how widely the scale is used.
    """
    return delta_conf_of(tally(probability, correct, weights))


def _ratio_of(value: Callable[[Tally], Floats], pair: Comparison) -> Floats:
    """Return observed over expected; one level, and expectations within rounding of 0, give NaN."""
    observed, expected = value(pair.observed), value(pair.expected)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(_many(pair.observed) & (np.abs(expected) > 1e-12), observed / expected, np.nan)


def _difference_of(value: Callable[[Tally], Floats], pair: Comparison) -> Floats:
    return np.where(_many(pair.observed), value(pair.observed) - value(pair.expected), np.nan)


_SDT = (
    "The ideal observer of signal detection has the same d (and c) and uses its ratings as often as observed, given "
    "the response for two responses and overall for m alternatives; its confidence reads the evidence of the decision "
    "itself (M = 1). Noise: normal for two responses, Gumbel (default) or normal for m alternatives. Undefined without "
    "a finite d and with one confidence level."
)


_SAME = (
    " The ratios of phi and ΔConf are one number: the ideal observer has the same accuracy and uses each level as "
    "often, so that the two differ by the same factor as observed and as expected."
)


def _against_expectation(
    base: Measure, value: Callable[[Tally], Floats], columns: tuple[str, ...] = RATING_COLUMNS
) -> tuple[Measure, Measure]:
    """Return the ratio and the difference of a measure to its expectation."""

    def divided(
        outcome: Floats, n_options: Floats, level: Floats, *, weights: Floats, noise: Noise = "default"
    ) -> Floats:
        """Divide; the definition is written below."""
        return _ratio_of(value, compare(outcome, n_options, level, weights=weights, noise=noise))

    def subtracted(
        outcome: Floats, n_options: Floats, level: Floats, *, weights: Floats, noise: Noise = "default"
    ) -> Floats:
        """Subtract; the definition is written below."""
        return _difference_of(value, compare(outcome, n_options, level, weights=weights, noise=noise))

    made = []
    words = (("ratio", "over", divided, 1.0, "1"), ("difference", "minus", subtracted, 0.0, base.unit))
    for name, word, compute, ideal, unit in words:
        compute.__name__ = compute.__qualname__ = f"{base.name}_{name}"
        at_zero = "" if name == "difference" or base is auroc2 else " The ratio is undefined at d = 0."
        compute.__doc__ = (
            f"{base.label} {word} the value that signal detection theory expects of an ideal observer.\n\n"
            f"{_SDT}{at_zero} {ideal:g} is the ideal observer."
            f"{_SAME if name == 'ratio' and base in (phi, delta_conf) else ''}"
        )
        needs = (*EXPECTED, d_not_zero) if at_zero else EXPECTED
        card = measure(
            label=f"{base.label} {name}",
            family="efficiency",
            columns=columns,
            unit=unit,
            better="higher",
            reference=ASSESSED,
            needs=needs,
            tasks=WITH_TYPE1,
        )
        made.append(card(compute))
    return made[0], made[1]


auroc2_ratio, auroc2_difference = _against_expectation(auroc2, auroc2_of)
gamma_ratio, gamma_difference = _against_expectation(gamma, gamma_of)
phi_ratio, phi_difference = _against_expectation(phi, phi_of)
delta_conf_ratio, delta_conf_difference = _against_expectation(delta_conf, delta_conf_of, SHARE_COLUMNS)
