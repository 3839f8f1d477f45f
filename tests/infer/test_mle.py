"""Maximum likelihood of many cells: derivatives, invariances, agreement with the slow oracle and real data."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize

from hmeta.core.errors import SpecError
from hmeta.infer.mle import fit_counts, fit_mle
from hmeta.mle.type2 import Cell, derivatives
from hmeta.sdt.likelihood import get
from hmeta.spec import load_model, plan
from tests.oracle import binary
from tests.spec import example_data

SHARED = Path(os.environ.get("HMETA_SHARED", Path(__file__).resolve().parents[2].parent / "shared"))
ATLAS = SHARED / "data" / "llm" / "atlas_mmlu_confidence.parquet"
MASK = SHARED / "data" / "human" / "mask_ori.parquet"


@dataclass(frozen=True)
class Table:
    task: str
    cells: pd.DataFrame
    cell: NDArray[np.int64]
    outcome: NDArray[np.int64]
    confidence: NDArray[np.float64]
    count: NDArray[np.float64]


def table_of(pairs: Sequence[Sequence[Sequence[int] | NDArray]]) -> Table:
    """Return count arrays, one pair a cell, as rows."""
    rows = []
    for cell, pair in enumerate(pairs):
        for stimulus, counts in enumerate(pair):
            k = len(counts) // 2
            for place, n in enumerate(counts):
                response = int(place >= k)
                rows.append((cell, 2 * stimulus + response, place - k + 1 if response else k - place, n))
    cell, outcome, confidence, count = np.array([r for r in rows if r[3] > 0], dtype=float).T
    frame = pd.DataFrame({"participant": [f"p{i}" for i in range(len(pairs))]})
    return Table("binary", frame, cell.astype(np.int64), outcome.astype(np.int64), confidence, count)


def random_pairs(n: int, *, levels: int = 4, trials: int = 150) -> list[tuple[NDArray, NDArray]]:
    rng = np.random.default_rng(2)
    steps = np.linspace(0.3, 1.5, levels - 1).tolist()
    setting = [binary.Setting(rng.normal(1.4, 0.4), rng.normal(0, 0.3), rng.normal(1.1, 0.4)) for _ in range(n)]
    return [binary.simulate_counts(s, (steps, steps), (trials, trials), rng) for s in setting]


@pytest.mark.parametrize(("name", "options"), [("binary", {"meta_c": "relative"}), ("mafc", {"noise": "gumbel"})])
def test_assembled_derivatives_are_those_of_automatic_differentiation(name, options):
    """The level-by-level assembly against JAX on the whole log likelihood, to 1e-9; level 3 of side 0 is absent."""
    with jax.enable_x64(True):
        likelihood = get(name, **options)
        sides = 2 if name == "binary" else 1
        counts = jnp.asarray(np.random.default_rng(1).integers(1, 9, (sides, 2, 4)).astype(float)).at[0, :, 3].set(0.0)
        n_levels = jnp.asarray([3, 4][:sides])
        cell = Cell(counts, n_levels, *(jnp.asarray(x) for x in (1.1, 0.3, 1.2, 4.0)))
        theta = jnp.asarray([0.8, -0.5, -0.7, 0.0, -0.4, -0.9, -0.2][: 1 + 3 * sides])

        def plain(x: jax.Array, held: jax.Array) -> jax.Array:
            total = jnp.zeros(())
            params = {
                "meta_d": x[0],
                "d": held[0],
                "c": held[1],
                "sd_ratio": cell.sd_ratio,
                "n_options": cell.n_options,
            }
            for side in range(sides):
                size = int(n_levels[side])
                edges = [0.0, *jnp.cumsum(jnp.exp(x[1 + 3 * side : 3 * side + size])), jnp.inf]
                for which, code in enumerate(((0, 2), (1, 3))[side] if sides == 2 else (0, 1)):
                    for k in range(size):
                        lo, hi = (jnp.asarray(e) for e in edges[k : k + 2])
                        total += counts[side, which, k] * likelihood.log_rating(jnp.asarray(code), lo, hi, params)
            return total

        held = jnp.asarray([1.1, 0.3])
        found = derivatives(likelihood, cell, theta)
        free = np.delete(np.arange(len(theta)), 3)
        assert float(found.value) == pytest.approx(float(plain(theta, held)), abs=1e-10)
        np.testing.assert_allclose(found.gradient, jax.grad(plain)(theta, held), atol=1e-9)
        expected = np.asarray(jax.hessian(plain)(theta, held))
        np.testing.assert_allclose(
            np.asarray(found.hessian)[np.ix_(free, free)], expected[np.ix_(free, free)], atol=1e-9
        )
        assert found.hessian[3, 3] == -1.0
        if name == "binary":
            mixed = jax.jacobian(jax.grad(plain), argnums=1)(theta, held)
            np.testing.assert_allclose(found.mixed, mixed, atol=1e-9)


def test_many_cells_equal_one_at_a_time():
    pairs = random_pairs(6)
    frame = fit_mle(table_of(pairs), meta_c="relative")
    for row, pair in enumerate(pairs):
        one = fit_counts(*pair, meta_c="relative")
        names = ["n", "accuracy", "auroc2", "d", "c", "meta_d", "M", "se_d", "se_meta_d", "se_M", "log_likelihood"]
        np.testing.assert_allclose(frame.loc[row, names].to_numpy(float), [getattr(one, n) for n in names], rtol=1e-9)


def test_the_maximum_is_the_oracles():
    """Nelder-Mead on the oracle's log likelihood started at the estimate gains less than 1e-6."""
    pair = random_pairs(1, levels=2)[0]
    fit = fit_counts(*pair)

    def loss(x: NDArray) -> float:
        setting = binary.Setting(fit.d, fit.c, x[0])
        total = 0.0
        for stimulus, counts in enumerate(pair):
            for response, order in ((0, -1), (1, 1)):
                edges = [0.0, float(np.exp(x[1 + response])), np.inf]
                for k, n in enumerate(counts[2 * response : 2 * response + 2][::order]):
                    p = binary.rating_probability(setting, stimulus, response, edges[k], edges[k + 1])
                    total -= n * float(np.log(float(p)))
        return total

    at = np.array([fit.meta_d, *(np.log(side[0]) for side in fit.criteria)])
    assert -loss(at) == pytest.approx(fit.log_likelihood, abs=1e-9)
    better = minimize(
        loss, at, method="Nelder-Mead", options={"maxfev": 120, "initial_simplex": at + 0.02 * np.eye(4, 3, -1)}
    )
    assert -better.fun <= fit.log_likelihood + 1e-6


