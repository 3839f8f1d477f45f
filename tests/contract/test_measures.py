"""Every measure and curve through the same questions."""

import inspect

import numpy as np
import pytest

from hmeta.metrics.catalogue import FAMILIES, curves, describe, measures
from hmeta.metrics.measure import RANGES

CHOSEN = {"epsilon": 1.0, "d": 1.2, "risk": 0.4, "threshold": 0.6}
"""Values for options that a user must set, or whose defaults say little about these data."""

N_LEVELS = 4


def options_of(card):
    return {name: CHOSEN[name] for name in card.options if name in CHOSEN}


def columns_of(card, rng, n=40):
    """Return random columns that belong together, with ties."""
    level = rng.integers(0, N_LEVELS, n).astype(float)
    correct = (rng.random(n) < 0.4 + 0.12 * level).astype(float)
    stimulus = rng.integers(0, 2, n).astype(float)
    response = np.where(correct == 1, stimulus, 1 - stimulus)
    probability = (level + 0.5) / N_LEVELS
    label = rng.integers(0, 5, n).astype(float)
    columns = {
        "confidence": level + 1,
        "probability": probability,
        "correct": correct,
        "outcome": correct,
        "stimulus": stimulus,
        "response": response,
        "n_options": np.full(n, 4.0),
        "p_positive": np.where(response == 1, probability, 1 - probability),
        "label": label,
        "score": label + rng.integers(-2, 3, n),
        "reported": level + 1,
        "answered": np.ones(n),
        "scale_lower": np.ones(n),
        "scale_upper": np.full(n, float(N_LEVELS)),
        "scale_step": np.ones(n),
        "debate": rng.integers(0, 2, n).astype(float),
    }
    return [columns[name] for name in card.columns]


ALL = [pytest.param(card, id=name) for name, card in measures().items()]


@pytest.mark.parametrize("card", ALL)
def test_the_card_is_complete(card):
    assert card.family in FAMILIES
    assert card.better in ("higher", "lower", "none")
    assert card.unit
    assert len(card.reference) > 3
    assert card.summary.endswith(".")
    assert len(card.definition) > len(card.summary) - 5
    assert describe(card)["name"] == card.name


@pytest.mark.parametrize("card", ALL)
def test_counts_are_repeated_rows_and_order_does_not_matter(card):
    rng = np.random.default_rng(3)
    columns, options = columns_of(card, rng), options_of(card)
    weights = rng.integers(1, 5, len(columns[0]))
    counted = card(*columns, weights=weights, **options)
    repeated = card(*(np.repeat(c, weights) for c in columns), **options)
    assert np.isfinite(counted)
    assert counted == pytest.approx(repeated, rel=1e-7, abs=1e-9)
    turned = rng.permutation(len(columns[0]))
    assert card(*(c[turned] for c in columns), weights=weights[turned], **options) == pytest.approx(
        counted, rel=1e-7, abs=1e-9
    )


@pytest.mark.parametrize("card", ALL)
def test_many_replicates_at_once_are_each_by_itself(card):
    rng = np.random.default_rng(4)
    columns, options = columns_of(card, rng), options_of(card)
    weights = rng.multinomial(120, np.full(40, 1 / 40), size=(2, 3)).astype(float)
    together = card(*columns, weights=weights, **options)
    assert together.shape == (2, 3)
    alone = [[card(*columns, weights=w, **options) for w in row] for row in weights]
    np.testing.assert_allclose(together, alone, rtol=1e-6, atol=1e-8)
    assert len(np.unique(np.round(together, 9))) > 1 or card.name in CONSTANT


CONSTANT = {
    "n_outputs",
    "top1_value",
    "distinct_values",
    "violation_rate",
    "abstention_rate",
    "missing_confidence_rate",
    "utilisation",
    "round_share",
}
"""Measures that need not move between resamples of these data."""


@pytest.mark.parametrize("card", ALL)
@pytest.mark.parametrize("kind", ["empty", "no weight", "all right", "all wrong", "one level", "one answer", "ties"])
def test_undefined_is_nan_with_a_reason_and_never_a_number_for_nothing(card, kind):
    rng = np.random.default_rng(5)
    columns = dict(zip(card.columns, columns_of(card, rng), strict=True))
    weights = np.ones(40)
    if kind == "empty":
        columns, weights = {name: c[:0] for name, c in columns.items()}, np.zeros(0)
    elif kind == "no weight":
        weights = np.zeros(40)
    elif kind == "one answer":
        columns, weights = {name: c[:1] for name, c in columns.items()}, np.ones(1)
    elif kind in ("all right", "all wrong"):
        right = float(kind == "all right")
        columns |= {name: np.full(40, right) for name in ("correct", "outcome") if name in columns}
        if {"stimulus", "response"} <= set(columns):
            columns["response"] = columns["stimulus"] if right else 1 - columns["stimulus"]
    elif kind in ("one level", "ties"):
        for name in ("confidence", "reported", "probability", "p_positive"):
            if name in columns:
                columns[name] = np.full(40, 1.0 if kind == "one level" else 0.5 if name in RANGES else 2.0)
    reason = card.why_undefined(columns, weights)
    value = card(*columns.values(), weights=weights, **options_of(card))
    assert np.isnan(value) == bool(reason), (value, reason)
    if kind in ("empty", "no weight"):
        assert np.isnan(value)


READS_NUMBERS = {"delta_conf", "phi", "delta_conf_ratio", "delta_conf_difference", "phi_ratio", "phi_difference"}
"""Measures that read ratings as numbers, by definition."""

ORDINAL = [
    pytest.param(card, id=name)
    for name, card in measures().items()
    if "confidence" in card.columns and "probability" not in card.columns and name not in READS_NUMBERS
]


@pytest.mark.parametrize("card", ORDINAL)
def test_relabelling_the_ratings_in_order_changes_no_ordinal_measure(card):
    rng = np.random.default_rng(6)
    columns = dict(zip(card.columns, columns_of(card, rng), strict=True))
    before = card(*columns.values(), **options_of(card))
    columns["confidence"] = np.exp(columns["confidence"])
    assert card(*columns.values(), **options_of(card)) == pytest.approx(before, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("card", [pytest.param(card, id=name) for name, card in curves().items()])
def test_curves_have_columns_of_one_length_and_a_reason_for_nothing(card):
    rng = np.random.default_rng(7)
    columns = columns_of(card, rng)
    points = card(*columns)
    lengths = {len(values) for values in points.values()}
    assert len(lengths) == 1
    assert lengths.pop() > 1
    empty = dict(zip(card.columns, (c[:0] for c in columns), strict=True))
    assert card.why_undefined(empty, np.zeros(0)) == "no answers"


@pytest.mark.parametrize("card", ALL)
def test_no_option_is_without_effect_on_the_source(card):
    # An option that is never read would be a promise not kept.
    source = inspect.getsource(card.compute)
    body = source[source.index('"""', source.index('"""') + 3) + 3 :]
    for name in card.options:
        assert name in body, name


def test_every_requested_family_is_there():
    found = {card.family for card in measures().values()}
    assert found == set(FAMILIES)
