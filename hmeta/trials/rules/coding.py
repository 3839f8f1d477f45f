"""Stimulus, response and accuracy: two values where two are meant, and no contradiction."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from hmeta.core.errors import DataError
from hmeta.trials.row_numbers import numbered
from hmeta.trials.rules import Mark, exclusion, refusal
from hmeta.trials.study import Answers


@refusal
def two_valued_codes(answers: Answers) -> None:
    """Stimulus and response of a binary task must be 0 or 1."""
    for name in ("stimulus", "response") if answers.task == "binary" else ():
        column = answers.frame[name]
        bad = (column.notna() & ~column.isin([0, 1])).to_numpy(dtype=bool)
        if not bad.any():
            continue
        seen = sorted(int(v) for v in column.dropna().unique())
        many = len(seen) > 2
        raise DataError(
            f"{name} has {len(seen)} levels" if many else f"{name} is not coded 0 and 1",
            where=f"column {name}, {numbered(bad)}",
            received=", ".join(map(str, seen[:10])),
            allowed="0 and 1",
            mend="recode it as one pair of options, or import it as task mafc"
            if many
            else f"map the two labels on import, {seen[0]} to 0 and {seen[-1]} to 1",
        )


@refusal
def correct_is_zero_or_one(answers: Answers) -> None:
    """Accuracy must be 0, 1 or missing."""
    if "correct" not in answers.frame:
        return
    column = answers.frame["correct"]
    bad = (column.notna() & ~column.isin([0, 1])).to_numpy(dtype=bool)
    if bad.any():
        raise DataError(
            "correct is neither 0 nor 1",
            where=f"column correct, {numbered(bad)}",
            received=", ".join(map(str, sorted(column[bad].unique())[:5])),
            allowed="0, 1, or missing",
        )


@refusal
def accuracy_agrees(answers: Answers) -> None:
    """Accuracy must be what stimulus and response say, where all three are there."""
    frame = answers.frame
    if not {"stimulus", "response", "correct"} <= set(frame.columns):
        return
    known = frame[["stimulus", "response", "correct"]].notna().all(axis=1).to_numpy(dtype=bool)
    right = (frame["stimulus"] == frame["response"]).fillna(False).to_numpy(dtype=bool)
    bad = known & (right != (frame["correct"] == 1).fillna(False).to_numpy(dtype=bool))
    if bad.any():
        raise DataError(
            f"{int(bad.sum())} trials have an accuracy that contradicts stimulus and response",
            where=f"columns stimulus, response, correct, {numbered(bad)}",
            allowed="correct = 1 exactly where response equals stimulus",
            mend="correct the table, or leave out the column that is wrong",
        )


@refusal
def both_stimuli(answers: Answers) -> None:
    """Refuse a binary study that shows one stimulus only."""
    if answers.task != "binary":
        return
    seen = set(answers.frame["stimulus"].dropna().astype(int))
    for code in {0, 1} - seen if len(seen) == 1 else ():
        raise DataError(
            f"no S{code + 1} trials: stimulus is never {code}",
            where="column stimulus",
            received=f"{int(answers.frame['stimulus'].notna().sum())} trials, all with stimulus {min(seen)}",
            mend="d′ and meta-d′ compare two stimuli; check the coding, or import as task open for other measures",
        )


@refusal
def enough_options(answers: Answers) -> None:
    """Refuse a choice with fewer than two options."""
    if answers.task != "mafc":
        return
    bad = (answers.frame["n_options"] < 2).fillna(False).to_numpy(dtype=bool)
    if bad.any():
        raise DataError(
            "n_options is below 2",
            where=f"column n_options, {numbered(bad)}",
            received=", ".join(map(str, sorted(answers.frame["n_options"][bad].unique())[:5])),
            allowed="2 or more",
        )


@exclusion
def answered(answers: Answers) -> Iterable[Mark]:
    """Drop trials without an outcome, by what is missing."""
    for name in ("stimulus", "response") if answers.task == "binary" else ("correct",):
        yield Mark(f"missing {name}", answers.frame[name].isna().to_numpy(dtype=bool))
    if answers.task == "mafc":
        yield Mark("missing n_options", answers.frame["n_options"].isna().to_numpy(dtype=bool))


@exclusion
def answer_among_options(answers: Answers) -> Iterable[Mark]:
    """Drop answers that are none of the options, whether these are counted from 0 or from 1."""
    if answers.task != "mafc" or "response" not in answers.frame:
        return
    indices = answers.frame[[c for c in ("stimulus", "response") if c in answers.frame]]
    first = 0 if bool((indices == 0).any(axis=None)) else 1
    response = answers.frame["response"].astype("Float64").to_numpy(dtype=np.float64, na_value=np.nan)
    options = answers.frame["n_options"].astype("Float64").to_numpy(dtype=np.float64, na_value=np.nan)
    yield Mark("answer outside the options", (response < first) | (response > options - 1 + first))
