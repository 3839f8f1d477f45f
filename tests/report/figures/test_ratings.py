"""Histograms of confidence: shares counted by hand, and words inside the figure."""

from __future__ import annotations

import numpy as np
import pytest

from hmeta.report.card import Options
from hmeta.report.figure_file import make_figure, to_svg
from hmeta.report.figures import ratings
from hmeta.report.style import WIDTHS
from tests.report.figures.inside import outside
from tests.report.figures.replicated_fit import Count, by_scale_fit, fit_of, units_fit

LONG = "a-vendor-with-a-long-name/" + "x" * 40 + "{}-and-what-comes-after"


def test_shares_medians_and_intervals():
    """Ten replicates in which 0, 1, …, 9 of 10 wrong answers are rated 2: quantiles are known."""
    counts: list[Count] = [(0, 0, 1.0, 5.0), (0, 0, 2.0, 5.0), (0, 1, 1.0, 15.0), (0, 1, 2.0, 5.0)]
    again = np.array([[[10.0 - k, k, 4, 16] for k in range(10)]])
    content = ratings.read(fit_of(counts, again, {"model": ["ant"]}), Options(interval=0.8))
    bars = content.bars.set_index(["outcome", "confidence"])
    assert bars["observed"].tolist() == [0.5, 0.5, 0.75, 0.25]
    assert bars["predicted"].tolist() == pytest.approx([0.55, 0.45, 0.2, 0.8])
    # k/10, equally likely for k = 0 … 9: the 10 % quantile is 0.09, the 90 % quantile 0.81
    assert bars.loc[("wrong", 2.0), ["lower", "upper"]].tolist() == pytest.approx([0.09, 0.81])
    assert bars.loc[("wrong", 1.0), ["lower", "upper"]].tolist() == pytest.approx([0.19, 0.91])
    assert bars["inside"].tolist() == [True, True, False, False]
    assert content.coverage == 0.5
    assert content.units[["n_right", "n_wrong", "n_bars", "n_inside"]].values.tolist() == [[20, 10, 4, 2]]


def test_replicates_equal_to_what_was_observed_cover_it():
    counts: list[Count] = [(0, 0, 1.0, 1.0), (0, 0, 2.0, 2.0), (0, 1, 1.0, 3.0), (0, 1, 2.0, 4.0)]
    again = np.tile([row[3] for row in counts], (2, 4, 1))
    assert ratings.read(fit_of(counts, again, {"model": ["ant"]}), Options()).coverage == 1.0


def test_shares_of_each_outcome_add_up_to_one():
    bars = ratings.read(units_fit(5, levels=30), Options()).bars
    totals = bars.groupby(["unit", "outcome"])["observed"].sum()
    assert len(totals) == 10
    np.testing.assert_allclose(totals, 1.0, atol=1e-12)


def test_an_outcome_without_answers_has_no_bars():
    counts: list[Count] = [(0, 1, 1.0, 5.0), (0, 1, 2.0, 5.0), (1, 0, 1.0, 2.0), (1, 1, 2.0, 8.0)]
    again = np.tile([row[3] for row in counts], (2, 4, 1))
    content = ratings.read(fit_of(counts, again, {"model": ["ant", "bee"]}), Options())
    assert content.bars.loc[content.bars["unit"] == "ant", "outcome"].unique().tolist() == ["right"]
    assert outside(make_figure(lambda: ratings.draw(content, WIDTHS["column"]))) == []


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(("n", "levels", "name"), [(1, 30, "unit {}"), (3, 4, LONG), (57, 11, LONG), (50, 30, LONG)])
def test_words_lie_inside(n: int, levels: int, name: str, width: str):
    content = ratings.read(units_fit(n, levels=levels, name=name, converged=0), Options())
    figure = make_figure(lambda: ratings.draw(content, WIDTHS[width]))
    assert len(figure.axes) == min(n, 56)
    assert outside(figure) == []


def test_wide_scales_are_drawn_by_value_and_short_ones_in_rank_order():
    wide = make_figure(lambda: ratings.draw(ratings.read(units_fit(2, levels=30), Options()), 7.2))
    short = make_figure(lambda: ratings.draw(ratings.read(units_fit(2, levels=4), Options()), 7.2))
    assert wide.axes[0].get_xlim() == pytest.approx((-2, 102))
    assert short.axes[0].get_xlim() == pytest.approx((-0.6, 3.6))
    assert wide.axes[0].get_ylim() == wide.axes[1].get_ylim()


def test_each_scale_has_its_ticks():
    figure = make_figure(lambda: ratings.draw(ratings.read(by_scale_fit(), Options()), 7.2))
    ticks = {tuple(t.get_text() for t in axes.get_xticklabels()) for axes in figure.axes}
    assert ticks == {("0", "50", "100"), ("1", "3", "5")}


def test_the_caption_counts_answers_and_covered_shares():
    content = ratings.read(units_fit(3), Options())
    caption, alt = ratings.describe(content)
    inside = int(content.bars["inside"].sum())
    assert "n = 480 right and 120 wrong answers" in caption
    assert f"{inside} of 24 observed shares" in caption
    assert "3 units" in alt


def test_small_files():
    content = ratings.read(units_fit(33, levels=30), Options())
    assert len(to_svg(make_figure(lambda: ratings.draw(content, WIDTHS["page"])))) < 700_000
