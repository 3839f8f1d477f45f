"""Outcome codes as columns: which task they belong to, and what is right and wrong in them.

`outcome` is 2·stimulus + response where `n_options` is 0 (two stimuli, two responses), else 1 for a right and 0 for a
wrong answer among `n_options` alternatives.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hmeta.core.errors import DataError
from hmeta.metrics.measure import Columns, Floats

if TYPE_CHECKING:
    from hmeta.mle.point import Answers

OUTCOME_COLUMNS = ("outcome", "n_options")
RATING_COLUMNS = ("outcome", "n_options", "confidence")
WITH_TYPE1 = ("binary", "mafc")
"""Tasks that have a type-1 table."""

NOISES = {
    "binary": ("normal", "logistic", "gumbel_min", "gumbel_max"),
    "mafc": ("gumbel", "normal"),
}
"""Noise of the evidence by task, the default first."""


def binary_outcome(stimulus: Any, response: Any) -> tuple[Floats, Floats]:
    """Return the columns outcome and n_options of two stimuli and two responses.

    Parameters
    ----------
    stimulus, response : (row,) array_like of 0 and 1

    Examples
    --------
    >>> binary_outcome([0, 1], [1, 1])
    (array([1., 3.]), array([0., 0.]))
    """
    outcome = 2.0 * np.asarray(stimulus, dtype=np.float64) + np.asarray(response, dtype=np.float64)
    return outcome, np.zeros_like(outcome)


def task_of(n_options: Floats) -> str:
    """Return the kind of task."""
    return "mafc" if (n_options != 0).any() else "binary"


def correct_of(outcome: Floats, n_options: Floats) -> Floats:
    """Return 1 for right and 0 for wrong answers, ``(row,)``."""
    matches = (outcome == 0) | (outcome == 3)
    return np.where(n_options == 0, matches, outcome == 1).astype(np.float64)


def noise_of(task: str, noise: str, allowed: tuple[str, ...] | None = None) -> str:
    """Return the noise asked for, or the task's default; refuse one that the task does not have."""
    known = NOISES[task] if allowed is None else allowed
    if noise == "default":
        return known[0]
    if noise not in known:
        raise DataError("this noise does not fit the task", where=f"task {task}", received=noise, allowed=known)
    return noise


def flat_weights(weights: Floats) -> Floats:
    """Return the weights with all leading axes as one, ``(cell, row)``; rows may be none."""
    return weights.reshape(int(np.prod(weights.shape[:-1])), weights.shape[-1])


def flat_answers(outcome: Floats, n_options: Floats, confidence: Floats, weights: Floats) -> Answers:
    """Return the answers with all leading axes of the weights as one; cells of mixed tasks hold no answers."""
    from hmeta.mle.point import Answers

    flat = flat_weights(weights)
    least, most = _range(n_options, flat)
    task = task_of(n_options)
    sound = (least == most) & ((most == 0) if task == "binary" else (most >= 2))
    sound &= ((flat > 0) & _unknown(outcome, n_options)).sum(axis=1) == 0
    size = np.where(sound & (task == "mafc"), most, 2.0)
    return Answers(task, outcome, confidence, np.where(sound[:, None], flat, 0.0), size)


def _range(n_options: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Return the smallest and largest number of alternatives among the answers, ``(cell,)``."""
    used = weights > 0
    least = np.where(used, n_options, np.inf).min(axis=1, initial=np.inf)
    return least, np.where(used, n_options, -np.inf).max(axis=1, initial=-np.inf)


def _unknown(outcome: Floats, n_options: Floats) -> np.ndarray:
    largest = np.where(n_options == 0, 3, 1)
    return (outcome < 0) | (outcome > largest) | (outcome % 1 != 0)


def one_task(columns: Columns, weights: Floats) -> str:
    """Ask for answers of one task with one number of alternatives."""
    used = weights > 0
    outcome, n_options = columns["outcome"][used], columns["n_options"][used]
    if not len(outcome):
        return "no answers"
    if len(np.unique(n_options)) > 1:
        return "several numbers of alternatives"
    if task_of(columns["n_options"]) == "mafc" and n_options[0] < 2:
        return "fewer than two alternatives"
    return "codes that are no outcomes" if _unknown(outcome, n_options).any() else ""


def type1_table(columns: Columns, weights: Floats) -> str:
    """Ask for a finite d."""
    from hmeta.mle.point import count_outcomes
    from hmeta.mle.status import type1_reasons

    blank = np.zeros_like(columns["outcome"])
    answers = flat_answers(columns["outcome"], columns["n_options"], blank, weights)
    return type1_reasons(answers.task, count_outcomes(answers))[0]


def d_not_zero(columns: Columns, weights: Floats) -> str:
    """Ask for a d that is not 0."""
    from hmeta.mle.fit import SMALLEST_D
    from hmeta.mle.point import type1_point

    blank = np.zeros_like(columns["outcome"])
    answers = flat_answers(columns["outcome"], columns["n_options"], blank, weights)
    d = type1_point(answers, NOISES[answers.task][0]).d[0]
    return "d = 0: nothing is expected of confidence" if abs(d) < SMALLEST_D else ""


TYPE1 = (one_task, type1_table)
"""What measures that start from d ask for."""
