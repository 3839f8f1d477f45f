"""Rank statistics of simulation-based calibration that are exact for any number of draws, however dependent.

The sampler starts at the parameters that made the data, which are one draw from the posterior, and runs to
both sides of it: a number of draws chosen at random comes before the truth and the rest after it. Since
the sampler's step, once tuned on the data alone, is reversible, the truth then has every rank alike
(Gandy & Scott 2020, "Unit testing for MCMC and other Monte Carlo methods"). Slow mixing costs power
but raises no false alarm, so that no data set has to be left out.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from scipy import stats

from hmeta.infer import nuts, whitening
from hmeta.infer.data import Data
from hmeta.infer.device import computing, find_device
from hmeta.infer.options import SamplerOptions
from hmeta.infer.warm_start import WarmStart, warm_start
from hmeta.spec.plan import ModelPlan

CHUNKS_OF_WARMUP = 8
CHUNKS_EACH_WAY = 8
THIN = 5
KEPT = CHUNKS_EACH_WAY * nuts.CHUNK // THIN
"""Draws that the truth is ranked among; ranks run from 0 to this number."""

Quantities = Callable[[dict[str, np.ndarray]], dict[str, np.ndarray]]
"""From every site, each (draw, ...), to scalars to rank, each (draw,)."""

OPTIONS = SamplerOptions(warmup=CHUNKS_OF_WARMUP * nuts.CHUNK)
WORKERS = 2


@dataclass(frozen=True)
class Replicate:
    """One data set and what made it.

    Attributes
    ----------
    sites : dict
        True values of the sampled sites, as named in the fit file: natural scale, effects in place of
        free numbers, log gaps.
    counts : (cell, outcome, level)
    """

    sites: dict[str, np.ndarray]
    counts: np.ndarray


@dataclass(frozen=True)
class Ranker:
    """The compiled programs of one plan, of which every level of every pair occurs, for data of its shape."""

    plan: ModelPlan

    @cached_property
    def _warm(self) -> WarmStart:
        return warm_start(self.plan)

    @cached_property
    def _unwhiten(self) -> np.ndarray:
        """The inverse of the whitening map, (whitened, position)."""
        map_, size = self._warm.map_, self._warm.target.size
        columns = [np.asarray(whitening.apply(map_, jnp.asarray(e)) - map_.centre) for e in np.eye(size)]
        return np.linalg.inv(np.stack(columns, axis=1))

    @cached_property
    def _programs(self) -> tuple[Callable[..., Any], ...]:
        target, made = self._warm.target, nuts._programs(self._warm.target, OPTIONS)

        def potential(y: Any, data: Data, map_: whitening.Whitening) -> Any:
            return target.potential(whitening.apply(map_, y), data)

        def constrain(y: Any, data: Data, map_: whitening.Whitening) -> dict[str, Any]:
            return jax.vmap(lambda one: target.constrain(whitening.apply(map_, one), data))(y)

        return tuple(jax.jit(f) for f in (made.start, made.advance, jax.value_and_grad(potential), constrain))

    def data(self, counts: np.ndarray) -> Data:
        """Return the plan's arrays with other counts, zeros included."""
        base = self._warm.target.data
        rows, longest = base.rows, self._warm.target.shape.ladders[1]
        cell, outcome = np.asarray(rows.pair_cell), np.asarray(rows.pair_outcome)

        def of(pair: Any, lo: Any) -> Any:
            pair = np.asarray(pair)
            return jnp.asarray(counts[cell[pair], outcome[pair], np.asarray(lo) % longest], dtype=float)

        counted = rows._replace(
            pair_count=jnp.asarray(counts.sum(axis=2)[cell, outcome], dtype=float),
            between_count=of(rows.between_pair, rows.between_lo),
            above_count=of(rows.above_pair, rows.above_lo),
        )
        assert float(counted.pair_count.sum()) == counts.sum()
        return base._replace(rows=counted)

    def whitened(self, truth: dict[str, np.ndarray], data: Data) -> np.ndarray:
        """Return where the sampler stands when it stands at the truth."""
        target = self._warm.target
        position = np.full(target.size, np.nan)
        for name, place in target.positions.items():
            if "_free_" in name:
                effects, key = truth[name.replace("_free_", "_")], name.replace("_free_", ".")
                sd, n = truth[name.replace("_free_", "_sd_")], len(effects)
                # The reflection that makes effects of free numbers, undone: f_i = e_i - e_n √n / (√n + n).
                free = (effects[:-1] - effects[-1] * np.sqrt(n) / (np.sqrt(n) + n)) / sd ** (
                    1.0 - float(data.centring[key])
                )
                position[place.astype(int)] = free[:, None]
            elif "_sd_" in name:
                position[place.astype(int)] = np.log(truth[name])
            else:
                position[place.astype(int)] = truth[name]
        return self._unwhiten @ (position - np.asarray(self._warm.map_.centre))

    def ranks(
        self, replicate: Replicate, quantities: Callable[[Any], dict[str, np.ndarray]], seed: int
    ) -> dict[str, int]:
        """Return the rank of the truth among the draws, from 0 to `KEPT`, for each quantity of a scalar."""
        start, advance, value_and_slope, constrain = self._programs
        data, map_ = self.data(replicate.counts), self._warm.map_
        rng, key = np.random.default_rng(seed), jax.random.key(seed)
        state = start(key, data, map_)
        for _ in range(CHUNKS_OF_WARMUP):
            state, _ = advance(state, data, map_)
        truth = jnp.asarray(self.whitened(replicate.sites, data))
        value, slope = value_and_slope(truth, data, map_)
        after = int(rng.integers(KEPT + 1))
        sides = []
        for kept, side in ((after, 0), (KEPT - after, 1)):
            here = state._replace(
                z=truth, potential_energy=value, z_grad=slope, rng_key=jax.random.fold_in(state.rng_key, side)
            )
            walked = []
            for _ in range(CHUNKS_EACH_WAY):
                here, trace = advance(here, data, map_)
                walked.append(np.asarray(trace.position)[THIN - 1 :: THIN])
            sides.append(np.concatenate(walked)[:kept])
        draws = np.concatenate([np.asarray(truth)[None], *sides])
        found = quantities({k: np.asarray(v) for k, v in constrain(jnp.asarray(draws), data, map_).items()})
        return {name: _rank(values, rng) for name, values in found.items()}

    def all_ranks(self, replicates: list[Replicate], quantities: Quantities, seed: int) -> dict[str, np.ndarray]:
        """Return the ranks of every replicate, by quantity."""
        device = find_device("cpu")
        with computing(device):
            self._programs, self._unwhiten  # noqa: B018 - made once, before threads ask for them
            first = self.ranks(replicates[0], quantities, seed)

        def one(number: int) -> dict[str, int]:
            with computing(device):
                return self.ranks(replicates[number], quantities, seed + number)

        with ThreadPoolExecutor(WORKERS) as pool:
            rest = list(pool.map(one, range(1, len(replicates))))
        return {name: np.array([r[name] for r in [first, *rest]]) for name in first}


def _rank(values: np.ndarray, rng: np.random.Generator) -> int:
    """Return the rank of the first value among the rest, ties broken at random (a step may stay put)."""
    truth, draws = values[0], values[1:]
    assert np.isfinite(values).all()
    return int((draws < truth).sum() + rng.integers((draws == truth).sum() + 1))


BINS = 10


def uniformity(ranks: np.ndarray) -> float:
    """Return a p value against uniform ranks: twice the smaller of a chi-square test's and an ECDF band's.

    The band is that of Dvoretzky, Kiefer, Wolfowitz and Massart, valid for discrete values as well.
    """
    edges = np.linspace(0, KEPT + 1, BINS + 1)
    observed = np.histogram(ranks, edges)[0]
    per_bin = np.diff(np.ceil(edges)) / (KEPT + 1)
    by_bins = stats.chisquare(observed, per_bin * len(ranks)).pvalue
    grid = np.arange(KEPT + 1)
    distance = np.abs((ranks[:, None] <= grid).mean(axis=0) - (grid + 1) / (KEPT + 1)).max()
    by_band = min(1.0, 2.0 * np.exp(-2.0 * len(ranks) * distance**2))
    return min(1.0, 2.0 * min(by_bins, by_band))
