"""Raters whose confidence hardly varies."""

from __future__ import annotations

import numpy as np

from hmeta.assess.checks import Found, check
from hmeta.assess.raters import SLACK, Rater
from hmeta.trials.rules.sparse import FEW_ANSWERS

NEARLY_ALL = 0.95
FEW_APART = 5
HALF = 0.5
FEW_VALUES = 3


@check(
    "unusable",
    "1 level",
    "one confidence level used, throughout or in each response: meta-d′ and M are not identified",
    "report accuracy alone, or elicit confidence in another way",
)
def one_level_used(rater: Rater) -> Found | None:
    """Find raters whose confidence never varies, overall or within each response."""
    if len(rater.value) == 1:
        return Found(1, f"always {rater.as_reported(rater.value[0]):g}")
    if rater.levels_by_response and max(rater.levels_by_response) == 1:
        return Found(1, "one level in each response")
    return None


@check(
    "unusable",
    f"fewer than {FEW_APART} answers off the most frequent value",
    "practically one confidence level used: what M says would rest on a handful of answers",
    "as for one level used",
)
def constant_but_for_a_few(rater: Rater) -> Found | None:
    """Find raters who leave their one value a handful of times."""
    if len(rater.value) < 2 or rater.n < FEW_ANSWERS:
        return None
    apart = rater.n - float(rater.total.max())
    return Found(apart, f"{apart:g} of {rater.n:g} are not {rater.top[0]:g}") if apart < FEW_APART else None


@check(
    "caution",
    f"one value in {NEARLY_ALL:.0%} of the answers or more",
    "nearly constant confidence: discrimination rests on the few other answers, and quantile bins would be empty",
    "use the values themselves as levels, choose thresholds beforehand and state them, and report the share",
)
def nearly_constant(rater: Rater) -> Found | None:
    """Find raters with one value nearly throughout."""
    value, share = rater.top
    if len(rater.value) < 2 or not share >= NEARLY_ALL or constant_but_for_a_few(rater):
        return None
    return Found(share, f"{share:.1%} are {value:g}")


@check(
    "caution",
    f"{HALF:.0%} of the answers or more at the sure end of the scale",
    "ceiling: among these answers nothing tells right from wrong",
    "report the share at the ceiling and the accuracy there; elicit finer confidence near certainty",
)
def ceiling(rater: Rater) -> Found | None:
    """Find raters who mostly give the highest confidence that there is."""
    if len(rater.value) < 2 or not rater.scale.known:
        return None
    at_top = np.abs(rater.value - rater.scale.upper) <= SLACK * rater.scale.width
    share = float(rater.total[at_top].sum() / rater.n)
    end = rater.as_reported(rater.scale.upper)
    return Found(share, f"{share:.0%} are {end:g}") if share >= HALF else None


@check(
    "caution",
    f"{FEW_VALUES} values or fewer on a scale of more than 20 levels",
    "a wide scale used as a coarse one: quantile bins would leave levels empty",
    "use the values themselves as levels",
)
def few_values(rater: Rater) -> Found | None:
    """Find raters who use two or three values of a wide scale."""
    if not rater.scale.wide or not 1 < len(rater.value) <= FEW_VALUES:
        return None
    used = [(float(v), float(n)) for v, n in zip(rater.value, rater.total, strict=True)]
    shown = ", ".join(f"{rater.as_reported(v):g}: {n:g}" for v, n in used)
    return Found(len(rater.value), shown)
