"""Simulate a group of people in a binary task with known efficiency; NumPy alone, nothing of hmeta.

Writes a table of trials (participant, stimulus, response, confidence) and prints the truth as JSON.

Run it with ``python benchmarks/simulate_group.py trials.csv --people 30 --trials 400 --levels 4 --seed 1``.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

MEAN_LOG_M, SD_LOG_M = float(np.log(0.8)), 0.3
MEAN_D, SD_D = 1.5, 0.4
MEAN_C, SD_C = 0.0, 0.3


def rate(rng: np.random.Generator, *, d: float, c: float, meta_d: float, edges: Floats, trials: int) -> Integers:
    """Simulate one person: rows of (stimulus, response, confidence).

    The answer comes from evidence of strength d. The rating comes from fresh evidence of strength
    meta_d that is drawn until it lies on the answer's side of c, and counts the edges it passes.
    """
    stimulus = np.arange(trials) % 2
    sign = np.where(stimulus == 1, 1.0, -1.0)
    response = (rng.normal(sign * d / 2.0, 1.0) > c).astype(int)
    side = np.where(response == 1, 1.0, -1.0)
    distance = np.full(trials, -1.0)
    while (distance <= 0.0).any():
        again = distance <= 0.0
        distance[again] = side[again] * (rng.normal(sign[again] * meta_d / 2.0, 1.0) - c)
    confidence = 1 + (distance[:, None] > edges[response]).sum(axis=1)
    return np.column_stack([stimulus, response, confidence])


def simulate_group(people: int, trials: int, levels: int, seed: int) -> tuple[Integers, dict[str, float]]:
    """Return rows of (participant, stimulus, response, confidence) and the truth of this sample."""
    rng = np.random.default_rng(seed)
    log_m = rng.normal(MEAN_LOG_M, SD_LOG_M, people)
    d = np.abs(rng.normal(MEAN_D, SD_D, people))
    c = rng.normal(MEAN_C, SD_C, people)
    steps = 2.0 / levels * np.exp(rng.normal(0.0, 0.3, (people, 2, levels - 1)))
    edges = steps.cumsum(axis=2)  # (person, response, edge)
    blocks = []
    for p in range(people):
        rows = rate(rng, d=d[p], c=c[p], meta_d=np.exp(log_m[p]) * d[p], edges=edges[p], trials=trials)
        blocks.append(np.column_stack([np.full(trials, p), rows]))
    truth = {
        "population_mean_log_m": MEAN_LOG_M,
        "population_sd_log_m": SD_LOG_M,
        "sample_mean_log_m": float(log_m.mean()),
        "sample_sd_log_m": float(log_m.std(ddof=1)),
        "sample_mean_d": float(d.mean()),
    }
    return np.concatenate(blocks), truth


def write_trials(path: Path, rows: Integers) -> None:
    """Write the rows as CSV with names for the participants."""
    lines = [f"p{int(p):02d},{int(s)},{int(r)},{int(k)}" for p, s, r, k in rows]
    path.write_text("\n".join(["participant,stimulus,response,confidence", *lines]) + "\n", encoding="utf-8")


def main() -> None:
    """Simulate as the command line asks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output", type=Path)
    parser.add_argument("--people", type=int, default=30)
    parser.add_argument("--trials", type=int, default=400)
    parser.add_argument("--levels", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    rows, truth = simulate_group(asked.people, asked.trials, asked.levels, asked.seed)
    write_trials(asked.output, rows)
    print(json.dumps(truth, indent=1))


if __name__ == "__main__":
    main()
