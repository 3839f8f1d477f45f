"""Every number in a posterior by name, and the order of the criteria."""

from __future__ import annotations

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from hmeta.core.errors import DataError

Floats = NDArray[np.float64]


def list_quantities(posterior: xr.Dataset) -> tuple[pd.DataFrame, Floats]:
    """Return the name of every number in the posterior and its draws, (quantity, chain, draw)."""
    names: list[tuple[str, str]] = []
    blocks = []
    for name, variable in posterior.data_vars.items():
        if {"chain", "draw"} <= set(variable.dims) and variable.dtype.kind in "fiub":
            rest = [d for d in variable.dims if d not in ("chain", "draw")]
            ordered = variable.transpose(*rest, "chain", "draw")
            block = np.asarray(ordered.values, dtype=np.float64).reshape(-1, *ordered.shape[-2:])
            blocks.append(block)
            names += [(label, str(name)) for label in _labels(str(name), ordered, rest)]
    if not blocks:
        raise DataError("the fit holds no draws")
    return pd.DataFrame(names, columns=["quantity", "variable"]), np.concatenate(blocks)


def _labels(name: str, variable: xr.DataArray, dims: list) -> list[str]:
    if not dims:
        return [name]
    if dims == ["criterion"] and "criterion_group" in variable.coords:
        parts = [variable[f"criterion_{c}"].values for c in ("group", "outcomes", "level")]
        return [f"{name}[{g} | {o} | {level:g}]" for g, o, level in zip(*parts, strict=True)]
    values = [[str(v) for v in variable[d].values] if d in variable.coords else None for d in dims]
    axes = [v if v is not None else list(map(str, range(variable.sizes[d]))) for v, d in zip(values, dims, strict=True)]
    grid = np.meshgrid(*[np.array(a, dtype=object) for a in axes], indexing="ij")
    return [f"{name}[{', '.join(parts)}]" for parts in zip(*[g.ravel() for g in grid], strict=True)]


def count_disordered(posterior: xr.Dataset, lowest: float = 0.0) -> int:
    """Return in how many draws some ladder's criteria are not strictly increasing above the lowest edge."""
    if "criteria" not in posterior or "criterion_level" not in posterior["criteria"].coords:
        return 0
    criteria = posterior["criteria"].transpose("criterion", "chain", "draw")
    keys = pd.DataFrame({k: criteria[f"criterion_{k}"].values for k in ("group", "outcomes", "level")})
    order = keys.reset_index().sort_values(["group", "outcomes", "level"])["index"].to_numpy()
    ladder = keys.groupby(["group", "outcomes"]).ngroup().to_numpy()[order]
    values = np.asarray(criteria.values, dtype=np.float64)[order]
    below = np.concatenate([np.zeros_like(values[:1]), values[:-1]])
    below[np.flatnonzero(np.diff(ladder, prepend=-1))] = lowest
    return int((~(values > below)).any(axis=0).sum())
