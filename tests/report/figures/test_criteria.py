"""Criteria by unit: quantiles of known draws, their sides, and words inside the figure."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from scipy.stats import norm

from hmeta.core.errors import DataError
from hmeta.report.card import Options
from hmeta.report.figure_file import make_figure
from hmeta.report.figures import criteria
from hmeta.report.inputs import FitInput
from hmeta.report.style import WIDTHS
from tests.infer.synthetic_fit import fit_tree, noise
from tests.report.figures.inside import outside

LONG = "a-vendor-with-a-long-name/" + "x" * 40 + "{}-and-what-comes-after"


def criteria_fit(
    groups: list[str],
    levels: list[float],
    *,
    outcomes: tuple[str, ...] = ("wrong+correct",),
    task: str = "mafc",
    converged: int = 1,
) -> FitInput:
    """Return a fit whose k-th criterion of group g and side s has draws N(k + 0.5·g, 0.1²), k from 1."""
    places = [(g, o, k) for g in range(len(groups)) for o in outcomes for k in range(1, len(levels) + 1)]
    centre = np.array([k + 0.5 * g for g, _, k in places])
    draws = xr.DataArray(centre + 0.1 * noise(2, len(places)), dims=("chain", "draw", "criterion"))
    factors = {"model": groups, "n_options": [4] * len(groups)}
    tree = fit_tree(
        0.8 + 0.1 * noise(1, len(groups)),
        factors,
        extra={"criteria": draws},
        attributes={"task": task, "converged": converged},
    )
    labels = {
        "criterion_group": ("criterion", np.array([groups[g] for g, *_ in places], dtype=object)),
        "criterion_outcomes": ("criterion", np.array([o for _, o, _ in places], dtype=object)),
        "criterion_level": ("criterion", np.array([levels[k - 1] for *_, k in places])),
    }
    tree["constant_data"] = xr.DataTree(xr.Dataset(coords=labels))
    return FitInput("fit", "fit.nc", tree)


def test_medians_and_intervals_are_those_of_the_draws():
    content = criteria.read(criteria_fit(["ant", "bee"], [50.0, 90.0]), Options(interval=0.8))
    rows = content.criteria.set_index(["group", "confidence"])
    assert content.shown == ("bee", "ant")  # the outermost first
    assert len(rows) == 4
    half = 0.1 * norm.ppf(0.9)
    for (group, level), centre in {("ant", 50.0): 1, ("ant", 90.0): 2, ("bee", 50.0): 1.5, ("bee", 90.0): 2.5}.items():
        row = rows.loc[(group, level)]
        # 4,000 independent draws: standard errors are 0.002 of the median and 0.003 of the ends
        assert [row["median"], row["lower"], row["upper"]] == pytest.approx(
            [centre, centre - half, centre + half], abs=0.012
        )


def test_answers_of_a_binary_task_lie_on_both_sides():
    source = criteria_fit(["p1"], [2.0, 3.0], outcomes=("S0R0+S1R0", "S0R1+S1R1"), task="binary")
    rows = criteria.read(source, Options()).criteria
    assert rows["side"].tolist() == ["S0", "S0", "S1", "S1"]
    assert rows["median"].tolist() == pytest.approx([-1, -2, 1, 2], abs=0.01)
    assert (rows["lower"] < rows["median"]).all()
    assert (rows["median"] < rows["upper"]).all()
    figure = make_figure(lambda: criteria.draw(criteria.read(source, Options()), WIDTHS["column"]))
    low, high = figure.axes[0].get_xlim()
    assert low == pytest.approx(-high)


def test_the_order_of_groups_without_upper_side():
    source = criteria_fit(["p1", "p2"], [2.0], outcomes=("S0R0+S1R0",), task="binary")
    assert criteria.read(source, Options()).shown == ("p2", "p1")


def test_confidences_are_written_where_there_is_room():
    content = criteria.read(criteria_fit(["ant"], [50.0, 75.0, 90.0]), Options())
    axes = make_figure(lambda: criteria.draw(content, WIDTHS["page"])).axes[0]
    found = {text.get_text(): text.get_position()[0] for text in axes.texts}
    assert found == {
        "50": pytest.approx(1, abs=0.01),
        "75": pytest.approx(2, abs=0.01),
        "90": pytest.approx(3, abs=0.01),
    }
    close = criteria.read(criteria_fit(["ant"], list(range(1, 101))), Options())
    axes = make_figure(lambda: criteria.draw(close, WIDTHS["column"])).axes[0]
    shown = {text.get_text() for text in axes.texts}
    assert "100" in shown
    assert 5 < len(shown) < 50


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(("n", "name"), [(1, "{}"), (3, LONG), (50, LONG), (90, "{}")])
def test_words_lie_inside(n: int, name: str, width: str):
    source = criteria_fit([name.format(i) for i in range(n)], [5.0, 50.0, 95.0, 100.0], converged=0)
    content = criteria.read(source, Options())
    figure = make_figure(lambda: criteria.draw(content, WIDTHS[width]))
    assert len(figure.axes[0].get_yticklabels()) == min(n, 80)
    assert outside(figure) == []


def test_the_caption_counts_groups_and_criteria():
    caption, alt = criteria.describe(criteria.read(criteria_fit([f"m{i}" for i in range(90)], [5.0, 50.0]), Options()))
    assert "n = 90 groups, 180 criteria" in caption
    assert "80 of 90 groups" in caption
    assert "m89" in alt


def test_a_fit_without_criteria_is_refused():
    tree = fit_tree(0.8 + 0.1 * noise(1, 1), {"model": ["ant"]})
    with pytest.raises(DataError, match="no confidence criteria"):
        criteria.read(FitInput("fit", "fit.nc", tree), Options())


def test_the_caption_speaks_of_written_confidences_only_where_they_are():
    few, many = (criteria.read(criteria_fit([f"m{i}" for i in range(n)], [5.0, 50.0]), Options()) for n in (3, 60))
    assert "written above it" in criteria.describe(few).caption
    assert "written" not in criteria.describe(many).caption
