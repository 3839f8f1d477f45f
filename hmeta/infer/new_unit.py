"""The prediction for a unit that was not observed: new group effects where its terms need them.

A group term that involves the new unit gets effects drawn from its spread; every other term keeps the effects
that were estimated. Effects that sum to zero over n levels are deviations from the mean of these n: a further
level deviates from that mean with variance sd² (1 + 1/n).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from hmeta.core.streams import stream
from hmeta.infer.fitted import Fitted
from hmeta.infer.links import inverse_link

Floats = NDArray[np.float64]
NEW = "(new)"


class NewUnit(NamedTuple):
    """Draws of the parameter for a new unit in each context that was observed."""

    contexts: pd.DataFrame  # (context, factor) without the unit
    draws: Floats  # (context, chain, draw), natural scale


def predict_new(fitted: Fitted, unit: str) -> NewUnit | str:
    """Predict the parameter for a new level of a factor.

    Parameters
    ----------
    fitted : Fitted
    unit : str
        The factor of which there is a new level.

    Returns
    -------
    NewUnit or str
        The prediction, or why there is none.
    """
    terms = fitted.terms
    if not terms:
        return f"{fitted.parameter} is derived from other parameters"
    drawn = [g for g in terms["groups"] if unit in g["factors"]]
    if not drawn:
        return f"{fitted.parameter} has no group term over {unit}, such as (1 | {unit})"
    others = [name for name in fitted.names if name != unit]
    contexts, first, index = _contexts(fitted.factors, others)
    design = _design(fitted, "common")
    if design.shape[1] and not np.allclose(design, design[first][index]):
        return f"the common terms of {fitted.parameter} depend on {unit}"
    at_first = fitted.factors.iloc[first].reset_index(drop=True)
    total = _common(fitted, terms["common"], design[first])
    for group in terms["groups"]:
        matrix = _group_design(fitted, group)
        if unit in group["factors"]:
            if not np.allclose(matrix, matrix[first][index]):
                return f"the slopes over {group['name']} depend on {unit}"
            effects = _new_effects(fitted, group, at_first.assign(**{unit: NEW}), unit)
        else:
            effects = _known_effects(fitted, group, at_first)
        total = total + np.einsum("xk,xkcd->xcd", matrix[first], effects)
    return NewUnit(contexts, inverse_link(fitted.link, total))


def typical(fitted: Fitted) -> Floats | None:
    """Return the parameter where every group effect is 0, averaged over the cells: (chain, draw)."""
    if not fitted.terms:
        return None
    rows = np.unique(_design(fitted, "common"), axis=0)
    total = _common(fitted, fitted.terms["common"], rows).mean(axis=0)
    return inverse_link(fitted.link, total)


def _contexts(factors: pd.DataFrame, others: list[str]) -> tuple[pd.DataFrame, NDArray[np.int64], NDArray[np.int64]]:
    """Return the distinct combinations of the other factors, a cell of each, and each cell's combination."""
    if not others:
        return pd.DataFrame(index=range(1)), np.zeros(1, dtype=np.int64), np.zeros(len(factors), dtype=np.int64)
    codes = np.asarray(factors.groupby(others, sort=True, dropna=False).ngroup(), dtype=np.int64)
    _, first = np.unique(codes, return_index=True)
    return factors.iloc[first][others].reset_index(drop=True), first.astype(np.int64), codes


def _posterior(fitted: Fitted) -> xr.Dataset:
    return fitted.tree["posterior"].to_dataset()


def _design(fitted: Fitted, term: str) -> Floats:
    """Return a stored design at the cells, (cell, column); without columns where it is not stored."""
    name = f"{fitted.predictor}_x_{term}"
    constants = fitted.tree["constant_data"].to_dataset() if "constant_data" in fitted.tree.children else xr.Dataset()
    if name not in constants:
        return np.zeros((len(fitted.factors), 0))
    variable = constants[name]
    return np.asarray(variable.transpose("cell", ...).values, dtype=np.float64).reshape(len(fitted.factors), -1)


