"""Risk–coverage curves: against every order of a few answers, and the limits that the figure draws."""

from __future__ import annotations

from itertools import pairwise, permutations

import numpy as np
import pandas as pd
import pytest

from hmeta.core.errors import DataError
from hmeta.report.card import Options
from hmeta.report.figures.risk_coverage import apart, best_area, describe, draw, expected_path, read
from hmeta.report.style import WIDTHS
from tests.report.figures.inside import outside
from tests.report.figures.test_reliability import answers, results

FEW = pd.DataFrame({"model": "a", "confidence": [90, 90, 70, 70, 70, 20], "correct": [1, 0, 1, 0, 1, 0]})


def mean_over_orders(frame: pd.DataFrame) -> np.ndarray:
    """Return the mean error rate among the i surest answers over every order that confidence allows."""
    rows = list(zip(-frame["confidence"], 1 - frame["correct"], strict=True))
    allowed = [order for order in permutations(rows) if all(a[0] <= b[0] for a, b in pairwise(order))]
    assert len(allowed) == 2 * 6
    wrong = np.array([[error for _, error in order] for order in allowed])
    return (np.cumsum(wrong, axis=1) / np.arange(1, len(rows) + 1)).mean(axis=0)


def test_points_areas_and_path_against_every_order_of_ties():
    content = read(results(FEW), Options())
    points = content.points
    np.testing.assert_allclose(points["coverage"], [2 / 6, 5 / 6, 1], atol=1e-12)
    np.testing.assert_allclose(points["risk"], [1 / 2, 2 / 5, 3 / 6], atol=1e-12)
    risks = mean_over_orders(FEW)
    unit = content.units.iloc[0]
    np.testing.assert_allclose(unit["aurc"], risks.mean(), atol=1e-12)
    best = np.array([0, 0, 0, 1 / 4, 2 / 5, 3 / 6]).mean()
    np.testing.assert_allclose(unit["excess_aurc"], risks.mean() - best, atol=1e-12)
    assert unit["risk"] == 0.5
    coverage, risk = expected_path(points)
    np.testing.assert_allclose(np.interp(np.array([1, 2, 5, 6]) / 6, coverage, risk), risks[[0, 1, 4, 5]], atol=1e-12)
    inside = 2 + 3 * np.linspace(0, 1, 26)[1:-1]  # along the level of three answers, one of them wrong
    np.testing.assert_allclose(np.interp(inside / 6, coverage, risk), (1 + (inside - 2) / 3) / inside, atol=2e-4)


def test_the_lower_limit_is_the_area_of_a_perfect_order():
    n, i = 20_000, np.arange(1, 20_001)
    for risk in (0.0, 0.1, 0.5, 1.0):
        by_sum = (np.clip(i - n * (1 - risk), 0, None) / i).mean()
        np.testing.assert_allclose(best_area(np.array([risk]))[0], by_sum, atol=1e-4)


def test_units_are_sorted_and_no_area_is_below_the_limit():
    content = read(results(answers(12)), Options())
    assert len(content.units) == 12
    assert content.units["aurc"].is_monotonic_increasing
    assert (content.units["aurc"] >= best_area(content.units["risk"].to_numpy())).all()
    assert (content.units["excess_aurc"] >= 0).all()


def test_by_a_factor():
    frame = answers(3)
    content = read(results(frame), Options(by="topic"))
    risk = 1 - frame.groupby("topic")["correct"].mean()
    np.testing.assert_allclose(content.units.set_index("unit")["risk"].sort_index(), risk, atol=1e-12)
    with pytest.raises(DataError, match="not in the data"):
        read(results(frame), Options(by="colour"))


def test_names_are_put_apart_in_their_order():
    rng = np.random.default_rng(3)
    for _ in range(20):
        wanted = rng.random(6) ** 3
        placed = apart(wanted, 0.1, 0.0, 1.0)
        assert (np.argsort(placed) == np.argsort(wanted)).all()
        assert (np.diff(np.sort(placed)) > 0.1 - 1e-9).all()
        assert placed.min() > -1e-9
        assert placed.max() < 1 + 1e-9
    np.testing.assert_allclose(apart(np.array([0.1, 0.5, 0.9]), 0.1, 0.0, 1.0), [0.1, 0.5, 0.9])


@pytest.mark.parametrize("width", ["column", "page"])
@pytest.mark.parametrize("n_units", [1, 3, 50])
def test_words_stay_inside(n_units: int, width: str):
    name = "a-vendor-of-some-length/WWW-a-model-with-a-long-name-{}-preview-2026"
    content = read(results(answers(n_units, n=40, name=name)), Options())
    figure = draw(content, WIDTHS[width])
    assert len(figure.axes) == 2
    assert not outside(figure)
    named = [text.get_text() for text in figure.axes[0].texts if "AURC" in text.get_text()]
    assert len(named) == min(n_units, 6)
    words = describe(content)
    assert f"{40 * n_units:,} answers" in words.caption
    assert f"{n_units} unit" in words.alt


def test_one_level_of_confidence_is_flat():
    content = read(results(FEW.assign(confidence=50)), Options())
    coverage, risk = expected_path(content.points)
    assert len(risk) > 1
    np.testing.assert_allclose(risk, 0.5, atol=1e-12)
    assert coverage[-1] == 1
    assert content.units["aurc"].iloc[0] == pytest.approx(0.5, abs=1e-12)
    assert not outside(draw(content, WIDTHS["column"]))