def test_no_start_finds_a_higher_maximum():
    """Sparse tables (40 trials a stimulus): SciPy from three other starts of meta_d never beats the fit by 1e-6."""
    pairs = random_pairs(8, trials=40)
    frame = fit_mle(table_of(pairs))
    likelihood = get("binary")
    tried = 0
    with jax.enable_x64(True):
        for row, pair in enumerate(pairs):
            counts = np.stack([np.stack([x[:4][::-1] for x in pair]), np.stack([x[4:] for x in pair])])
            if frame["status"][row] not in ("ok", "flagged") or (counts.sum(1) == 0).any():
                continue
            tried += 1
            d, c = frame["d"][row], frame["c"][row]
            cell = Cell(jnp.asarray(counts, dtype=float), jnp.asarray([4, 4]), *map(jnp.asarray, (d, c, 1.0, 2.0)))
            both = jax.jit(lambda x, cell=cell: derivatives(likelihood, cell, x)[:2])
            for meta_d in (-1.5, 0.2, 3.0):
                start = np.array([meta_d, *[-0.7] * 6])
                end = minimize(lambda x: [-np.asarray(v) for v in both(x)], start, jac=True, method="BFGS")  # noqa: B023
                assert -end.fun <= frame["log_likelihood"][row] + 1e-6
    assert tried >= 4


def test_monotone_relabelling_changes_nothing():
    table = table_of(random_pairs(4))
    relabelled = replace(table, confidence=np.exp(table.confidence) - 40.0)
    names = ["d", "meta_d", "M", "se_M", "auroc2", "n_levels"]
    pd.testing.assert_frame_equal(fit_mle(table)[names], fit_mle(relabelled)[names], rtol=1e-10)


def test_the_order_of_rows_changes_nothing():
    table = table_of(random_pairs(4))
    order = np.random.default_rng(3).permutation(len(table.cell))
    shuffled = {name: getattr(table, name)[order] for name in ("cell", "outcome", "confidence", "count")}
    names = ["d", "meta_d", "M", "se_M", "auroc2"]
    pd.testing.assert_frame_equal(fit_mle(table)[names], fit_mle(replace(table, **shuffled))[names], rtol=1e-10)


def test_no_cell_raises_in_a_batch():
    """Degenerate cells beside a good one come back as NaN with their reasons."""
    bad = [
        ([0, 0, 5, 1], [0, 0, 0, 6]),
        ([40, 0, 0, 10], [10, 0, 0, 40]),
        ([30, 20, 0, 0], [0, 0, 20, 30]),
        ([10, 10, 10, 10], [0, 0, 0, 0]),
        ([30, 20, 0, 0], [5, 5, 20, 30]),
    ]
    good = ([36, 24, 17, 20, 10, 12, 9, 2], [1, 4, 10, 11, 19, 18, 28, 39])
    frame = fit_mle(table_of([*bad, good]))
    assert list(frame["reason"]) == [
        "no S1 responses",
        "one confidence level used",
        "no wrong answers",
        "no S2 trials",
        "d infinite: no S2 response to S1",
        "",
    ]
    assert frame["M"].isna().tolist() == [True] * 5 + [False]
    assert frame["M"].iloc[-1] == pytest.approx(0.9748, abs=2e-3)


def test_padding_by_the_level_is_one_over_2k():
    pair = random_pairs(1)[0]
    assert pytest.approx(fit_counts(*pair, pad=1 / 8).M, abs=1e-10) == fit_counts(*pair, pad="1/(2K)").M


