"""The verdict: each rule of docs/statistics.md section 8 by itself."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import pytest
import xarray as xr

from hmeta.core.errors import DataError
from hmeta.infer.diagnose import diagnose
from tests.infer.synthetic_fit import DRAWS, fit_tree, noise


def good(**more) -> xr.DataTree:
    return fit_tree(0.8 + 0.1 * noise(1, 2), {"model": ["a", "b"]}, **more)


def changed(change: Callable[[np.ndarray], None]) -> xr.DataTree:
    M = 0.8 + 0.1 * noise(1, 2)
    change(M)
    return fit_tree(M, {"model": ["a", "b"]})


def with_stats(**values: np.ndarray) -> xr.DataTree:
    tree = good()
    stats = tree["sample_stats"].to_dataset()
    tree["sample_stats"] = xr.DataTree(stats.assign({k: (("chain", "draw"), v) for k, v in values.items()}))
    return tree


def test_a_good_fit_has_no_reasons():
    verdict = diagnose(good())
    assert verdict.converged
    assert verdict.reasons == ()
    assert verdict.table["quantity"].tolist() == ["M[a]", "M[b]", "d[a]", "d[b]", "meta_d[a]", "meta_d[b]"]
    assert verdict.table["status"].tolist() == ["ok", "ok", "constant", "constant", "ok", "ok"]
    assert (verdict.n_chains, verdict.n_draws, verdict.n_divergent) == (4, DRAWS, 0)
    assert verdict.render().startswith("converged\n")


def test_chains_that_disagree():
    def shift(M: np.ndarray) -> None:
        M[0, :, 1] += 0.05

    verdict = diagnose(changed(shift))
    assert not verdict.converged
    # M and, since d is 1.5, meta_d = 1.5 M.
    assert "R-hat not below 1.01 for 2 of 6 quantities; worst M[b]" in verdict.reasons[0]
    assert "R-hat" in verdict.table.set_index("quantity").loc["M[b]", "status"]
    assert verdict.table.set_index("quantity").loc["M[a]", "status"] == "ok"


def test_draws_that_stick():
    def stick(M: np.ndarray) -> None:
        M[:, :, 0] = np.repeat(M[:, ::50, 0], 50, axis=1)  # 20 distinct draws a chain

    verdict = diagnose(changed(stick))
    assert any(reason.startswith("bulk ESS not above 400 for 2 of 6") for reason in verdict.reasons)
    assert any(reason.startswith("tail ESS not above 400 for 2 of 6") for reason in verdict.reasons)


def test_divergences_count():
    diverging = np.zeros((4, DRAWS), dtype=bool)
    diverging[1, :3] = True
    verdict = diagnose(with_stats(diverging=diverging))
    assert verdict.reasons == ("3 divergent of 4,000 draws",)
    assert verdict.n_divergent == 3


def test_low_e_bfmi_names_the_chain():
    energy = np.random.default_rng(0).standard_normal((4, DRAWS))
    energy[2] = energy[2].cumsum()
    verdict = diagnose(with_stats(energy=energy))
    assert not verdict.converged
    (reason,) = verdict.reasons
    assert reason.startswith("E-BFMI not above 0.3: 0.0")
    assert reason.endswith("in chain 3")


def test_a_fit_without_sampler_statistics_is_not_taken_on_trust():
    tree = good()
    del tree["sample_stats"]
    assert diagnose(tree).reasons == (
        "divergences not available: the fit has no sampler statistics",
        "E-BFMI not available: the fit has no energies",
    )


def test_nothing_moved():
    verdict = diagnose(fit_tree(np.full((4, 100, 1), 0.7), {"model": ["a"]}))
    assert verdict.reasons == ("nothing moved: every quantity is constant",)


def criteria(values: np.ndarray) -> xr.DataArray:
    """Return criteria of one group with two responses, stored in mixed order."""
    coords = {
        "criterion_group": ("criterion", ["a", "a", "a", "a"]),
        "criterion_outcomes": ("criterion", ["R0", "R1", "R1", "R0"]),
        "criterion_level": ("criterion", [3.0, 2.0, 3.0, 2.0]),
    }
    return xr.DataArray(values, dims=("chain", "draw", "criterion"), coords=coords)


def test_criteria_in_order_in_every_draw():
    centre = np.array([1.2, 0.4, 1.0, 0.5])
    values = centre + 0.01 * noise(3, 4)
    assert diagnose(good(extra={"criteria": criteria(values)})).converged
    values[0, 10, 1] = 1.3  # the second level above the third, response 1
    values[2, 5, 3] = -0.1  # beyond the type-1 criterion, response 0
    values[3, 7] = values[3, 7, [0, 1, 1, 3]]  # equal is not in order
    verdict = diagnose(good(extra={"criteria": criteria(values)}))
    assert verdict.n_disordered == 3
    assert "criteria are not strictly increasing in 3 draws" in verdict.reasons
    assert "criteria[a | R0 | 3]" in verdict.table["quantity"].tolist()


def test_json_holds_every_quantity_and_no_nan():
    content = json.loads(diagnose(changed(lambda M: M.__setitem__((0, 0, 0), np.nan))).to_json())
    assert content["schema"] == "1"
    assert content["converged"] is False
    assert content["quantities"][0] == {
        "quantity": "M[a]",
        "variable": "M",
        "r_hat": None,
        "ess_bulk": None,
        "ess_tail": None,
        "status": "invalid draws",
    }


def test_what_is_no_fit_is_refused():
    with pytest.raises(DataError, match="not a fit"):
        diagnose(xr.DataTree())
