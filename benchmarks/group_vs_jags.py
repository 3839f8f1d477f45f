"""The binary group model in hmeta and in JAGS, in one run: effective draws of the mean log M per second.

Needs ``jags`` and R with ``rjags`` (on Debian and Ubuntu: apt install jags r-cran-rjags).

Run it with ``python benchmarks/group_vs_jags.py``.

Both sides see the same simulated table, the same likelihood and the same priors, and run as many chains at
a time as there are cores. The quantity is the mean of log M over the people of the sample.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from arviz_stats.base.array import array_stats
from numpy.typing import NDArray
from simulate_group import simulate_group, write_trials

import hmeta

Floats = NDArray[np.float64]

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Sampled:
    """What one side gives: draws of the mean log M, and where its seconds went."""

    name: str
    draws: Floats  # (chain, draw)
    preparing_s: float  # compiling, adapting, warming up
    sampling_s: float

    @property
    def bulk_ess(self) -> float:
        """Effective draws of the mean log M (bulk, rank-normalised)."""
        return _statistic("ess", self.draws, method="bulk")

    @property
    def rhat(self) -> float:
        """Rank-normalised R-hat of the mean log M."""
        return _statistic("rhat", self.draws)


def _statistic(name: str, draws: Floats, **options: str) -> float:
    value: Any = getattr(array_stats, name)(draws, chain_axis=0, draw_axis=1, **options)
    return float(value)


def sample_jags(trials: Path, asked: argparse.Namespace) -> Sampled:
    """Run one R process a chain, as many at a time as there are cores."""

    def run(chain: int) -> tuple[Floats, dict[str, float]]:
        target = trials.with_name(f"jags{chain}.csv")
        sizes = [1, 1000, asked.jags_burn_in, asked.jags_draws, asked.seed + 100 * chain]
        command = ["Rscript", str(HERE / "jags" / "group.R"), str(trials), str(target), *map(str, sizes)]
        subprocess.run(command, check=True)
        draws = pd.read_csv(target)["sample_mean_log_m"].to_numpy(dtype=np.float64)
        return draws, json.loads(target.with_suffix(".csv.seconds").read_text(encoding="utf-8"))

    start = time.perf_counter()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        chains = list(pool.map(run, range(asked.chains)))
    wall = time.perf_counter() - start
    spent = [seconds["sampling_s"] for _, seconds in chains]
    share = sum(spent) / sum(sum(seconds.values()) for _, seconds in chains)
    return Sampled("JAGS", np.stack([draws for draws, _ in chains]), wall * (1.0 - share), wall * share)


def sample_hmeta(trials: Path, asked: argparse.Namespace) -> Sampled:
    """Fit the same table twice; the second fit, with another seed, finds its program compiled."""
    results = hmeta.validate(hmeta.import_table(trials)).dataset
    sizes = {"chains": asked.chains, "warmup": asked.warmup, "draws": asked.draws}
    hmeta.fit(results, "binary_hierarchical", seed=asked.seed, **sizes)
    start = time.perf_counter()
    fitted = hmeta.fit(results, "binary_hierarchical", seed=asked.seed + 1, **sizes)
    wall = time.perf_counter() - start
    log_m: Any = np.log(fitted["posterior"]["M"])
    draws = log_m.mean([dim for dim in log_m.dims if dim not in ("chain", "draw")]).transpose("chain", "draw")
    sampling = float(fitted["hmeta"].attrs["sampling_time_s"])
    return Sampled("hmeta", draws.to_numpy(), wall - sampling, sampling)


def report(sides: list[Sampled], truth: float) -> None:
    """Print both sides and their ratio."""
    print(f"mean log M of the sample: truth {truth:.3f}")
    for side in sides:
        rate, whole = side.bulk_ess / side.sampling_s, side.bulk_ess / (side.sampling_s + side.preparing_s)
        print(
            f"{side.name:5s} {side.draws.mean():.4f} ± {side.draws.std():.4f}, R-hat {side.rhat:.4f}, "
            f"{side.draws.size} draws, bulk ESS {side.bulk_ess:.0f}; prepared in {side.preparing_s:.1f} s, "
            f"sampled in {side.sampling_s:.1f} s; ESS per second {rate:.1f} (with preparation {whole:.1f})"
        )
    rates = [side.bulk_ess / side.sampling_s for side in sides]
    print(f"{sides[0].name} / {sides[1].name}: {rates[0] / rates[1]:.1f} × the effective draws per second of sampling")


def main() -> None:
    """Simulate, sample on both sides, report."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, value in {"people": 30, "trials": 400, "levels": 4, "seed": 1, "chains": 4}.items():
        parser.add_argument(f"--{name}", type=int, default=value)
    for name, value in {"warmup": 1000, "draws": 1000, "jags-burn-in": 1000, "jags-draws": 5000}.items():
        parser.add_argument(f"--{name}", type=int, default=value)
    asked = parser.parse_args()
    rows, truth = simulate_group(asked.people, asked.trials, asked.levels, asked.seed)
    with tempfile.TemporaryDirectory() as folder:
        trials = Path(folder) / "trials.csv"
        write_trials(trials, rows)
        sides = [sample_hmeta(trials, asked), sample_jags(trials, asked)]
    report(sides, truth["sample_mean_log_m"])


if __name__ == "__main__":
    main()
