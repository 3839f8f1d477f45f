"""The No-U-Turn sampler on whitened coordinates, in chunks that report and can be interrupted.

One compiled program advances one chain by a chunk, in warm-up and sampling alike. On a CPU each chain
runs it in a thread of its own (XLA releases the interpreter lock), which needs no device count set
before JAX starts; on a GPU chains are vectorised.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpyro.infer.hmc import hmc

from hmeta.core.streams import stream
from hmeta.infer import whitening
from hmeta.infer.data import Data
from hmeta.infer.device import computing
from hmeta.infer.options import Progress, Report, SamplerOptions
from hmeta.infer.run import Run
from hmeta.infer.target import Target
from hmeta.infer.warm_start import WarmStart, warm_start
from hmeta.spec.plan import ModelPlan

if TYPE_CHECKING:
    from jaxlib._jax import Device

CHUNK = 25
CONSTRAIN_BATCH = 250
START_SPREAD = 1.0
"""Chains start this many approximate posterior standard deviations around the mode."""


class Trace(NamedTuple):
    """What each iteration leaves."""

    position: Array  # (number,), whitened
    diverging: Array
    n_steps: Array
    acceptance_rate: Array
    energy: Array
    potential: Array
    step_size: Array


class Programs(NamedTuple):
    """Compiled programs of one target and sampler setting."""

    start: Callable[..., Any]
    advance: Callable[..., Any]


def run_nuts(plan: ModelPlan, options: SamplerOptions, device: Device, report: Report) -> Run:
    """Sample the posterior of a plan.

    Parameters
    ----------
    plan : ModelPlan
    options : SamplerOptions
    device : Device
    report : callable
        Receives `Progress`, from the calling thread.

    Returns
    -------
    Run
    """
    began = time.perf_counter()
    with computing(device):
        report(Progress("finding the mode"))
        warm = warm_start(plan)
        report(Progress("compiling", elapsed_s=time.perf_counter() - began))
        chains = _Chains(warm, options, device)
        compiled_at = time.perf_counter()
        board = _Board(options, chains.total, report, began)
        traces = chains.run(board)
        sampled_at = time.perf_counter()
        report(Progress("finishing", elapsed_s=sampled_at - began))
        draws = _constrained(warm, np.asarray(traces.position))
    return Run(
        draws=draws,
        stats=_stats(traces),
        centring={k: float(v) for k, v in warm.target.data.centring.items()},
        chain_method=chains.method,
        compile_time_s=compiled_at - began,
        sampling_time_s=sampled_at - board.warm_at,
        warmup_time_s=board.warm_at - compiled_at,
    )


def _programs(target: Target, options: SamplerOptions) -> Programs:
    def potential_of(data: Data, map_: whitening.Whitening) -> Callable[[Array], Array]:
        return lambda y: target.potential(whitening.apply(map_, y), data)

    initialise, sample = hmc(potential_fn_gen=potential_of, algo="NUTS")

    def start(key: Array, data: Data, map_: whitening.Whitening) -> Any:
        key_position, key_chain = jax.random.split(key)
        return initialise(
            START_SPREAD * jax.random.normal(key_position, (target.size,)),
            options.warmup,
            step_size=0.3,
            target_accept_prob=options.target_accept,
            max_tree_depth=options.max_tree_depth,
            model_args=(data, map_),
            rng_key=key_chain,
        )

    def advance(state: Any, data: Data, map_: whitening.Whitening) -> tuple[Any, Trace]:
        def one(state: Any, _: None) -> tuple[Any, Trace]:
            step_size = state.adapt_state.step_size
            state = sample(state, model_args=(data, map_))
            kept = (state.z, state.diverging, state.num_steps, state.accept_prob, state.energy, state.potential_energy)
            return state, Trace(*kept, step_size)

        return jax.lax.scan(one, state, None, length=CHUNK)

    return Programs(start, advance)


class _Chains:
    """Chains in step with each other's reports."""

    def __init__(self, warm: WarmStart, options: SamplerOptions, device: Device) -> None:
        self.options, self.device = options, device
        self.arguments = (warm.target.data, warm.map_)
        self.method = "threads" if device.platform == "cpu" else "vectorised"
        programs = _programs(warm.target, options)
        key = jax.random.key(stream(options.seed, "nuts"))
        keys = jax.random.split(key, options.chains)
        begin = jax.jit(jax.vmap(programs.start, in_axes=(0, None, None)))
        self.states = begin(keys, *self.arguments)
        if self.method == "threads":
            example = jax.tree.map(lambda x: x[0], self.states)
            self.advance = jax.jit(programs.advance).lower(example, *self.arguments).compile()
        else:
            vectorised = jax.vmap(programs.advance, in_axes=(0, None, None))
            self.advance = jax.jit(vectorised).lower(self.states, *self.arguments).compile()

    @property
    def total(self) -> int:
        """Iterations of each chain, rounded up to whole chunks."""
        wanted = self.options.warmup + self.options.draws
        return CHUNK * -(-wanted // CHUNK)

    def run(self, board: _Board) -> Trace:
        """Return the traces after warm-up, each (chain, draw, ...)."""
        if self.method == "vectorised":
            return self._run_vectorised(board)
        stop = threading.Event()
        with ThreadPoolExecutor(self.options.chains) as pool:
            running = [pool.submit(self._run_chain, c, board, stop) for c in range(self.options.chains)]
            try:
                while not all(r.done() for r in running):
                    board.show()
                    time.sleep(0.1)
                finished = [r.result() for r in running]
            except BaseException:
                stop.set()  # a chain stops at its next chunk; Ctrl-C must not wait for the rest
                raise
        board.show()
        return jax.tree.map(lambda *parts: np.stack(parts), *finished)

    def _run_chain(self, chain: int, board: _Board, stop: threading.Event) -> Trace:
        state = jax.tree.map(lambda x: x[chain], self.states)
        kept = []
        with computing(self.device):
            for done in range(0, self.total, CHUNK):
                if stop.is_set():
                    raise KeyboardInterrupt
                state, trace = self.advance(state, *self.arguments)
                trace = jax.tree.map(np.asarray, trace)
                board.note(chain, done + CHUNK, trace)
                kept.append(_after_warmup(trace, done, self.options))
        return jax.tree.map(lambda *parts: np.concatenate(parts), *kept)

    def _run_vectorised(self, board: _Board) -> Trace:
        states, kept = self.states, []
        for done in range(0, self.total, CHUNK):
            states, trace = self.advance(states, *self.arguments)
            trace = jax.tree.map(np.asarray, trace)  # (chain, iteration, ...)
            for chain in range(self.options.chains):
                board.note(chain, done + CHUNK, jax.tree.map(lambda x, c=chain: x[c], trace))
            board.show()
            kept.append(jax.tree.map(lambda x, d=done: _cut(x, d, self.options, axis=1), trace))
        return jax.tree.map(lambda *parts: np.concatenate(parts, axis=1), *kept)


def _cut(values: np.ndarray, done: int, options: SamplerOptions, *, axis: int) -> np.ndarray:
    """Return the iterations of a chunk that are draws: after warm-up and not beyond the wanted number."""
    first = min(max(options.warmup - done, 0), CHUNK)
    last = min(max(options.warmup + options.draws - done, 0), CHUNK)
    return values[(slice(None),) * axis + (slice(first, last),)]


def _after_warmup(trace: Trace, done: int, options: SamplerOptions) -> Trace:
    return jax.tree.map(lambda x: _cut(x, done, options, axis=0), trace)


class _Board:
    """Where chains note how far they are."""

    def __init__(self, options: SamplerOptions, total: int, report: Report, began: float) -> None:
        self.options, self.total, self.report, self.began = options, total, report, began
        self.done = [0] * options.chains
        self.steps = [0.0] * options.chains
        self.divergences = [0] * options.chains
        self.warm_at = began

    def note(self, chain: int, done: int, trace: Trace) -> None:
        self.steps[chain] = float(trace.n_steps.mean())
        if done > self.options.warmup:
            self.divergences[chain] += int(trace.diverging.sum())
        was_warm, self.done[chain] = min(self.done) >= self.options.warmup, done
        if not was_warm and min(self.done) >= self.options.warmup:
            self.warm_at = time.perf_counter()

    def show(self) -> None:
        stage = "sampling" if min(self.done) >= self.options.warmup else "warm-up"
        elapsed = time.perf_counter() - self.began
        steps = sum(self.steps) / len(self.steps)
        self.report(Progress(stage, tuple(self.done), self.total, sum(self.divergences), steps, elapsed))


def _constrained(warm: WarmStart, positions: np.ndarray) -> dict[str, np.ndarray]:
    """Return every site and deterministic quantity of every draw, each (chain, draw, ...)."""
    chains, draws, size = positions.shape

    @jax.jit
    def constrain(batch: Array, data: Data, map_: whitening.Whitening) -> dict[str, Array]:
        return jax.vmap(lambda y: warm.target.constrain(whitening.apply(map_, y), data))(batch)

    flat = positions.reshape(-1, size)
    missing = -len(flat) % CONSTRAIN_BATCH  # one shape, one program
    padded = np.concatenate([flat, np.repeat(flat[-1:], missing, axis=0)])
    parts = [
        jax.tree.map(np.asarray, constrain(jnp.asarray(batch), warm.target.data, warm.map_))
        for batch in np.split(padded, len(padded) // CONSTRAIN_BATCH)
    ]
    whole = {name: np.concatenate([part[name] for part in parts])[: len(flat)] for name in parts[0]}
    return {name: value.reshape(chains, draws, *value.shape[1:]) for name, value in whole.items()}


def _stats(traces: Trace) -> dict[str, np.ndarray]:
    return {
        "diverging": np.asarray(traces.diverging, dtype=bool),
        "n_steps": np.asarray(traces.n_steps, dtype=np.int64),
        "acceptance_rate": np.asarray(traces.acceptance_rate),
        "energy": np.asarray(traces.energy),
        "lp": -np.asarray(traces.potential),
        "tree_depth": np.ceil(np.log2(np.asarray(traces.n_steps) + 1)).astype(np.int64),
        "step_size": np.asarray(traces.step_size),
    }
