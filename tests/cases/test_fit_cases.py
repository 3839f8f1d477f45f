"""Cases about reading a fit: BUG-01, BUG-12 to BUG-15, BUG-54, BUG-60, BUG-61, BUG-63."""

from __future__ import annotations

import json

import arviz_base
import numpy as np
import pytest
import xarray as xr

from hmeta.infer.contrast import contrast
from hmeta.infer.diagnose import diagnose
from hmeta.infer.intervals import interval_ends
from hmeta.infer.summary import summarize
from tests.infer.synthetic_fit import fit_tree, noise

Counts = list[tuple[int, int, float, float]]


def counts_of(nR_S1: list[int], nR_S2: list[int]) -> Counts:
    """Return rows (cell 0, outcome, rating, count) of counts from S1 high … low to S2 low … high."""
    k = len(nR_S1) // 2
    ratings = [*range(k, 0, -1), *range(1, k + 1)]
    both = [(0, nR_S1), (1, nR_S2)]
    return [(0, 2 * s + (i >= k), float(ratings[i]), float(n)) for s, row in both for i, n in enumerate(row)]


def binary_fit(counts: Counts, *, M: float, d: float, d_sd: float = 0.1, link: str = "identity") -> xr.DataTree:
    return fit_tree(
        M + 0.1 * noise(1, 1),
        {"participant": ["p1"]},
        d=d + d_sd * noise(2, 1),
        counts=counts,
        terms={"link": link, "common": [], "groups": []},
        attributes={"task": "binary"},
    )


def flags(tree: xr.DataTree) -> str:
    return str(summarize(tree)["flags"].iloc[0])


def test_bug_01_one_sided_answers_do_not_identify_M():
    assert flags(binary_fit(counts_of([0, 0, 5, 1], [0, 0, 0, 6]), M=0.8, d=1.0)) == "uninformative: no S1 responses"


def test_bug_02_one_confidence_level_does_not_identify_M():
    counts = counts_of([40, 0, 0, 10], [10, 0, 0, 40])
    assert flags(binary_fit(counts, M=0.8, d=1.7)) == "uninformative: one confidence level used"


def test_bug_06_perfect_accuracy_does_not_identify_M():
    assert (
        flags(binary_fit(counts_of([30, 20, 0, 0], [0, 0, 20, 30]), M=0.8, d=4.0)) == "uninformative: no wrong answers"
    )


def test_bug_12_swapped_labels_are_called_inverted():
    counts = counts_of([1, 4, 10, 11, 19, 18, 28, 39], [36, 24, 17, 20, 10, 12, 9, 2])
    assert "is the coding inverted?" in flags(binary_fit(counts, M=0.97, d=-1.5))


def test_bug_13_a_reversed_rating_order_is_called_so():
    counts = counts_of([20, 17, 24, 36, 2, 9, 12, 10], [11, 10, 4, 1, 39, 28, 18, 19])
    assert flags(binary_fit(counts, M=-0.78, d=1.5)) == "meta_d < 0 though d > 1: is the rating order reversed?"


def test_bug_14_a_log_link_says_that_the_data_point_away():
    counts = counts_of([10, 40, 15, 15], [15, 15, 40, 10])
    assert "which a log link excludes" in flags(binary_fit(counts, M=0.1, d=0.64, link="log"))
    assert "log link" not in flags(binary_fit(counts, M=-2.0, d=0.64))


@pytest.mark.parametrize("seed", range(4))
def test_bug_15_the_median_of_the_ratio_and_what_stands_beside_it(seed: int):
    rng = np.random.default_rng(seed)
    d, meta_d = rng.normal(0.2, 0.3, (4, 1000, 1)), rng.normal(0.2, 0.3, (4, 1000, 1))
    row = summarize(fit_tree(meta_d / d, {"participant": ["p1"]}, d=d)).iloc[0]
    # The ratio of N(0.2, 0.3)s has median 0.355 (numerical integration); 0.08 is five standard errors.
    assert row["median"] == pytest.approx(0.355, abs=0.08)
    assert row["p_d_below_zero"] == pytest.approx(0.2525, abs=0.035)  # Φ(-2/3)
    assert row["meta_d_minus_d"] == pytest.approx(0.0, abs=0.042)
    assert row["flags"].startswith("d ≤ 0 in 2")
    assert "mean" not in row.index


def good_fit() -> xr.DataTree:
    return fit_tree(0.8 + 0.1 * noise(1, 2), {"model": ["a", "b"]})


def marked(reasons: list[str]) -> xr.DataTree:
    tree = good_fit()
    tree["hmeta"].attrs |= {"converged": 0, "reasons": json.dumps(reasons)}
    return tree


def test_bug_60_a_summary_of_a_fit_that_has_not_converged_does_not_look_clean():
    table = summarize(marked(["12 divergent of 4,000 draws"]))
    assert all(text.startswith("fit not converged") for text in table["flags"])
    assert table.attrs["reasons"] == ("12 divergent of 4,000 draws",)
    found = contrast(marked(["12 divergent of 4,000 draws"]), "model")
    assert found.render().startswith("NOT CONVERGED: 12 divergent of 4,000 draws")


def test_bug_61_one_chain_has_no_r_hat_and_has_not_converged():
    tree = fit_tree(0.8 + 0.1 * noise(1, 1, chains=1), {"model": ["a"]})
    verdict = diagnose(tree)
    assert not verdict.converged
    assert verdict.table["status"].tolist() == ["not available, one chain", "constant", "not available, one chain"]
    assert verdict.reasons == ("R-hat not available, one chain (2 of 3 quantities, first M[a])",)


def test_bug_61_a_constant_is_called_constant_and_is_fine():
    verdict = diagnose(good_fit())
    assert verdict.converged
    assert verdict.table.set_index("quantity").loc["d[a]", "status"] == "constant"


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_bug_61_one_invalid_draw_fails(value: float):
    M = 0.8 + 0.1 * noise(1, 2)
    M[3, 17, 1] = value
    tree = fit_tree(M, {"model": ["a", "b"]})
    verdict = diagnose(tree)
    assert not verdict.converged
    assert verdict.table.set_index("quantity").loc["M[b]", "status"] == "invalid draws"
    assert verdict.reasons[0] == "draws that are not finite (2 of 6 quantities, first M[b])"
    row = summarize(tree).set_index("level").loc["b"]
    assert "invalid draws" in row["flags"]
    assert np.isnan([row["lower"], row["upper"]]).all()


def test_bug_63_intervals_do_not_follow_a_librarys_default():
    tree = good_fit()
    with arviz_base.rc_context({"stats.ci_prob": 0.5, "stats.ci_kind": "hdi"}):
        inside = summarize(tree)
    assert inside.equals(summarize(tree))
    flat = tree["posterior"]["M"].values.reshape(-1, 2).T
    lower, upper = np.quantile(flat, [0.03, 0.97], axis=1)
    assert inside["lower"].to_numpy()[:2] == pytest.approx(lower)
    assert inside["upper"].to_numpy()[:2] == pytest.approx(upper)


def test_bug_63_the_highest_density_interval_is_ours_on_request():
    row = summarize(good_fit(), kind="hdi").iloc[0]
    draws = good_fit()["posterior"]["M"].values[..., 0].ravel()
    assert (row["lower"], row["upper"]) == pytest.approx(tuple(map(float, interval_ends(draws, 0.94, "hdi"))))
