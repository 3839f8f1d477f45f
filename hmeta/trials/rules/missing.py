"""Missing units, scales and confidences: dropped with a reason, and named where they are many."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from hmeta.trials.rules import Mark, caution, exclusion
from hmeta.trials.study import Answers, Study, label, named
from hmeta.trials.tables import unit_columns

MANY_MISSING = 0.05
STATUS_COLUMN = "confidence_status"
"""What the parser of confidence text said about each trial, if the file has it."""


@exclusion
def unit_known(answers: Answers) -> Iterable[Mark]:
    """Drop trials that do not say who answered."""
    for name in unit_columns(answers.frame.columns):
        yield Mark(f"missing {name}", answers.frame[name].isna().to_numpy(dtype=bool))


@exclusion
def scale_known(answers: Answers) -> Iterable[Mark]:
    """Drop trials that do not say which scale they used."""
    if "scale" in answers.frame:
        yield Mark("missing scale", answers.frame["scale"].isna().to_numpy(dtype=bool))


@exclusion
def confidence_given(answers: Answers) -> Iterable[Mark]:
    """Drop trials without a usable confidence, by the status the parser gave."""
    missing = np.isnan(answers.confidence)
    if STATUS_COLUMN in answers.frame:
        status = answers.frame[STATUS_COLUMN].astype("object").fillna("missing")
        for word in sorted(set(status[missing]) - {"ok", "missing"}):
            yield Mark(f"confidence {word}", missing & (status == word).to_numpy(dtype=bool))
    yield Mark("missing confidence", missing)
    yield Mark("infinite confidence", np.isinf(answers.confidence))


@caution
def many_left_out(study: Study) -> Iterable[str]:
    """Name the units that lose more than 5 % of their answers: what is missing is rarely random."""
    lost = 1 - study.usage["rows_used"] / study.usage["rows_in"]
    high = study.usage[lost > MANY_MISSING]
    if len(high):
        shown = [f"{label(place)} {lost[i]:.0%}" for i, place in high.iterrows()]
        yield f"more than 5 % of the answers are left out, and those are rarely a random part: {named(shown)}"
