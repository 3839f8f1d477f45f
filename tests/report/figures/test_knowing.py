"""Efficiency against sensitivity: medians, Spearman's rho by SciPy, labels that do not overlap."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
import xarray as xr
from matplotlib.backends.backend_agg import FigureCanvasAgg
from scipy.stats import spearmanr

from hmeta.core.errors import DataError
from hmeta.report.card import Options
from hmeta.report.figure_file import make_figure
from hmeta.report.figures import knowing
from hmeta.report.inputs import FitInput
from hmeta.report.style import WIDTHS
from tests.infer.synthetic_fit import by_scale_fit, fit_tree, noise
from tests.report.figures.inside import outside

LONG = "a-vendor-with-a-long-name/" + "x" * 40 + "{}-and-what-comes-after"
INFORMATIVE = [(0, 1.0, 20.0), (0, 2.0, 5.0), (1, 1.0, 10.0), (1, 2.0, 50.0)]


def units_fit(n: int, *, name: str = "unit {}", converged: int = 1, draws: int = 300) -> FitInput:
    """Return n units whose M and d rise together with noise; the first has right answers only."""
    M = np.linspace(0.4, 1.2, n) + 0.15 * noise(1, n, draws=draws)
    d = np.linspace(1, 3, n)[np.argsort(np.arange(n) * 7 % n)] + 0.2 * noise(2, n, draws=draws)
    counts = [(i, *row) for i in range(n) for row in INFORMATIVE if i or row[0]]
    names = {"model": [name.format(i) for i in range(n)], "n_options": [4] * n}
    tree = fit_tree(M, names, d=d, counts=counts, attributes={"converged": converged})
    return FitInput("fit", "fit.nc", tree)


def test_medians_and_rank_correlation():
    source = units_fit(12)
    content = knowing.read(source, Options(interval=0.8))
    posterior = source.tree["posterior"]
    d, M = (posterior[name].values.reshape(-1, 12) for name in ("d", "M"))
    units = content.units.set_index("unit").loc[[f"unit {i}" for i in range(12)]]
    np.testing.assert_allclose(units["x"], np.median(d, axis=0), atol=1e-12)
    np.testing.assert_allclose(units["y"], np.median(M, axis=0), atol=1e-12)
    np.testing.assert_allclose(units[["y_lower", "y_upper"]], np.percentile(M, [10, 90], axis=0).T, atol=1e-12)
    assert units["uninformative"].tolist() == [True] + 11 * [False]
    assert units["n_answers"].tolist() == 12 * [100]
    rho = [spearmanr(a, b).statistic for a, b in zip(d[:, 1:], M[:, 1:], strict=True)]  # the first says nothing on M
    assert content.n_ranked == 11
    assert content.rho == pytest.approx(np.percentile(rho, [50, 10, 90]), abs=1e-12)


def test_cells_of_a_unit_are_averaged():
    tree = by_scale_fit()
    content = knowing.read(FitInput("fit", "fit.nc", tree), Options())
    M = tree["posterior"]["M"].values[..., tree["posterior"]["model"].values == "ant"].mean(axis=-1)
    row = content.units.set_index("unit").loc["ant"]
    assert len(content.units) == 3
    assert row["y"] == pytest.approx(np.median(M), abs=1e-12)
    assert row["n_answers"] == 400


def test_ranks_that_never_vary_have_no_correlation():
    x, y = np.arange(12.0).reshape(4, 3), np.ones((4, 3))
    assert np.isnan(knowing.rank_correlations(x, y)).all()
    assert knowing.rank_correlations(x, -x).tolist() == [-1, -1, -1]
    assert np.isnan(knowing.rank_correlations(x[:2], x[:2])).all()


def test_an_open_task_is_read_for_accuracy_and_auroc2():
    auroc2, accuracy = 0.6 + 0.02 * noise(4, 4), 0.5 + 0.02 * noise(5, 4)
    tree = fit_tree(0.8 + noise(3, 4), {"model": list("abcd")}, attributes={"task": "open", "headline": "auroc2"})
    dims = ("chain", "draw", "cell")
    kept = tree["posterior"].to_dataset().drop_vars(["M", "d", "meta_d"])
    tree["posterior"] = xr.DataTree(kept.assign(auroc2=(dims, auroc2), accuracy=(dims, accuracy)))
    content = knowing.read(FitInput("fit", "fit.nc", tree), Options())
    assert (content.x, content.y) == ("accuracy", "auroc2")
    np.testing.assert_allclose(content.units["y"], np.median(auroc2.reshape(-1, 4), axis=0), atol=1e-12)
    tree["posterior"] = xr.DataTree(kept.assign(auroc2=(dims, auroc2)))
    with pytest.raises(DataError, match="does not hold both"):
        knowing.read(FitInput("fit", "fit.nc", tree), Options())


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(("n", "name"), [(1, "unit {}"), (3, LONG), (15, "unit {}"), (50, LONG), (175, "{}")])
def test_words_lie_inside_and_do_not_overlap(n: int, name: str, width: str):
    content = knowing.read(units_fit(n, name=name, converged=0, draws=50), Options())
    figure = make_figure(lambda: knowing.draw(content, WIDTHS[width]))
    assert outside(figure) == []
    (axes,) = figure.axes
    renderer = FigureCanvasAgg(figure).get_renderer()
    boxes = [text.get_window_extent(renderer) for text in axes.texts]
    assert min(n, 2) <= len(boxes) <= 16  # names and what the line at M = 1 means
    assert not [a for a, b in combinations(boxes, 2) if a.overlaps(b)]
    dots = axes.transData.transform(content.units[["x", "y"]].to_numpy())
    assert not [box for box in boxes if ((dots > box.min) & (dots < box.max)).all(axis=1).any()]


def test_the_caption_says_how_many_and_the_correlation():
    content = knowing.read(units_fit(12), Options())
    caption, alt = knowing.describe(content)
    rho = f"{content.rho[0]:.2f}".replace("-", "−")
    assert "n = 12 units, 1,200 answers" in caption
    assert f"Spearman's ρ of posterior draws): {rho}" in caption
    assert "left out of the correlation" in caption
    assert "12 units" in alt


def test_the_same_fit_is_the_same_figure():
    first, second = (make_figure(lambda: knowing.draw(knowing.read(units_fit(50), Options()), 7.2)) for _ in range(2))
    words = [[(t.get_text(), t.get_position()) for t in figure.axes[0].texts] for figure in (first, second)]
    assert words[0] == words[1]
