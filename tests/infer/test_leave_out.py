"""Leave-one-out cross-validation against the library on its own and against exact answers."""

from __future__ import annotations

import re

import arviz_stats
import numpy as np
import pytest
import xarray as xr
from scipy import stats

from hmeta.core.errors import DataError
from hmeta.infer.leave_out import compare_loo, leave_one_out
from tests.infer.synthetic_fit import fit_tree

CHAINS, DRAWS = 4, 2500
N = 40
DATA = 0.5 + np.random.default_rng(11).standard_normal(N)
NAMES = [f"m{i:02d}" for i in range(N)]


def posterior(loc: float, scale: float, data: np.ndarray) -> tuple[float, float]:
    """Return mean and variance of a normal mean with variance 1 of each datum."""
    precision = 1.0 / scale**2 + len(data)
    return (loc / scale**2 + data.sum()) / precision, 1.0 / precision


def fit(
    loc: float = 0.0, scale: float = 1.0, *, seed: int = 1, order=None, data: np.ndarray = DATA, sigma: float = 1.0
):
    """Return a fit of normal data, a cell a datum, drawn from the exact posterior of the mean under sigma 1."""
    order = np.arange(len(data)) if order is None else np.asarray(order)
    mean, variance = posterior(loc, scale, data)
    theta = mean + np.sqrt(variance) * np.random.default_rng(seed).standard_normal((CHAINS, DRAWS))
    names = [NAMES[i] for i in order]
    M = np.broadcast_to(theta[..., None], (*theta.shape, len(data)))
    counts = [(i, int(data[j] > 0.5), float(j % 4), 3.0 + j) for i, j in enumerate(order)]
    tree = fit_tree(M, {"model": names}, counts=counts)
    likelihood = stats.norm(theta[..., None], sigma).logpdf(data[order])
    coords = {"cell": names, "n_answers": ("cell", 3.0 + order)}
    tree["log_likelihood"] = xr.Dataset({"outcome": (("chain", "draw", "cell"), likelihood)}, coords=coords)
    return tree


def exact(loc: float, scale: float) -> np.ndarray:
    """Return the log predictive density of each datum given all others."""
    found = []
    for i in range(N):
        mean, variance = posterior(loc, scale, np.delete(DATA, i))
        found.append(stats.norm(mean, np.sqrt(1.0 + variance)).logpdf(DATA[i]))
    return np.array(found)


def test_against_the_library_itself():
    tree = fit()
    direct = arviz_stats.loo(tree, pointwise=True)
    found = leave_one_out(tree)
    assert found.elpd == pytest.approx(float(direct.elpd), abs=1e-8)
    assert found.se == pytest.approx(float(direct.se), abs=1e-8)
    assert found.p == pytest.approx(float(direct.p), abs=1e-8)
    np.testing.assert_allclose(found.pointwise["elpd"], direct.elpd_i.values, atol=1e-10)
    np.testing.assert_allclose(found.pointwise["pareto_k"], direct.pareto_k.values, atol=1e-10)
    assert found.pointwise["cell"].tolist() == NAMES
    assert found.note == ""


def test_against_exact_leave_one_out():
    found, expected = leave_one_out(fit()), exact(0.0, 1.0)
    # Monte-Carlo error of 10,000 draws, where each datum moves the mean by a sixth of its sd or less.
    np.testing.assert_allclose(found.pointwise["elpd"], expected, atol=0.01)
    assert found.elpd == pytest.approx(expected.sum(), abs=0.05)
    assert found.se == pytest.approx(np.sqrt(N) * expected.std(ddof=1), rel=0.01)


def test_cells_that_cannot_be_left_out_are_named():
    tree = fit()
    likelihood = tree["log_likelihood"]["outcome"].values.copy()
    likelihood[..., 7] = -np.random.default_rng(3).exponential(1.5, likelihood.shape[:2])  # weights with k = 1.5
    tree["log_likelihood"]["outcome"].values[:] = likelihood
    found = leave_one_out(tree)
    assert found.bad == ("m07",)
    assert found.n_bad == 1
    assert found.note == "unreliable: Pareto k > 0.7 in 1 of 40 cells"


