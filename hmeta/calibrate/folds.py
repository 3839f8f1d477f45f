"""Which answers a map does not see: folds by item where items are known, else by answer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hmeta.calibrate.answers import Answers
from hmeta.core.errors import DataError
from hmeta.core.streams import stream

ALL = -1
"""The fold of every answer where none is held out."""

FEW_ITEMS = 50
"""Below this many items a note says what it means, however many answers each of them has."""


@dataclass(frozen=True)
class Folded:
    """Parts of rows by fold. A trial is one part; a row of counts is one part for each fold that got some."""

    row: NDArray[np.int64]  # (part,)
    fold: NDArray[np.int64]  # (part,)
    count: NDArray[np.float64]  # (part,)
    grouped_by: str  # "item", "answer", or "" where nothing is held out
    notes: tuple[str, ...] = ()


def hold_out(answers: Answers, folds: int, seed: int) -> Folded:
    """Give each answer a fold.

    All answers to an item are in one fold, over models and scales. Answers without an item get a fold by
    themselves, within their segment. Counts are divided at random, as by dealing out their answers.

    Raises
    ------
    DataError
        With fewer items than folds, or counts that are not whole.
    """
    rng = np.random.default_rng(stream(seed, "calibration folds"))
    if answers.layout == "counts":
        return _dealt(answers, folds, rng)
    rows = np.arange(len(answers.rows))
    ones = np.ones(len(rows))
    if "item" not in answers.rows:
        note = "no column item: folds are by answer, so a map may have seen other answers to the same item"
        return Folded(rows, _within_segments(answers.segment, folds, rng), ones, "answer", (note,))
    item = answers.rows["item"].astype("object")
    known = item.notna().to_numpy(dtype=bool)
    fold = _within_segments(answers.segment, folds, rng)
    fold[known] = _by_item(item[known], folds, rng)
    lacking = int((~known).sum())
    notes = [f"{lacking} answers have no item and are in a fold by themselves"] if lacking else []
    if (n_items := item[known].nunique()) < FEW_ITEMS:
        notes.append(
            f"only {n_items} items: a fold holds few of them, and how hard these happen to be shows in every error "
            "after calibration"
        )
    return Folded(rows, fold, ones, "item", tuple(notes))


def nothing_held_out(answers: Answers) -> Folded:
    """Return every answer in no fold, for maps that are judged on the answers they were fitted to."""
    n = len(answers.rows)
    count = answers.rows["count"].to_numpy(dtype=np.float64)
    return Folded(np.arange(n), np.full(n, ALL), count, "")


def _by_item(item: pd.Series, folds: int, rng: np.random.Generator) -> NDArray[np.int64]:
    # Sorted first, so that the order of the rows of a file decides nothing.
    code, names = pd.factorize(item.astype(str), sort=True)
    if len(names) < folds:
        raise DataError(
            "there are fewer items than folds", received=f"{len(names)} items, {folds} folds", mend="use fewer folds"
        )
    return _deal(len(names), folds, rng)[code]


def _within_segments(segment: NDArray[np.int64], folds: int, rng: np.random.Generator) -> NDArray[np.int64]:
    fold = np.empty(len(segment), dtype=np.int64)
    for rows in pd.Series(segment).groupby(segment).indices.values():
        fold[rows] = _deal(len(rows), folds, rng)
    return fold


def _deal(n: int, folds: int, rng: np.random.Generator) -> NDArray[np.int64]:
    return rng.permutation(np.arange(n) % folds)


def _dealt(answers: Answers, folds: int, rng: np.random.Generator) -> Folded:
    count = answers.rows["count"].to_numpy(dtype=np.float64)
    if not np.all(count == np.round(count)):
        raise DataError(
            "counts that are not whole cannot be divided into folds",
            mend="use the counts before anything was added to them, or pass --in-sample",
        )
    shares = np.zeros((folds, len(count)), dtype=np.int64)
    for rows in pd.Series(answers.segment).groupby(answers.segment).indices.values():
        shares[:, rows] = _deal_counts(count[rows].astype(np.int64), folds, rng)
    fold, row = np.nonzero(shares)
    note = "a file of counts knows no items: folds are by answer, and a map may have seen the same item"
    return Folded(row, fold, shares[fold, row].astype(np.float64), "answer", (note,))


def _deal_counts(count: NDArray[np.int64], folds: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return counts by fold, (fold, row): folds of equal size drawn without replacement."""
    left, out = count.copy(), np.zeros((folds, len(count)), dtype=np.int64)
    for k in range(folds):
        size = int(left.sum()) // (folds - k)
        out[k] = rng.multivariate_hypergeometric(left, size, method="marginals")
        left -= out[k]
    return out
