"""Several fits side by side: the same quantity in each, how they differ, and what they say together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from hmeta.core.errors import DataError
from hmeta.core.files import distinct_names, read_tree
from hmeta.core.registry import did_you_mean
from hmeta.core.streams import stream
from hmeta.infer.alike import check_alike, listed
from hmeta.infer.compare_tables import ALL, Comparison, Difference, Study, difference_table, estimate_of, study_table
from hmeta.infer.contrast import ROPE, check_rope
from hmeta.infer.fitted import Fitted, find_factor, is_covariate, level_labels
from hmeta.infer.intervals import MASS, Kind, check_interval
from hmeta.infer.parameter_words import words_of
from hmeta.infer.pooling import TAU_SCALE, Pooled, pool

Floats = NDArray[np.float64]
Cells = NDArray[np.int64]
Fits = Mapping[str, xr.DataTree | str | Path] | Sequence[str | Path]

PAIRS = 20_000
"""Draws of each study, paired at random, of which the differences are made."""

ALL_PAIRS = 6
"""Up to this many studies every pair is compared, beyond it each with the baseline only."""

SHARES = ("auroc2", "accuracy")
"""Quantities that end at 0 and 1, which the pooling does not know."""

SKEWED = 0.2
"""Mean minus median in standard deviations, from which a posterior is not taken for normal without a note."""


def compare_fits(
    fits: Fits,
    *,
    parameter: str | None = None,
    by: str | None = None,
    baseline: str | None = None,
    rope: tuple[float, float] | None = ROPE,
    interval: float = MASS,
    kind: Kind = "eti",
    tau_scale: float = TAU_SCALE,
) -> Comparison:
    """Compare fits of different studies, and pool them.

    Parameters
    ----------
    fits : mapping of str to DataTree or path, or sequence of paths
        Two or more fits by the name that the tables use; files of a sequence go by their own names.
    parameter : str, optional
        A quantity at the cells. Default: the headline of the fits, M or auroc2.
    by : str, optional
        A factor of every fit, by its name or the column it was read from: studies are compared level by level.
    baseline : str, optional
        The study that the others are compared with; the first by default.
    rope : (low, high), optional
        Region of practical equivalence; None leaves it out.
    interval : float
        Mass of the intervals.
    kind : {"eti", "hdi"}
    tau_scale : float
        Scale of the half-normal prior of the standard deviation between studies.

    Returns
    -------
    Comparison
        Of every study the average over its own observed cells, each with the same weight, on the natural scale.
        Differences pair independent posteriors at random: of all studies with the baseline, and of all pairs of up to
        six. The pooling (`hmeta.infer.pooling.pool`) takes each study as a normal measurement, its posterior median
        and standard deviation, and gives the mean, the spread, and the prediction for one more study.

    Raises
    ------
    DataError
        Where the fits do not estimate the same quantity (`hmeta.infer.alike`), for a factor that a fit lacks, a
        measured number as factor, no level in common, or an unknown baseline.
    """
    check_interval(interval, kind)
    check_rope(rope)
    trees = _read(fits)
    alike = check_alike(trees, parameter)
    first = _known_study(baseline, list(trees))
    notes = [] if baseline is not None else [f"baseline: {first}, the first fit"]
    cells_of, more = _align(alike.fits, by)
    studies = [
        _study(name, level, alike.fits[name], cells, by)
        for level, members in cells_of.items()
        for name, cells in members.items()
    ]
    found = [d for level in cells_of for d in _differences([s for s in studies if s.level == level], first, len(trees))]
    pooled, about = _pool(studies, interval, kind, tau_scale)
    return Comparison(
        parameter=alike.parameter,
        by=by,
        baseline=first,
        rope=rope,
        interval=interval,
        kind=kind,
        table=study_table(studies, interval, kind),
        differences=difference_table(found, rope, interval, kind),
        pooled=pooled,
        facts=alike.facts,
        notes=(*alike.notes, *notes, *more, *about),
    )


def _read(fits: Fits) -> dict[str, xr.DataTree]:
    """Return fits by name, those given by path read."""
    if not isinstance(fits, Mapping):
        fits = dict(zip(distinct_names(fits), fits, strict=True))
    return {name: fit if isinstance(fit, xr.DataTree) else read_tree(fit) for name, fit in fits.items()}


def _known_study(baseline: str | None, names: list[str]) -> str:
    if baseline is None or baseline in names:
        return baseline or names[0]
    raise DataError(
        f'"{baseline}" is not one of the fits',
        where="baseline",
        received=baseline,
        allowed=names,
        mend=did_you_mean(baseline, names),
    )


def _align(fits: Mapping[str, Fitted], by: str | None) -> tuple[dict[str, dict[str, Cells]], list[str]]:
    """Return the cells of every study by level, of levels that two studies or more have, and a note on the others."""
    if by is None:
        return {ALL: {name: np.arange(len(fitted.factors)) for name, fitted in fits.items()}}, []
    values: dict[str, Any] = {}
    cells_of: dict[str, dict[str, Cells]] = {}
    for name, fitted in fits.items():
        column = _factor(name, fitted, by)
        levels = fitted.factors[column].unique()
        for label, value in zip(level_labels(levels), levels, strict=True):
            values.setdefault(label, value)
            cells_of.setdefault(label, {})[name] = np.flatnonzero(fitted.factors[column] == value)
    shared = [label for label in _ordered(values) if len(cells_of[label]) > 1]
    if not shared:
        raise DataError(
            f'no level of "{by}" occurs in two of the fits, so that there is nothing to compare',
            received="; ".join(f"{name}: {listed(v for v in cells_of if name in cells_of[v])}" for name in fits),
            allowed="levels written alike in two fits or more",
            mend="give the levels the same names before the import, or compare without --by",
        )
    alone = [f"{label} ({next(iter(cells_of[label]))})" for label in _ordered(values) if label not in shared]
    notes = [f"left out, because one study only has them: {by} {listed(alone, 20)}"] if alone else []
    return {label: cells_of[label] for label in shared}, notes


def _factor(name: str, fitted: Fitted, by: str) -> str:
    try:
        column = find_factor(fitted, by)
    except DataError as error:
        raise error.at(name) from error
    if is_covariate(fitted.factors[column]):
        raise DataError(
            f'"{by}" is a measured number, not a set of levels',
            where=name,
            received=f"{fitted.factors[column].nunique()} distinct values",
            allowed="a factor with levels",
            mend="bin the column before the import",
        )
    return column


def _ordered(values: Mapping[str, Any]) -> list[str]:
    """Return levels in the order of their values, or of their names where numbers meet texts."""
    try:
        return sorted(values, key=lambda label: values[label])
    except TypeError:
        return sorted(values)


def _study(name: str, level: str, fitted: Fitted, cells: Cells, by: str | None) -> Study:
    column = None if by is None else find_factor(fitted, by)
    varying = [f for f in fitted.names if f != column and fitted.factors[f].iloc[cells].nunique() > 1]
    over = f"average over observed {' × '.join(varying)} ({len(cells)} cells)" if len(cells) > 1 else "one cell"
    draws = fitted.draws[cells].mean(axis=0)
    return Study(name, level, over, fitted, cells, draws, _resample(draws.ravel(), name))


def _resample(draws: Floats, name: str) -> Floats:
    """Return draws in a random order that is the study's own, each used as often as any other, (pair,).

    The order depends on the study alone, so that differences of three studies add up and levels keep their draws.
    """
    random = np.random.default_rng(stream(0, f"compare {name}"))
    rounds = -(-PAIRS // len(draws))
    return draws[np.concatenate([random.permutation(len(draws)) for _ in range(rounds)])[:PAIRS]]


def _differences(studies: list[Study], first: str, n_fits: int) -> list[Difference]:
    """Return each study minus the baseline, then the other pairs (the later minus the earlier) of few studies."""
    base = [s for s in studies if s.name == first]
    others = [s for s in studies if s.name != first]
    pairs = [(b, s) for b in base for s in others]
    pairs += list(combinations(others, 2)) if n_fits <= ALL_PAIRS else []
    return [Difference(s.level, s.name, b.name, s.paired - b.paired) for b, s in pairs]


def _pool(studies: list[Study], interval: float, kind: Kind, tau_scale: float) -> tuple[dict[str, Pooled], list[str]]:
    """Return what the studies say together, level by level, and what to know about it."""
    words = words_of(studies[0].fitted.parameter)
    reference = words.chance if words.mark is None else words.mark
    pooled: dict[str, Pooled] = {}
    notes = ["pooling takes each posterior for a normal measurement (median, sd), its fit's own priors included"]
    for level in dict.fromkeys(study.level for study in studies):
        usable, left_out = _usable([s for s in studies if s.level == level])
        notes += left_out
        if len(usable) < 2:
            notes.append(f"not pooled{_at(level)}: fewer than two usable studies")
            continue
        estimates = [estimate_of(study, interval, kind) for study in usable]
        pooled[level] = pool(
            [e.median for e in estimates],
            [e.sd for e in estimates],
            studies=[study.name for study in usable],
            tau_scale=tau_scale,
            reference=reference,
            interval=interval,
            kind=kind,
        )
        notes += pooled[level].notes
        new = pooled[level].new
        if studies[0].fitted.parameter in SHARES and not 0 <= new.lower <= new.upper <= 1:
            notes.append(
                f"the prediction{_at(level)} leaves 0 to 1, where {studies[0].fitted.parameter} ends: the prior of the "
                f"spread (half-normal({tau_scale:g})) is wide for it; give a smaller one with --tau, for example 0.05"
            )
    parameter = studies[0].fitted.parameter
    if parameter != "M" and tau_scale == TAU_SCALE:
        notes.append(
            f"the prior of the spread, half-normal({TAU_SCALE:g}), is meant for M; {parameter} may need another"
        )
    return pooled, list(dict.fromkeys(notes))


def _usable(studies: list[Study]) -> tuple[list[Study], list[str]]:
    """Return studies whose posterior can stand for a measurement, and what is wrong with the others or doubtful."""
    usable, notes = [], []
    for study in studies:
        draws = study.draws
        if not np.isfinite(draws).all() or draws.min() == draws.max():
            notes.append(f"{study.name}: not pooled{_at(study.level)}, its draws do not vary or are not all finite")
            continue
        usable.append(study)
        if abs(draws.mean() - np.median(draws)) > SKEWED * draws.std():
            notes.append(f"{study.name}: the posterior{_at(study.level)} is skewed, which pooling as normal neglects")
    return usable, notes


def _at(level: str) -> str:
    return "" if level == ALL else f" at {level}"
