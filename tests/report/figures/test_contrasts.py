"""The figure of contrasts: differences with known distributions, order of levels, refusals, words inside."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from scipy.stats import norm

from hmeta.core.errors import DataError
from hmeta.report.card import Options
from hmeta.report.figure_file import make_figure
from hmeta.report.figures.contrasts import MOST_LEVELS, Content, describe, draw, read
from hmeta.report.inputs import FitInput
from hmeta.report.interval_rows import share_text, signed
from hmeta.report.style import width_of
from tests.infer.synthetic_fit import by_scale_fit, fit_tree, noise
from tests.report.figures.inside import outside

SD = 0.05 * np.sqrt(2)
"""Of the difference of two scales that move independently."""


def shown(tree: xr.DataTree, **chosen) -> Content:
    return read(FitInput("fit", "fit.nc", tree), Options(**chosen))


def levels_fit(n: int, name: str = "level {}", *, converged: int = 1) -> xr.DataTree:
    """Return one model under n conditions, apart by 0.1, each with a standard deviation of 0.05."""
    M = 0.5 + 0.1 * np.arange(n) + 0.05 * noise(2, n)
    factors = {"model": ["m"] * n, "condition": [name.format(i) for i in range(n)], "n_options": [4] * n}
    return fit_tree(M, factors, attributes={"converged": converged})


def test_observed_and_new_differences_are_those_of_the_normal_distribution():
    content = shown(by_scale_fit(), by="scale")
    assert content.found.baseline == "0-100"
    assert content.shown["estimand"].tolist() == ["observed", "new"]
    for row in content.shown.to_dict("records"):
        assert row["median"] == pytest.approx(-0.3, abs=4 * SD * 1.2533 / np.sqrt(4000))
        assert row["sd"] == pytest.approx(SD, rel=0.05)
        assert row["lower"] == pytest.approx(norm.ppf(0.03, -0.3, SD), abs=0.01)
        assert row["upper"] == pytest.approx(norm.ppf(0.97, -0.3, SD), abs=0.01)
        assert row["p_direction"] == pytest.approx(1.0, abs=0.001)


def test_the_rope_is_the_one_asked_for():
    (observed, _) = shown(by_scale_fit(), by="scale", rope=(-0.3, 0.0)).shown["p_rope"]
    assert observed == pytest.approx(norm.cdf(0, -0.3, SD) - 0.5, abs=4 * 0.5 / np.sqrt(4000))


def test_the_default_factor_is_the_first_beside_who_answered():
    assert shown(by_scale_fit()).found.by == "domain"


def test_scales_stand_in_the_order_of_their_levels_and_others_by_difference():
    scales = shown(levels_fit(5, "0-{}5"), by="condition", baseline="0-25").shown
    assert scales["level"].tolist() == ["0-05", "0-15", "0-35", "0-45"]
    others = shown(levels_fit(4), by="condition").shown
    assert others["level"].tolist() == ["level 3", "level 2", "level 1"]


def test_many_levels_are_thinned_and_the_caption_says_so():
    content = shown(levels_fit(80), by="condition")
    assert len(content.shown) == MOST_LEVELS
    assert content.shown["level"].iloc[[0, -1]].tolist() == ["level 79", "level 1"]
    assert f"{MOST_LEVELS} of 79 levels" in describe(content).caption


@pytest.mark.parametrize(
    ("tree", "chosen", "message"),
    [
        (fit_tree(noise(1, 3), {"model": list("abc")}), {}, "beside who answered"),
        (by_scale_fit(), {"by": "scal"}, "Did you mean"),
        (by_scale_fit(), {"by": "scale", "baseline": "1-7"}, "not a level of scale"),
    ],
)
def test_refusals(tree, chosen, message):
    with pytest.raises(DataError, match=message):
        shown(tree, **chosen)


@pytest.mark.parametrize("width", ["column", "page"])
@pytest.mark.parametrize("n", [2, 4, 51])
def test_words_lie_inside(n: int, width: str):
    content = shown(levels_fit(n, "a rather long name of a condition, number {}", converged=0), by="condition")
    assert not outside(make_figure(lambda: draw(content, width_of(width))))
    words = describe(content)
    assert "n = 1" in words.caption
    assert "level" in words.alt or n == 2


def test_probabilities_and_signs_do_not_round_to_certainty():
    assert [share_text(p) for p in (1.0, 0.994, 0.0, np.nan)] == [">0.99", "0.99", "<0.01", "–"]
    assert [signed(x) for x in (-0.004, 0.126, -1.0)] == ["0.00", "+0.13", "−1.00"]
