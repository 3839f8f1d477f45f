"""Comparisons of fits whose posteriors are known: exact normal quantiles in random order."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
import xarray as xr
from scipy.stats import norm

from hmeta.core.errors import DataError, HmetaError
from hmeta.infer.alike import check_alike
from hmeta.infer.compare import PAIRS, compare_fits
from hmeta.infer.pooling import pool
from tests.infer.synthetic_fit import fit_tree

NORMAL_BINARY = {"noise": "normal", "meta_c": "absolute"}

MC = 3 / np.sqrt(4000)
"""Three standard errors of a mean of 4,000 draws, in standard deviations; pairs use each draw five times."""


def normal_draws(mean: float, sd: float, seed: int, *, chains: int = 4, draws: int = 1000) -> np.ndarray:
    """Return the quantiles of a normal distribution in random order, (chain, draw, 1)."""
    levels = (np.arange(chains * draws) + 0.5) / (chains * draws)
    return np.random.default_rng(seed).permutation(norm.ppf(levels, mean, sd)).reshape(chains, draws, 1)


def study(
    mean: float,
    sd: float,
    seed: int,
    *,
    factors: Mapping[str, Sequence[Any]] | None = None,
    offsets: Sequence[float] = (0.0, 0.0),
    likelihood: str = "mafc",
    options: Mapping[str, str] | None = None,
    m: Sequence[int] = (4, 4),
    size: tuple[int, int] = (4, 1000),
    link: str = "identity",
    **more: Any,
) -> xr.DataTree:
    """Return a fit of two cells whose average M is normal with this mean and sd; cells differ by offsets."""
    moves = normal_draws(mean, sd, seed, chains=size[0], draws=size[1])
    names = dict(factors or {"model": [f"m{seed}a", f"m{seed}b"]})
    if likelihood == "mafc":
        names["n_options"] = list(m)
    options = options or ({"noise": "gumbel", "rule": "gap"} if likelihood == "mafc" else NORMAL_BINARY)
    spread = {"sd_ratio": xr.ones_like(xr.DataArray(moves + np.zeros(2), dims=("chain", "draw", "cell")))}
    attributes = {"task": likelihood, "likelihood": likelihood, "options": json.dumps(options)}
    attributes |= {"source": f"data{seed}.nc", **more.pop("attributes", {})}
    return fit_tree(
        moves + np.array(offsets),
        names,
        attributes=attributes,
        extra=spread if more.pop("free_spread", False) else None,
        terms={"link": link, "common": [], "groups": []},
        **more,
    )


def open_study(mean: float, sd: float, seed: int) -> xr.DataTree:
    """Return a fit of an open task with this AUROC2."""
    facts = {"task": "open", "likelihood": "type2", "headline": "auroc2", "terms": "{}"}
    tree = study(mean, sd, seed, likelihood="open", options={"none": ""}, attributes=facts)
    posterior = tree["posterior"].to_dataset().rename(M="auroc2", d="d_a").drop_vars("meta_d")
    tree["posterior"] = xr.DataTree(posterior)
    tree["hmeta"].attrs["options"] = "{}"
    return tree


def three() -> dict[str, xr.DataTree]:
    return {"a.nc": study(0.80, 0.05, 1), "b.nc": study(0.75, 0.04, 2), "c.nc": study(0.95, 0.06, 3)}


def test_a_difference_of_two_normal_posteriors():
    found = compare_fits({"a.nc": study(0.75, 0.04, 1), "b.nc": study(0.80, 0.05, 2)})
    assert len(found.differences) == 1
    row = found.differences.iloc[0]
    sd = np.hypot(0.04, 0.05)
    assert (row["study"], row["baseline"]) == ("b.nc", "a.nc")
    assert row["median"] == pytest.approx(0.05, abs=1.25 * MC * sd)  # a median's standard error is 1.25 of a mean's
    assert row["sd"] == pytest.approx(sd, rel=MC)
    z = norm.ppf(0.97)
    assert (row["lower"], row["upper"]) == pytest.approx((0.05 - z * sd, 0.05 + z * sd), abs=2.5 * MC * sd)
    assert row["p_above"] == pytest.approx(norm.cdf(0.05 / sd), abs=MC / 2)
    assert row["p_direction"] == row["p_above"]
    inside = norm.cdf(0.0) - norm.cdf(-0.1 / sd)
    assert row["p_rope"] == pytest.approx(inside, abs=MC / 2)
    assert "baseline: a.nc, the first fit" in found.notes
    assert found.converged


def test_the_table_has_one_row_a_study():
    found = compare_fits(three(), interval=0.9)
    table = found.table.set_index("study")
    assert list(table.index) == ["a.nc", "b.nc", "c.nc"]
    assert table["median"].to_numpy() == pytest.approx([0.8, 0.75, 0.95], abs=1e-4)
    assert table["sd"].to_numpy() == pytest.approx([0.05, 0.04, 0.06], rel=1e-3)
    z = norm.ppf(0.95)
    assert table["lower"].to_numpy() == pytest.approx([0.8 - 0.05 * z, 0.75 - 0.04 * z, 0.95 - 0.06 * z], abs=1e-3)
    assert set(table["estimand"]) == {"average over observed model (2 cells)"}
    assert table["n_units"].tolist() == [2, 2, 2]
    assert table["n_answers"].tolist() == [200, 200, 200]
    assert table["p_below_zero"].tolist() == [0.0, 0.0, 0.0]
    assert set(table["noise"]) == {"Gumbel noise, m = 4"}
    assert table["flags"].tolist() == ["", "", ""]


def test_the_average_is_of_m_itself_over_the_cells():
    found = compare_fits({"a": study(0.8, 0.05, 1, offsets=(-0.3, 0.5), link="log"), "b": study(0.7, 0.05, 2)})
    assert found.table["median"].tolist() == pytest.approx([0.9, 0.7], abs=1e-4)
    assert any(note.startswith("a: the log link keeps M above 0") for note in found.notes)


def test_all_pairs_of_few_studies_and_they_add_up():
    found = compare_fits(three(), baseline="b.nc")
    pairs = list(zip(found.differences["study"], found.differences["baseline"], strict=True))
    assert pairs == [("a.nc", "b.nc"), ("c.nc", "b.nc"), ("c.nc", "a.nc")]
    assert found.differences["median"].to_numpy() == pytest.approx([0.05, 0.20, 0.15], abs=0.005)
    assert not any(note.startswith("baseline") for note in found.notes)


def test_many_studies_meet_the_baseline_only():
    fits = {f"s{i}": study(0.7 + i / 50, 0.05, i + 1) for i in range(7)}
    found = compare_fits(fits)
    assert found.differences["baseline"].tolist() == ["s0"] * 6
    assert found.differences["median"].to_numpy() == pytest.approx(np.arange(1, 7) / 50, abs=0.005)


def test_different_numbers_of_draws_are_paired():
    found = compare_fits({"a": study(0.75, 0.04, 1, size=(2, 500)), "b": study(0.80, 0.05, 2, size=(4, 8000))})
    row = found.differences.iloc[0]
    sd = np.hypot(0.04, 0.05)
    assert row["median"] == pytest.approx(0.05, abs=1.25 * 3 / np.sqrt(1000) * sd)
    assert row["sd"] == pytest.approx(sd, rel=3 / np.sqrt(1000))
    assert PAIRS == 20_000


def test_draws_in_the_same_order_are_not_taken_for_correlated():
    # Both fits move together draw by draw, by chance of their seeds; the difference must not see it.
    one, two = study(0.8, 0.05, 1), study(0.8, 0.05, 1)
    two["posterior"]["M"][:] = two["posterior"]["M"].values + 0.01
    assert compare_fits({"a": one, "b": two}).differences["sd"].iloc[0] == pytest.approx(0.05 * np.sqrt(2), rel=MC)


def test_results_repeat():
    one, two = (compare_fits(three()).differences for _ in range(2))
    assert one.equals(two)


def test_pooling_is_that_of_the_summaries():
    found = compare_fits(three(), tau_scale=0.2, interval=0.9)
    direct = pool(
        found.table["median"].to_numpy(),
        found.table["sd"].to_numpy(),
        studies=["a.nc", "b.nc", "c.nc"],
        tau_scale=0.2,
        interval=0.9,
        reference=1.0,
    )
    assert found.pooled == {"all": direct}
    table = found.pooled_table().set_index("quantity")
    assert table.loc["new study", "p_above"] == direct.p_new_above
    assert table.loc["mean", "median"] == direct.mean.median
    assert found.shrunken_table()["share"].sum() == pytest.approx(1.0)
    # And the summaries are those of the normal posteriors.
    known = pool([0.80, 0.75, 0.95], [0.05, 0.04, 0.06], tau_scale=0.2, interval=0.9)
    assert direct.new.lower == pytest.approx(known.new.lower, abs=1e-3)
    assert set(direct.notes) <= set(found.notes)


def by_domain(mean: float, seed: int, domains: Sequence[str], word: str = "domain") -> xr.DataTree:
    names, offsets = {"model": ["x", "x"], word: list(domains)}, (0.1, -0.1)
    return study(mean, 0.05, seed, factors=names, offsets=offsets)


def test_levels_are_aligned():
    fits = {
        "a": by_domain(0.8, 1, ["law", "math"]),
        "b": by_domain(0.7, 2, ["math", "art"]),
        "c": by_domain(0.9, 3, ["law", "math"]),
    }
    found = compare_fits(fits, by="domain")
    assert found.by == "domain"
    rows = found.table.set_index(["level", "study"])
    assert list(rows.index) == [("law", "a"), ("law", "c"), ("math", "a"), ("math", "b"), ("math", "c")]
    assert rows["median"].to_numpy() == pytest.approx([0.9, 1.0, 0.7, 0.8, 0.8], abs=1e-4)
    differences = found.differences.set_index(["level", "study", "baseline"])["median"]
    assert differences[("law", "c", "a")] == pytest.approx(0.1, abs=0.005)
    assert differences[("math", "b", "a")] == pytest.approx(0.1, abs=0.005)
    assert len(differences) == 4
    assert "left out, because one study only has them: domain art (b)" in found.notes
    assert {level: p.studies for level, p in found.pooled.items()} == {"law": ("a", "c"), "math": ("a", "b", "c")}


def test_the_models_word_or_the_users_column():
    one = by_domain(0.8, 1, ["law", "math"])
    two = by_domain(0.7, 2, ["law", "math"], word="dataset")
    two["hmeta"].attrs["columns"] = json.dumps({"dataset": "domain"})
    found = compare_fits({"a": one, "b": two}, by="domain")
    assert found.table["level"].tolist() == ["law", "law", "math", "math"]


def test_numeric_levels_are_in_order():
    fits = {name: by_domain(0.8, seed, [101, 5], "n_levels") for seed, name in enumerate("ab", 1)}
    assert compare_fits(fits, by="n_levels").table["level"].tolist() == ["5", "5", "101", "101"]


def test_open_tasks_compare_their_auroc2():
    found = compare_fits({"a": open_study(0.60, 0.02, 1), "b": open_study(0.66, 0.02, 2)})
    assert found.parameter == "auroc2"
    assert found.differences["median"].iloc[0] == pytest.approx(0.06, abs=0.002)
    assert found.table["p_below_half"].tolist() == [0.0, 0.0]
    assert found.pooled["all"].reference == 0.5
    assert any("half-normal(0.3), is meant for M; auroc2 may need another" in note for note in found.notes)


def test_binary_and_mafc_share_m_where_the_noise_is_the_same():
    normal = study(0.8, 0.05, 1, options={"noise": "normal", "rule": "gap"})
    people = study(0.9, 0.05, 2, likelihood="binary", factors={"participant": ["p", "q"]})
    found = compare_fits({"llm": normal, "people": people})
    assert any("tasks differ (binary, mafc; noise binary normal, mafc normal)" in note for note in found.notes)
    # Two Gumbel variables differ by a logistic one, so that these are one noise too.
    logistic = study(0.9, 0.05, 2, likelihood="binary", options={"noise": "logistic", "meta_c": "absolute"})
    assert check_alike({"llm": study(0.8, 0.05, 1), "people": logistic}).parameter == "M"


def test_other_numbers_of_alternatives_are_said():
    found = check_alike({"a": study(0.8, 0.05, 1, m=(4, 4)), "b": study(0.8, 0.05, 2, m=(2, 10))})
    assert "numbers of alternatives differ between studies: m from 2 to 10" in found.notes
    assert found.facts["studies"]["b"]["n_options"] == [2, 10]


def test_units_of_the_same_data_are_said():
    names = {"model": ["x", "y"]}
    one, two = study(0.8, 0.05, 1, factors=names), study(0.8, 0.06, 2, factors=names)
    assert not check_alike({"a": one, "b": two}).notes
    two["hmeta"].attrs["source"] = "data1.nc"
    (note,) = check_alike({"a": one, "b": two}).notes
    assert note.startswith("a and b have 2 models of the same data (data1.nc) in common")
    assert "counts shared answers twice" in note
    two["hmeta"].attrs["source"] = one["hmeta"].attrs["source"] = ""
    assert not check_alike({"a": one, "b": two}).notes


def test_the_same_counts_are_the_same_data_without_a_source():
    rows = [(0, 0, 1.0, 20.0), (0, 1, 2.0, 30.0), (1, 0, 1.0, 25.0), (1, 1, 2.0, 50.0)]
    words: dict[str, Any] = {"factors": {"model": ["x", "y"]}, "attributes": {"source": ""}}
    one = study(0.8, 0.05, 1, counts=rows, **words)
    (note,) = check_alike({"a": one, "b": study(0.8, 0.06, 2, counts=rows, **words)}).notes
    assert "2 models of the same data (identical counts)" in note
    other = [(*rows[0][:3], 21.0), *rows[1:]]
    assert not check_alike({"a": one, "b": study(0.8, 0.06, 2, counts=other, **words)}).notes


def test_fits_that_have_not_converged_stay_marked():
    fits = three()
    fits["b.nc"]["hmeta"].attrs |= {"converged": 0, "reasons": '["R-hat 1.2"]'}
    found = compare_fits(fits)
    assert not found.converged
    assert found.table["converged"].tolist() == [True, False, True]
    assert found.table["flags"].tolist() == ["", "fit not converged", ""]
    assert found.notes[0].startswith("b.nc has NOT CONVERGED (R-hat 1.2)")
    assert found.render().startswith("NOT CONVERGED: b.nc")
    assert found.pooled["all"].studies == ("a.nc", "b.nc", "c.nc")


def test_draws_that_cannot_be_pooled_are_left_out():
    fits = three()
    fits["b.nc"]["posterior"]["M"][0, 0] = np.inf
    found = compare_fits(fits)
    assert found.pooled["all"].studies == ("a.nc", "c.nc")
    assert any(note.startswith("b.nc: not pooled") for note in found.notes)
    assert json.loads(found.to_json())["table"][1]["median"] is None
    fits.pop("c.nc")
    found = compare_fits(fits)
    assert not found.pooled
    assert "not pooled: fewer than two usable studies" in found.notes
    assert found.render()


def test_skewed_posteriors_are_said():
    fits = three()
    fits["c.nc"]["posterior"]["M"][:] = np.exp(20 * (fits["c.nc"]["posterior"]["M"].values - 0.95))
    assert "c.nc: the posterior is skewed, which pooling as normal neglects" in compare_fits(fits).notes


def test_json_and_text_hold_everything():
    found = compare_fits(three(), kind="hdi")
    content = json.loads(found.to_json())
    assert content["schema"] == "1"
    assert [row["study"] for row in content["table"]] == ["a.nc", "b.nc", "c.nc"]
    assert len(content["differences"]) == 3
    assert content["pooled"]["all"]["tau_scale"] == 0.3
    assert content["pooled"]["all"]["mu_prior"] == [0.0, 10.0]
    assert content["facts"]["studies"]["a.nc"]["options"] == {"noise": "gumbel", "rule": "gap"}
    text = str(found)
    for words in (
        "M = meta-d′ / d′",
        "94% highest-density",
        "differences between studies",
        "new study",
        "Hartung–Knapp",
    ):
        assert words in text
    assert "level" not in text.splitlines()[1]


def test_without_a_region_of_practical_equivalence():
    assert "p_rope" not in compare_fits(three(), rope=None).differences


def binary(**words: Any) -> xr.DataTree:
    return study(0.9, 0.05, 9, likelihood="binary", **words)


@pytest.mark.parametrize(
    ("other", "words", "messages"),
    [
        (
            lambda: study(0.7, 0.05, 9, options={"noise": "normal", "rule": "gap"}),
            {},
            [
                "M of a.nc and of b.nc",
                "their noise differs",
                "a.nc: noise gumbel; b.nc: noise normal",
                "0.86",
                "0.67",
                'data of b.nc again with noise = "gumbel" under \\[likelihood\\]',
                "--model FILE",
            ],
        ),
        (binary, {}, ["their noise differs", 'data of b.nc again with noise = "logistic"']),
        (
            lambda: binary(options={"noise": "gumbel_max", "meta_c": "absolute"}),
            {},
            ["a.nc: noise gumbel; b.nc: noise gumbel_max"],
        ),
        (
            lambda: open_study(0.6, 0.02, 9),
            {},
            [
                "share no quantity",
                "an open task has no sensitivity of its own",
                "b.nc: auroc2; a.nc: M",
                "hmeta metrics",
            ],
        ),
        (
            lambda: study(0.7, 0.05, 9, m=(2, 2)),
            {"parameter": "d"},
            [
                "number of alternatives differs",
                "a.nc: number of alternatives m = 4; b.nc: number of alternatives m = 2",
                "--parameter M",
            ],
        ),
        (lambda: study(0.7, 0.05, 9), {"parameter": "M_threshold"}, ["two functions of the same table", "not M"]),
        (lambda: study(0.7, 0.05, 9), {"parameter": "meta_x"}, ["a.nc: the fit has no parameter", "Did you mean"]),
        (lambda: study(0.7, 0.05, 9), {"baseline": "c.nc"}, ['"c.nc" is not one of the fits', "Did you mean"]),
        (lambda: study(0.8, 0.05, 1), {}, ["a.nc and b.nc are the same fit", "leave b.nc out"]),
        (lambda: study(0.7, 0.05, 9), {"by": "domain"}, ['a.nc: "domain" is not a factor of this fit']),
        (lambda: study(0.7, 0.05, 9), {"by": "model"}, ['no level of "model" occurs in two', "b.nc: m9a, m9b"]),
        (lambda: study(0.7, 0.05, 9), {"rope": (0.1, -0.1)}, ["lower and a higher end"]),
        (lambda: study(0.7, 0.05, 9), {"tau_scale": -1.0}, ["scale above 0"]),
        (lambda: xr.DataTree(), {}, ["b.nc: this is not a fit"]),
    ],
)
def test_refusals(other, words, messages):
    for message in messages:
        with pytest.raises(DataError, match=message):
            compare_fits({"a.nc": study(0.8, 0.05, 1), "b.nc": other()}, **words)


NORMAL_MAX, NORMAL_GAP = {"noise": "normal", "rule": "max"}, {"noise": "normal", "rule": "gap"}


@pytest.mark.parametrize(
    ("one", "two", "parameter", "messages"),
    [
        (
            lambda: study(0.8, 0.05, 1, options=NORMAL_MAX),
            lambda: study(0.8, 0.05, 2, options=NORMAL_GAP),
            None,
            ["their rule differs", "a: rule max; b: rule gap", "what confidence reads"],
        ),
        (lambda: study(0.8, 0.05, 1, options=NORMAL_MAX), binary, None, ["a: rule max; b: rule gap \\(implied\\)"]),
        (lambda: study(0.8, 0.05, 1, options=NORMAL_GAP), binary, "d", ["likelihood differs", "√2 times"]),
        (lambda: study(0.8, 0.05, 1, options=NORMAL_GAP), binary, "meta_d", ["likelihood differs", "--parameter M"]),
        (
            binary,
            lambda: binary(options={"noise": "normal", "meta_c": "relative"}),
            None,
            ["their meta_c differs", "a: meta_c absolute; b: meta_c relative", 'meta_c = "absolute"'],
        ),
        (binary, lambda: binary(free_spread=True), None, ["their sd_ratio differs", "a: sd_ratio 1; b: sd_ratio est"]),
        (
            lambda: open_study(0.6, 0.02, 1),
            lambda: open_study(0.7, 0.02, 2),
            "M",
            ["a is a fit of an open task, which has no M", "leave --parameter out"],
        ),
    ],
)
def test_unlike_models_are_refused(one, two, parameter, messages):
    fits = {"a": one(), "b": two()}
    fits["b"]["posterior"][("auroc2" if "auroc2" in fits["b"]["posterior"] else "M")][:] += 0.01
    for message in messages:
        with pytest.raises(DataError, match=message):
            compare_fits(fits, parameter=parameter)


def test_an_option_that_is_not_known_here_is_compared_too():
    fits = [study(0.8, 0.05, i, options={"noise": "normal", "rule": "gap", "lapse": f"{i}"}) for i in (1, 2)]
    with pytest.raises(DataError, match="lapse is part of the model that defines M"):
        compare_fits({"a": fits[0], "b": fits[1]})


def test_a_single_fit_is_nothing_to_compare():
    with pytest.raises(DataError, match="two fits or more"):
        compare_fits({"a.nc": study(0.8, 0.05, 1)})


def test_measured_numbers_are_no_levels():
    age = list(range(20, 34))
    fits = {}
    for seed in (1, 2):
        M = normal_draws(0.8, 0.05, seed) + np.zeros(14)
        fits[f"{seed}"] = fit_tree(M, {"participant": [f"{seed}p{a}" for a in age], "age": age})
    with pytest.raises(DataError, match='1: "age" is a measured number'):
        compare_fits(fits, by="age")


def test_the_interval_is_checked():
    with pytest.raises(HmetaError, match="share of the posterior"):
        compare_fits(three(), interval=94)


def test_many_fits_with_the_same_inputs_by_any_name_agree_within_monte_carlo():
    one = compare_fits({"a": study(0.75, 0.04, 1), "b": study(0.80, 0.05, 2)}).differences.iloc[0]
    two = compare_fits({"x": study(0.75, 0.04, 1), "y": study(0.80, 0.05, 2)}).differences.iloc[0]
    assert one["median"] == pytest.approx(two["median"], abs=MC * 0.064)
