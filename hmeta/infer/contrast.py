"""Differences between the levels of a factor: among what was observed, and for a new unit."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from hmeta.core.errors import DataError
from hmeta.core.registry import did_you_mean
from hmeta.infer.contrast_tables import NEW, OBSERVED, Contrasts, Difference, contrast_table, level_table
from hmeta.infer.fitted import Fitted, default_unit, find_factor, is_covariate, level_labels, read_fit
from hmeta.infer.intervals import MASS, Kind, check_interval
from hmeta.infer.new_unit import predict_new
from hmeta.infer.pairing import Pairing, pair_levels, shared_rows

Floats = NDArray[np.float64]

ROPE = (-0.05, 0.05)


def contrast(
    tree: xr.DataTree,
    by: str,
    *,
    baseline: str | None = None,
    parameter: str | None = None,
    rope: tuple[float, float] | None = ROPE,
    interval: float = MASS,
    kind: Kind = "eti",
) -> Contrasts:
    """Compare the levels of a factor with a baseline.

    Parameters
    ----------
    tree : DataTree
        A fit.
    by : str
        The factor to compare, for example ``"scale"``.
    baseline : str, optional
        The level to compare with; the first by default.
    parameter : str, optional
        A quantity at the cells. Default: the fit's headline, M or auroc2.
    rope : (low, high), optional
        Region of practical equivalence; None leaves it out.
    interval : float
        Mass of the intervals.
    kind : {"eti", "hdi"}

    Returns
    -------
    Contrasts
        For each level two estimands. *observed*: the mean difference over the combinations of the other factors
        that were observed under both levels, each with the same weight. *new*: the difference for a new unit
        (docs/statistics.md, section 5); effects of a group term that does not involve `by` are the same under both
        levels. `p_above` is P(difference > 0), `p_direction` the larger of it and its opposite, `p_rope` the share
        of draws inside the region; `p_best` the share of draws in which a level is largest, among draws without a
        tie for the largest.

    Raises
    ------
    DataError
        For a factor that the fit lacks, that is constant, or a measured number; for an unknown baseline; where
        the parameter cannot differ by the factor.
    """
    check_interval(interval, kind)
    check_rope(rope)
    fitted = read_fit(tree, parameter)
    name = find_factor(fitted, by)
    _refuse_factor(fitted, name)
    values = sorted(fitted.factors[name].unique())
    labels = level_labels(values)
    notes = [] if baseline is not None else [f"baseline: {labels[0]}, the first level of {name}"]
    first = labels.index(_known_level(baseline or labels[0], labels, name))
    pairings = {i: pair_levels(fitted.factors, name, values[i], values[first]) for i in _others(labels, first)}
    found = [_observed(fitted, pairing, labels[i]) for i, pairing in pairings.items()]
    _refuse_same(found, fitted, name)
    predicted, more = _new(fitted, name, values, first)
    best, about_best = _p_best(fitted, name, values)
    return Contrasts(
        by=name,
        baseline=labels[first],
        parameter=fitted.parameter,
        rope=rope,
        interval=interval,
        kind=kind,
        levels=level_table(fitted, name, values, best, interval, kind),
        contrasts=contrast_table([*found, *predicted], labels[first], rope, interval, kind),
        notes=(*notes, *more, *about_best),
        converged=fitted.converged,
        reasons=fitted.reasons,
    )


def check_rope(rope: Any) -> None:
    """Refuse a region of practical equivalence that is not two increasing numbers."""
    if rope is None:
        return
    if len(rope) != 2 or not all(np.isfinite(rope)) or not rope[0] < rope[1]:
        raise DataError(
            "the region of practical equivalence needs a lower and a higher end",
            where="rope",
            received=" ".join(map(str, rope)),
            allowed="two numbers, the lower first, for example -0.05 0.05",
        )


def _refuse_factor(fitted: Fitted, name: str) -> None:
    values = fitted.factors[name]
    if values.nunique() < 2:
        raise DataError(
            f'factor "{name}" has one level in this fit, so that there is nothing to compare',
            received=str(values.iloc[0]),
            allowed=[n for n in fitted.names if fitted.factors[n].nunique() > 1] or "a fit of two or more levels",
            mend=f"fit data with two or more levels of {name}",
        )
    if is_covariate(values):
        raise DataError(
            f'"{name}" is a measured number, not a set of levels',
            received=f"{values.nunique()} distinct values from {values.min():g} to {values.max():g}",
            allowed=[n for n in fitted.names if not is_covariate(fitted.factors[n])] or "a factor with levels",
            mend=f"its coefficient {fitted.predictor}_{name} is in hmeta summary; to compare groups, bin the column "
            "before the import",
        )


def _refuse_same(found: list[Difference], fitted: Fitted, name: str) -> None:
    if all(not np.any(difference.draws) for difference in found):
        raise DataError(
            f"{fitted.parameter} cannot differ by {name} in this model: every difference is 0 by construction",
            where=f"formula of {fitted.predictor}",
            allowed=f"a model whose formula of {fitted.predictor} uses {name}",
            mend=f'fit again, for example with --formula "{fitted.predictor}=0 + {name} + ..."',
        )


def _known_level(baseline: str, labels: list[str], name: str) -> str:
    if str(baseline) in labels:
        return str(baseline)
    shown = labels if len(labels) <= 20 else [*labels[:20], f"and {len(labels) - 20} more"]
    raise DataError(
        f'"{baseline}" is not a level of {name}',
        where="baseline",
        received=str(baseline),
        allowed=shown,
        mend=did_you_mean(str(baseline), labels),
    )


def _others(labels: list[str], first: int) -> list[int]:
    return [i for i in range(len(labels)) if i != first]


def _observed(fitted: Fitted, pairing: Pairing, label: str) -> Difference:
    level = pairing.mean_over_keys(fitted.draws, "level")
    base = pairing.mean_over_keys(fitted.draws, "baseline")
    return Difference(label, OBSERVED, pairing.words, pairing.n_shared, level - base)


def _new(fitted: Fitted, name: str, values: list[Any], first: int) -> tuple[list[Difference], list[str]]:
    """Return the contrasts for a new unit, and why there are none where there are none."""
    unit = _unit_beside(fitted, name)
    if unit is None:
        return [], [f"no prediction for a new unit: no other factor than {name} has a group term"]
    predicted = predict_new(fitted, unit)
    if isinstance(predicted, str):
        return [], [f"no prediction for a new {unit}: {predicted}"]
    labels = level_labels(values)
    out = []
    for i in _others(labels, first):
        pairing = pair_levels(predicted.contexts, name, values[i], values[first])
        level = pairing.mean_over_keys(predicted.draws, "level")
        base = pairing.mean_over_keys(predicted.draws, "baseline")
        out.append(
            Difference(
                labels[i], NEW, ", ".join([f"a new {unit}", *pairing.words_if_any]), pairing.n_shared, level - base
            )
        )
    return out, []


def _unit_beside(fitted: Fitted, name: str) -> str | None:
    """Return the factor of which a new level is predicted: who answered, or else another grouping factor."""
    grouping = [f for g in fitted.terms.get("groups", []) for f in g["factors"] if f != name]
    unit = default_unit(fitted)
    return unit if unit in grouping else next(iter(grouping), None)


def _p_best(fitted: Fitted, name: str, values: list[Any]) -> tuple[Floats, list[str]]:
    """Return P(a level has the largest average), over combinations observed under every level where there are any."""
    shared = shared_rows(fitted.factors, name, values)
    notes = []
    if shared is None:
        shared = [np.flatnonzero(fitted.factors[name] == value) for value in values]
        notes.append(f"P(best) compares different cells: no combination was observed under every level of {name}")
    means = np.stack([fitted.flat[cells].mean(axis=0) for cells in shared])
    if not np.isfinite(means).all():
        return np.full(len(values), np.nan), [*notes, "P(best) undefined: some draws are not finite"]
    largest = means == means.max(axis=0)
    alone = largest.sum(axis=0) == 1
    if not alone.any():
        return np.full(len(values), np.nan), [*notes, "P(best) undefined: the largest is tied in every draw"]
    return largest[:, alone].mean(axis=1), notes
