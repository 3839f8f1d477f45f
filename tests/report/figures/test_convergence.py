"""The figure of convergence: the band of ranks against fresh simulations, curves by hand, words inside."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from hmeta.report.card import Options
from hmeta.report.figure_file import make_figure
from hmeta.report.figures.convergence import Convergence, describe, draw, read
from hmeta.report.inputs import FitInput
from hmeta.report.rank_plot import half_width, rank_curves
from hmeta.report.style import width_of
from tests.infer.synthetic_fit import fit_tree, noise
from tests.report.figures.inside import outside


def shown(tree: xr.DataTree) -> Convergence:
    return read(FitInput("fit", "fit.nc", tree), Options())


def units_fit(n: int, *, move: float = 0.0, chains: int = 4) -> xr.DataTree:
    """Return n units; the last chain is moved by some standard deviations."""
    draws = noise(5, n, chains=chains)
    draws[-1] += move
    names = {"model": [f"a-vendor-with-a-long-name/model-{i}" for i in range(n)]}
    return fit_tree(0.8 + 0.1 * draws, names, attributes={"converged": int(move == 0 and chains > 1)})


def test_curves_are_shares_of_draws_counted_one_by_one():
    draws = np.random.default_rng(8).standard_normal((3, 200))
    found = rank_curves(draws)
    assert found is not None
    kept = draws[:, :: -(-200 // found.kept)]
    ordered = np.sort(kept.ravel())
    for share, column in zip(found.share, found.difference.T, strict=True):
        at = ordered[round(share * kept.size) - 1]
        expected = [np.mean(chain <= at) - share for chain in kept]
        assert column == pytest.approx(expected, abs=1e-12)


def test_the_band_holds_all_chains_with_its_probability():
    rng, half, n = np.random.default_rng(4711), half_width(4, 250), 2000
    ends = np.linspace(0, 1000, 51).round().astype(int)[1:]
    hits = 0
    for _ in range(n):
        order = np.argsort(rng.random(1000)) // 250  # the chain of each rank
        counts = np.stack([np.cumsum(order == c)[ends - 1] for c in range(4)]) / 250
        hits += bool((np.abs(counts - ends / 1000) <= half + 1e-12).all())
    assert hits / n == pytest.approx(0.95, abs=4 * np.sqrt(0.95 * 0.05 * (1 / n + 1 / 2000)))


def test_a_chain_apart_leaves_the_band_and_counts_as_beyond_a_limit():
    content = shown(units_fit(3, move=1.0))
    assert content.ranks is not None
    outside_band = (np.abs(content.ranks.difference) > content.ranks.half_width)[:, :-1].any(axis=1)
    assert outside_band[-1]
    assert content.points["bad"].any()
    assert "not converged" in describe(content).alt


def test_what_agrees_is_inside_and_below_the_limits():
    content = shown(units_fit(3))
    assert content.found.converged
    assert content.n_bad == 0
    assert "Rank curves of 0 of 4 chains leave the band" in describe(content).alt


def test_one_chain_has_no_ranks():
    assert rank_curves(noise(1, chains=1)) is None
    content = shown(units_fit(3, chains=1))
    assert content.ranks is None
    assert not outside(make_figure(lambda: draw(content, width_of("column"))))


@pytest.mark.parametrize("width", ["column", "half", "page"])
@pytest.mark.parametrize(("n", "move"), [(1, 0.0), (3, 0.5), (50, 3.0)])
def test_words_lie_inside(n: int, move: float, width: str):
    content = shown(units_fit(n, move=move))
    assert not outside(make_figure(lambda: draw(content, width_of(width))))
    assert f"{len(content.found.table):,} quantities (4 chains" in describe(content).caption
