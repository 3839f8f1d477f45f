"""The PyMC backend refuses what it cannot do, stops when asked, and finds the posterior that NumPyro finds."""

from types import SimpleNamespace

import numpy as np
import pytest
from arviz_stats.base import array_stats
from scipy.stats import norm

from hmeta.core.errors import DeviceError
from hmeta.infer import pymc_run
from hmeta.infer.device import find_device
from hmeta.infer.nuts import run_nuts
from hmeta.infer.options import Progress, SamplerOptions, silent
from hmeta.infer.run import Run
from hmeta.spec import load_model, plan
from tests.spec.example_data import binary

N_PEOPLE, N_TRIALS = 6, 120
FALSE_ALARM = 1e-3
"""Of the comparison below, all quantities together (Bonferroni)."""


def simulated_plan():
    """People with d′ around 1.5 whose ratings come from the same evidence as their choices, so that M = 1."""
    rng = np.random.default_rng(11)
    rows = []
    for person in range(N_PEOPLE):
        d, c = rng.normal(1.5, 0.3), rng.normal(0.0, 0.2)
        stimulus = rng.integers(0, 2, N_TRIALS)
        evidence = rng.normal((stimulus - 0.5) * d, 1.0) - c
        confidence = 1 + np.searchsorted([0.4, 0.9, 1.5], np.abs(evidence))
        rows += [
            (f"p{person}", *answer) for answer in zip(stimulus, (evidence > 0).astype(int), confidence, strict=True)
        ]
    return plan(load_model("binary_hierarchical"), binary(rows, ["participant"]))


def test_missing_packages_are_named_with_the_command_that_installs_them(monkeypatch):
    monkeypatch.setattr(pymc_run, "find_spec", lambda name: None if name == "nutpie" else object())
    with pytest.raises(DeviceError, match=r'needs nutpie[\s\S]*pip install "hmeta\[pymc\]"'):
        pymc_run.run_pymc(None, SamplerOptions(), find_device("cpu"), silent)  # type: ignore[arg-type]


def test_a_gpu_is_refused():
    with pytest.raises(DeviceError, match=r"computes on the CPU[\s\S]*received: --device gpu"):
        pymc_run.run_pymc(None, SamplerOptions(), SimpleNamespace(platform="gpu"), silent)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def runs() -> tuple[Run, Run, list[Progress]]:
    made, options, device = (
        simulated_plan(),
        SamplerOptions(chains=2, warmup=300, draws=600, seed=5),
        find_device("cpu"),
    )
    reports: list[Progress] = []
    return run_nuts(made, options, device, silent), pymc_run.run_pymc(made, options, device, reports.append), reports


@pytest.mark.slow
def test_both_backends_report_the_same_names_and_shapes(runs):
    ours, theirs, reports = runs
    assert {k: v.shape for k, v in theirs.draws.items()} == {k: v.shape for k, v in ours.draws.items()}
    assert {k: (v.shape, v.dtype) for k, v in theirs.stats.items()} == {
        k: (v.shape, v.dtype) for k, v in ours.stats.items()
    }
    assert theirs.centring == ours.centring
    assert [r.stage for r in reports[:2]] == ["finding the mode", "compiling"]
    assert reports[-1].total == 900


@pytest.mark.slow
def test_both_backends_find_one_posterior(runs):
    """Means and standard deviations of every free quantity within Monte Carlo error; false alarms: 1 in 1,000."""
    ours, theirs, _ = runs
    names = [name for name in ours.draws if name != "edges" and "_free_" not in name]
    sizes = sum(ours.draws[name][0, 0].size for name in names)
    limit = norm.isf(FALSE_ALARM / (2 * 2 * sizes))
    for name in names:
        a, b = ours.draws[name], theirs.draws[name]
        for method, summary in (("mean", np.mean), ("sd", np.std)):
            error = [array_stats.mcse(x, chain_axis=0, draw_axis=1, method=method) for x in (a, b)]
            z = (summary(a, axis=(0, 1)) - summary(b, axis=(0, 1))) / np.hypot(*error)
            assert np.max(np.abs(z)) < limit, (name, method)


@pytest.mark.slow
def test_an_interrupted_run_stops():
    def interrupt(progress: Progress) -> None:
        if any(progress.chain_done):
            raise KeyboardInterrupt

    options = SamplerOptions(chains=2, warmup=100_000, draws=100_000)
    with pytest.raises(KeyboardInterrupt):
        pymc_run.run_pymc(simulated_plan(), options, find_device("cpu"), interrupt)
