"""How well fits predict cells that they have not seen: leave-one-out cross-validation by importance sampling.

Pareto-smoothed importance sampling (Vehtari, Gelman & Gabry 2017, Statistics and Computing 27, 1413-1432) over the
cells of a fit, one log likelihood a cell. What is left out is the cell's whole table of answers; where the model has
an effect of every single cell, that effect rests on this table alone, and importance sampling often fails: the Pareto
k of such a cell is beyond 0.7, and the number of such cells is always told.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from hmeta.core.errors import DataError
from hmeta.infer.evidence import observed_rows
from hmeta.infer.fitted import cell_factors
from hmeta.infer.labels import labelled_posterior

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LARGEST_K = 0.7
"""Pareto k beyond which an estimate counts as unreliable."""

CLEAR_DIFFERENCE, CLEAR_ERRORS = 4.0, 2.0
"""A difference of elpd below the first, or below the second times its standard error, distinguishes nothing."""


@dataclass(frozen=True)
class Loo:
    """Leave-one-out predictive density of one fit.

    Attributes
    ----------
    elpd, se, p : float
        Expected log predictive density of all cells, its standard error, effective number of parameters.
    pointwise : DataFrame
        One row a cell: `cell`, `n_answers`, `elpd`, `pareto_k`.
    """

    elpd: float
    se: float
    p: float
    pointwise: pd.DataFrame

    @cached_property
    def bad(self) -> tuple[str, ...]:
        """The cells whose Pareto k is beyond 0.7."""
        return tuple(self.pointwise.loc[~(self.pointwise["pareto_k"] <= LARGEST_K), "cell"].astype(str))

    @property
    def n_bad(self) -> int:
        """How many cells have a Pareto k beyond 0.7."""
        return len(self.bad)

    @property
    def note(self) -> str:
        """What a reader has to know, or an empty text."""
        if not self.n_bad:
            return ""
        return f"unreliable: Pareto k > {LARGEST_K:g} in {self.n_bad} of {len(self.pointwise)} cells"


def leave_one_out(tree: xr.DataTree) -> Loo:
    """Estimate how well a fit predicts each cell from all others.

    Raises
    ------
    DataError
        Where the fit holds no log likelihoods, or some are not finite.
    """
    likelihood = _log_likelihood(tree)
    return _as_loo(_run(tree, likelihood), tree, np.arange(likelihood.shape[-1]))


def compare_loo(fits: Mapping[str, xr.DataTree]) -> pd.DataFrame:
    """Compare fits of the same answers by leave-one-out cross-validation, best first.

    Parameters
    ----------
    fits : mapping of str to DataTree
        Two or more. Models may differ, and so may the order of the cells; cells and counts must not.

    Returns
    -------
    DataFrame
        Index `fit`; `elpd`, `se`, `p`, `difference` (from the best, 0 or negative) with `se_difference` of the paired
        cells, `weight` (stacking of predictive distributions, Yao et al. 2018), `n_cells`, `n_bad` (Pareto k > 0.7),
        and `note`, which says in words what the difference is worth.

    Raises
    ------
    DataError
        For fewer than two fits, or fits of different answers.
    """
    from arviz_stats.loo import compare

    if len(fits) < 2:
        raise DataError("a comparison needs two or more fits", received=str(len(fits)))
    first = next(iter(fits))
    likelihoods = {name: _log_likelihood(tree) for name, tree in fits.items()}
    order = {name: _order_like(fits[first], tree, first, name) for name, tree in fits.items()}
    results = {name: _run(tree, likelihoods[name][..., order[name]]) for name, tree in fits.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what it warns of, `note` says
        table = compare(_near_zero(results), method="stacking", round_to="none")
    loos = {name: _as_loo(results[name], tree, order[name]) for name, tree in fits.items()}
    rows = [_row(str(name), loos[str(name)], table.loc[name]) for name in table.index]
    return pd.DataFrame(rows).set_index("fit")


def _row(name: str, loo: Loo, compared: pd.Series) -> dict[str, Any]:
    difference, error = float(compared["elpd_diff"]), float(compared["dse"])
    notes = [_worth(difference, error) if int(compared["rank"]) > 0 else "", loo.note]
    return {
        "fit": name,
        "elpd": loo.elpd,
        "se": loo.se,
        "p": loo.p,
        "difference": difference,
        "se_difference": error,
        "weight": float(compared["weight"]),
        "n_cells": len(loo.pointwise),
        "n_bad": loo.n_bad,
        "note": "; ".join(text for text in notes if text),
    }


def _worth(difference: float, error: float) -> str:
    if abs(difference) < CLEAR_DIFFERENCE:
        return f"not distinguishable from the best: the difference is below {CLEAR_DIFFERENCE:g}"
    if abs(difference) < CLEAR_ERRORS * error:
        return f"not distinguishable from the best: the difference is below {CLEAR_ERRORS:g} standard errors"
    return ""


def _log_likelihood(tree: xr.DataTree) -> Floats:
    """Return the log likelihood of every cell, (chain, draw, cell).

    Raises
    ------
    DataError
        Where the fit holds none, or some are not finite.
    """
    if "log_likelihood" not in tree.children or "outcome" not in tree["log_likelihood"].to_dataset():
        raise DataError(
            "the fit holds no log likelihoods of its cells",
            mend="very large fits leave them out: fit again with fewer draws, or with formulas that use fewer columns",
        )
    variable = tree["log_likelihood"].to_dataset()["outcome"].transpose("chain", "draw", "cell")
    found = np.asarray(variable.values, dtype=np.float64)
    if not np.isfinite(found).all():
        raise DataError("some log likelihoods of the fit are not finite", mend="look at the fit with hmeta diagnose")
    return found


def _run(tree: xr.DataTree, likelihood: Floats) -> Any:
    """Return the library's result for log likelihoods (chain, draw, cell); labels, which may repeat, stay out."""
    from arviz_stats.loo import loo

    cells = xr.Dataset({"outcome": (("chain", "draw", "left_out"), likelihood)})
    groups = {"/posterior": tree["posterior"].to_dataset(), "/log_likelihood": cells}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of large Pareto k, which `Loo.note` counts
        return loo(xr.DataTree.from_dict(groups), var_name="outcome", pointwise=True)


