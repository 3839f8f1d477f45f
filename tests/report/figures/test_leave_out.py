"""The figure of leave-one-out: Pareto k of importance ratios whose tails are known, refusals, words inside."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from hmeta.core.errors import DataError
from hmeta.report.card import Options
from hmeta.report.figure_file import make_figure
from hmeta.report.figures.leave_out import LeftOut, describe, draw, read
from hmeta.report.inputs import FitInput
from hmeta.report.style import width_of
from tests.infer.synthetic_fit import CHAINS, DRAWS, fit_tree, noise
from tests.report.figures.inside import outside


def shown(tree: xr.DataTree) -> LeftOut:
    return read(FitInput("fit", "fit.nc", tree), Options())


def tails_fit(tails: list[float], *, name: str = "model {}") -> xr.DataTree:
    """Return a fit whose importance ratios, 1 / likelihood, are u^-k with u uniform: Pareto with tail index k."""
    n = len(tails)
    tree = fit_tree(0.8 + 0.1 * noise(1, n), {"model": [name.format(i) for i in range(n)]}, attributes={"converged": 0})
    u = np.random.default_rng(6).uniform(size=(CHAINS, DRAWS, n))
    coords = {"cell": tree["posterior"]["cell"].values, "n_answers": ("cell", np.arange(n) + 100.0)}
    values = xr.Dataset({"outcome": (("chain", "draw", "cell"), np.array(tails) * np.log(u))}, coords=coords)
    tree["log_likelihood"] = xr.DataTree(values)
    return tree


def test_k_is_the_tail_index_of_the_ratios():
    tails = [0.2, 1.2, 0.5, 0.9]
    content = shown(tails_fit(tails))
    found = content.loo.pointwise
    assert found["cell"].tolist() == ["model 1", "model 3", "model 2", "model 0"]
    assert found["n_answers"].tolist() == [101, 103, 102, 100]
    # the estimate from the 190 largest of 4,000 ratios has a standard error of about (1 + k) / √190
    for k, truth in zip(content.k, sorted(tails, reverse=True), strict=True):
        assert k == pytest.approx(truth, abs=3 * (1 + truth) / np.sqrt(190))
    assert content.loo.bad == ("model 1", "model 3")
    words = describe(content)
    assert "2 of 4 cells" in words.caption
    assert "model 1" in words.alt


def test_a_fit_without_log_likelihoods_is_refused():
    with pytest.raises(DataError, match="no log likelihoods"):
        shown(fit_tree(noise(1, 2), {"model": ["a", "b"]}))


@pytest.mark.parametrize("width", ["column", "page"])
@pytest.mark.parametrize("tails", [[0.3], [0.3, 0.2, 1.4], list(np.linspace(0.1, 1.5, 50))])
def test_words_lie_inside(tails: list[float], width: str):
    content = shown(tails_fit(tails, name="a-vendor-with-a-long-name/a-long-name-of-a-model-{} | a dataset | 0-100"))
    assert not outside(make_figure(lambda: draw(content, width_of(width))))
    assert f"n = {len(tails)}" in describe(content).caption
