"""Contrasts of fits whose draws are known."""

from __future__ import annotations

import json

import numpy as np
import pytest
import xarray as xr

from hmeta.core.errors import DataError
from hmeta.infer.contrast import contrast
from tests.infer.synthetic_fit import CHAINS, DRAWS, by_scale_fit, fit_tree, group, noise

SD = 0.05 * np.sqrt(2)
"""Of the difference between two scales that move by 0.05 each."""


def rows(tree: xr.DataTree, by: str = "scale", **words):
    return contrast(tree, by, **words).contrasts.set_index(["level", "estimand"])


def test_a_difference_by_hand():
    found = contrast(by_scale_fit(), "scale", baseline="0-100")
    row = found.contrasts.set_index("estimand").loc["observed"]
    assert (row["level"], row["n"], row["of"]) == ("1-5", 6, "paired over 6 model × domain")
    assert row["median"] == pytest.approx(-0.3, abs=0.006)
    assert row["sd"] == pytest.approx(SD, rel=0.06)
    assert row["upper"] - row["lower"] == pytest.approx(2 * 1.8808 * SD, rel=0.08)
    assert (row["p_above"], row["p_direction"]) == (0.0, 1.0)
    assert found.notes == ()
    levels = found.levels.set_index("level")
    assert levels["median"].to_numpy() == pytest.approx([0.8, 0.5], abs=0.005)
    assert levels["p_best"].tolist() == [1.0, 0.0]


def test_probabilities_are_shares_of_draws():
    # The difference is -0.3 with sd 0.2121, so that P(> 0) = Φ(-1.414) = 0.0786; 4,000 draws give ± 0.013 (3 se).
    row = rows(by_scale_fit(spread=0.15), rope=(-0.3, 10.0)).loc[("1-5", "observed")]
    assert row["p_above"] == pytest.approx(0.0786, abs=0.013)
    assert row["p_direction"] == pytest.approx(1 - row["p_above"])
    assert row["p_rope"] == pytest.approx(0.5, abs=0.024)


def test_the_first_level_is_the_baseline_and_it_says_so():
    assert contrast(by_scale_fit(), "scale").notes == ("baseline: 0-100, the first level of scale",)


def test_only_what_both_levels_have_is_compared():
    drop = [("cat", "law", "1-5"), ("cat", "math", "1-5"), ("ant", "law", "0-100")]
    row = rows(by_scale_fit(drop=drop)).loc[("1-5", "observed")]
    # Each model and domain has its own level; pairs cancel it, plain averages over what is there would not.
    assert row["median"] == pytest.approx(-0.3, abs=0.006)
    assert (row["n"], row["of"]) == (3, "paired over 3 of 5 model × domain")


def test_effects_of_a_new_unit_cancel_where_its_term_does_not_involve_the_factor():
    observed, new = (rows(by_scale_fit()).loc[("1-5", kind)] for kind in ("observed", "new"))
    assert new["of"].startswith("a new model")
    assert new["median"] == pytest.approx(observed["median"])
    assert new["sd"] == pytest.approx(observed["sd"])


def test_effects_of_a_new_unit_do_not_cancel_in_a_log_link():
    observed, new = (rows(by_scale_fit(link="log")).loc[("1-5", kind)] for kind in ("observed", "new"))
    assert new["sd"] > 1.5 * observed["sd"]


def with_interaction(sd: float, slopes: bool) -> xr.DataTree:
    """Return a fit of two models under two scales, either (1 | model:scale) or (0 + scale | model) with r = 0.5."""
    cells = [(m, s) for m in ("ant", "bee") for s in ("0-100", "1-5")]
    draw, shape = ("chain", "draw"), (CHAINS, DRAWS)
    M = np.array([0.8, 0.5, 0.8, 0.5]) + 0.001 * noise(1, 4)
    extra = {"M_Intercept": xr.DataArray(np.full(shape, 0.65), dims=draw)}
    common = [{"name": "Intercept", "variable": "M_Intercept", "levels": [""]}]
    if slopes:
        names = {"M_model_coefficient": ["scale[0-100]", "scale[1-5]"]}
        correlation = np.broadcast_to([[1.0, 0.5], [0.5, 1.0]], (*shape, 2, 2))
        dims = ("M_model_coefficient", "M_model_coefficient_2")
        extra["M_sd_model"] = xr.DataArray(np.full((*shape, 2), sd), dims=(*draw, dims[0]), coords=names)
        extra["M_cor_model"] = xr.DataArray(correlation, dims=(*draw, *dims))
        extra["M_model"] = xr.DataArray(
            np.zeros((*shape, 2, 2)), dims=(*draw, "llm", dims[0]), coords={"llm": ["ant", "bee"]}
        )
        term = group("model", sd="M_sd_model", effects="M_model", dim="llm")
        term |= {"cor": "M_cor_model", "coefficients": names["M_model_coefficient"]}
    else:
        extra["M_sd_model_scale"] = xr.DataArray(np.full(shape, sd), dims=draw)
        labels = [f"{m}:{s}" for m, s in cells]
        extra["M_model_scale"] = xr.DataArray(
            np.zeros((*shape, 4)), dims=(*draw, "llm_scale"), coords={"llm_scale": labels}
        )
        term = group("model:scale", sd="M_sd_model_scale", effects="M_model_scale", dim="llm_scale")
    tree = fit_tree(
        M,
        {"model": [m for m, _ in cells], "scale": [s for _, s in cells]},
        extra=extra,
        terms={"link": "identity", "common": common, "groups": [term]},
        design=np.ones((4, 1)),
    )
    if slopes:
        matrix = np.array([[1.0, 0.0], [0.0, 1.0]] * 2)
        constants = tree["constant_data"].to_dataset()
        tree["constant_data"] = xr.DataTree(constants.assign(M_x_model=(("cell", "M_model_column"), matrix)))
    return tree


