"""Why a measure can be undefined: conditions on the columns and weights, each giving its reason or ""."""

from __future__ import annotations

import numpy as np

from hmeta.metrics.measure import Columns, Floats


def answers(columns: Columns, weights: Floats) -> str:
    """Ask for any answer at all."""
    del columns
    return "" if weights.sum() > 0 else "no answers"


def wrong_answers(columns: Columns, weights: Floats) -> str:
    """Ask for wrong answers."""
    return "" if weights[columns["correct"] == 0].sum() > 0 else "no wrong answers"


def right_answers(columns: Columns, weights: Floats) -> str:
    """Ask for right answers."""
    return "" if weights[columns["correct"] == 1].sum() > 0 else "no right answers"


def two_levels(columns: Columns, weights: Floats) -> str:
    """Ask for two confidence levels or more."""
    name = "confidence" if "confidence" in columns else "probability"
    return "" if len(np.unique(columns[name][weights > 0])) > 1 else "one confidence level used"


BOTH_OUTCOMES = (answers, wrong_answers, right_answers)
"""What measures of discrimination ask for."""
