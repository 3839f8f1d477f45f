"""The binormal type-2 ROC: expected counts, the area, and the curve."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, stats

from hmeta.metrics.catalogue import measures
from hmeta.metrics.discrimination import auroc2
from hmeta.metrics.type2_roc import type2_d_a, type2_roc, type2_zroc_slope

CUTS = np.array([-np.inf, -0.8, 0.0, 0.4, 1.1, 2.0, np.inf])


def binormal_counts(m: float, s: float):
    wrong, right = (np.diff(stats.norm.cdf(CUTS, *p)) for p in ((0.0, 1.0), (m, s)))
    level = np.arange(6.0)
    return np.tile(level, 2), np.repeat([0.0, 1.0], 6), np.concatenate([300 * wrong, 700 * right])


@pytest.mark.parametrize(("m", "s"), [(1.2, 1.0), (0.7, 1.5), (-0.4, 0.8)])
def test_expected_counts_give_the_parameters_back(m, s):
    conf, correct, w = binormal_counts(m, s)
    assert type2_zroc_slope(conf, correct, weights=w) == pytest.approx(1 / s, abs=1e-6)
    assert type2_d_a(conf, correct, weights=w) == pytest.approx(m * np.sqrt(2 / (1 + s**2)), abs=1e-6)


def test_the_maximum_is_that_of_a_general_optimiser():
    """SciPy on the written-out likelihood of sampled counts; 1e-4."""
    conf, correct, p = binormal_counts(0.9, 1.3)
    w = np.random.default_rng(5).multinomial(400, p / p.sum()).astype(float)

    def loss(x: np.ndarray) -> float:
        cuts = np.concatenate([[-np.inf], x[2] + np.concatenate([[0], np.cumsum(np.exp(x[3:]))]), [np.inf]])
        wrong, right = (np.diff(stats.norm.cdf(cuts, *p)) for p in ((0.0, 1.0), (x[0], np.exp(x[1]))))
        return -float(w @ np.log(np.maximum(np.concatenate([wrong, right]), 1e-300)))

    start = np.concatenate([[0.9, 0.2, -0.8], np.log(np.diff(CUTS[1:-1]))])
    options = {"maxiter": 20_000, "maxfev": 20_000, "xatol": 1e-9, "fatol": 1e-12}
    best = optimize.minimize(loss, start, method="Nelder-Mead", options=options).x
    assert type2_zroc_slope(conf, correct, weights=w) == pytest.approx(np.exp(-best[1]), abs=1e-4)


def test_the_area_is_near_auroc2_of_a_fine_scale():
    rng = np.random.default_rng(8)
    correct = (rng.random(20_000) < 0.7).astype(float)
    level = np.clip(np.round(4 * rng.normal(correct, 1.0)), -8, 12)
    area = stats.norm.cdf(float(type2_d_a(level, correct)) / np.sqrt(2))
    assert area == pytest.approx(float(auroc2(level, correct)), abs=0.005)


@pytest.mark.parametrize(
    ("conf", "correct", "reason"),
    [
        ([1, 2, 1, 2], [0, 0, 1, 1], "two confidence levels used, a slope needs three"),
        ([1, 2, 3], [1, 1, 1], "no wrong answers"),
        ([1, 2, 3, 4], [0, 0, 1, 1], "no finite maximum: right and wrong answers overlap too little"),
    ],
)
def test_undefined(conf, correct, reason):
    columns = {"confidence": np.array(conf, dtype=float), "correct": np.array(correct, dtype=float)}
    for name in ("type2_d_a", "type2_zroc_slope"):
        assert np.isnan(measures()[name](conf, correct))
        assert measures()[name].why_undefined(columns, np.ones(len(conf))) == reason


def test_the_curve_has_one_point_a_level_and_the_area_auroc2():
    conf, correct, w = [1, 1, 2, 2, 3, 3, 4], [0, 1, 0, 1, 0, 1, 1], np.array([5, 3, 4, 6, 1, 8, 0.0])
    points = type2_roc(conf, correct, weights=w)
    np.testing.assert_array_equal(points["criterion"], [np.nan, 3, 2, 1])
    np.testing.assert_allclose(points["hits"], [0, 8 / 17, 14 / 17, 1])
    np.testing.assert_allclose(points["false_alarms"], [0, 0.1, 0.5, 1])
    area = np.trapezoid(points["hits"], points["false_alarms"])
    assert area == pytest.approx(float(auroc2(conf, correct, weights=w)), abs=1e-14)


def test_batches_are_loops():
    conf, correct, p = binormal_counts(0.9, 1.3)
    weights = np.random.default_rng(5).multinomial(80, p / p.sum(), size=(2, 4)).astype(float)
    batch = type2_d_a(conf, correct, weights=weights)
    for index in np.ndindex(2, 4):
        alone = float(type2_d_a(conf, correct, weights=weights[index]))
        assert batch[index] == pytest.approx(alone, abs=1e-8, nan_ok=True)
