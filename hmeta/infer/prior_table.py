"""The priors of a fit beside the posterior of the same numbers: what was assumed, and what the data added."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from hmeta.infer.criteria_prior import ON, read_steps
from hmeta.infer.intervals import MASS, interval_ends
from hmeta.infer.prior_density import (
    COMMON,
    COR,
    CRITERIA,
    SD,
    Distribution,
    Placed,
    describe_prior,
    distribution,
    read_priors,
)
from hmeta.infer.quantities import list_quantities

Floats = NDArray[np.float64]

MOST_LEVELS = 12
"""Numbers under one prior beyond which a single row tells the medians over them."""

PLACES = {SD: "spread of a group", COR: "correlation", CRITERIA: "criteria"}
LEVEL, CONTRAST = "level", "contrast"
"""Population terms: a level of the parameter (an intercept, one mean a condition), or a difference or slope."""

COLUMNS = (
    "prior", "parameter", "place", "level", "link", "on", "distribution", "prior_lower", "prior_median", "prior_upper",
    "posterior_median", "posterior_lower", "posterior_upper", "shrinkage", "note",
)  # fmt: skip


class _Numbers(NamedTuple):
    """Draws of every number that one prior is on."""

    labels: list[str]  # (number,), "" for a single one
    draws: Floats  # (number, chain, draw)
    size: int = 2  # rows of the matrix, for a correlation


def prior_table(tree: xr.DataTree) -> pd.DataFrame:
    """Set each prior beside the posterior of the numbers that it is on.

    Parameters
    ----------
    tree : DataTree
        A fit.

    Returns
    -------
    DataFrame
        One row a prior; where it is on several numbers one row a number, up to 12, and beyond them a single row with
        the medians over all of them (`level` says over how many; criteria always so). `prior` is its name in the model
        file; `place` what it is of ("level", "contrast", "spread of a group", "correlation", "criteria"); `on` the
        scale on which it is stated; `distribution` its words; `prior_lower`, `prior_median`, `prior_upper` its median
        and central 94 % (of one correlation, for LKJ); `posterior_*` the same of the posterior. `shrinkage` is
        1 - (posterior sd / prior sd)²: near 1 the data decide, near 0 the prior; NaN for a prior without a variance.
        `note` says why a number is missing.

    Raises
    ------
    DataError
        Where the fit holds no specification.
    """
    rows = [row for placed in read_priors(tree) for row in _rows(tree, placed)]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _rows(tree: xr.DataTree, placed: Placed) -> list[dict[str, object]]:
    numbers = _criteria_numbers(tree, placed) if placed.place == CRITERIA else _numbers(tree, placed)
    size = numbers.size if isinstance(numbers, _Numbers) else 2
    prior = distribution(placed.prior, size)
    lower, median, upper = (float(prior.ppf(q)) for q in ((1.0 - MASS) / 2.0, 0.5, (1.0 + MASS) / 2.0))
    shared: dict[str, object] = {
        "prior": placed.name,
        "parameter": placed.parameter,
        "place": _place(tree, placed),
        "link": placed.link,
        "on": _scale(placed),
        "distribution": describe_prior(placed.prior),
        "prior_lower": lower,
        "prior_median": median,
        "prior_upper": upper,
    }
    if isinstance(numbers, str):
        blank = dict.fromkeys(("posterior_median", "posterior_lower", "posterior_upper", "shrinkage"), np.nan)
        return [{**shared, **blank, "level": "", "note": numbers}]
    return [{**shared, **row} for row in _posterior(numbers, prior, together=placed.place == CRITERIA)]


def _posterior(numbers: _Numbers, prior: Distribution, *, together: bool) -> list[dict[str, object]]:
    flat = numbers.draws.reshape(len(numbers.draws), -1)
    lower, upper = interval_ends(flat, MASS)
    sd = float(prior.std())
    shrinkage = 1.0 - flat.var(axis=1) / sd**2 if np.isfinite(sd) else np.full(len(flat), np.nan)
    note = "" if np.isfinite(sd) else "the prior has no variance, so that shrinkage is undefined"
    found = pd.DataFrame(
        {
            "level": numbers.labels,
            "posterior_median": np.median(flat, axis=1),
            "posterior_lower": lower,
            "posterior_upper": upper,
            "shrinkage": shrinkage,
        }
    )
    if together or len(found) > MOST_LEVELS:
        middle = found.drop(columns="level").median()
        found = pd.DataFrame([{"level": f"median of {len(found)}", **middle}])
    return [{**{str(k): v for k, v in row.items()}, "note": note} for row in found.to_dict("records")]


def _numbers(tree: xr.DataTree, placed: Placed) -> _Numbers:
    variable = tree["posterior"].to_dataset()[placed.variable]
    if placed.place == COR:
        return _correlations(variable)
    names, draws = list_quantities(variable.to_dataset(name=placed.variable))
    return _Numbers([str(name).removeprefix(placed.variable)[1:-1] for name in names["quantity"]], draws)


def _correlations(variable: xr.DataArray) -> _Numbers:
    """Return each pair of coefficients once."""
    dims = [str(d) for d in variable.dims if d not in ("chain", "draw")]
    matrix = np.asarray(variable.transpose(*dims, "chain", "draw").values, dtype=np.float64)
    names = [str(v) for v in variable[dims[0]].values]
    above = np.triu_indices(len(names), k=1)
    return _Numbers([f"{names[i]}, {names[j]}" for i, j in zip(*above, strict=True)], matrix[above], len(names))


def _criteria_numbers(tree: xr.DataTree, placed: Placed) -> _Numbers | str:
    steps = read_steps(tree)
    if isinstance(steps, str):
        return steps
    mine = np.array(steps.prior) == placed.name
    if not mine.any():
        return "no ladder has more than two levels in use, so that there is no gap"
    return _Numbers([""] * int(mine.sum()), steps.draws[mine])


def _scale(placed: Placed) -> str:
    """Return what a prior is on."""
    if placed.place == CRITERIA:
        return ON[placed.name]
    whole = {"identity": placed.parameter, "log": f"log {placed.parameter}"}[placed.link]
    if placed.place == COR:
        return "correlations of group effects"
    return f"standard deviation of effects on {whole}" if placed.place == SD else whole


def _place(tree: xr.DataTree, placed: Placed) -> str:
    """Return the place of a prior in words; a population term is a level if one of its columns is 1 in every cell."""
    if placed.place != COMMON:
        return PLACES[placed.place]
    constants = tree["constant_data"].to_dataset() if "constant_data" in tree.children else xr.Dataset()
    term, name = placed.name.partition(".")[2], f"{placed.parameter}_x_common"
    if name not in constants or f"{placed.parameter}_common_column" not in constants.coords:
        return LEVEL if term == "Intercept" else CONTRAST
    design = constants[name].transpose("cell", ...)
    labels = [str(v) for v in constants[f"{placed.parameter}_common_column"].values]
    mine = [label == term or label.startswith(f"{term}[") for label in labels]
    columns = np.asarray(design.values, dtype=np.float64)[:, mine]
    return LEVEL if (columns >= 0.0).all() and np.allclose(columns.sum(axis=1), 1.0) else CONTRAST
