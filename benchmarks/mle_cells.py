"""Time maximum likelihood of many binary cells against a plain SciPy loop over some of them.

Usage: python benchmarks/mle_cells.py [cells] [cells of the loop]
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.stats import norm

from hmeta.infer.mle import fit_mle

Floats = NDArray[np.float64]

N_LEVELS = 4
STEPS = (0.5, 1.0, 1.5)


@dataclass(frozen=True)
class Table:
    """A count table of binary cells."""

    task: str
    cells: pd.DataFrame
    cell: NDArray[np.int64]
    outcome: NDArray[np.int64]
    confidence: Floats
    count: Floats


def simulate(n_cells: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw counts ``(cell, stimulus, 2 K)`` of 200 trials a stimulus with d around 1.5 and M around 0.8."""
    d, ratio = rng.normal(1.5, 0.3, n_cells), rng.normal(0.8, 0.15, n_cells)
    c = rng.normal(0.0, 0.2, n_cells)
    counts = np.zeros((n_cells, 2, 2 * N_LEVELS), dtype=np.int64)
    distances = np.array([0.0, *STEPS, np.inf])
    for cell in range(n_cells):
        for stimulus, sign in enumerate((-1.0, 1.0)):
            right = norm.sf(c[cell] - sign * d[cell] / 2)
            above = norm.sf(c[cell] + distances - sign * ratio[cell] * d[cell] / 2)
            below = norm.cdf(c[cell] - distances - sign * ratio[cell] * d[cell] / 2)
            up, down = -np.diff(above) / above[0] * right, -np.diff(below) / below[0] * (1 - right)
            counts[cell, stimulus] = rng.multinomial(200, np.concatenate([down[::-1], up]))
    return counts


def table_of(counts: NDArray[np.int64]) -> Table:
    """Return the counts as rows."""
    cell, stimulus, place = np.nonzero(counts)
    response = (place >= N_LEVELS).astype(int)
    confidence = np.where(response == 1, place - N_LEVELS + 1, N_LEVELS - place).astype(float)
    frame = pd.DataFrame({"participant": np.arange(len(counts))})
    return Table("binary", frame, cell, 2 * stimulus + response, confidence, counts[counts > 0].astype(float))


def fit_by_scipy(counts: NDArray[np.int64]) -> float:
    """Return meta_d of one cell by SciPy's constrained optimiser, as the field's tools do it."""
    n0, n1 = counts.sum(axis=1)
    z0 = norm.isf(counts[0, N_LEVELS:].sum() / n0)
    z1 = norm.isf(counts[1, N_LEVELS:].sum() / n1)
    c = 0.5 * (z0 + z1)

    def loss(x: Floats) -> float:
        total = 0.0
        up = np.concatenate([[0.0], np.cumsum(np.exp(x[1:N_LEVELS])), [np.inf]])
        down = np.concatenate([[0.0], np.cumsum(np.exp(x[N_LEVELS:])), [np.inf]])
        for stimulus, sign in enumerate((-1.0, 1.0)):
            above = norm.sf(c + up - sign * x[0] / 2)
            below = norm.cdf(c - down - sign * x[0] / 2)
            high = np.log(np.maximum(-np.diff(above), 1e-300)) - np.log(above[0])
            low = np.log(np.maximum(-np.diff(below), 1e-300)) - np.log(below[0])
            total -= counts[stimulus] @ np.concatenate([low[::-1], high])
        return total

    start = np.concatenate([[z0 - z1], np.full(2 * (N_LEVELS - 1), np.log(0.5))])
    return float(minimize(loss, start, method="BFGS").x[0])


def main() -> None:
    """Print times, their ratio for one cell, and the largest disagreement."""
    n_cells, n_loop = (int(x) for x in (*sys.argv[1:], *("1000", "20")[len(sys.argv) - 1 :]))
    counts = simulate(n_cells, np.random.default_rng(1))
    table = table_of(counts)
    began = time.perf_counter()
    fit_mle(table)
    first = time.perf_counter() - began
    began = time.perf_counter()
    frame = fit_mle(table)
    second = time.perf_counter() - began
    began = time.perf_counter()
    plain = np.array([fit_by_scipy(cell) for cell in counts[:n_loop]])
    loop = time.perf_counter() - began
    worst = np.nanmax(np.abs(plain - frame["meta_d"].to_numpy()[:n_loop]))
    print(f"{n_cells} cells: first call {first:.2f} s (with compilation), again {second:.3f} s")
    print(
        f"plain SciPy loop: {loop / n_loop * 1e3:.1f} ms a cell; ratio a cell {loop / n_loop / (second / n_cells):.0f}"
    )
    print(f"status: {frame['status'].value_counts().to_dict()}; largest difference of meta_d {worst:.1e}")


if __name__ == "__main__":
    main()