def test_fits_are_compared_cell_by_cell_whatever_their_order():
    shuffled = np.random.default_rng(5).permutation(N)
    table = compare_loo({"narrow": fit(sigma=0.6, order=shuffled, seed=2), "right": fit()})
    right = exact(0.0, 1.0)
    assert table.index.tolist() == ["right", "narrow"]
    assert table.loc["right", "difference"] == 0.0
    assert table.loc["right", "elpd"] == pytest.approx(right.sum(), abs=0.05)
    narrow = leave_one_out(fit(sigma=0.6, seed=2)).pointwise["elpd"]
    gap = narrow.to_numpy() - leave_one_out(fit()).pointwise["elpd"].to_numpy()
    assert table.loc["narrow", "difference"] == pytest.approx(gap.sum(), abs=1e-6)
    assert table.loc["narrow", "se_difference"] == pytest.approx(np.sqrt(N) * gap.std(), rel=1e-6)
    assert table["weight"].sum() == pytest.approx(1.0, abs=1e-6)
    assert table.loc["right", "weight"] > 0.7
    assert table.loc["right", "note"] == ""


def test_small_differences_are_called_small():
    table = compare_loo({"a": fit(0.0, 1.0), "b": fit(0.0, 2.0, seed=4)})
    assert abs(table["difference"].iloc[1]) < 4
    assert table["note"].iloc[1] == "not distinguishable from the best: the difference is below 4"
    assert table["note"].iloc[0] == ""


def test_noisy_differences_are_called_noisy():
    def moved(seed: int) -> xr.DataTree:
        tree = fit(seed=seed)
        by_cell = 10.0 * np.random.default_rng(seed).standard_normal(N)
        tree["log_likelihood"]["outcome"].values[:] += by_cell - by_cell.mean() + seed / 5.0
        return tree

    table = compare_loo({"a": moved(1), "b": moved(2)})
    assert table["difference"].iloc[1] == pytest.approx(-8.0, abs=0.1)
    assert table["note"].iloc[1].endswith("below 2 standard errors")


def test_cells_with_very_many_answers_do_not_underflow():
    def low(tree: xr.DataTree) -> xr.DataTree:
        tree["log_likelihood"]["outcome"].values[:] -= 2000.0
        return tree

    plain = compare_loo({"narrow": fit(sigma=0.6, seed=2), "right": fit()})
    lowered = compare_loo({"narrow": low(fit(sigma=0.6, seed=2)), "right": low(fit())})
    np.testing.assert_allclose(lowered["weight"], plain["weight"], atol=1e-5)
    np.testing.assert_allclose(lowered["difference"], plain["difference"], atol=1e-6)


def test_fits_of_other_cells_are_refused():
    with pytest.raises(DataError, match=re.escape('"a" and "b" are fits of different cells')) as refused:
        compare_loo({"a": fit(), "b": fit(data=DATA[:30])})
    assert "40 and 30 cells; only in one of them: model = m30" in refused.value.message
    assert "same columns" in refused.value.message


def test_fits_of_other_answers_are_refused():
    other = fit()
    other["observed_data"]["count"].values[3] += 1
    with pytest.raises(DataError, match="different answers") as refused:
        compare_loo({"a": fit(), "b": other})
    assert "model = m03" in refused.value.message


def test_one_fit_is_no_comparison():
    with pytest.raises(DataError, match="two or more fits"):
        compare_loo({"a": fit()})


def test_missing_and_infinite_likelihoods_are_refused():
    without = fit()
    del without["log_likelihood"]
    with pytest.raises(DataError, match="holds no log likelihoods"):
        leave_one_out(without)
    infinite = fit()
    infinite["log_likelihood"]["outcome"].values[0, 0, 0] = -np.inf
    with pytest.raises(DataError, match="not finite"):
        leave_one_out(infinite)
