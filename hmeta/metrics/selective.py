"""What is gained by answering only when confident, and how often no answer or no confidence was given.

Answers of equal confidence cannot be told apart by a threshold: they are accepted together, and where a measure
needs an order among them it is the mean over all orders.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import digamma

from hmeta.core.errors import DataError
from hmeta.metrics.measure import Columns, Floats, curve, measure
from hmeta.metrics.needs import answers
from hmeta.metrics.tally import ratio, tally

SLACK = 1e-12
"""A risk or a count of answers that misses its limit by rounding only meets it."""


class Accepted(NamedTuple):
    """Answers and errors at each confidence level, surest first."""

    threshold: Floats  # (level,)
    here: Floats  # (..., level), answers at the level
    wrong_here: Floats  # (..., level)

    @property
    def so_far(self) -> Floats:
        """Answers at the level or surer, (..., level)."""
        return np.cumsum(self.here, axis=-1)

    @property
    def wrong_so_far(self) -> Floats:
        """Errors at the level or surer, (..., level)."""
        return np.cumsum(self.wrong_here, axis=-1)


def asked(columns: Columns, weights: Floats) -> str:
    """Ask for any question."""
    del columns
    return "" if weights.sum() > 0 else "no questions"


def any_answered(columns: Columns, weights: Floats) -> str:
    """Ask for any question that was answered."""
    return "" if weights[columns["answered"] == 1].sum() > 0 else "no answers"


@measure(
    label="AURC",
    family="selective prediction",
    columns=("confidence", "correct"),
    unit="probability",
    better="lower",
    reference="Geifman & El-Yaniv (2017); Geifman, Uziel & El-Yaniv (2019), §2",
    needs=(answers,),
    default=True,
)
def aurc(confidence: Floats, correct: Floats, *, weights: Floats) -> Floats:
    """Mean error rate among the i surest answers, over i = 1 … n: the area under the risk–coverage curve.

    Σ_i (errors among the i surest)/i/n, the mean over all orders of answers with equal confidence. In closed form a
    level of m answers with e errors that follows on a answers with E errors adds
    e + (E − a·e/m)·(ψ(a + m + 1) − ψ(a + 1)), ψ the digamma function; so it costs levels, not answers.

    It falls with accuracy as well as with better ordering (`excess_aurc` takes the first out) and is the error rate
    for one level only. Undefined without answers.
    """
    return _area(_accepted(confidence, correct, weights))


@measure(
    label="excess AURC",
    family="selective prediction",
    columns=("confidence", "correct"),
    unit="probability",
    better="lower",
    reference="Geifman, Uziel & El-Yaniv (2019), §3",
    needs=(answers,),
    neutral=None,
)
def excess_aurc(confidence: Floats, correct: Floats, *, weights: Floats) -> Floats:
    """AURC above that of the best order: every right answer surer than every wrong one, at the same accuracy.

    `aurc` less its value with all right answers first; 0 for a perfect order, and also when all answers are right or
    all are wrong, since there is then nothing to order. Undefined without answers.
    """
    given = _accepted(confidence, correct, weights)
    wrong = given.wrong_here.sum(axis=-1)
    right = given.here.sum(axis=-1) - wrong
    best = Accepted(np.array([1.0, 0.0]), np.stack([right, wrong], -1), np.stack([np.zeros_like(wrong), wrong], -1))
    return _area(given) - _area(best)


@measure(
    label="accuracy at coverage",
    family="selective prediction",
    columns=("confidence", "correct"),
    unit="probability",
    better="higher",
    reference="El-Yaniv & Wiener (2010), selective risk at a coverage",
    needs=(answers,),
    variants=({"coverage": 0.8},),
)
def accuracy_at_coverage(confidence: Floats, correct: Floats, *, weights: Floats, coverage: float = 0.8) -> Floats:
    """Share of right answers among the surest `coverage` of all answers.

    Where the coverage falls inside a level, that level's answers count in part, as if drawn at random from it: the
    value is the mean over all choices. Undefined without answers.
    """
    if not 0 < coverage <= 1:
        raise DataError("unusable coverage", received=f"{coverage:g}", allowed="above 0, at most 1")
    given = _accepted(confidence, correct, weights)
    wanted = coverage * given.here.sum(axis=-1)
    taken = np.clip(wanted[..., None] - (given.so_far - given.here), 0.0, given.here)
    wrong_rate = np.where(given.here > 0, ratio(given.wrong_here, given.here), 0.0)
    return 1 - ratio((taken * wrong_rate).sum(axis=-1), wanted)


@measure(
    label="coverage at risk",
    family="selective prediction",
    columns=("confidence", "correct"),
    unit="probability",
    better="higher",
    reference="Geifman & El-Yaniv (2017), coverage at a desired risk, without their confidence bound",
    needs=(answers,),
    variants=({"risk": 0.05},),
)
def coverage_at_risk(confidence: Floats, correct: Floats, *, weights: Floats, risk: float = 0.05) -> Floats:
    """Largest share of answers that a confidence threshold can accept with an error rate of at most `risk`.

    A threshold takes all answers of a level or none. 0 when even the surest level errs more often. The threshold is
    chosen on the answers it is judged on, so new answers will err somewhat more. Undefined without answers.
    """
    if not 0 <= risk <= 1:
        raise DataError("unusable risk", received=f"{risk:g}", allowed="0 to 1")
    given = _accepted(confidence, correct, weights)
    meets = given.wrong_so_far <= risk * given.so_far * (1 + SLACK)
    return ratio(np.where(meets, given.so_far, 0.0).max(axis=-1, initial=0.0), given.here.sum(axis=-1))


@curve(
    label="risk–coverage curve",
    family="selective prediction",
    columns=("confidence", "correct"),
    reference="El-Yaniv & Wiener (2010); Geifman & El-Yaniv (2017)",
    needs=(answers,),
)
def risk_coverage(confidence: Floats, correct: Floats, *, weights: Floats) -> dict[str, Floats]:
    """Error rate and share of the answers accepted at each confidence threshold, surest first.

    ``threshold``: the lowest confidence accepted; ``coverage``: share of answers at or above it; ``risk``: their error
    rate; ``n_accepted``: their number. Answers of equal confidence are one point.
    """
    given = _accepted(confidence, correct, weights)
    there = given.here > 0
    n = given.so_far[there]
    return {
        "threshold": given.threshold[there],
        "coverage": n / given.here.sum(),
        "risk": ratio(given.wrong_so_far[there], n),
        "n_accepted": n,
    }


@measure(
    label="abstention rate",
    family="selective prediction",
    columns=("answered",),
    unit="probability",
    better="none",
    reference="share of the questions without a graded answer",
    needs=(asked,),
)
def abstention_rate(answered: Floats, *, weights: Floats) -> Floats:
    """Share of the questions that got no answer to grade: a refusal, an abstention, or nothing readable.

    Abstentions are not errors: accuracy and all measures of confidence are about the questions answered, and this rate
    stands beside them. Undefined without questions.
    """
    return ratio(weights @ (answered == 0).astype(np.float64), weights.sum(axis=-1))


@measure(
    label="missing confidence rate",
    family="selective prediction",
    columns=("reported", "answered"),
    unit="probability",
    better="lower",
    reference="share of the answers without a usable confidence",
    needs=(any_answered,),
)
def missing_confidence_rate(reported: Floats, answered: Floats, *, weights: Floats) -> Floats:
    """Share of the answers that came without a usable confidence.

    These answers are in no measure of confidence; when they are many or err more often than the others, those measures
    describe the rest only. Undefined without answers.
    """
    given = (answered == 1).astype(np.float64)
    return ratio(weights @ (given * np.isnan(reported)), weights @ given)


def _accepted(confidence: Floats, correct: Floats, weights: Floats) -> Accepted:
    t = tally(confidence, correct, weights)
    return Accepted(t.value[::-1], t.total[..., ::-1], t.wrong[..., ::-1])


def _area(given: Accepted) -> Floats:
    """Return the mean over i = 1 … n of the expected error rate among the first i answers, ``(...,)``."""
    after = given.so_far
    before = after - given.here
    errors_before = given.wrong_so_far - given.wrong_here
    rate = np.where(given.here > 0, ratio(given.wrong_here, given.here), 0.0)
    tail = np.where(given.here > 0, digamma(after + 1) - digamma(before + 1), 0.0)
    return ratio((given.wrong_here + (errors_before - before * rate) * tail).sum(axis=-1), given.here.sum(axis=-1))