def _as_loo(result: Any, tree: xr.DataTree, order: Ints) -> Loo:
    labels = tree["log_likelihood"].to_dataset()
    answers = labels["n_answers"].values if "n_answers" in labels.coords else np.full(labels.sizes["cell"], np.nan)
    names = labels["cell"].values if "cell" in labels.coords else np.arange(labels.sizes["cell"])
    pointwise = pd.DataFrame(
        {
            "cell": np.asarray(names).astype(str)[order],
            "n_answers": np.asarray(answers, dtype=np.float64)[order],
            "elpd": np.asarray(result.elpd_i.values, dtype=np.float64),
            "pareto_k": np.asarray(result.pareto_k.values, dtype=np.float64),
        }
    )
    return Loo(float(result.elpd), float(result.se), float(result.p), pointwise)


def _near_zero(results: Mapping[str, Any]) -> dict[str, Any]:
    """Return results whose cells are measured from the best fit of each cell.

    Stacking weights and differences stay as they are, and the densities of cells with a thousand answers do not
    underflow.
    """
    best = np.max([result.elpd_i.values for result in results.values()], axis=0)
    moved = {name: copy(result) for name, result in results.items()}
    for name, result in results.items():
        moved[name].elpd_i = result.elpd_i - best
    return moved


def _order_like(reference: xr.DataTree, tree: xr.DataTree, first: str, name: str) -> Ints:
    """Return the positions of a fit's cells in the order of the reference; refuse fits of other answers."""
    ours, theirs = _keys(tree), _keys(reference)
    if sorted(ours) != sorted(theirs):
        raise _refusal("cells", f"{len(theirs)} and {len(ours)}", _example(theirs, ours), first, name)
    position = {key: i for i, key in enumerate(ours)}
    mine, other = _counts(tree, ours), _counts(reference, theirs)
    if mine is not None and other is not None and mine != other:
        received = f"{sum(other.values()):g} and {sum(mine.values()):g}"
        raise _refusal("answers", received, _example(list(other.items()), list(mine.items())), first, name)
    return np.array([position[key] for key in theirs], dtype=np.int64)


def _refusal(what: str, received: str, example: str, first: str, name: str) -> DataError:
    return DataError(
        f'"{first}" and "{name}" are fits of different {what}, so that their predictions cannot be compared',
        received=f"{received} {what}; only in one of them: {example}",
        mend="fit both to the same file, with formulas that use the same columns (not the same terms)",
    )


def _example(one: list[Any], other: list[Any]) -> str:
    odd = [x for x in one if x not in set(other)] or [x for x in other if x not in set(one)]
    return str(odd[0]) if odd else "none"


def _keys(tree: xr.DataTree) -> list[str]:
    """Return what tells each cell apart, whatever the order of the factors, (cell,)."""
    factors = cell_factors(labelled_posterior(tree))
    names = sorted(factors.columns)
    rows = factors[names].itertuples(index=False, name=None)
    return ["; ".join(f"{k} = {v}" for k, v in zip(names, row, strict=True)) or "all" for row in rows]


def _counts(tree: xr.DataTree, keys: list[str]) -> dict[str, float] | None:
    """Return the answers of each (cell, outcome, confidence); None where the fit holds none."""
    rows = observed_rows(tree, len(keys))
    if rows is None:
        return None
    used = rows[rows["count"] > 0].groupby(["cell", "outcome", "confidence"])["count"].sum()
    return {f"{keys[int(c)]}, outcome {o}, confidence {x:g}": float(n) for (c, o, x), n in used.items()}  # type: ignore[misc]
