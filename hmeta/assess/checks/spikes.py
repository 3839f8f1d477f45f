"""Single values that may have been put in for missing confidences.

What they see, tried on 32 language models with up to 1,500 answers each: where a share of the confidences of every
fourth model is replaced by 50 at random, the value is named for 3 of 8 models at a share of 5 %, 7 of 8 at 10 % and
8 of 8 at 20 %; where it is replaced by 73.4, for 8 of 8 at 5 %. No untouched model is named, and of 87 people with 60
answers each none.

What they cannot see: a fall-back among values that the rater uses anyway (80, 95, 100); one that is always given
with a wrong answer, which looks like honest doubt; one among fewer than about a hundred answers, where accuracies are
too uncertain to compare.
"""

from __future__ import annotations

import numpy as np

from hmeta.assess.checks import Found, check
from hmeta.assess.raters import SLACK, Rater
from hmeta.trials.rules.direction import SURE
from hmeta.trials.rules.spikes import FEW_NEIGHBOURS, LEAST_ANSWERS, NEIGHBOURHOOD, RARE_ELSEWHERE

LEAST_SPIKE = 0.05
AS_GOOD = 0.10
CLEARLY_WORSE = 3.0
REPEATED = 5
ON_GRID = 0.95


@check(
    "caution",
    f"a value in {LEAST_SPIKE:.0%} of the answers or more that stands alone and does not fit the accuracy around it",
    "this value may have been put in for missing confidences: a fall-back such as 50 or 0",
    "read some raw answers at this value; where it stands for missing, import it with --missing VALUE",
)
def imputed_spike(rater: Rater) -> Found | None:
    """Find a value that looks put in; it never sees a fall-back at the top, or one that is spread or rare.

    On a wide scale a value is suspicious where all of these hold. (1) It makes 5 % of the answers or more, and 20 or
    more. (2) It stands alone: within 5 % of the scale's width on either side there are fewer than a twentieth as many
    answers. (3) It is the unsure end or the middle of the scale, or the other raters of the scale use it less than a
    tenth as often. (4) Its accuracy does not fit: either as good as that of the surer answers (the difference is
    below 0.10 beyond doubt, by two standard errors), or clearly worse than that of the less sure ones (by three).
    """
    if not rater.scale.wide or rater.n < LEAST_ANSWERS:
        return None
    for i in map(int, np.argsort(-rater.total, kind="stable")):
        if rater.total[i] < max(LEAST_SPIKE * rater.n, LEAST_ANSWERS):
            return None
        if _stands_alone(rater, i) and _unlikely(rater, i) and (why := _misfit(rater, i)):
            value, share = rater.as_reported(rater.value[i]), float(rater.total[i] / rater.n)
            return Found(value, f"{share:.0%} are {value:g}, {why}")
    return None


@check(
    "caution",
    f"{REPEATED} answers or more at one value finer than all others",
    "one repeated odd value among round ones may be a mean or a default put in for missing confidences",
    "read some raw answers at this value; where it stands for missing, import it with --missing VALUE",
)
def odd_value(rater: Rater) -> Found | None:
    """Find a repeated value off the grid (whole numbers, or hundredths on scales narrower than 10) of the others."""
    if not rater.scale.wide or rater.n < LEAST_ANSWERS:
        return None
    grid = 1.0 if rater.scale.width >= 10 else 0.01
    steps = rater.value / grid
    off = np.abs(steps - np.round(steps)) > SLACK / grid
    often = off & (rater.total >= REPEATED)
    if not often.any():
        return None
    most = int(np.argmax(np.where(often, rater.total, 0)))
    rest = rater.n - rater.total[most]
    if rest < LEAST_ANSWERS or rater.total[~off].sum() < ON_GRID * rest:
        return None
    value = rater.as_reported(rater.value[most])
    return Found(value, f"{rater.total[most]:g} are exactly {value:.6g}")


def _stands_alone(rater: Rater, i: int) -> bool:
    near = np.abs(rater.value - rater.value[i]) <= NEIGHBOURHOOD * rater.scale.width
    surer = rater.total[rater.value > rater.value[i]].sum()
    neighbours = rater.total[near].sum() - rater.total[i]
    return bool(neighbours <= FEW_NEIGHBOURS * rater.total[i] and surer >= LEAST_ANSWERS / 2)


def _unlikely(rater: Rater, i: int) -> bool:
    """Return whether a value is a likely default, or one that the other raters of the scale hardly use."""
    ends = (rater.scale.lower, (rater.scale.lower + rater.scale.upper) / 2)
    if np.isclose(rater.value[i], ends, rtol=0, atol=SLACK * rater.scale.width).any():
        return True
    share = rater.total[i] / rater.n
    return rater.n_elsewhere > 0 and rater.elsewhere[i] / rater.n_elsewhere < RARE_ELSEWHERE * share


def _misfit(rater: Rater, i: int) -> str:
    """Return how the accuracy at a value contradicts that of the answers around it, or ""."""
    own = rater.right[i] / rater.total[i]
    surer, less_sure = (rater.value > rater.value[i]), (rater.value < rater.value[i])
    above, error = _accuracy(rater, i, surer)
    if abs(above - own) + SURE * error <= AS_GOOD:
        return f"right as often ({own:.2f}) as surer answers ({above:.2f})"
    below, error = _accuracy(rater, i, less_sure)
    if rater.total[less_sure].sum() >= LEAST_ANSWERS and own - below < -CLEARLY_WORSE * error:
        return f"right less often ({own:.2f}) than less sure answers ({below:.2f})"
    return ""


def _accuracy(rater: Rater, i: int, chosen: np.ndarray) -> tuple[float, float]:
    """Return the accuracy of the chosen levels, and the standard error of its difference from that of level i."""
    n, right = rater.total[chosen].sum(), rater.right[chosen].sum()
    if not n:
        return np.nan, np.nan
    pooled = (right + rater.right[i]) / (n + rater.total[i])
    return right / n, float(np.sqrt(pooled * (1 - pooled) * (1 / n + 1 / rater.total[i])))
