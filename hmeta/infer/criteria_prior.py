"""The numbers that the priors of confidence criteria are on, from the criteria of a fit.

A ladder with L levels in use has L - 1 criteria. Where ratings start at 0 the prior is on the log of every gap between
neighbouring criteria (the first from 0) less log(2.5 / L). Where the ladder is free, one criterion, the anchor, has a
prior of its own, less Φ⁻¹(k / L) with k levels below it, and only the gaps between criteria count.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from hmeta.core.errors import DataError
from hmeta.infer.evidence import observed_rows
from hmeta.infer.fitted import cell_factors
from hmeta.infer.labels import labelled_posterior
from hmeta.infer.prior_density import distribution, read_priors, read_spec
from hmeta.infer.reporting import cell_labels
from hmeta.infer.sites import TYPICAL_TOP_CRITERION
from hmeta.spec.formula_parts import parse_criteria

Floats = NDArray[np.float64]

GAP, ANCHOR = "criteria", "criteria.anchor"
"""Names of the priors."""

ON = {
    GAP: "log gap - log(2.5 / L), with L the confidence levels in use",
    ANCHOR: "anchor criterion - Φ⁻¹(k / L), with k of the L levels in use below it",
    "criteria.mean": "mean over ladders of log gap - log(2.5 / L), with L the confidence levels in use",
    "criteria.sd": "standard deviation of ladders around the mean log gap",
}
"""What each prior of the criteria is on."""


class Steps(NamedTuple):
    """What the priors of criteria are on, one number a log gap or anchor."""

    draws: Floats  # (number, chain, draw), less the location that every ladder has of its own
    prior: list[str]  # (number,), GAP or ANCHOR
    group: list[str]  # (number,), label of the criteria group


def criteria_columns(tree: xr.DataTree) -> tuple[str, ...]:
    """Return the words of the formula that says which cells share criteria."""
    return parse_criteria(read_spec(tree)["parameters"]["criteria"]["formula"], "the fit's criteria")


def group_of_cell(tree: xr.DataTree) -> list[str]:
    """Return the label of every cell's criteria group, (cell,)."""
    factors = cell_factors(labelled_posterior(tree))
    columns = [name for name in criteria_columns(tree) if name in factors]
    return cell_labels(factors[columns]) if columns else ["all"] * len(factors)


def read_steps(tree: xr.DataTree) -> Steps | str:
    """Return the numbers that have priors, or why they cannot be told."""
    if read_spec(tree)["parameters"]["criteria"].get("pooling", "none") != "none":
        return "criteria are pooled: their priors are on a mean and a spread that the fit does not store"
    posterior = labelled_posterior(tree)
    if "criteria" not in posterior or "criterion_level" not in posterior.coords:
        return "the fit holds no criteria"
    criteria = posterior["criteria"].transpose("criterion", "chain", "draw")
    ladders = pd.DataFrame({k: criteria[f"criterion_{k}"].values.astype(str) for k in ("group", "outcomes")})
    values, free = np.asarray(criteria.values, dtype=np.float64), _is_free(tree)
    anchors = _anchor_levels(tree) if free else {}
    parts: list[tuple[Floats, str, str]] = []
    for key, at in ladders.groupby(["group", "outcomes"], sort=False).indices.items():
        group = str(key[0])  # type: ignore[index]
        if free:
            parts += _free_ladder(values[at], group, anchors.get(group, 0))
        else:
            gaps = np.diff(values[at], axis=0, prepend=0.0)
            parts.append((_log(gaps) - np.log(TYPICAL_TOP_CRITERION / (len(at) + 1.0)), GAP, group))
    if not parts:
        return "the fit holds no criteria"
    names = [name for draws, name, _ in parts for _ in range(len(draws))]
    groups = [group for draws, _, group in parts for _ in range(len(draws))]
    return Steps(np.concatenate([part[0] for part in parts]), names, groups)


def log_criteria_priors(tree: xr.DataTree) -> dict[str, Floats] | str:
    """Return the log prior density of each group's criteria, (chain, draw) each, or why it cannot be told."""
    steps = read_steps(tree)
    if isinstance(steps, str):
        return steps
    priors = {placed.name: distribution(placed.prior) for placed in read_priors(tree)}
    named = np.array(steps.prior)
    density = np.empty_like(steps.draws)
    for name in np.unique(named):
        density[named == name] = priors[str(name)].logpdf(steps.draws[named == name])
    groups = np.array(steps.group)
    return {str(group): density[groups == group].sum(axis=0) for group in dict.fromkeys(steps.group)}


def _free_ladder(criteria: Floats, group: str, anchor: int) -> list[tuple[Floats, str, str]]:
    from scipy.special import ndtri

    n_levels = len(criteria) + 1
    if not 0 < anchor < n_levels:
        raise DataError(f'the counts of criteria group "{group}" do not match its criteria', mend="fit again")
    own = criteria[anchor - 1 : anchor] - ndtri(anchor / n_levels)
    gaps = _log(np.diff(criteria, axis=0)) - np.log(TYPICAL_TOP_CRITERION / n_levels)
    return [(gaps, GAP, group), (own, ANCHOR, group)] if len(gaps) else [(own, ANCHOR, group)]


def _anchor_levels(tree: xr.DataTree) -> dict[str, int]:
    """Return how many levels lie below the anchor of each free ladder: the criterion that halves the answers best."""
    groups = group_of_cell(tree)
    rows = observed_rows(tree, len(groups))
    if rows is None:
        raise DataError("the fit holds no counts, so that its anchor criteria are not known", mend="fit again")
    rows = rows[rows["count"] > 0].assign(group=[groups[cell] for cell in rows.loc[rows["count"] > 0, "cell"]])
    by_level = rows.groupby(["group", "confidence"])["count"].sum()
    found = {}
    for group, count in by_level.groupby(level="group"):
        share = np.cumsum(count.to_numpy()) / count.sum()
        found[str(group)] = int(np.abs(share[:-1] - 0.5).argmin()) + 1 if len(share) > 1 else 0
    return found


def _is_free(tree: xr.DataTree) -> bool:
    return bool(np.isneginf(float(tree["hmeta"].attrs.get("criteria_above", 0.0))))


def _log(gaps: Floats) -> Floats:
    """Return logarithms, minus infinity where rounding has closed a gap."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.log(np.maximum(gaps, 0.0))
