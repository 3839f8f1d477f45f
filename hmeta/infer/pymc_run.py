"""Sampling a plan's PyMC model: the cross-check of the NumPyro path, slower but written a second time.

nutpie samples, for it starts within seconds: the model compiles to JAX, the likelihood with it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from hmeta.core.errors import DeviceError
from hmeta.core.streams import stream
from hmeta.infer.options import Progress, Report, SamplerOptions
from hmeta.infer.run import Run
from hmeta.infer.warm_start import WarmStart, warm_start
from hmeta.spec.plan import ModelPlan

if TYPE_CHECKING:
    import pymc as pm
    from jaxlib._jax import Device

PACKAGES = ("pymc", "nutpie")
REPORT_EVERY_S = 0.1


def run_pymc(plan: ModelPlan, options: SamplerOptions, device: Device, report: Report) -> Run:
    """Sample the posterior of a plan with PyMC and nutpie.

    Parameters
    ----------
    plan : ModelPlan
    options : SamplerOptions
    device : Device
        A CPU.
    report : callable
        Receives `Progress`, from the calling thread.

    Returns
    -------
    Run
        Names and shapes as from the NumPyro path.

    Raises
    ------
    DeviceError
        Where PyMC or nutpie is not installed, or the device is not a CPU.
    """
    _refuse(device)
    from hmeta.infer.pymc_model import build, computing_everywhere

    began = time.perf_counter()
    with computing_everywhere(device):
        report(Progress("finding the mode"))
        warm = warm_start(plan)
        report(Progress("compiling", elapsed_s=time.perf_counter() - began))
        model = build(plan, warm.target.shape, warm.target.data)
        compiled = _compile(model, warm)
        tree, started_at = _sample(compiled, options, report, began)
        sampled_at = time.perf_counter()
    return Run(
        draws={str(name): np.asarray(v.values) for name, v in tree["posterior"].data_vars.items()},
        stats=_stats({str(name): v.values for name, v in tree["sample_stats"].data_vars.items()}),
        centring={k: float(v) for k, v in warm.target.data.centring.items()},
        chain_method="nutpie",
        compile_time_s=started_at - began,
        sampling_time_s=sampled_at - started_at,
    )


def _refuse(device: Device) -> None:
    missing = [name for name in PACKAGES if find_spec(name) is None]
    if missing:
        raise DeviceError(
            f"the PyMC backend needs {' and '.join(missing)}, which this Python has not",
            received="--backend pymc",
            allowed="numpyro",
            mend='install it with pip install "hmeta[pymc]", or leave --backend out',
        )
    if device.platform != "cpu":
        raise DeviceError(
            "the PyMC backend computes on the CPU",
            received=f"--device {device.platform}",
            allowed="cpu",
            mend="leave --device out, or sample with --backend numpyro",
        )


def _compile(model: pm.Model, warm: WarmStart) -> Any:
    """Return nutpie's compiled model; its chains start around the mode, each number moved by up to one."""
    import nutpie

    mode = warm.target.constrain(warm.map_.centre, warm.target.data)
    for rv in model.free_RVs:
        model.set_initval(rv, np.asarray(mode[rv.name]))
    return nutpie.compile_pymc_model(model, backend="jax", gradient_backend="jax")


def _sample(compiled: Any, options: SamplerOptions, report: Report, began: float) -> tuple[Any, float]:
    """Return nutpie's draws and statistics, and when the first iteration was done.

    JAX compiles at the first evaluation, so that the time before it is compilation. Reports come from
    this thread.
    """
    import nutpie

    latest: list[Sequence[Any]] = []
    running = nutpie.sample(
        compiled,
        draws=options.draws,
        tune=options.warmup,
        chains=options.chains,
        seed=stream(options.seed, "pymc"),
        target_accept=options.target_accept,
        maxdepth=options.max_tree_depth,
        save_warmup=False,
        progress_bar=False,
        progress_callback=latest.append,
        blocking=False,
    )
    started_at = None
    try:
        while True:
            try:
                tree = running.wait(timeout=REPORT_EVERY_S)
                return tree, started_at or time.perf_counter()
            except TimeoutError:
                now = time.perf_counter()
                progress = _progress(latest[-1] if latest else (), options, now - began)
                if started_at is None and any(progress.chain_done):
                    started_at = now
                report(progress)
    except BaseException:
        running.cancel()  # Ctrl-C ends every chain
        raise


def _progress(chains: Sequence[Any], options: SamplerOptions, elapsed: float) -> Progress:
    """Return how far nutpie's chains are."""
    done = tuple(chain.finished_draws for chain in chains) or (0,) * options.chains
    drawing = min(done) >= options.warmup
    return Progress(
        stage="sampling" if drawing else "warm-up" if any(done) else "compiling",
        chain_done=done,
        total=options.warmup + options.draws,
        divergences=sum(chain.divergences for chain in chains) if drawing else 0,
        n_steps=sum(chain.latest_num_steps for chain in chains) / max(len(chains), 1),
        elapsed_s=elapsed,
    )


def _stats(found: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return nutpie's statistics under the names, and by the definitions, of the NumPyro path."""
    n_steps = found["n_steps"].astype(np.int64)
    return {
        "diverging": found["diverging"].astype(bool),
        "n_steps": n_steps,
        "acceptance_rate": found["mean_tree_accept"],
        "energy": found["energy"],
        "lp": found["logp"],
        "tree_depth": np.ceil(np.log2(n_steps + 1)).astype(np.int64),
        "step_size": found["step_size"],
    }
