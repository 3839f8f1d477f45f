"""Fits made by hand, with draws that are known: the DataTree of docs/data-format.md without a sampler."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import xarray as xr

Array = np.ndarray
CHAINS, DRAWS = 4, 1000


def noise(seed: int, *shape: int, chains: int = CHAINS, draws: int = DRAWS) -> Array:
    """Return independent standard normal draws, (chain, draw, ...)."""
    return np.random.default_rng(seed).standard_normal((chains, draws, *shape))


def stats(chains: int, draws: int) -> xr.Dataset:
    """Return sampler statistics of a run in which nothing went wrong."""
    energy = np.random.default_rng(99).standard_normal((chains, draws))
    zero = np.zeros((chains, draws), dtype=bool)
    return xr.Dataset({"diverging": (("chain", "draw"), zero), "energy": (("chain", "draw"), energy)})


def fit_tree(
    M: Array,
    factors: Mapping[str, Sequence[Any]],
    *,
    d: Array | float = 1.5,
    extra: Mapping[str, xr.DataArray] | None = None,
    counts: Sequence[tuple[int, int, float, float]] = (),
    terms: Mapping[str, Any] | None = None,
    design: Array | None = None,
    attributes: Mapping[str, Any] | None = None,
) -> xr.DataTree:
    """Build a fit from draws of M, (chain, draw, cell).

    Parameters
    ----------
    M : (chain, draw, cell)
    factors : mapping
        Values of each factor at the cells.
    d : (chain, draw, cell) or float
    extra : mapping of str to DataArray
        Further variables of the posterior.
    counts : sequence of (cell, outcome, confidence, count)
    terms : mapping
        Of M, as in the attribute `terms`.
    design : (cell, column)
        Of the common terms of M.
    """
    chains, draws, n_cells = M.shape
    d = np.broadcast_to(d, M.shape).astype(float)
    coords: dict[str, Any] = {
        "chain": np.arange(chains),
        "draw": np.arange(draws),
        "cell": [" | ".join(map(str, row)) for row in zip(*factors.values(), strict=True)] or ["all"],
        "n_answers": ("cell", np.full(n_cells, 100.0)),
    }
    coords |= {name: ("cell", np.array(values)) for name, values in factors.items()}
    dims = ("chain", "draw", "cell")
    posterior = xr.Dataset({"M": (dims, M), "d": (dims, d), "meta_d": (dims, M * d)}, coords=coords)
    posterior = posterior.assign(dict(extra or {}))
    groups = {"/posterior": posterior, "/sample_stats": stats(chains, draws)}
    if counts:
        cell, outcome, confidence, count = (np.array(column) for column in zip(*counts, strict=True))
        rows = {"row_cell": cell, "row_outcome": outcome, "row_confidence": confidence.astype(float)}
        groups["/observed_data"] = xr.Dataset(
            {"count": ("row", count.astype(float))}, coords={k: ("row", v) for k, v in rows.items()}
        )
    if design is not None:
        groups["/constant_data"] = xr.Dataset({"M_x_common": (("cell", "M_common_column"), design)})
    groups["/hmeta"] = xr.Dataset(attrs=hmeta_attributes(terms, attributes or {}))
    return xr.DataTree.from_dict(groups)


def hmeta_attributes(terms: Mapping[str, Any] | None, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes of the group ``/hmeta``."""
    usual = {
        "hmeta_schema": "1",
        "task": "mafc",
        "options": json.dumps({"noise": "gumbel", "rule": "gap"}),
        "columns": "{}",
        "terms": json.dumps({"M": terms} if terms else {}),
        "seed": 7,
        "converged": 1,
        "reasons": "[]",
        "source": "synthetic.nc",
    }
    return usual | dict(given)


def group(name: str, *, sd: str, effects: str, dim: str, zero_sum: bool = False, **more: Any) -> dict[str, Any]:
    """Return the description of a group term with one coefficient (or those in `more`)."""
    return {
        "name": name,
        "factors": name.split(":"),
        "coefficients": ["Intercept"],
        "sd": sd,
        "cor": None,
        "effects": effects,
        "dim": dim,
        "zero_sum": zero_sum,
    } | more


MODELS, DOMAINS, SCALES = ("ant", "bee", "cat"), ("law", "math"), ("0-100", "1-5")
SCALE_M = {"0-100": 0.8, "1-5": 0.5}
MODEL_M = {"ant": -0.2, "bee": 0.0, "cat": 0.2}
DOMAIN_M = {"law": 0.1, "math": -0.1}


def by_scale_fit(
    *, spread: float = 0.05, sd: float = 0.3, link: str = "identity", drop: Sequence[tuple[str, str, str]] = ()
) -> xr.DataTree:
    """Return a fit of M ~ 0 + scale + (1 | model) + (1 | domain) over models × domains × scales.

    The centre of M at a cell is the sum of `SCALE_M`, `MODEL_M` and `DOMAIN_M` (of log M with a log link); the
    scales move independently over draws with standard deviation `spread`.
    """
    cells = [cell for cell in product(MODELS, DOMAINS, SCALES) if cell not in drop]
    moves = spread * noise(1, len(SCALES))
    scale = moves + np.array(list(SCALE_M.values()))
    fixed = [MODEL_M[m] + DOMAIN_M[k] for m, k, _ in cells]
    eta = np.stack([scale[..., SCALES.index(s)] for *_, s in cells], axis=-1) + np.array(fixed)
    draw = ("chain", "draw")
    shape = (CHAINS, DRAWS)
    extra = {
        "M_scale": xr.DataArray(scale, dims=(*draw, "M_scale_level"), coords={"M_scale_level": list(SCALES)}),
        "M_sd_model": xr.DataArray(np.full(shape, sd), dims=draw),
        "M_sd_domain": xr.DataArray(np.full(shape, 0.1), dims=draw),
        "M_model": _effects(MODEL_M, "llm"),
        "M_domain": _effects(DOMAIN_M, "domain_level"),
    }
    terms = {
        "link": link,
        "common": [{"name": "scale", "variable": "M_scale", "levels": list(SCALES)}],
        "groups": [
            group("model", sd="M_sd_model", effects="M_model", dim="llm", zero_sum=True),
            group("dataset", sd="M_sd_domain", effects="M_domain", dim="domain_level", zero_sum=True),
        ],
    }
    names = {"model": 0, "dataset": 1, "scale": 2}
    factors: dict[str, Sequence[Any]] = {name: [cell[i] for cell in cells] for name, i in names.items()}
    factors["n_options"] = [4] * len(cells)
    design = np.array([[float(s == level) for level in SCALES] for *_, s in cells])
    return fit_tree(
        np.exp(eta) if link == "log" else eta,
        factors,
        extra=extra,
        counts=[row for i in range(len(cells)) for row in _counts(i)],
        terms=terms,
        design=design,
        attributes={"columns": json.dumps({"dataset": "domain"})},
    )


def _effects(values: Mapping[str, float], dim: str) -> xr.DataArray:
    draws = np.broadcast_to(list(values.values()), (CHAINS, DRAWS, len(values)))
    return xr.DataArray(draws, dims=("chain", "draw", dim), coords={dim: list(values)})


def _counts(cell: int) -> list[tuple[int, int, float, float]]:
    """Return rows of a cell whose ratings tell right from wrong: AUROC2 above one half."""
    return [(cell, 0, 1.0, 20.0), (cell, 0, 2.0, 10.0), (cell, 1, 1.0, 20.0), (cell, 1, 2.0, 50.0)]
