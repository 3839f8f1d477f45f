"""The figure of several studies: known posteriors, order of rows, refusals, words inside."""

from __future__ import annotations

import json

import numpy as np
import pytest
import xarray as xr
from scipy.integrate import quad
from scipy.stats import norm

from hmeta.core.errors import DataError
from hmeta.report.card import Options
from hmeta.report.figure_file import make_figure
from hmeta.report.figures.compare import LEVEL, MEAN, NEW, STUDY, Studies, describe, draw, read
from hmeta.report.inputs import FitInput
from hmeta.report.style import width_of
from tests.infer.synthetic_fit import fit_tree
from tests.report.figures.inside import outside

MEANS, SDS = (0.72, 0.95, 0.81), (0.05, 0.08, 0.06)


def study(mean: float, sd: float, seed: int, *, converged: int = 1) -> xr.DataTree:
    """Return one model on two scales, M normal with this mean and sd on both, its quantiles in random order."""
    levels = (np.arange(4000) + 0.5) / 4000
    M = np.random.default_rng(seed).permutation(norm.ppf(levels, mean, sd)).reshape(4, 1000, 1) + np.zeros(2)
    factors = {"model": ["m"] * 2, "scale": ["0-100", "0-5"], "n_options": [4] * 2}
    facts: dict[str, object] = {"likelihood": "mafc", "source": f"data{seed}.nc", "converged": converged}
    terms = {"link": "identity", "common": [], "groups": []}
    return fit_tree(
        M, factors, terms=terms, attributes=facts | {"options": json.dumps({"noise": "gumbel", "rule": "gap"})}
    )


def inputs(n: int = 3, *, name: str = "study {}", converged: int = 1) -> list[FitInput]:
    trees = [study(MEANS[i % 3] + 0.01 * (i // 3), SDS[i % 3], i, converged=converged or i) for i in range(n)]
    return [FitInput(name.format(i), f"{i}.nc", tree) for i, tree in enumerate(trees)]


def shown(fits: list[FitInput], **chosen) -> Studies:
    return read(fits, Options(**chosen))


def test_studies_their_mean_and_a_new_one():
    rows = shown(inputs()).rows
    assert rows["row"].tolist() == [STUDY] * 3 + [MEAN, NEW]
    for row, mean, sd in zip(rows.to_dict("records"), MEANS, SDS, strict=False):
        assert row["median"] == pytest.approx(mean, abs=1e-3)
        assert row["lower"] == pytest.approx(norm.ppf(0.03, mean, sd), abs=1e-3)
        assert row["n_units"] == 1
        assert row["n_answers"] == 200


def test_the_mean_is_that_of_the_integrated_posterior():
    """E(mu) by integrating mu and every study's true value by hand, tau by quadrature; mu's prior is flat here."""
    y, se = np.array(MEANS), np.array(SDS)

    def moments(tau: float) -> tuple[float, float]:
        w = 1 / (se**2 + tau**2)
        centre = (w @ y) / w.sum()
        density = np.exp(0.5 * np.log(w).sum() - 0.5 * np.log(w.sum()) - 0.5 * w @ (y - centre) ** 2)
        return float(density * norm.pdf(tau, 0, 0.3)), float(centre)

    total = quad(lambda t: moments(t)[0], 0, 3)[0]
    expected = quad(lambda t: moments(t)[0] * moments(t)[1], 0, 3)[0] / total
    rows = {str(kind): part for kind, part in shown(inputs()).rows.groupby("row")}
    mean, new = rows[MEAN].iloc[0], rows[NEW].iloc[0]
    # the posterior of mu is nearly symmetric, so that median and mean agree to this
    assert mean["median"] == pytest.approx(expected, abs=0.005)
    assert new["upper"] - new["lower"] > mean["upper"] - mean["lower"]
    for row in rows[STUDY].to_dict("records"):
        low, high = sorted([row["median"], expected])
        assert low - 0.005 <= row["shrunken"] <= high + 0.005


def test_levels_stand_in_the_order_of_their_scales():
    rows = shown(inputs(), by="scale").rows
    assert rows.loc[rows["row"] == LEVEL, "level"].tolist() == ["0-5", "0-100"]
    assert rows["row"].tolist() == [LEVEL, STUDY, STUDY, STUDY, MEAN, NEW] * 2
    words = describe(shown(inputs(), by="scale"))
    assert "mean of studies at 0-5 0.8" in words.alt
    assert "by scale" in words.caption


def test_what_has_not_converged_is_named():
    words = describe(shown(inputs(converged=0)))
    assert "Not converged: study 0 (names in red)" in words.caption


def test_one_fit_is_refused():
    with pytest.raises(DataError, match="two or more"):
        shown(inputs(1))


@pytest.mark.parametrize("width", ["column", "page"])
@pytest.mark.parametrize(("n", "by"), [(2, None), (3, "scale"), (50, None)])
def test_words_lie_inside(n: int, by: str | None, width: str):
    content = shown(inputs(n, name="a study with a long name, of the year {}", converged=0), by=by)
    assert not outside(make_figure(lambda: draw(content, width_of(width))))
    assert f"n = {200 * n:,} answers" in describe(content).caption
    assert f"{n} studies" in describe(content).alt
