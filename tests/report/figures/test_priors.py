"""The figure of priors: quantiles of the named distributions, known posteriors, words inside."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
import xarray as xr
from scipy.stats import halfnorm, norm

from hmeta.core.errors import HmetaError
from hmeta.report.card import Options
from hmeta.report.figure_file import make_figure
from hmeta.report.figures.priors import PRIOR, PRIOR_EDGE, Priors, describe, draw, read
from hmeta.report.html_page import DARK
from hmeta.report.inputs import FitInput
from hmeta.report.style import width_of
from tests.infer.synthetic_fit import CHAINS, DRAWS, fit_tree, group, noise
from tests.report.figures.inside import outside

SPEC = """
schema = "1"
summary = "A test."
[likelihood]
name = "mafc"
[parameters.d]
formula = "1"
[parameters.M]
link = "identity"
formula = "{formula}"
[parameters.criteria]
pooling = "none"
formula = "1 | model"
[priors]
"d.Intercept" = {{ family = "normal", loc = 2.0, scale = 1.5 }}
"M.{term}" = {{ family = "normal", loc = 0.8, scale = 0.5 }}
"M.sd.model" = {{ family = "half_normal", scale = 0.3 }}
"criteria" = {{ family = "normal", loc = 0.0, scale = 1.0 }}
"""


def priors_fit(n: int = 1, *, at: float = 0.7, converged: int = 1) -> xr.DataTree:
    """Return a fit with n population means of M (an intercept if 1) at a value with sd 0.05, and a spread of 0.2."""
    draws = at + 0.05 * noise(4, n)
    dims = ("chain", "draw")
    names = [f"a condition with a long name, number {i}" for i in range(n)]
    whole = n == 1
    extra = {
        "d_Intercept": xr.DataArray(2.0 + 0.1 * noise(5), dims=dims),
        "M_sd_model": xr.DataArray(np.full((CHAINS, DRAWS), 0.2) + 0.001 * noise(6), dims=dims),
        "M_Intercept" if whole else "M_condition": xr.DataArray(draws[..., 0], dims=dims)
        if whole
        else xr.DataArray(draws, dims=(*dims, "M_condition_level"), coords={"M_condition_level": names}),
    }
    intercept = {"name": "Intercept", "variable": "d_Intercept", "levels": [""]}
    common = {"name": "Intercept", "variable": "M_Intercept", "levels": [""]}
    if not whole:
        common = {"name": "condition", "variable": "M_condition", "levels": names}
    spread = group("model", sd="M_sd_model", effects="M_model", dim="llm")
    terms = {
        "d": {"link": "identity", "common": [intercept], "groups": []},
        "M": {"link": "identity", "common": [common], "groups": [spread]},
    }
    formula = "1 + (1 | model)" if whole else "0 + condition + (1 | model)"
    spec = SPEC.format(formula=formula, term="Intercept" if whole else "condition")
    attributes = {"spec": spec, "terms": json.dumps(terms), "likelihood": "mafc", "converged": converged}
    factors = {"model": [f"m{i}" for i in range(n)], "condition": names, "n_options": [4] * n}
    return fit_tree(draws, factors, extra=extra, attributes=attributes)


def shown(tree: xr.DataTree) -> Priors:
    return read(FitInput("fit", "fit.nc", tree), Options())


def test_priors_are_the_named_distributions_and_posteriors_those_of_the_draws():
    rows = shown(priors_fit()).rows.set_index("prior")
    mean, spread = (rows.loc[[name]].iloc[0] for name in ("M.Intercept", "M.sd.model"))
    ends = ["prior_lower", "prior_median", "prior_upper"]
    assert mean[ends].tolist() == pytest.approx(norm.ppf([0.03, 0.5, 0.97], 0.8, 0.5).tolist(), abs=1e-9)
    assert spread[ends].tolist() == pytest.approx(halfnorm.ppf([0.03, 0.5, 0.97], scale=0.3).tolist(), abs=1e-9)
    assert mean["posterior_median"] == pytest.approx(0.7, abs=0.004)
    assert mean["posterior_upper"] == pytest.approx(norm.ppf(0.97, 0.7, 0.05), abs=0.006)
    assert mean["shrinkage"] == pytest.approx(1 - (0.05 / 0.5) ** 2, abs=0.001)
    assert mean["panel"] == spread["panel"] == "M"
    assert not mean["beyond"]


def test_a_posterior_outside_its_prior_is_told():
    content = shown(priors_fit(at=3.0))
    assert content.rows.loc[content.rows["beyond"], "prior"].tolist() == ["M.Intercept"]
    words = describe(content)
    assert "Orange" in words.caption
    assert "Outside their priors: M.Intercept" in words.alt


def test_a_fit_without_a_specification_is_refused():
    with pytest.raises(HmetaError):
        shown(fit_tree(noise(1, 2), {"model": ["a", "b"]}))


@pytest.mark.parametrize("width", ["column", "half", "page"])
@pytest.mark.parametrize("n", [1, 3, 12, 50])
def test_words_lie_inside(n: int, width: str):
    content = shown(priors_fit(n, converged=0))
    assert not outside(make_figure(lambda: draw(content, width_of(width))))
    (told,) = re.findall(r"of (\d+) numbers", describe(content).caption)
    assert int(told) == len(content.rows) > 2


def test_the_bars_of_priors_turn_dark_on_a_dark_page():
    assert {PRIOR, PRIOR_EDGE} <= set(DARK)
