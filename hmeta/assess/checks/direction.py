"""Raters who are surer when wrong."""

from __future__ import annotations

import numpy as np
import pandas as pd

from hmeta.assess.checks import Found, check
from hmeta.assess.raters import Rater
from hmeta.trials.rules.direction import SURE, auroc2_z, d_prime


@check(
    "caution",
    "95 % interval of AUROC2 below 0.5",
    "confidence is higher when wrong: a reversed scale, a reversed rating order or a wrong answer key, or, rarely, "
    "negative metacognition",
    "check scale_reversed and the answer key; for honest data use M on the identity scale, which can be negative",
)
def reversed_scale(rater: Rater) -> Found | None:
    """Find raters who are clearly surer when wrong."""
    found = rater.auroc2
    if not (found.z < -SURE and (found.upper < 0.5 or np.isnan(found.upper))):
        return None
    return Found(found.value, f"AUROC2 {found.value:.2f} [{found.lower:.2f}, {found.upper:.2f}]")


@check(
    "caution",
    "d′ and AUROC2 below chance by two standard errors",
    "the coding of stimulus or response is probably inverted: M would look normal, as negative over negative",
    "check which value of stimulus and response means which",
)
def stimulus_inverted(rater: Rater) -> Found | None:
    """Find raters of binary tasks with negative d′ who are surer when wrong."""
    if rater.task != "binary":
        return None
    counts = {"n_s0": (0, 1), "n_s1": (2, 3), "hits": (3,), "false_alarms": (1,), "n": (0, 1, 2, 3)}
    summary = pd.DataFrame({name: [rater.number(codes)] for name, codes in counts.items()})
    kinds = {"n_correct": [rater.n_right], "n_wrong": [rater.n_wrong], "auroc2": [rater.auroc2.value]}
    summary = summary.assign(**kinds)
    d, error = d_prime(summary)
    if not (d[0] < -SURE * error[0] and auroc2_z(summary).iloc[0] < -SURE):
        return None
    return Found(float(d[0]), f"d′ {d[0]:.2f}, AUROC2 {rater.auroc2.value:.2f}")
