"""Confidence with so many levels that a maximum-likelihood fit would fill the memory."""

from __future__ import annotations

import numpy as np
import pytest

from hmeta.metrics.catalogue import measures
from hmeta.mle.point import Answers, meta_point, zroc_point
from hmeta.mle.table import LARGEST_TABLE, MOST_LEVELS, TOO_MANY, from_weights, occupied, spans
from hmeta.mle.type2_roc import fit_type2_roc

FITTED = ("type2_d_a", "type2_zroc_slope", "zroc_slope", "meta_d", "M", "meta_d_difference", "meta_noise")


def columns_of(n_levels: int, repeats: int = 1) -> dict[str, np.ndarray]:
    """Return every level in each of the four outcomes, with counts that rise for right and fall for wrong answers."""
    level = np.tile(np.linspace(0, 1, n_levels), 4 * repeats)
    outcome = np.repeat([0.0, 1.0, 2.0, 3.0], n_levels * repeats)
    correct = ((outcome == 0) | (outcome == 3)).astype(float)
    return {
        "confidence": level,
        "outcome": outcome,
        "n_options": np.zeros_like(outcome),
        "correct": correct,
        "stimulus": outcome // 2,
        "response": outcome % 2,
        "count": np.where(correct == 1, 1 + level, 1.5 - level),
    }


@pytest.mark.parametrize("name", FITTED)
@pytest.mark.parametrize("n_levels", [MOST_LEVELS + 1, 20_000])
def test_too_many_levels_are_nan_with_a_reason_and_allocate_nothing(name, n_levels):
    card, columns = measures()[name], columns_of(n_levels)
    inputs = {key: columns[key] for key in card.columns}
    assert card.why_undefined(inputs, columns["count"]) == TOO_MANY
    assert np.isnan(card(*inputs.values(), weights=columns["count"]))


@pytest.mark.parametrize("name", ["type2_d_a", "zroc_slope", "meta_d"])
def test_a_replicate_that_uses_few_of_the_levels_has_a_value_all_the_same(name):
    card, columns = measures()[name], columns_of(MOST_LEVELS + 1)
    used = np.isin(columns["confidence"], np.unique(columns["confidence"])[[3, 50, 200]])
    weights = np.stack([columns["count"], np.where(used, columns["count"], 0.0)])
    both = card(*(columns[key] for key in card.columns), weights=weights)
    assert np.isnan(both).tolist() == [True, False]


def test_the_reason_names_the_limit_and_what_to_do():
    assert TOO_MANY.startswith("more than 500 confidence levels: too many for a maximum-likelihood fit")
    assert TOO_MANY.endswith("bin or round them")


def test_levels_count_for_each_response():
    columns = columns_of(MOST_LEVELS)
    levels = occupied(
        from_weights("binary", columns["outcome"], columns["confidence"], columns["count"][None], np.full(1, 2.0))
    )
    assert levels.n_levels.tolist() == [[MOST_LEVELS, MOST_LEVELS]]
    assert not levels.too_many.any()


def test_cells_are_parted_by_the_size_of_their_table():
    weights = np.broadcast_to(1.0, (10_000, 2_000))
    parts = list(spans(weights))
    assert all((part.stop - part.start) * 2_000 <= LARGEST_TABLE for part in parts)
    assert [part.start for part in parts] == list(range(0, 10_000, LARGEST_TABLE // 2_000))
    assert len(list(spans(np.ones((10_000, 24))))) == 1
    assert list(spans(np.ones((0, 24)))) == []


def test_parted_cells_are_those_of_the_whole(monkeypatch):
    columns = columns_of(4)
    p = columns["count"] / columns["count"].sum()
    weights = np.random.default_rng(3).multinomial(300, p, size=40).astype(float)
    weights[7] = 0.0
    answers = Answers("binary", columns["outcome"], columns["confidence"], weights, np.full(40, 2.0))
    options: dict[str, object] = {"noise": "normal", "meta_c": "absolute"}

    def all_of() -> list:
        roc = fit_type2_roc(columns["confidence"], columns["correct"], weights)
        return [*meta_point(answers, options), *zroc_point(answers), roc.d_a, roc.slope]

    whole = all_of()
    monkeypatch.setattr("hmeta.mle.table.LARGEST_TABLE", 16 * 7)
    for one, other in zip(all_of(), whole, strict=True):
        if isinstance(one, list):
            assert one == other
            assert one[7] == "no trials"
        else:
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)
