"""Scale use against hand values, NumPy and SciPy on the values written out."""

from __future__ import annotations

import numpy as np
import pytest

from hmeta.core.errors import DataError
from hmeta.metrics.binning import level_sums
from hmeta.metrics.scale_use import (
    ceiling_rate,
    distinct_values,
    entropy,
    floor_rate,
    round_share,
    top1_accuracy,
    top1_accuracy_gap,
    top1_share,
    top1_value,
    top3_share,
    utilisation,
    violation_rate,
    weighted_quantile,
)

OF_REPORTED = (
    round_share,
    violation_rate,
    utilisation,
    top1_value,
    top1_share,
    top3_share,
    distinct_values,
    entropy,
    ceiling_rate,
    floor_rate,
)


def columns_for(measure, reported, lower: float = 0.0, upper: float = 100.0):
    reported = np.asarray(reported, float)
    there = {"reported": reported, "scale_lower": np.full(len(reported), lower)}
    there["scale_upper"] = np.full(len(reported), upper)
    return [there[name] for name in measure.columns]


def value(measure, reported, *, lower: float = 0.0, upper: float = 100.0, weights=None, **options):
    return measure(*columns_for(measure, reported, lower, upper), weights=weights, **options)


def test_all_measures_of_one_column_by_hand():
    reported = [90, 90, 90, 100, 100, 85, 72, 0, np.nan, np.nan]
    expected = {
        "round_share": 7 / 8,
        "violation_rate": 0.0,
        "utilisation": (100 - 0.35 * 72) / 100,  # positions 6.65 and 0.35 of 0, 72, 85, 90, 90, 90, 100, 100
        "top1_value": 90,
        "top1_share": 3 / 8,
        "top3_share": 6 / 8,
        "distinct_values": 5,
        "entropy": -(3 / 8 * np.log2(3 / 8) + 2 / 8 * np.log2(2 / 8) + 3 * 1 / 8 * np.log2(1 / 8)),
        "ceiling_rate": 2 / 8,
        "floor_rate": 1 / 8,
    }
    assert {m.name: pytest.approx(float(value(m, reported)), abs=1e-12) for m in OF_REPORTED} == expected


def test_round_takes_raw_values_within_the_scale():
    assert value(round_share, [5, 35, 36, 37], upper=37) == 0.5
    assert value(round_share, [5, 35, 36, 40, -5], upper=37) == pytest.approx(2 / 3)
    assert value(round_share, [0.85, 0.9, 1.0, 0.87, 0.1 + 0.2], upper=1, step=5) == 0.8
    assert value(round_share, [0.85, 0.87, 0.5, 0.051], upper=1) == 0.5  # the step is in hundredths there
    assert value(round_share, np.float32([0.85, 0.95, 0.7, 0.72]), upper=1, step=5) == 0.75
    assert np.isnan(value(round_share, [120, -20]))


@pytest.mark.parametrize(("lower", "upper"), [(0, 100), (-50, 50), (1, 5)])
def test_violations_start_beyond_five_percent_of_the_width(lower, upper):
    width = upper - lower
    reported = lower + width * np.array([-0.06, -0.05, 0.0, 1.0, 1.05, 1.0501])
    assert value(violation_rate, reported, lower=lower, upper=upper) == pytest.approx(2 / 6)
    assert value(violation_rate, reported, lower=lower, upper=upper, margin=0) == pytest.approx(4 / 6)


def test_scales_may_differ_by_row():
    reported, lower, upper = [100, 10, 1, 50], [0, 0, 0, 0], [100, 10, 1, 10]
    assert ceiling_rate(reported, upper) == 0.75
    assert violation_rate(reported, lower, upper) == 0.25


@pytest.mark.parametrize("q", [0.0, 0.05, 0.3, 0.5, 0.95, 1.0])
def test_weighted_quantiles_are_those_of_numpy_on_values_written_out(q):
    rng = np.random.default_rng(1)
    values = rng.integers(0, 30, 25).astype(float)
    weights = rng.integers(0, 5, (40, 25)).astype(float)
    found = weighted_quantile(level_sums(values, np.ones(25), weights), q)
    for w, v in zip(weights, found, strict=True):
        assert v == pytest.approx(np.quantile(np.repeat(values, w.astype(int)), q), abs=1e-12)


