"""Sampling: one seed one result, reports that only grow, a stop that leaves nothing behind, exact arithmetic."""

import threading
from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hmeta.core.errors import HmetaError
from hmeta.infer.device import find_device
from hmeta.infer.nuts import CHUNK, run_nuts
from hmeta.infer.options import SamplerOptions, silent
from hmeta.infer.run import Run

STAGES = ["finding the mode", "compiling", "warm-up", "sampling", "finishing"]
OPTIONS = SamplerOptions(chains=3, warmup=40, draws=60, seed=1)  # neither is a whole number of chunks


@pytest.fixture(scope="module")
def reported(one_person):
    reports = []
    return run_nuts(one_person, OPTIONS, find_device("cpu"), reports.append), reports


def same_draws(a: Run, b: Run) -> bool:
    return all(np.array_equal(a.draws[name], b.draws[name]) for name in a.draws)


def test_shapes_are_those_asked_for(reported):
    run, _ = reported
    assert {v.shape[:2] for v in (*run.draws.values(), *run.stats.values())} == {(3, 60)}
    assert run.chain_method == "threads"
    assert min(run.compile_time_s, run.sampling_time_s) > 0


def test_chains_differ_and_statistics_fit_together(reported):
    run, _ = reported
    M = run.draws["M_Intercept"]
    assert len(np.unique(M)) > 0.8 * M.size
    assert np.all(run.stats["n_steps"] < 2 ** run.stats["tree_depth"])
    assert np.all((run.stats["step_size"] == run.stats["step_size"][:, :1]).all(axis=1))  # warm-up is over
    assert np.all((run.stats["acceptance_rate"] >= 0) & (run.stats["acceptance_rate"] <= 1))


def test_the_same_seed_gives_the_same_draws_after_float32_work_of_the_caller(one_person, reported):
    """BUG-56 and BUG-57: a caller who has used JAX gets the same float64 draws, and float32 back."""
    assert jnp.arange(3.0).dtype == np.float32
    again = run_nuts(one_person, OPTIONS, find_device("cpu"), silent)
    assert same_draws(reported[0], again)
    assert {v.dtype for v in again.draws.values()} == {np.dtype(np.float64)}
    assert jnp.arange(3.0).dtype == np.float32
    assert not jax.config.jax_enable_x64


def test_another_seed_gives_other_draws(one_person, reported):
    other = run_nuts(one_person, SamplerOptions(chains=3, warmup=40, draws=60, seed=2), find_device("cpu"), silent)
    assert not np.isin(other.draws["M"], reported[0].draws["M"]).any()


def test_reports_only_grow(reported):
    reports = reported[1]
    stages = [STAGES.index(r.stage) for r in reports]
    assert stages == sorted(stages)
    assert set(stages) == set(range(5))
    assert all(a.elapsed_s <= b.elapsed_s for a, b in pairwise(reports))
    counted = [r for r in reports if r.chain_done]
    assert all(x <= y for a, b in pairwise(counted) for x, y in zip(a.chain_done, b.chain_done, strict=True))
    assert counted[-1].chain_done == (counted[-1].total,) * 3
    assert counted[-1].total == CHUNK * 4
    assert counted[-1].n_steps > 0


def test_ctrl_c_stops_every_chain(one_person):
    before = set(threading.enumerate())

    def interrupt(progress):
        if progress.stage in ("warm-up", "sampling"):
            raise KeyboardInterrupt

    many = SamplerOptions(chains=3, warmup=1000, draws=200_000, seed=1)
    with pytest.raises(KeyboardInterrupt):
        run_nuts(one_person, many, find_device("cpu"), interrupt)
    assert set(threading.enumerate()) <= before
    assert jnp.arange(3.0).dtype == np.float32


@pytest.mark.parametrize(
    "wrong", [{"chains": 0}, {"warmup": 5}, {"draws": 1}, {"seed": -1}, {"target_accept": 1.0}, {"max_tree_depth": 0}]
)
def test_settings_that_cannot_be_are_refused(wrong):
    with pytest.raises(HmetaError, match=next(iter(wrong))):
        SamplerOptions(**wrong)
