"""The type-2 ROC against scikit-learn's and against bands counted by hand."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from hmeta.core.errors import DataError
from hmeta.report.card import Options
from hmeta.report.figure_file import make_figure, to_svg
from hmeta.report.figures import type2_roc
from hmeta.report.style import WIDTHS
from tests.report.figures.inside import outside
from tests.report.figures.replicated_fit import Count, binary_fit, by_scale_fit, fit_of, units_fit

LONG = "a-vendor-with-a-long-name/" + "x" * 40 + "{}-and-what-comes-after"


def sklearn_area(counts: np.ndarray) -> float:
    """Return AUROC2 of (2, level) counts, answer by answer."""
    correct = np.repeat([0, 1], counts.sum(axis=1).astype(int))
    confidence = np.concatenate([np.repeat(np.arange(counts.shape[1]), row.astype(int)) for row in counts])
    return float(roc_auc_score(correct, confidence))


def test_areas_and_their_replicates():
    source = units_fit(3)
    content = type2_roc.read(source, Options())
    observed = source.tree["observed_data"]["count"].values.reshape(3, 2, 4)
    replicated = source.tree["posterior_predictive"]["count"].values.reshape(80, 3, 2, 4)
    units = content.units.set_index("unit")
    assert content.units["auroc2_observed"].is_monotonic_decreasing
    for i in range(3):
        row, areas = units.loc[f"unit {i}"], np.array([sklearn_area(counts) for counts in replicated[:, i]])
        here = sklearn_area(observed[i])
        assert row["auroc2_observed"] == pytest.approx(here, abs=1e-12)
        assert row["auroc2_replicated"] == pytest.approx(np.median(areas), abs=1e-12)
        assert [row["lower"], row["upper"]] == pytest.approx(np.percentile(areas, [3, 97]), abs=1e-12)
        assert row["p"] == pytest.approx(np.mean((areas > here) + 0.5 * np.isclose(areas, here, atol=1e-14)), abs=1e-12)
        assert (row["n_right"], row["n_wrong"]) == (160, 40)


def test_the_band_holds_the_curves_of_every_replicate():
    """Two replicates, one a straight line and one with a corner: the median is their mean, on the grid and between."""
    counts: list[Count] = [(0, 0, 1.0, 5.0), (0, 0, 2.0, 5.0), (0, 1, 1.0, 2.0), (0, 1, 2.0, 8.0)]
    chance, corner = [5.0, 5, 5, 5], [10.0, 0, 0, 10]  # of 10 wrong, of 10 right
    again = np.array([[chance], [corner]])
    content = type2_roc.read(fit_of(counts, again, {"model": ["ant"]}), Options(interval=0.5))
    band = content.bands
    np.testing.assert_allclose(band["median"], (band["wrong"] + 1) / 2, atol=1e-12)
    np.testing.assert_allclose(band["lower"], band["wrong"] + (1 - band["wrong"]) / 4, atol=1e-12)
    (row,) = content.units.to_dict("records")
    # the observed point is (0.5, 0.8); the replicated curves pass 0.5 and 1 there, half of them lie from 0.625 to 0.875
    assert (row["n_points"], row["n_inside"]) == (1, 1)
    assert row["auroc2_observed"] == pytest.approx(0.65)
    assert row["p"] == 0.5
    assert type2_roc.read(fit_of(counts, again[:1], {"model": ["ant"]}), Options()).units["n_inside"].tolist() == [0]


def test_binary_responses_together():
    content = type2_roc.read(binary_fit(), Options())
    assert content.units.set_index("unit").loc["p1", "auroc2_observed"] == pytest.approx(
        sklearn_area(np.array([[7, 3, 1], [8, 8, 10]])), abs=1e-12
    )


def test_units_with_one_outcome_say_why():
    counts: list[Count] = [
        (0, 1, 1.0, 5.0),
        (0, 1, 2.0, 5.0),
        (1, 0, 1.0, 2.0),
        (1, 0, 2.0, 8.0),
        (2, 0, 1.0, 3.0),
        (2, 1, 2.0, 3.0),
    ]
    again = np.tile([row[3] for row in counts], (2, 4, 1))
    content = type2_roc.read(fit_of(counts, again, {"model": ["ant", "bee", "cat"]}), Options())
    assert content.units.set_index("unit")["why"].to_dict() == {
        "cat": "",
        "ant": "no wrong answers",
        "bee": "no right answers",
    }
    figure = make_figure(lambda: type2_roc.draw(content, WIDTHS["column"]))
    texts = {text.get_text() for axes in figure.axes for text in axes.texts}
    assert {"no wrong answers", "no right answers", "AUROC2 1.00"} <= texts
    assert outside(figure) == []


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(("n", "name"), [(1, "unit {}"), (3, LONG), (57, LONG)])
def test_words_lie_inside(n: int, name: str, width: str):
    content = type2_roc.read(units_fit(n, name=name, converged=0), Options())
    figure = make_figure(lambda: type2_roc.draw(content, WIDTHS[width]))
    assert len(figure.axes) == min(n, 56)
    assert outside(figure) == []


def test_many_units_are_chosen_and_the_caption_says_so():
    content = type2_roc.read(units_fit(70), Options())
    assert len(content.shown) == 56
    assert content.shown[0] == content.units["unit"].iloc[0]
    assert content.shown[-1] == content.units["unit"].iloc[-1]
    caption, alt = type2_roc.describe(content)
    assert "56 of 70 units" in caption
    assert "n = 11,200 right and 2,800 wrong answers" in caption
    assert "70 units" in alt


def test_each_scale_has_its_facet():
    content = type2_roc.read(by_scale_fit(), Options())
    assert sorted(content.shown) == ["ant · 0-100", "ant · 1-5", "bee · 0-100"]


def test_small_files():
    content = type2_roc.read(units_fit(33, levels=30), Options())
    assert len(to_svg(make_figure(lambda: type2_roc.draw(content, WIDTHS["page"])))) < 500_000


def test_a_fit_without_replicates_is_refused():
    source = units_fit(2)
    del source.tree["posterior_predictive"]
    with pytest.raises(DataError, match="fit it again"):
        type2_roc.read(source, Options())
