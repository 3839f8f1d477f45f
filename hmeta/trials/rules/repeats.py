"""The same unit answering the same item twice, as the same answer or as another one."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from hmeta.core.errors import DataError
from hmeta.trials.row_numbers import numbered
from hmeta.trials.rows import FACTORS
from hmeta.trials.rules import Mark, caution, exclusion, refusal
from hmeta.trials.study import Answers, Study
from hmeta.trials.tables import unit_columns

KEY = (*FACTORS, "subject", "context", "track", "item", "repeat", "epoch", "run")
"""Answers that agree in all of these are the same answer twice."""


@refusal
def duplicates_decided(answers: Answers) -> None:
    """Refuse repeated answers until the user says which one counts."""
    if answers.duplicates != "error":
        return
    keys = _keys(answers)
    twice = _repeated(answers, keep=False)
    if not twice.any():
        return
    shown = answers.frame.loc[twice, keys].head(5)
    raise DataError(
        f"{int(_repeated(answers, keep='first').sum())} answers repeat an earlier one",
        where=f"columns {', '.join(keys)}, {numbered(twice)}",
        received="; ".join(", ".join(map(str, row)) for row in shown.itertuples(index=False)),
        allowed="one answer for each combination of these columns",
        mend="pass --duplicates first or last, or give the file a repeat column",
    )


@exclusion
def one_of_each(answers: Answers) -> Iterable[Mark]:
    """Drop all but the first, or the last, of repeated answers."""
    if answers.duplicates != "error":
        yield Mark("duplicate", _repeated(answers, keep=answers.duplicates))


@caution
def items_repeated(study: Study) -> Iterable[str]:
    """Say where units answer an item more than once: those answers are not independent."""
    if study.answers is None or "item" not in study.rows:
        return
    rows = study.rows[study.rows["item"].notna()]
    place = [*unit_columns(rows.columns), *(name for name in ("dataset", "scale", "signal") if name in rows), "item"]
    n_answers, n_items = len(rows), len(rows[place].drop_duplicates())
    if n_items < n_answers:
        yield (
            f"items are answered more than once by the same unit ({n_answers / n_items:.3g} times on average): those "
            "answers are not independent, and intervals that take them so, as those of a fit, are too narrow; "
            "hmeta metrics --cluster item allows for it"
        )


def _keys(answers: Answers) -> list[str]:
    return [name for name in KEY if name in answers.frame]


def _repeated(answers: Answers, keep: str | bool) -> np.ndarray:
    if "item" not in answers.frame:
        return np.zeros(len(answers.frame), dtype=bool)
    known = answers.frame["item"].notna().to_numpy(dtype=bool)
    same = answers.frame.duplicated(_keys(answers), keep=keep).to_numpy(dtype=bool)  # pyright: ignore[reportArgumentType]
    return known & same