def _group_design(fitted: Fitted, group: dict[str, Any]) -> Floats:
    stored = _design(fitted, group["effects"].removeprefix(f"{fitted.predictor}_"))
    return stored if stored.shape[1] else np.ones((len(fitted.factors), len(group["coefficients"])))


def _common(fitted: Fitted, terms: list[dict[str, Any]], design: Floats) -> Floats:
    """Return the common part of the linear predictor, (row, chain, draw)."""
    posterior = _posterior(fitted)
    values = [_columns(posterior[term["variable"]]) for term in terms]
    shape = fitted.draws.shape[1:]
    stacked = np.concatenate(values) if values else np.zeros((0, *shape))
    return np.einsum("xk,kcd->xcd", design, stacked)


def _columns(variable: xr.DataArray) -> Floats:
    """Return a variable with at most one dimension beside chain and draw as (column, chain, draw)."""
    values = np.asarray(variable.transpose(..., "chain", "draw").values, dtype=np.float64)
    return values.reshape(-1, *values.shape[-2:])


def _labels(group: dict[str, Any], rows: pd.DataFrame) -> list[str]:
    return [":".join(map(str, row)) for row in rows[group["factors"]].itertuples(index=False, name=None)]


def _known_effects(fitted: Fitted, group: dict[str, Any], rows: pd.DataFrame) -> Floats:
    """Return the estimated effects at some rows, (row, coefficient, chain, draw)."""
    variable = _posterior(fitted)[group["effects"]]
    if len(group["coefficients"]) == 1 and variable.ndim == 3:
        variable = variable.expand_dims("only_coefficient")
    dim = _level_dim(variable)
    rest = next(str(d) for d in variable.dims if d not in ("chain", "draw", dim))
    values = np.asarray(variable.transpose(dim, rest, "chain", "draw").values, dtype=np.float64)
    position = {str(label): i for i, label in enumerate(variable[dim].values)}
    return values[[position[label] for label in _labels(group, rows)]]


def _level_dim(effects: xr.DataArray) -> str:
    return next(str(d) for d in effects.dims if d not in ("chain", "draw") and not str(d).endswith("_coefficient"))


def _new_effects(fitted: Fitted, group: dict[str, Any], rows: pd.DataFrame, unit: str) -> Floats:
    """Draw effects for the new unit at some rows, equal where the term's factors agree."""
    keys, index = np.unique(_labels(group, rows), return_inverse=True)
    posterior = _posterior(fitted)
    sd = _columns(posterior[group["sd"]])  # (coefficient, chain, draw)
    if group.get("zero_sum"):
        sd = sd * np.sqrt(1.0 + 1.0 / posterior.sizes[_level_dim(posterior[group["effects"]])])
    rng = np.random.default_rng(stream(fitted.seed, f"new {unit}, {fitted.predictor}, {group['name']}"))
    effects = rng.standard_normal((len(keys), *sd.shape))
    if group.get("cor"):
        dims = [str(d) for d in posterior[group["cor"]].dims if d not in ("chain", "draw")]
        correlation = posterior[group["cor"]].transpose("chain", "draw", *dims).values
        effects = np.einsum("cdjk,xkcd->xjcd", _root(np.asarray(correlation, dtype=np.float64)), effects)
    return (effects * sd)[index.ravel()]


def _root(matrices: Floats) -> Floats:
    """Return square roots of correlation matrices; unlike Cholesky's also where rounding made one singular."""
    whole = np.isfinite(matrices).all(axis=(-2, -1), keepdims=True)
    values, vectors = np.linalg.eigh(np.where(whole, matrices, np.eye(matrices.shape[-1])))
    root = vectors * np.sqrt(np.maximum(values, 0.0))[..., None, :]
    return np.where(whole, root, np.nan)
