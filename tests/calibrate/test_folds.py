"""Folds: items whole, sizes even, nothing lost."""

from __future__ import annotations

import numpy as np
import pytest

from hmeta.calibrate.answers import read_answers
from hmeta.calibrate.folds import hold_out, nothing_held_out
from hmeta.core.errors import DataError
from hmeta.trials.counts import to_counts
from tests.calibrate.answer_files import answers, results


def test_all_answers_to_an_item_are_in_one_fold():
    read = read_answers(results())
    folded = hold_out(read, 5, 0)
    assert folded.grouped_by == "item"
    assert folded.notes == ()
    per_item = read.rows.assign(fold=folded.fold).groupby("item")["fold"].nunique()
    assert len(per_item) == 150
    assert (per_item == 1).all()
    assert np.bincount(folded.fold).tolist() == [60] * 5


def test_the_order_of_rows_decides_nothing():
    frame = answers()
    mixed = frame.sample(frac=1, random_state=3)
    folds = [
        dict(zip(read.rows["item"], hold_out(read, 5, 7).fold, strict=True))
        for read in (read_answers(results(f)) for f in (frame, mixed))
    ]
    assert folds[0] == folds[1]


def test_the_seed_decides():
    read = read_answers(results())
    first, again, other = (hold_out(read, 5, seed).fold for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_without_items_folds_are_by_answer_even_in_each_segment_and_say_so():
    read = read_answers(results(answers().drop(columns="item")))
    folded = hold_out(read, 4, 0)
    assert folded.grouped_by == "answer"
    assert "no column item" in folded.notes[0]
    for segment in (0, 1):
        assert sorted(np.bincount(folded.fold[read.segment == segment])) == [37, 37, 38, 38]


def test_answers_without_an_item_are_by_themselves():
    frame = answers()
    frame.loc[:9, "item"] = None
    folded = hold_out(read_answers(results(frame)), 5, 0)
    assert folded.notes == ("10 answers have no item and are in a fold by themselves",)
    assert len(folded.fold) == 300


def test_few_items_are_named_however_many_answers_they_have():
    folded = hold_out(read_answers(results(answers(20, models=tuple("abcdefgh")))), 5, 0)
    assert folded.notes[0].startswith("only 20 items")


def test_fewer_items_than_folds_are_refused():
    with pytest.raises(DataError, match="fewer items than folds"):
        hold_out(read_answers(results(answers(4))), 5, 0)


def test_counts_are_dealt_out_whole():
    read = read_answers(to_counts(results(), ["model"]))
    folded = hold_out(read, 5, 0)
    assert np.array_equal(np.bincount(folded.row, folded.count), read.rows["count"].to_numpy())
    sizes = np.bincount(2 * folded.fold + read.segment[folded.row], folded.count)
    assert sizes.tolist() == [30] * 10
    assert "no items" in folded.notes[0]


def test_dealing_is_random_and_unbiased():
    read = read_answers(to_counts(results(), ["model"]))
    shares = np.mean(
        [np.bincount((f := hold_out(read, 5, s)).row, f.count * (f.fold == 0)) for s in range(400)], axis=0
    )
    # Each mean is of 400 hypergeometric counts with sd below 2.1: 5 standard errors are 0.53.
    assert np.abs(shares - read.rows["count"].to_numpy() / 5).max() < 0.53


def test_nothing_held_out_keeps_every_answer():
    read = read_answers(to_counts(results(), ["model"]))
    folded = nothing_held_out(read)
    assert np.array_equal(folded.count, read.rows["count"].to_numpy())
    assert set(folded.fold) == {-1}


def test_counts_that_are_fractions_cannot_be_dealt():
    counts = to_counts(results(), ["model"])
    padded = counts.assign(count=counts["count"] + 0.25).assign_attrs(padded=1)
    with pytest.raises(DataError, match="not whole"):
        hold_out(read_answers(padded), 5, 0)
