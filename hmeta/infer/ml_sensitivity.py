"""How much M depends on the noise that is assumed, and on how finely confidence was rated: by maximum likelihood.

Every unit's answers are counted once more, without the hierarchy, and M is estimated by maximum likelihood under each
noise that the likelihood allows, and under the fit's own noise after its ratings were put into 3, 5 and 10 bins of
about equal size. Pooling cells of different difficulty makes confidence tell right from wrong across cells too, which
inflates M a little; every variant shares this, so that their differences mean what they say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from hmeta.core.errors import DataError
from hmeta.infer.criteria_prior import criteria_columns
from hmeta.infer.fitted import COUNT_OF_OPTIONS, HEADLINE, Fitted, default_unit, level_labels, read_fit
from hmeta.infer.mle import fit_mle
from hmeta.infer.mle_check import DEFAULTS
from hmeta.metrics.binning import ON_RANK, bin_index, middle_ranks
from hmeta.mle.table import side_of
from hmeta.sdt.likelihood import families
from hmeta.spec.likelihoods import option_conflict
from hmeta.trials.count_table import CountTable

Floats = NDArray[np.float64]

BINS = (3, 5, 10)
UNBINNED = 0
NOT_BINNED = "not binned"

NOTE = (
    "maximum likelihood by unit, its cells pooled where they share criteria: pooling cells of different difficulty "
    "inflates M a little, alike in every variant"
)
EQUAL_VARIANCE = "the fit has a ratio of standard deviations of its own; here it is 1"

COLUMNS = (
    "unit", "part", "n_answers", "n_levels", "noise", "bins", "own", "M", "se_M", "log_likelihood", "g2", "g2_df",
    "status", "reason",
)  # fmt: skip


def ml_sensitivity(tree: xr.DataTree, *, noises: Sequence[str] | None = None) -> pd.DataFrame:
    """Estimate M of every unit by maximum likelihood under each noise and with coarser ratings.

    Parameters
    ----------
    tree : DataTree
        A fit whose headline is M, with its counts.
    noises : sequence of str, optional
        Noises to try beside the fit's own; every one that its likelihood allows, if not given. Each takes some seconds
        of compilation for every few sizes of table, normal noise of several alternatives the most.

    Returns
    -------
    DataFrame
        One row a unit and variant. `unit` is the level of the fit's default unit; `part` tells apart answers of one
        unit that have different criteria (or numbers of options), which are never pooled; `n_answers`; `n_levels`, of
        confidence, in use after binning; `noise`; `bins` (0: as rated); `own`, whether the noise is the fit's and
        nothing is binned; `M`, `se_M`; `log_likelihood` of the ratings given the outcomes, to be compared between
        noises, never between bins; `g2`, twice its distance from a perfect fit, on `g2_df` degrees of freedom;
        `status` and `reason` as `fit_mle` gives them, "not binned" where a unit uses no more levels than bins.
        `attrs["notes"]` tells what to keep in mind.

    Raises
    ------
    DataError
        For a fit whose headline is not M, or one without counts.
    SpecError
        For a noise that the likelihood does not have.
    """
    fitted = read_fit(tree)
    if fitted.parameter != HEADLINE:
        raise DataError(
            "noise and bins can be varied where M is the headline of a fit",
            received=fitted.parameter,
            mend="AUROC2 assumes no noise; see hmeta metrics for the observed one",
        )
    names, counts = _pooled(fitted)
    options = {**DEFAULTS[counts.task], **fitted.from_json("options", {})}
    likelihood, own = str(fitted.attributes.get("likelihood", counts.task)), str(options["noise"])
    chosen = {k: str(options[k]) for k in ("meta_c", "rule") if k in DEFAULTS[counts.task]}
    parts = [_fit(counts, names, own, (UNBINNED, *BINS), chosen)]
    others = [noise for noise in (_noises(counts.task) if noises is None else noises) if noise != own]
    possible = [noise for noise in others if option_conflict(likelihood, {**chosen, "noise": noise}) is None]
    parts += [_fit(counts, names, noise, (UNBINNED,), chosen) for noise in possible]
    frame = pd.concat(parts, ignore_index=True)
    frame["own"] = (frame["noise"] == own) & (frame["bins"] == UNBINNED)
    frame = frame.sort_values(["unit", "part"], kind="stable", ignore_index=True)[list(COLUMNS)]
    free = "sd_ratio" in fitted.from_json("terms", {})
    frame.attrs.update(noise=own, by=default_unit(fitted) or "", notes=(NOTE, EQUAL_VARIANCE) if free else (NOTE,))
    return frame


def _noises(task: str) -> tuple[str, ...]:
    return tuple(families()[task].OPTIONS["noise"])  # type: ignore[attr-defined]


def _pooled(fitted: Fitted) -> tuple[pd.DataFrame, CountTable]:
    """Return unit and part of each pooled cell, and its counts."""
    rows = fitted.observed
    if rows is None:
        raise DataError("the fit holds no counts", mend="fit again with hmeta fit, which keeps them")
    unit, factors = default_unit(fitted), fitted.factors
    columns = [fitted.factor_name(word) or word for word in criteria_columns(fitted.tree)]
    apart = [name for name in columns if name in factors and name != unit]
    keys = {"unit": level_labels(factors[unit]) if unit is not None else ["all answers"] * len(factors)}
    keys["part"] = [" | ".join(level_labels(row)) for row in factors[apart].itertuples(index=False, name=None)]
    cells = pd.DataFrame(keys, index=factors.index)
    if COUNT_OF_OPTIONS in factors:
        cells = _by_options(cells.assign(**{COUNT_OF_OPTIONS: factors[COUNT_OF_OPTIONS]}))
    number = cells.groupby(list(cells.columns), sort=False).ngroup().to_numpy()
    rows = rows.assign(cell=number[rows["cell"].to_numpy()])
    together = rows[rows["count"] > 0].groupby(["cell", "outcome", "confidence"], as_index=False)["count"].sum()
    distinct = cells.iloc[np.unique(number, return_index=True)[1]].reset_index(drop=True)
    arrays = [together[name].to_numpy() for name in ("cell", "outcome", "confidence", "count")]
    return distinct[["unit", "part"]], CountTable(str(fitted.attributes["task"]), distinct, *arrays)


def _by_options(cells: pd.DataFrame) -> pd.DataFrame:
    """Tell parts apart by the number of options where one unit and part has several."""
    several = cells.groupby(["unit", "part"])[COUNT_OF_OPTIONS].transform("nunique") > 1
    named = [
        " | ".join(text for text in (part, f"m = {m}" if more else "") if text)
        for part, m, more in zip(cells["part"], cells[COUNT_OF_OPTIONS], several, strict=True)
    ]
    return cells.assign(part=named)


def _fit(
    counts: CountTable, names: pd.DataFrame, noise: str, bins: tuple[int, ...], options: dict[str, str]
) -> pd.DataFrame:
    """Fit every unit in every binning that changes something, all at once."""
    n_levels = _levels(counts)
    wanted = [np.flatnonzero((k == UNBINNED) | (n_levels > k)) for k in bins]
    tables = [_subset(counts if k == UNBINNED else _binned(counts, k), at) for k, at in zip(bins, wanted, strict=True)]
    stacked = _stacked(tables)
    found = fit_mle(stacked, noise=noise, **options)
    g2, df = _goodness(stacked, found["log_likelihood"].to_numpy(dtype=np.float64))
    columns = found[["M", "se_M", "log_likelihood", "status", "reason", "n_levels"]].assign(g2=g2, g2_df=df)
    keys = [names.iloc[at].assign(bins=k, noise=noise) for k, at in zip(bins, wanted, strict=True)]
    fits = pd.concat([pd.concat(keys, ignore_index=True), columns.reset_index(drop=True)], axis=1)
    every = pd.concat([names.assign(bins=k, noise=noise, rated=n_levels) for k in bins], ignore_index=True)
    frame = every.merge(fits, on=["unit", "part", "bins", "noise"], how="left")
    frame["n_answers"] = np.tile(np.bincount(counts.cell, weights=counts.count, minlength=len(names)), len(bins))
    return _told_apart(frame)


def _told_apart(frame: pd.DataFrame) -> pd.DataFrame:
    """Say of the binnings that change nothing that they were not made."""
    same = frame["status"].isna()
    reasons = [f"uses {k} levels, no more than the bins" for k in frame["rated"]]
    frame["reason"] = frame["reason"].where(~same, pd.Series(reasons, index=frame.index))
    frame["status"] = frame["status"].where(~same, NOT_BINNED)
    frame["n_levels"] = frame["n_levels"].where(~same, frame["rated"]).astype(int)
    return frame


def _subset(counts: CountTable, cells: NDArray[np.int64]) -> CountTable:
    """Return the counts of some cells."""
    place = np.full(len(counts.cells), -1)
    place[cells] = np.arange(len(cells))
    kept = place[counts.cell] >= 0
    rows = (counts.outcome[kept], counts.confidence[kept], counts.count[kept])
    return CountTable(counts.task, counts.cells.iloc[cells], place[counts.cell[kept]], *rows)


def _stacked(tables: list[CountTable]) -> CountTable:
    """Return the cells of several tables as those of one."""
    start = np.cumsum([0, *(len(table.cells) for table in tables)])
    return CountTable(
        tables[0].task,
        pd.concat([table.cells for table in tables], ignore_index=True),
        np.concatenate([table.cell + first for table, first in zip(tables, start[:-1], strict=True)]),
        np.concatenate([table.outcome for table in tables]),
        np.concatenate([table.confidence for table in tables]),
        np.concatenate([table.count for table in tables]),
    )


def _levels(counts: CountTable) -> NDArray[np.int64]:
    """Return how many confidence levels each cell uses, (cell,)."""
    used = pd.DataFrame({"cell": counts.cell, "value": counts.confidence}).drop_duplicates()
    return np.bincount(used["cell"], minlength=len(counts.cells))


def _binned(counts: CountTable, bins: int) -> CountTable:
    """Put the ratings of every cell into bins of about equal size; equal ratings stay together."""
    levels = pd.DataFrame({"cell": counts.cell, "value": counts.confidence, "count": counts.count})
    totals = levels.groupby(["cell", "value"])["count"].sum()
    index = totals.groupby(level="cell").transform(
        lambda n: bin_index(middle_ranks(n.to_numpy(dtype=np.float64)), bins, near=ON_RANK)
    )
    keys = pd.MultiIndex.from_arrays([counts.cell, counts.confidence])
    return replace(counts, confidence=index.loc[keys].to_numpy(dtype=np.float64))


def _goodness(counts: CountTable, log_likelihood: Floats) -> tuple[Floats, Floats]:
    """Return G² of the ratings given the outcomes and its degrees of freedom, (cell,) each.

    G² is twice the distance from each outcome's own shares of ratings. Each side (response) with L levels has L - 1
    criteria for L - 1 free shares an outcome, and meta_d is one number more.
    """
    n = len(counts.cells)
    frame = pd.DataFrame({"cell": counts.cell, "outcome": counts.outcome, "value": counts.confidence})
    frame = frame.assign(side=side_of(counts.task, counts.outcome), count=counts.count)
    share = frame.groupby(["cell", "outcome", "value"])["count"].sum()
    total = share.groupby(level=["cell", "outcome"]).transform("sum")
    best = (share * np.log(share / total)).groupby(level="cell").sum().reindex(range(n), fill_value=0.0).to_numpy()
    sides = frame.groupby(["cell", "side"]).agg(levels=("value", "nunique"), outcomes=("outcome", "nunique"))
    free = ((sides["levels"] - 1) * (sides["outcomes"] - 1)).groupby(level="cell").sum()
    df = free.reindex(range(n), fill_value=0).to_numpy(dtype=np.float64) - 1.0
    g2 = 2.0 * (best - log_likelihood)
    return g2, np.where(np.isfinite(g2), df, np.nan)
