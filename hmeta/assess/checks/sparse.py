"""Raters of whom too little is known."""

from __future__ import annotations

from hmeta.assess.checks import Found, check
from hmeta.assess.raters import Rater
from hmeta.trials.rules.sparse import FEW_ANSWERS

FEW_OF_A_KIND = 10


@check(
    "unusable",
    "0 usable answers",
    "no answer has both a usable confidence and a known correctness",
    "look at the exclusions of hmeta validate",
)
def no_usable_answers(rater: Rater) -> Found | None:
    """Find raters of whom nothing is left."""
    return None if rater.n else Found(0, f"0 of {rater.n_asked:g}")


@check(
    "unusable",
    "0 wrong answers",
    "no wrong answers: AUROC2, meta-d′ and M are undefined",
    "report accuracy and calibration, or use harder questions",
)
def no_wrong_answers(rater: Rater) -> Found | None:
    """Find raters that were always right."""
    return Found(0, f"{rater.n:g} right") if rater.n and not rater.n_wrong else None


@check(
    "unusable",
    "0 right answers",
    "no right answers: AUROC2, meta-d′ and M are undefined",
    "check the answer key",
)
def no_right_answers(rater: Rater) -> Found | None:
    """Find raters that were never right."""
    return Found(0, f"{rater.n:g} wrong") if rater.n and not rater.n_right else None


@check(
    "unusable",
    "0 of a stimulus or response",
    "one stimulus was never shown or one response never given: d′ and M are undefined",
    "check how stimulus and response are coded",
)
def one_side_only(rater: Rater) -> Found | None:
    """Find raters of binary tasks who saw one stimulus or gave one response only."""
    if rater.task != "binary" or not rater.n:
        return None
    for name, codes in (("S1", (0, 1)), ("S2", (2, 3))):
        if not rater.number(codes):
            return Found(0, f"no {name} trials")
    for name, codes in (("S1", (0, 2)), ("S2", (1, 3))):
        if not rater.number(codes):
            return Found(0, f"no {name} responses")
    return None


@check(
    "caution",
    f"fewer than {FEW_ANSWERS} answers",
    "so few answers tell hardly anything by themselves",
    "fit all raters together, where few answers borrow from the others; report no number of this rater alone",
)
def few_answers(rater: Rater) -> Found | None:
    """Find raters with few usable answers."""
    return Found(rater.n, f"{rater.n:g} answers") if 0 < rater.n < FEW_ANSWERS else None


@check(
    "caution",
    f"fewer than {FEW_OF_A_KIND} wrong, or right, answers",
    "AUROC2 and M rest on these few answers, whatever the number of the others",
    "report intervals, and fit all raters together",
)
def few_of_a_kind(rater: Rater) -> Found | None:
    """Find raters with few errors, or few right answers, among enough answers."""
    fewer, kind = min((rater.n_wrong, "wrong"), (rater.n_right, "right"))
    if rater.n < FEW_ANSWERS or not 0 < fewer < FEW_OF_A_KIND:
        return None
    return Found(fewer, f"{fewer:g} {kind} of {rater.n:g}")