def test_options_outside_the_sets_are_refused():
    table = table_of(random_pairs(1))
    with pytest.raises(SpecError, match="gumbel_min"):
        fit_mle(table, noise="gumbel")
    with pytest.raises(SpecError, match="open"):
        fit_mle(replace(table, task="open"))
    with pytest.raises(SpecError, match="rule max"):
        fit_mle(replace(table, task="mafc"), rule="max")
    with pytest.raises(SpecError, match="padding"):
        fit_mle(table, pad=-1.0)


def atlas_table(models: list[str]) -> Table:
    answers = pd.read_parquet(ATLAS)
    answers["model"] = answers["model"].str.split("/").str[-1].str.split("@").str[0]
    answers = answers[answers["model"].str.startswith(tuple(models))]
    counts = answers.groupby(["model", "is_correct", "confidence"]).size().reset_index(name="n")
    cells = pd.DataFrame({"model": sorted(counts["model"].unique()), "n_options": 4})
    cell = np.searchsorted(cells["model"], counts["model"])
    numbers = (counts["confidence"].to_numpy(float), counts["n"].to_numpy(float))
    return Table("mafc", cells, cell, counts["is_correct"].to_numpy(np.int64), *numbers)


@pytest.mark.skipif(not ATLAS.exists(), reason="needs the shared data folder with the MMLU confidence atlas")
@pytest.mark.parametrize(("noise", "expected"), [("gumbel", (0.853, 0.924, 0.660)), ("normal", (0.673, 0.787, 0.423))])
def test_atlas_models_pooled_over_domains(noise, expected):
    models = ["claude-haiku-4-5", "gemini-2.5-flash", "qwen3-235b-a22b-instruct-2507"]
    frame = fit_mle(atlas_table(models), noise=noise)
    assert len(frame) == 3
    assert (frame["status"] == "ok").all()
    np.testing.assert_allclose(frame["M"], expected, atol=0.01)


@pytest.mark.skipif(not MASK.exists(), reason="needs the shared data folder with the masked orientation study")
def test_first_participant_of_the_masked_orientation_study():
    trials = pd.read_parquet(MASK)
    trials = trials[trials["participant"] == trials["participant"].iloc[0]]
    k = int(trials["confidence"].max()) + 1
    place = np.where(trials["response"] == 0, k - 1 - trials["confidence"], k + trials["confidence"])
    pair = [np.bincount(place[trials["stimulus"] == s], minlength=2 * k) for s in (0, 90)]
    assert fit_counts(*pair, meta_c="relative", pad="1/(2K)").meta_d == pytest.approx(1.4237, abs=1e-4)


def trials_of(pairs: Sequence[Sequence[NDArray]]) -> list[tuple[object, ...]]:
    """Return one row a trial: participant, stimulus, response, confidence."""
    table = table_of(pairs)
    columns = (table.cell, table.outcome // 2, table.outcome % 2, table.confidence.astype(int))
    rows = zip(*columns, table.count.astype(int), strict=True)
    return [(f"p{cell}", s, r, c) for cell, s, r, c, n in rows for _ in range(n)]


def test_a_plan_gives_what_its_counts_give():
    """Criteria pooled over people in the model's formula do not matter: each cell has its own."""
    pairs = random_pairs(3)
    made = plan(load_model("binary_hierarchical"), example_data.binary(trials_of(pairs), ["participant"]))
    frame = fit_mle(made)
    assert list(frame["participant"]) == ["p0", "p1", "p2"]
    for row, pair in enumerate(pairs):
        one = fit_counts(*pair, meta_c=made.options["meta_c"])  # type: ignore[arg-type]
        assert frame["M"][row] == pytest.approx(one.M, rel=1e-9)
        padded = fit_counts(*pair, meta_c=made.options["meta_c"], pad=0.5)  # type: ignore[arg-type]
        assert fit_mle(made, pad=0.5)["M"][row] == pytest.approx(padded.M, rel=1e-9)


def test_alternatives_have_d_in_closed_form():
    """Gumbel noise: d = logit(accuracy) + log(m - 1), cell by cell with its own number of alternatives."""
    cell = np.repeat([0, 1], 6)
    outcome, confidence = np.tile([0, 0, 0, 1, 1, 1], 2), np.tile([1.0, 2.0, 3.0], 4)
    count = np.array([9, 5, 3, 6, 14, 30, 20, 8, 2, 9, 12, 25], dtype=float)
    frame = fit_mle(Table("mafc", pd.DataFrame({"n_options": [4, 10]}), cell, outcome, confidence, count))
    accuracy = np.array([50 / 67, 46 / 76])
    np.testing.assert_allclose(frame["accuracy"], accuracy, rtol=1e-12)
    np.testing.assert_allclose(frame["d"], np.log(accuracy / (1 - accuracy)) + np.log([3, 9]), atol=1e-10)
    assert (frame["status"] == "ok").all()
