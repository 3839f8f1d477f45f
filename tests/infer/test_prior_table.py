"""The table of priors against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from scipy import stats

from hmeta.infer.prior_table import prior_table
from tests.infer.synthetic_fit import CHAINS, DRAWS, by_scale_fit, fit_tree, group, noise
from tests.infer.test_prior_sensitivity import ANCHORED, CRITERIA, SPEC, laddered_fit

PRIORS = """
"M.scale" = { family = "normal", loc = 0.8, scale = 0.5 }
"M.sd.model" = { family = "half_normal", scale = 0.3 }
"M.sd.dataset" = { family = "half_student_t", df = 2.0, scale = 0.3 }
"""


def test_priors_and_posteriors_side_by_side():
    tree = by_scale_fit(link="log", spread=0.05)
    tree["hmeta"].attrs["spec"] = SPEC.format(priors=PRIORS, pooling="none").replace('"identity"', '"log"')
    tree["constant_data"] = (
        tree["constant_data"].to_dataset().assign_coords(M_common_column=["scale[0-100]", "scale[1-5]"])
    )
    table = prior_table(tree)
    assert table["prior"].tolist() == ["M.scale", "M.scale", "M.sd.model", "M.sd.dataset"]
    assert table["place"].tolist() == ["level", "level", "spread of a group", "spread of a group"]
    assert table["level"].tolist() == ["0-100", "1-5", "", ""]
    assert table["on"].tolist()[1:3] == ["log M", "standard deviation of effects on log M"]
    assert table["distribution"].tolist()[2:] == ["half-normal(0.3)", "half-Student t(2, 0.3)"]
    normal, half = stats.norm(0.8, 0.5), stats.halfnorm(scale=0.3)
    np.testing.assert_allclose(table["prior_lower"][:3], [normal.ppf(0.03)] * 2 + [half.ppf(0.03)])
    np.testing.assert_allclose(table["prior_upper"][:3], [normal.ppf(0.97)] * 2 + [half.ppf(0.97)])
    # Posterior draws are normal(0.8, 0.05) and normal(0.5, 0.05); four standard errors of 4,000 draws.
    np.testing.assert_allclose(table["posterior_median"][:2], [0.8, 0.5], atol=0.004)
    np.testing.assert_allclose(table["shrinkage"][:2], 1 - 0.05**2 / 0.5**2, atol=0.001)
    assert table["posterior_upper"][0] == pytest.approx(0.8 + 0.05 * stats.norm.ppf(0.97), abs=0.008)
    assert np.isnan(table["shrinkage"][3])
    assert "no variance" in table["note"][3]


def test_a_contrast_is_not_a_level():
    tree = by_scale_fit()
    tree["hmeta"].attrs["spec"] = SPEC.format(priors=PRIORS, pooling="none")
    design = tree["constant_data"]["M_x_common"].values.copy()
    design[:, 0] = 0.0
    columns = {"M_common_column": ["scale[0-100]", "scale[1-5]"]}
    tree["constant_data"] = xr.Dataset({"M_x_common": (("cell", "M_common_column"), design)}, coords=columns)
    assert prior_table(tree)["place"][0] == "contrast"


def test_many_levels_become_one_row_of_medians():
    many = np.arange(30) + noise(1, 30)
    names = [f"s{i}" for i in range(30)]
    extra = {"M_scale": xr.DataArray(many, dims=("chain", "draw", "M_scale_level"), coords={"M_scale_level": names})}
    common = [{"name": "scale", "variable": "M_scale", "levels": names}]
    priors = '"M.scale" = { family = "normal", loc = 0.0, scale = 2.0 }'
    tree = fit_tree(
        many,
        {"scale": names},
        extra=extra,
        terms={"link": "identity", "common": common, "groups": []},
        attributes={"spec": SPEC.format(priors=priors, pooling="none")},
    )
    (row,) = prior_table(tree).to_dict("records")
    assert row["level"] == "median of 30"
    assert row["posterior_median"] == pytest.approx(14.5, abs=0.05)
    assert row["shrinkage"] == pytest.approx(1 - 1 / 4, abs=0.01)


def test_correlations_each_once_with_the_marginal_of_their_matrix():
    draw, names = ("chain", "draw"), ["Intercept", "a", "b"]
    matrix = np.broadcast_to(np.eye(3), (CHAINS, DRAWS, 3, 3)).copy()
    for (i, j), r in {(0, 1): 0.2, (0, 2): -0.3, (1, 2): 0.4}.items():
        matrix[..., i, j] = matrix[..., j, i] = r + 0.01 * noise(i + j)
    coords = {"M_model_coefficient": names, "M_model_coefficient_2": names}
    extra = {"M_cor_model": xr.DataArray(matrix, dims=(*draw, *coords), coords=coords)}
    terms = {
        "link": "identity",
        "common": [],
        "groups": [group("model", sd="x", effects="y", dim="llm", cor="M_cor_model")],
    }
    priors = '"M.cor.model" = { family = "lkj", eta = 2.0 }'
    spec = SPEC.format(priors=priors, pooling="none")
    table = prior_table(fit_tree(noise(1, 1), {"model": ["a"]}, extra=extra, terms=terms, attributes={"spec": spec}))
    assert table["level"].tolist() == ["Intercept, a", "Intercept, b", "a, b"]
    np.testing.assert_allclose(table["posterior_median"], [0.2, -0.3, 0.4], atol=0.002)
    marginal = stats.beta(2.5, 2.5, loc=-1, scale=2)  # eta - 1 + 3/2
    np.testing.assert_allclose(table["prior_upper"], marginal.ppf(0.97))
    np.testing.assert_allclose(table["shrinkage"], 1 - 0.01**2 / marginal.var(), atol=1e-4)


def test_criteria_are_told_on_the_scale_of_their_prior():
    log_gaps = np.array([0.3, -0.2, 0.1]) + 0.1 * noise(6, 3)
    gaps = np.exp(log_gaps) * 2.5 / np.array([3.0, 3.0, 2.0])
    criteria = np.stack([gaps[..., 0], gaps[..., 0] + gaps[..., 1], gaps[..., 2]], axis=-1)
    spec = SPEC.format(priors=CRITERIA.format(loc=0.0), pooling="none")
    (row,) = prior_table(laddered_fit(criteria, ["a", "a", "b"], [2.0, 3.0, 2.0], spec=spec)).to_dict("records")
    assert row["on"] == "log gap - log(2.5 / L), with L the confidence levels in use"
    assert row["level"] == "median of 3"
    assert row["posterior_median"] == pytest.approx(0.1, abs=0.01)
    assert row["shrinkage"] == pytest.approx(1 - 0.1**2 / 0.7**2, abs=0.003)


def test_pooled_criteria_and_absent_gaps_have_a_note():
    pooled = SPEC.format(priors=CRITERIA.format(loc=0.0), pooling="partial")
    table = prior_table(laddered_fit(np.ones((2, 9, 3)), ["a", "a", "b"], [2.0, 3.0, 2.0], spec=pooled))
    assert "pooled" in table["note"][0]
    assert np.isnan(table["posterior_median"][0])
    anchored = SPEC.format(priors=ANCHORED.format(loc=0.0), pooling="none")
    one = laddered_fit(np.ones((2, 9, 1)), ["b"], [2.0], spec=anchored, criteria_above=-np.inf)
    assert "there is no gap" in prior_table(one)["note"][0]
