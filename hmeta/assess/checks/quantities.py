"""Values that are no confidences on the declared scale, or of several kinds."""

from __future__ import annotations

import numpy as np

from hmeta.assess.checks import Found, check
from hmeta.assess.raters import SLACK, Rater
from hmeta.trials.rules.scale import NEAR, SMALLEST_PERCENT_SCALE
from hmeta.trials.rules.sparse import FEW_ANSWERS


@check(
    "caution",
    "any value above 1 on a scale 0–1",
    "probabilities and percentages are mixed in one column",
    "give each its own scale, for example import them apart with --scale 0-100",
)
def above_one(rater: Rater) -> Found | None:
    """Find values above 1 where 0–1 is declared."""
    if (rater.scale.lower, rater.scale.upper) != (0.0, 1.0):
        return None
    high = rater.reported[rater.reported.index > 1 + SLACK]
    return Found(float(high.sum()), f"{high.sum():g}, the largest {high.index.max():g}") if len(high) else None


@check(
    "caution",
    "any value outside the scale",
    f"validation moves values within {NEAR:.0%} of the width to the end of the scale and leaves the others out",
    "correct the values or the declared scale, or choose with --on-violation",
)
def outside_scale(rater: Rater) -> Found | None:
    """Find values beyond the ends of the declared scale, or between the levels of a rating scale."""
    lower, upper, step, _ = rater.scale
    if not rater.scale.known or above_one(rater):
        return None
    value, count = rater.reported.index.to_numpy(dtype=np.float64), rater.reported.to_numpy(dtype=np.float64)
    beyond = np.maximum(lower - value, value - upper)
    bad = beyond > SLACK * rater.scale.width
    if not rater.scale.wide:
        steps = np.where(bad, 0.0, (value - lower) / step)
        bad |= np.abs(steps - np.round(steps)) > SLACK
    if not bad.any():
        return None
    n, share = float(count[bad].sum()), float(count[bad].sum() / rater.n_asked)
    seen = ", ".join(f"{v:g}" for v in value[bad][:3])
    return Found(share, f"{n:g} of {rater.n_asked:g} ({share:.1%}): {seen}")


@check(
    "caution",
    f"all values in 0–1 on a scale that goes to {SMALLEST_PERCENT_SCALE} or more",
    "these may be probabilities where percentages were asked for",
    "read some raw answers; give this rater the scale 0-1",
)
def probabilities_on_wide_scale(rater: Rater) -> Found | None:
    """Find raters whose confidences all lie in 0–1 on a percent scale."""
    value = rater.reported.index.to_numpy(dtype=np.float64)
    if not rater.scale.upper >= SMALLEST_PERCENT_SCALE or rater.reported.sum() < FEW_ANSWERS:
        return None
    top = value.max()
    return Found(float(top), f"the largest is {top:g}") if 0 < top <= 1 else None


@check(
    "caution",
    "2 signals or more",
    "confidence of this rater comes from several sources, which are different quantities",
    "keep signal as a factor; never pool them, and fit one calibration map for each",
)
def mixed_signals(rater: Rater) -> Found | None:
    """Find raters with confidences from several sources."""
    if len(rater.signals) < 2:
        return None
    return Found(len(rater.signals), f"one of {', '.join(rater.signals)}")
