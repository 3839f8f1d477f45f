"""How much the answers of a fit depend on its priors, and on its data: power-scaling sensitivity.

Kallioinen, Paananen, Bürkner & Vehtari (2024), Statistics and Computing 34, 57. A prior (or the likelihood) is raised
to a power slightly below and above 1, the draws are weighted accordingly (Pareto-smoothed), and the sensitivity is how
far each quantity's distribution moves: the cumulative Jensen-Shannon distance for each doubling of the power. Above
0.05 a quantity counts as sensitive. The distances are arviz_stats', the densities are of prior_density.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from hmeta.core.errors import DataError
from hmeta.infer.criteria_prior import group_of_cell, log_criteria_priors
from hmeta.infer.fitted import Fitted, default_unit, level_labels, read_fit
from hmeta.infer.power_scale import distances, pareto_k, shifts
from hmeta.infer.prior_density import CRITERIA, log_priors, read_priors
from hmeta.infer.quantities import list_quantities

Floats = NDArray[np.float64]

THRESHOLD = 0.05
"""Sensitivity from which a quantity counts as sensitive."""

LARGEST_K = 0.7
"""Pareto k beyond which weights say nothing."""

MOST_UNITS = 60
"""Units beyond which the criteria priors are scaled all together only."""

CONFLICT, WEAK, FINE = "prior-data conflict", "weak likelihood / strong prior", "–"

AVERAGE, UNIT, TERM = "average", "unit", "term"
LIKELIHOOD, OWN_CRITERIA, ALL_CRITERIA = "likelihood", "criteria priors of the unit", "criteria priors of all units"


class Quantities(NamedTuple):
    """What is reported, and what may depend on a prior."""

    table: pd.DataFrame  # quantity, kind (average, unit, term), level
    draws: Floats  # (quantity, chain, draw)
    cells: list[NDArray[np.int64]]  # of each; empty for terms


def prior_sensitivity(tree: xr.DataTree) -> pd.DataFrame:
    """Measure how the reported quantities of a fit depend on its priors and its data.

    Parameters
    ----------
    tree : DataTree
        A fit with log likelihoods of its cells.

    Returns
    -------
    DataFrame
        One row a quantity and what was scaled. `quantity`, `kind` ("average" of the headline over all cells, "unit",
        "term": a population term, standard deviation or correlation), `level` of the unit; `scaled`: "prior of M" (all
        its top-level priors together), "criteria priors of the unit" (those of its own ladders), "criteria priors of
        all units", "likelihood". `sensitivity`; `shift`, how far the posterior mean would move, in units of the
        quantity, if the power were doubled (to first order: ln 2 · Cov(quantity, log density)); `pareto_k`; `verdict`,
        by the published rule from the sensitivities to this prior and to the likelihood ("prior-data conflict", "weak
        likelihood / strong prior", "–"), empty on rows of the likelihood and where one is unknown; `reason`, why a
        number is missing. `attrs["notes"]` says what was left out.

    Raises
    ------
    DataError
        Where the fit holds no specification or no log likelihoods.
    """
    fitted = read_fit(tree)
    quantities = _quantities(fitted)
    likelihood = sum_log_likelihood(tree)
    priors = {f"prior of {name}": density for name, density in log_priors(tree).items()}
    scaled = {**priors, LIKELIHOOD: likelihood}
    parts = [_scale(quantities, name, density) for name, density in scaled.items()]
    own, notes = _criteria(fitted, quantities)
    frame = _judged(pd.concat([*parts, *own], ignore_index=True), [*priors, OWN_CRITERIA, ALL_CRITERIA, LIKELIHOOD])
    frame.attrs.update(parameter=fitted.parameter, by=default_unit(fitted) or "", notes=tuple(notes))
    return frame


def worst_verdicts(frame: pd.DataFrame) -> pd.DataFrame:
    """Return one row a quantity: the prior that it depends on most, and the likelihood.

    Returns
    -------
    DataFrame
        `quantity`, `kind`, `level`, `prior` (which one), `prior_sensitivity`, `likelihood_sensitivity`, `verdict`.
    """
    likelihood = frame[frame["scaled"] == LIKELIHOOD].set_index("quantity")["sensitivity"]
    priors = frame[frame["scaled"] != LIKELIHOOD]
    filled = priors.assign(order=priors["sensitivity"].fillna(-1.0))
    top = filled.sort_values("order", ascending=False, kind="stable").drop_duplicates("quantity").sort_index()
    top = top.assign(likelihood_sensitivity=top["quantity"].map(likelihood))
    named = top.rename(columns={"scaled": "prior", "sensitivity": "prior_sensitivity"})
    columns = ["quantity", "kind", "level", "prior", "prior_sensitivity", "likelihood_sensitivity", "verdict"]
    return named[columns].reset_index(drop=True)


def sum_log_likelihood(tree: xr.DataTree) -> Floats:
    """Return the log likelihood of all answers at every draw, (chain, draw).

    Raises
    ------
    DataError
        Where the fit holds no log likelihoods.
    """
    if "log_likelihood" not in tree.children or "outcome" not in tree["log_likelihood"].to_dataset():
        raise DataError(
            "the fit holds no log likelihoods, which power-scaling needs",
            mend="very large fits leave them out: fit again with fewer draws, or with formulas that use fewer columns",
        )
    cells = tree["log_likelihood"].to_dataset()["outcome"].transpose("chain", "draw", ...)
    values = np.asarray(cells.values, dtype=np.float64)
    return values.reshape(*values.shape[:2], -1).sum(axis=-1)


def _quantities(fitted: Fitted) -> Quantities:
    """Return the average, each level of the unit, and the population terms and spreads of every parameter."""
    draws, unit = fitted.draws, default_unit(fitted)
    levels = sorted(fitted.factors[unit].unique()) if unit is not None else []
    cells = [np.flatnonzero(fitted.factors[unit] == level) for level in levels]
    names = [f"{fitted.parameter}[{label}]" for label in level_labels(levels)]
    whole = f"average {fitted.parameter}" if len(draws) > 1 else fitted.parameter
    terms, of_terms = _terms(fitted)
    table = pd.DataFrame(
        {
            "quantity": [whole, *names, *terms],
            "kind": [AVERAGE, *[UNIT] * len(names), *[TERM] * len(terms)],
            "level": ["", *level_labels(levels), *[""] * len(terms)],
        }
    )
    every = [draws.mean(axis=0), *(draws[c].mean(axis=0) for c in cells)]
    none = [np.zeros(0, dtype=np.int64)] * len(terms)
    return Quantities(table, np.concatenate([np.stack(every), of_terms]), [np.arange(len(draws)), *cells, *none])


def _terms(fitted: Fitted) -> tuple[list[str], Floats]:
    """Return the numbers that have a top-level prior, without the diagonals of correlation matrices."""
    variables = list(dict.fromkeys(p.variable for p in read_priors(fitted.tree) if p.place != CRITERIA))
    if not variables:
        return [], np.zeros((0, *fitted.draws.shape[1:]))
    names, draws = list_quantities(fitted.tree["posterior"].to_dataset()[variables])
    moves = ~_constant(draws)
    return names.loc[moves, "quantity"].tolist(), draws[moves]


def _constant(draws: Floats) -> NDArray[np.bool_]:
    flat = draws.reshape(len(draws), -1)
    return flat.max(axis=1) - flat.min(axis=1) <= 1e-12 * np.maximum(1.0, np.abs(flat).max(axis=1))


def _scale(quantities: Quantities, name: str, density: Floats, rows: Sequence[int] | None = None) -> pd.DataFrame:
    """Return the sensitivity of some quantities to one component, with Pareto k; NaN with a reason."""
    at = np.arange(len(quantities.table)) if rows is None else np.asarray(rows)
    frame = quantities.table.iloc[at].assign(scaled=name, sensitivity=np.nan, shift=np.nan, pareto_k=np.nan, reason="")
    if not np.isfinite(density).all():
        return frame.assign(reason="the log density is not finite at some draws")
    if _constant(density[None])[0]:
        return frame.assign(sensitivity=0.0, shift=0.0, reason="the density is the same at every draw")
    k = pareto_k(density)
    frame["pareto_k"] = k
    if not k <= LARGEST_K:
        size = "is not defined" if np.isnan(k) else f"{k:.2f} > {LARGEST_K:g}"
        return frame.assign(reason=f"Pareto k {size}: the weights say nothing")
    draws = quantities.draws[at]
    return frame.assign(sensitivity=distances(draws, density), shift=shifts(draws, density))


def _criteria(fitted: Fitted, quantities: Quantities) -> tuple[list[pd.DataFrame], list[str]]:
    """Scale the priors of criteria: all of them for the average, each unit's own for the unit."""
    densities = log_criteria_priors(fitted.tree)
    if isinstance(densities, str):
        return [], [f"criteria priors were not scaled: {densities}"]
    units = [i for i, kind in enumerate(quantities.table["kind"]) if kind == UNIT]
    found = [_scale(quantities, ALL_CRITERIA, _total(densities.values()), [0])]
    if len(units) > MOST_UNITS:
        return found, [f"criteria priors were scaled for the average only: {len(units)} units, more than {MOST_UNITS}"]
    groups = np.array(group_of_cell(fitted.tree))
    notes = []
    for i in units:
        mine = np.zeros(len(groups), dtype=bool)
        mine[quantities.cells[i]] = True
        if set(groups[mine]) & set(groups[~mine]):
            notes.append("criteria priors were not scaled for each unit: units share criteria")
            break
        own = [densities[group] for group in dict.fromkeys(groups[mine]) if group in densities]
        found += [_scale(quantities, OWN_CRITERIA, _total(own), [i])] if own else [_without(quantities, i)]
    return found, notes


def _total(densities: Any) -> Floats:
    return np.sum(list(densities), axis=0)


def _without(quantities: Quantities, row: int) -> pd.DataFrame:
    frame = quantities.table.iloc[[row]].assign(scaled=OWN_CRITERIA)
    frame = frame.assign(sensitivity=np.nan, shift=np.nan, pareto_k=np.nan)
    return frame.assign(reason="one confidence level used: no criteria")


def _judged(frame: pd.DataFrame, order: Sequence[str]) -> pd.DataFrame:
    """Add the verdicts, and sort rows of one quantity together."""
    likelihood: Mapping[Any, float] = (
        frame[frame["scaled"] == LIKELIHOOD].set_index("quantity")["sensitivity"].to_dict()
    )
    verdicts = [
        "" if scaled == LIKELIHOOD else judge(value, likelihood[quantity])
        for quantity, scaled, value in zip(frame["quantity"], frame["scaled"], frame["sensitivity"], strict=True)
    ]
    place = {name: i for i, name in enumerate(dict.fromkeys(frame["quantity"]))}
    frame = frame.assign(verdict=verdicts, at=frame["quantity"].map(place), part=frame["scaled"].map(order.index))
    frame = frame.sort_values(["at", "part"], kind="stable", ignore_index=True)
    return frame[["quantity", "kind", "level", "scaled", "sensitivity", "shift", "pareto_k", "verdict", "reason"]]


def judge(prior: float, likelihood: float) -> str:
    """Return the verdict on two sensitivities; empty where one is unknown.

    Examples
    --------
    >>> judge(0.2, 0.3), judge(0.2, 0.01), judge(0.01, 0.3)
    ('prior-data conflict', 'weak likelihood / strong prior', '–')
    """
    if np.isnan(prior) or np.isnan(likelihood):
        return ""
    if prior < THRESHOLD:
        return FINE
    return CONFLICT if likelihood >= THRESHOLD else WEAK
