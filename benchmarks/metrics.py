"""Time bootstrap intervals of measures on counts, against scikit-learn on rows, and against the number of trials.

Usage: python benchmarks/metrics.py [resamples]
"""

from __future__ import annotations

import resource
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hmeta.assess.compute import compute_metrics
from hmeta.assess.table import Resampling
from hmeta.core.files import read_dataset
from hmeta.trials.counts import counts_dataset

ATLAS = Path(__file__).resolve().parents[1] / "data" / "mmlu_atlas.nc"
MEASURES = ["auroc2", "ece", "brier", "meta_i"]
SCALE = pd.DataFrame({"scale_id": ["0-100"], "scale_lower": [0.0], "scale_upper": [100.0], "scale_step": [1.0]})
LEVELS = np.array([50, 60, 70, 75, 80, 85, 90, 92, 95, 98, 99, 100])


def time_atlas(resamples: int) -> float:
    """Return the seconds for every measure of 33 models × 6 domains and the 33 pooled values."""
    data = read_dataset(ATLAS)
    began = time.perf_counter()
    table = compute_metrics(data, MEASURES, by=["domain"], resampling=Resampling(size=resamples))
    taken = time.perf_counter() - began
    segments = table.frame[table.frame["domain"] != "(all)"]
    n_answers = segments.groupby("metric")["n"].sum().max()
    print(f"atlas: {len(table.frame) // len(MEASURES)} cells, {n_answers:,.0f} answers, {len(MEASURES)} measures,")
    print(f"  {resamples:,} resamples: {taken:.1f} s")
    return taken


def rows_of_one_model(n: int, rng: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Draw correctness and confidence of answers at a dozen levels."""
    confidence = rng.choice(LEVELS, size=n).astype(float)
    return (rng.random(n) < 0.3 + 0.006 * confidence).astype(np.int64), confidence


def time_sizes(resamples: int) -> None:
    """Print the time for one model with a thousand to ten million answers, counted first."""
    rng = np.random.default_rng(1)
    first = None
    for n in (10**3, 10**5, 10**7):
        correct, confidence = rows_of_one_model(n, rng)
        frame = pd.DataFrame({"model": "m", "correct": correct, "confidence": confidence})
        counted = frame.groupby(["model", "correct", "confidence"]).size().rename("count").reset_index()
        data = counts_dataset(counted, task="open", scales=SCALE)
        began = time.perf_counter()
        compute_metrics(data, MEASURES, resampling=Resampling(size=resamples))
        taken = time.perf_counter() - began
        first = taken if first is None else first
        print(f"one model, {n:>10,} answers: {taken:.2f} s, {taken / first:.1f} times that of 1,000")


def compare_with_rows(resamples: int) -> None:
    """Print what a loop over resampled rows through scikit-learn costs for AUROC2 alone."""
    from sklearn.metrics import roc_auc_score

    rng = np.random.default_rng(2)
    correct, confidence = rows_of_one_model(1500, rng)
    data = counts_dataset(
        pd.DataFrame({"model": "m", "correct": correct, "confidence": confidence, "count": 1}),
        task="open",
        scales=SCALE,
    )
    began = time.perf_counter()
    compute_metrics(data, ["auroc2"], resampling=Resampling(size=resamples))
    ours = time.perf_counter() - began
    n_loop = 200
    began = time.perf_counter()
    for _ in range(n_loop):
        drawn = rng.integers(0, len(correct), len(correct))
        roc_auc_score(correct[drawn], confidence[drawn])
    loop = (time.perf_counter() - began) / n_loop * resamples
    print(f"AUROC2 of 1,500 answers, {resamples:,} resamples: {ours:.2f} s; rows through scikit-learn {loop:.1f} s,")
    print(f"  ratio {loop / ours:.0f}")


def main() -> None:
    """Print all times and the peak memory."""
    resamples = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    time_atlas(resamples)
    time_sizes(resamples)
    compare_with_rows(resamples)
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB")


if __name__ == "__main__":
    main()
