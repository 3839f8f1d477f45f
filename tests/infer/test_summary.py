"""Summaries of fits whose draws are known."""

from __future__ import annotations

import numpy as np
import pytest

from hmeta.core.errors import DataError, HmetaError
from hmeta.infer.summary import summarize
from hmeta.infer.summary_terms import summarize_terms
from tests.infer.synthetic_fit import by_scale_fit, fit_tree, noise

MC = 0.005
"""Five standard errors of a mean over 4,000 draws whose sd is at most 0.06."""


def test_averages_by_hand():
    table = summarize(by_scale_fit()).set_index("level")
    assert table.index.tolist() == ["ant", "bee", "cat", "average of all 3", "new model"]
    # Scales 0.8 and 0.5, domains +0.1 and -0.1, models -0.2, 0 and 0.2.
    assert table["median"].to_numpy()[:4] == pytest.approx([0.45, 0.65, 0.85, 0.65], abs=MC)
    assert table["n_cells"].tolist() == [4, 4, 4, 12, 0]
    assert table.loc["ant", "estimand"] == "average over observed domain × scale"
    assert table.loc["average of all 3", "estimand"] == "average over observed model × domain × scale (12 cells)"
    # Two scales that move by 0.05 each: the average moves by 0.05 / √2; 94 % of a normal lie within 1.8808 sd.
    sd = 0.05 / np.sqrt(2)
    assert table.loc["ant", "sd"] == pytest.approx(sd, rel=0.06)
    assert table.loc["ant", "upper"] - table.loc["ant", "lower"] == pytest.approx(2 * 1.8808 * sd, rel=0.08)
    # d is 1.5 throughout.
    assert table.loc["cat", "meta_d_minus_d"] == pytest.approx(1.5 * (0.85 - 1), abs=1.5 * MC)
    assert table.loc["cat", "p_d_below_zero"] == 0
    assert not table["flags"].any()


def test_the_average_weighs_cells_equally():
    tree = fit_tree(
        np.array([0.0, 1.0, 5.0]) + 0.001 * noise(1, 3), {"model": ["a", "a", "b"], "domain": ["x", "y", "x"]}
    )
    table = summarize(tree).set_index("level")
    assert table["median"].to_numpy() == pytest.approx([0.5, 5.0, 2.0], abs=MC)


def test_a_new_unit_has_the_spread_of_the_units():
    table = summarize(by_scale_fit(sd=0.3)).set_index("level")
    # Zero-sum effects of three models: variance 0.3² (1 + 1/3), beside the average's own.
    assert table.loc["new model", "sd"] == pytest.approx(np.sqrt(0.09 * 4 / 3 + 0.05**2 / 2), rel=0.06)
    assert table.loc["new model", "median"] == pytest.approx(0.65, abs=0.04)
    assert table.loc["new model", "estimand"] == "prediction for a new model, average over observed domain × scale"


def test_the_same_seed_predicts_the_same():
    first, second = (summarize(by_scale_fit()) for _ in range(2))
    assert first.equals(second)


def test_by_another_factor_a_new_unit_is_predicted_at_each_level():
    table = summarize(by_scale_fit(), by="scale").set_index("level")
    assert table["median"].to_numpy()[:2] == pytest.approx([0.8, 0.5], abs=MC)
    assert table.loc["new model, scale 1-5", "median"] == pytest.approx(0.5, abs=0.04)


def test_a_factor_is_found_by_the_models_word_too():
    assert summarize(by_scale_fit(), by="dataset").equals(summarize(by_scale_fit(), by="domain"))


def test_log_link():
    table = summarize(by_scale_fit(link="log")).set_index("level")
    centres = [np.exp([0.7, 0.4, 0.5, 0.2]).mean(), np.exp([0.9, 0.6, 0.7, 0.4]).mean()]
    assert table["median"].to_numpy()[:2] == pytest.approx(centres, rel=0.01)
    assert table.loc["typical model", "median"] == pytest.approx(np.exp(0.65), rel=0.01)
    assert table.loc["new model", "lower"] > 0


def test_a_single_cell():
    table = summarize(fit_tree(0.8 + 0.1 * noise(2, 1), {"n_options": [4]}))
    assert table["level"].tolist() == ["all answers"]
    assert table["median"].iloc[0] == pytest.approx(0.8, abs=0.01)
    assert table.attrs["noise"] == "Gumbel noise, m = 4"


def test_another_parameter_has_no_ratio_columns():
    table = summarize(by_scale_fit(), parameter="d")
    assert "p_d_below_zero" not in table
    assert table["median"].iloc[0] == 1.5
    assert table.attrs["notes"] == ("no prediction for a new model: d is derived from other parameters",)


def test_terms():
    table = summarize_terms(by_scale_fit()).set_index("term")
    assert table.index.tolist() == ["M_scale[0-100]", "M_scale[1-5]", "M_sd_model", "M_sd_domain"]
    assert table.loc["M_scale[1-5]", "median"] == pytest.approx(0.5, abs=MC)
    assert table.loc["M_sd_model", "median"] == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"by": "modle"}, 'Did you mean "model"'),
        ({"by": "temperature"}, "fit again with a formula that uses it"),
        ({"parameter": "meta-d"}, 'Did you mean "meta_d"'),
        ({"interval": 95}, "write 0.95"),
    ],
)
def test_refusals(words, message):
    with pytest.raises(HmetaError, match=message):
        summarize(by_scale_fit(), **words)


def test_what_is_no_fit_is_refused():
    with pytest.raises(DataError, match="not a fit"):
        summarize(42)  # type: ignore[arg-type]
