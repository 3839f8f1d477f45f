"""Answers without confidence, and questions without answers."""

from __future__ import annotations

from hmeta.assess.checks import Found, check
from hmeta.assess.raters import Rater
from hmeta.trials.rules.missing import MANY_MISSING


@check(
    "caution",
    f"more than {MANY_MISSING:.0%} of the answers without confidence",
    "every measure of confidence leaves these answers out, and they are rarely a random part",
    "compare accuracy with and without them, and report how many there are",
)
def missing_confidence(rater: Rater) -> Found | None:
    """Find raters who often give no usable confidence."""
    share = rater.n_missing / rater.n_asked
    if not share > MANY_MISSING:
        return None
    return Found(share, f"{rater.n_missing:g} of {rater.n_asked:g} ({share:.0%})")


@check(
    "caution",
    f"more than {MANY_MISSING:.0%} of the questions without a graded answer",
    "refusals and unread answers are neither right nor wrong, and are left out",
    "report the share of questions answered beside the accuracy",
)
def unanswered(rater: Rater) -> Found | None:
    """Find raters who often give no answer that could be graded."""
    share = rater.n_unanswered / rater.n_asked
    if not share > MANY_MISSING:
        return None
    return Found(share, f"{rater.n_unanswered:g} of {rater.n_asked:g} ({share:.0%})")