def test_of_equally_frequent_values_the_highest_is_the_top_one():
    assert value(top1_value, [50, 90, 50, 90, 70]) == 90
    assert value(top1_value, [50, 90], weights=[[2, 1], [1, 2], [1, 1]]).tolist() == [50, 90, 90]
    assert top1_accuracy([0.5, 0.9], [1, 0]) == 0
    assert top1_accuracy_gap([0.5, 0.9], [1, 0]) == pytest.approx(0.9)


def test_accuracy_at_the_favourite_value_by_hand():
    p, correct = [0.95] * 5 + [0.5] * 3, [1, 1, 1, 0, 0, 1, 1, 1]
    assert top1_accuracy(p, correct) == pytest.approx(0.6)
    assert top1_accuracy_gap(p, correct) == pytest.approx(0.35)


def test_entropy_is_that_of_scipy_and_has_its_bounds():
    stats = pytest.importorskip("scipy.stats")
    counts = np.array([3.0, 0, 7, 1, 12])
    assert value(entropy, [1, 2, 3, 4, 5], weights=counts) == pytest.approx(stats.entropy(counts, base=2), abs=1e-12)
    assert value(entropy, [80] * 5) == 0
    assert value(entropy, np.arange(8)) == pytest.approx(3.0, abs=1e-12)


def test_top_three_of_two_values_are_all():
    assert value(top3_share, [1, 1, 2]) == 1


@pytest.mark.parametrize("measure", OF_REPORTED, ids=lambda m: m.name)
def test_weights_are_repeated_rows_and_a_batch_is_a_loop(measure):
    rng = np.random.default_rng(2)
    reported = rng.choice([0, 5, 33, 50, 80, 100, 104, 130, -9, np.nan], 25)
    weights = rng.integers(0, 4, (3, 2, 25)).astype(float)
    batch = value(measure, reported, weights=weights)
    assert batch.shape == (3, 2)
    for at in np.ndindex(3, 2):
        rows = np.repeat(reported, weights[at].astype(int))
        assert batch[at] == pytest.approx(float(value(measure, rows)), abs=1e-12)


@pytest.mark.parametrize("measure", [top1_accuracy, top1_accuracy_gap], ids=lambda m: m.name)
def test_weights_are_repeated_rows_for_the_favourite_value(measure):
    rng = np.random.default_rng(3)
    p, correct = rng.integers(0, 5, 25) / 4, rng.integers(0, 2, 25).astype(float)
    weights = rng.integers(0, 4, (6, 25)).astype(float)
    for w, found in zip(weights, measure(p, correct, weights=weights), strict=True):
        rows = np.repeat(np.arange(25), w.astype(int))
        assert found == pytest.approx(float(measure(p[rows], correct[rows])), abs=1e-12)
    assert np.isnan(measure([], []))


@pytest.mark.parametrize("measure", OF_REPORTED, ids=lambda m: m.name)
@pytest.mark.parametrize("reported", [[], [np.nan, np.nan], [120.0, np.nan], [50.0, np.nan]])
def test_undefined_exactly_when_there_is_a_reason(measure, reported):
    given = columns_for(measure, reported)
    columns = dict(zip(measure.columns, given, strict=True))
    for weights in (np.ones(len(reported)), np.zeros(len(reported))):
        found = value(measure, reported, weights=[weights, weights])
        assert np.isnan(found).all() == bool(measure.why_undefined(columns, weights))
        assert found[0] == found[1] or np.isnan(found).all()


@pytest.mark.parametrize(("measure", "option"), [(round_share, {"step": 0}), (violation_rate, {"margin": -0.1})])
def test_unusable_options_are_refused(measure, option):
    with pytest.raises(DataError, match="unusable"):
        value(measure, [1.0], **option)
