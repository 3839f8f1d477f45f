"""The figure of granularity: known averages by scale, how many levels a scale has, refusals, words inside."""

from __future__ import annotations

import json
import math
from itertools import pairwise, product

import numpy as np
import pytest
import xarray as xr
from scipy.stats import norm

from hmeta.core.errors import DataError
from hmeta.report.card import Options
from hmeta.report.figure_file import make_figure
from hmeta.report.figures.granularity import Granularity, describe, draw, read
from hmeta.report.inputs import FitInput
from hmeta.report.scale_levels import levels_in_name, natural_order
from hmeta.report.spread_labels import spread
from hmeta.report.style import width_of
from tests.infer.synthetic_fit import by_scale_fit, fit_tree, noise
from tests.report.figures.inside import outside


def shown(tree: xr.DataTree, **chosen) -> Granularity:
    return read(FitInput("fit", "fit.nc", tree), Options(**chosen))


def scales_fit(scales: list[str], models: int = 2, *, declared: list[dict] | None = None, converged: int = 1):
    """Return models × scales; M is 0.5 + 0.1 × the place of the scale, with a standard deviation of 0.05 a cell."""
    cells = list(product(range(models), range(len(scales))))
    M = 0.5 + 0.1 * np.array([s for _, s in cells]) + 0.05 * noise(3, len(cells))
    factors = {"model": [f"model-{m}" for m, _ in cells], "scale": [scales[s] for _, s in cells]}
    attributes = {"converged": converged} | ({"scales": json.dumps(declared)} if declared else {})
    return fit_tree(M, factors, attributes=attributes)


def test_averages_units_and_sets_are_those_that_the_fit_was_made_of():
    content = shown(by_scale_fit())
    assert content.scales["scale"].tolist() == ["1-5", "0-100"]
    assert content.scales["levels"].tolist() == [5.0, 101.0]
    assert content.scales["n_answers"].tolist() == [600, 600]
    for row, centre in zip(content.scales.to_dict("records"), (0.5, 0.8), strict=True):
        assert row["median"] == pytest.approx(centre, abs=0.004)
        assert row["lower"] == pytest.approx(norm.ppf(0.03, centre, 0.05), abs=0.007)
        assert row["upper"] == pytest.approx(norm.ppf(0.97, centre, 0.05), abs=0.007)
    units = content.units.set_index(["name", "scale"])["median"]
    assert units["ant", "1-5"] == pytest.approx(0.3, abs=0.004)
    assert units["cat", "0-100"] == pytest.approx(1.0, abs=0.004)
    sets = content.sets.set_index(["name", "scale"])["median"]
    assert sets["law", "1-5"] == pytest.approx(0.6, abs=0.004)
    assert content.set_word == "domain"


def test_parallel_lines_are_explained():
    assert shown(by_scale_fit()).parallel
    assert "rise and fall alike" in describe(shown(by_scale_fit())).caption
    assert not shown(scales_fit(["0-5", "0-10"])).parallel


def test_cells_that_differ_between_scales_are_told():
    content = shown(by_scale_fit(drop=[("ant", "law", "1-5")]))
    assert not content.balanced
    assert "different cells" in describe(content).caption


def test_declared_levels_come_before_names():
    declared = [
        {"scale": "0-10", "lower": 0.0, "upper": 1.0, "step": 0.05},
        {"scale": "free", "lower": 0.0, "upper": 1.0, "step": 0.0},
    ]
    content = shown(scales_fit(["0-10", "free", "1..7"], declared=declared))
    assert dict(zip(content.scales["scale"], content.scales["levels"], strict=True)) == {
        "1..7": 7.0,
        "0-10": 21.0,
        "free": math.inf,
    }


@pytest.mark.parametrize(
    ("name", "n"),
    [("0-100", 101), ("0–5", 6), ("1..7", 7), ("1 to 4", 4), ("coarse 1-3", 3), ("5-1", None), ("high", None)],
)
def test_names_tell_how_many_levels(name, n):
    assert levels_in_name(name) == n


def test_natural_order():
    assert natural_order(["0-100", "1-5", "0-10"]) == ["1-5", "0-10", "0-100"]
    assert natural_order(["10", "9.5"]) == ["9.5", "10"]
    assert natural_order(["a", "1"]) is None


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        (fit_tree(noise(1, 3), {"model": list("abc")}), '"scale" is not a factor'),
        (scales_fit(["0-4", "1-5"]), "do not differ"),
        (scales_fit(["low", "0-10"]), "not known how many levels"),
    ],
)
def test_refusals(tree, message):
    with pytest.raises(DataError, match=message):
        shown(tree)


@pytest.mark.parametrize("width", ["column", "page"])
@pytest.mark.parametrize("models", [1, 3, 70])
def test_words_lie_inside(models: int, width: str):
    content = shown(scales_fit(["0-5", "0-10", "1-11", "0-100", "0-1000"], models, converged=0))
    assert (len(content.units) > 0) == (1 < models <= 60)
    assert not outside(make_figure(lambda: draw(content, width_of(width))))
    assert f"n = {5 * models * 100:,}" in describe(content).caption


def test_words_of_data_sets_lie_inside():
    assert not outside(make_figure(lambda: draw(shown(by_scale_fit()), width_of("column"))))


def test_names_are_spread_without_overlap():
    rng = np.random.default_rng(1)
    for _ in range(200):
        wanted = sorted(rng.uniform(0, 1, rng.integers(1, 9)))
        found = spread(wanted, 0.1, 0.0, 1.0)
        assert all(b - a >= 0.1 - 1e-9 for a, b in pairwise(found))
        assert found[0] >= -1e-9
        assert found[-1] <= 1 + 1e-9