@pytest.mark.parametrize(("slopes", "expected"), [(False, np.sqrt(2) * 0.3), (True, 0.3)])
def test_effects_of_a_new_unit_that_involve_the_factor(slopes: bool, expected: float):
    # Independent effects differ with sd 0.3 √2; with correlation 0.5 with sd 0.3 √(2 - 1).
    row = rows(with_interaction(0.3, slopes)).loc[("1-5", "new")]
    assert row["median"] == pytest.approx(0.0, abs=0.04)
    assert row["sd"] == pytest.approx(expected, rel=0.06)


def test_groups_of_people_are_compared_without_pairing():
    factors = {"participant": ["p1", "p2", "p3"], "group": ["A", "A", "B"]}
    tree = fit_tree(np.array([0.4, 0.6, 0.9]) + 0.01 * noise(1, 3), factors)
    row = contrast(tree, "group", baseline="A").contrasts.iloc[0]
    assert row["median"] == pytest.approx(0.4, abs=0.002)
    assert row["of"] == "not paired: different participant"


def test_factors_that_follow_the_compared_one_do_not_prevent_pairing():
    factors = {"model": ["a", "a", "b", "b"], "family": ["x", "x", "y", "y"], "domain": ["law", "math"] * 2}
    tree = fit_tree(np.array([0.4, 0.6, 0.9, 1.1]) + 0.01 * noise(1, 4), factors)
    row = contrast(tree, "model", baseline="a").contrasts.iloc[0]
    assert (row["median"], row["n"]) == (pytest.approx(0.5, abs=0.002), 2)


def test_the_best_level_is_counted_among_draws_without_a_tie():
    M = np.zeros((4, 100, 3))
    M[:, :60, 0], M[:, :60, 1] = 1.0, 0.5  # the first is best in 60 draws
    M[:, 60:80, 1] = 1.0  # the second in 20; the last 20 are tied
    levels = contrast(fit_tree(M, {"scale": ["a", "b", "c"]}), "scale").levels
    assert levels["p_best"].tolist() == pytest.approx([0.75, 0.25, 0.0])


def test_numeric_levels_are_levels_while_they_are_few():
    tree = fit_tree(np.array([0.4, 0.9]) + 0.01 * noise(1, 2), {"n_levels": [5, 101]})
    assert contrast(tree, "n_levels", baseline="101").contrasts["level"].tolist() == ["5"]


def test_without_a_region_of_practical_equivalence():
    assert "p_rope" not in contrast(by_scale_fit(), "scale", rope=None).contrasts


def test_json_is_one_object():
    content = json.loads(contrast(by_scale_fit(), "scale").to_json())
    assert content["schema"] == "1"
    assert content["rope"] == [-0.05, 0.05]
    assert [row["estimand"] for row in content["contrasts"]] == ["observed", "new"]


def covariate_fit() -> xr.DataTree:
    age = np.arange(20, 40)
    return fit_tree(
        0.8 + 0.1 * noise(1, 20), {"participant": [f"p{a}" for a in age], "age": age, "country": ["X"] * 20}
    )


@pytest.mark.parametrize(
    ("tree", "by", "words", "message"),
    [
        (by_scale_fit, "scal", {}, 'Did you mean "scale"'),
        (by_scale_fit, "scale", {"baseline": "0–100"}, '"0–100" is not a level of scale'),
        (by_scale_fit, "scale", {"baseline": "1-6"}, 'Did you mean "1-5"'),
        (by_scale_fit, "n_options", {}, "has one level"),
        (by_scale_fit, "prompt", {}, "pools over"),
        (by_scale_fit, "scale", {"rope": (0.1, -0.1)}, "lower and a higher end"),
        (by_scale_fit, "scale", {"parameter": "d"}, "every difference is 0 by construction"),
        (covariate_fit, "age", {}, "measured number"),
        (covariate_fit, "country", {}, "allowed:  participant, age"),
    ],
)
def test_refusals(tree, by, words, message):
    with pytest.raises(DataError, match=message):
        contrast(tree(), by, **words)
