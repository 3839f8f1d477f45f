"""Small fits with counts and replicated counts that are known, for figures of ratings."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from hmeta.report.inputs import FitInput
from tests.infer.synthetic_fit import fit_tree, noise

Array = np.ndarray
Count = tuple[int, int, float, float]


def with_replicates(tree: xr.DataTree, replicated: Array) -> xr.DataTree:
    """Add replicated counts, (chain, draw, row), in the order of the observed ones."""
    chains, draws, _ = replicated.shape
    coords = {"chain": np.arange(chains), "draw": np.arange(draws)}
    tree["posterior_predictive"] = xr.DataTree(
        xr.Dataset({"count": (("chain", "draw", "row"), replicated.astype(float))}, coords=coords)
    )
    return tree


def fit_of(
    counts: Sequence[Count], replicated: Array, factors: dict[str, Sequence[Any]], **attributes: Any
) -> FitInput:
    """Return a fit of cells with given observed and replicated counts."""
    n_cells = 1 + max(row[0] for row in counts)
    M = np.linspace(0.5, 1.1, n_cells) + 0.05 * noise(3, n_cells, draws=50)
    tree = fit_tree(M, factors, d=np.linspace(1, 3, n_cells), counts=counts, attributes=attributes)
    return FitInput("fit", "fit.nc", with_replicates(tree, replicated))


def units_fit(n: int, *, levels: int = 4, name: str = "unit {}", converged: int = 1) -> FitInput:
    """Return n units with `levels` confidences; those of right answers lie higher, and replicates move about them."""
    rng = np.random.default_rng(5)
    at = np.linspace(0, 100, levels) if levels > 11 else np.arange(1.0, levels + 1)
    counts, replicated = [], []
    for unit in range(n):
        for outcome, slope, total in ((0, -0.5, 40), (1, 1.0, 160)):
            p = np.exp(slope * np.linspace(0, 2, levels) * (1 - unit / max(n, 2)))
            p /= p.sum()
            observed, *again = rng.multinomial(total, p, size=1 + 80)
            counts += [(unit, outcome, float(at[k]), float(observed[k])) for k in range(levels)]
            replicated.append(np.array(again))
    draws = np.concatenate(replicated, axis=1).reshape(4, 20, -1)
    names = {"model": [name.format(i) for i in range(n)], "n_options": [4] * n}
    return fit_of(counts, draws, names, converged=converged)


def binary_fit() -> FitInput:
    """Return two people in a binary task, one cell each, three confidences, replicated 8 times as observed."""
    counts: list[Count] = []
    for cell in (0, 1):
        for outcome, numbers in enumerate(([6, 3, 1], [4, 2, 0], [3, 1, 1], [2, 5, 9 - cell])):
            counts += [(cell, outcome, float(k + 1), float(v)) for k, v in enumerate(numbers)]
    again = np.tile([row[3] for row in counts], (2, 4, 1))
    return fit_of(counts, again, {"participant": ["p1", "p2"]}, task="binary")


def by_scale_fit() -> FitInput:
    """Return one model on two scales, and another on one of them."""
    cells = [("ant", "0-100"), ("ant", "1-5"), ("bee", "0-100")]
    levels = {"0-100": (0.0, 50.0, 100.0), "1-5": (1.0, 3.0, 5.0)}
    counts = [
        (i, outcome, level, 5.0 + k * outcome)
        for i, (_, scale) in enumerate(cells)
        for outcome in (0, 1)
        for k, level in enumerate(levels[scale])
    ]
    again = np.tile([row[3] for row in counts], (2, 4, 1))
    factors = {"model": [m for m, _ in cells], "scale": [s for _, s in cells], "n_options": [4] * 3}
    return fit_of(counts, again, factors, columns=json.dumps({}))
