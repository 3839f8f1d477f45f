"""What the rules look at: the answers one by one, and the usable ones summed up by unit."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hmeta.trials.row_numbers import MOST_NAMES
from hmeta.trials.tables import unit_columns


@dataclass(frozen=True)
class Answers:
    """The trials of a file as they came, before anything is excluded."""

    task: str
    frame: pd.DataFrame  # (trial, column), missing values as pandas knows them
    outcome: NDArray[np.int64]  # (trial,), −1 unknown
    confidence: NDArray[np.float64]  # (trial,), as reported, NaN missing
    scales: pd.DataFrame | None  # the scale table, declared or read from the study
    declared: pd.DataFrame | None  # (trial, scale column): the scale of each trial
    scales_inferred: bool
    on_violation: str
    duplicates: str

    @cached_property
    def places(self) -> pd.DataFrame:
        """Return unit, dataset and scale of each trial as text."""
        return places(self.frame)


@dataclass(frozen=True)
class Study:
    """The usable answers of a file of either layout, and what became of the others."""

    task: str
    rows: pd.DataFrame  # (row, factor + outcome, confidence, count), confidence larger = surer
    scales: pd.DataFrame | None
    usage: pd.DataFrame  # unit, dataset, scale, rows_in, rows_used
    exclusions: pd.DataFrame  # unit, dataset, scale, reason, count
    answers: Answers | None  # None for layout counts

    @cached_property
    def correct(self) -> NDArray[np.bool_]:
        """Return for each row whether its outcome is a correct answer."""
        outcome = self.rows["outcome"].to_numpy()
        return np.isin(outcome, (0, 3)) if self.task == "binary" else outcome == 1

    @cached_property
    def places(self) -> pd.DataFrame:
        """Return unit, dataset and scale of each row as text."""
        return places(self.rows)

    @cached_property
    def summary(self) -> pd.DataFrame:
        """Return one row for each unit × dataset × scale: numbers, accuracy, levels used, AUROC2."""
        return summarise(self)


def places(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the text columns unit, dataset and scale of a table, "" where it has none."""
    units = [frame[name].astype("object").fillna("(missing)").astype("str") for name in unit_columns(frame.columns)]
    unit = units[0] if units else pd.Series("all", index=frame.index)
    for other in units[1:]:
        unit = unit + " / " + other
    rest = {
        name: frame[name].astype("object").fillna("(missing)").astype("str") if name in frame else ""
        for name in ("dataset", "scale")
    }
    return pd.DataFrame({"unit": unit} | rest, index=frame.index)


def label(place: pd.Series) -> str:
    """Return one place as a person would say it: "claude, mmlu, 0-100"."""
    return ", ".join(str(place[name]) for name in ("unit", "dataset", "scale") if place[name])


def named(labels: list[str]) -> str:
    """Return the first few labels, and how many more there are."""
    more = len(labels) - MOST_NAMES
    return "; ".join(labels[:MOST_NAMES]) + (f"; and {more} more" if more > 0 else "")


def labels(summary: pd.DataFrame, chosen: pd.Series) -> list[str]:
    """Return the labels of the chosen rows of a summary."""
    return [label(place) for _, place in summary[chosen].iterrows()]


def summarise(study: Study) -> pd.DataFrame:
    """Sum up the usable answers of each unit × dataset × scale.

    Returns
    -------
    DataFrame
        `unit`, `dataset`, `scale`, `n`, `n_correct`, `n_wrong`, `accuracy`, `n_levels`, `auroc2` (NaN
        without both correct and wrong answers); for `binary` also `n_s0`, `n_s1`, `n_r0`, `n_r1`,
        `hits`, `false_alarms` and `levels_per_response`.
    """
    count = study.rows["count"].to_numpy(dtype=np.float64)
    right = study.correct
    data = study.places.assign(level=study.rows["confidence"].to_numpy(), n=count)
    data = data.assign(n_correct=count * right, n_wrong=count * ~right)
    keys = ["unit", "dataset", "scale"]
    if study.task == "binary":
        outcome = study.rows["outcome"].to_numpy()
        columns = {"n_s0": (0, 1), "n_s1": (2, 3), "n_r0": (0, 2), "n_r1": (1, 3), "hits": (3,), "false_alarms": (1,)}
        data = data.assign(**{name: count * np.isin(outcome, codes) for name, codes in columns.items()})
    sums = data.groupby(keys, sort=True)[[c for c in data.columns if c not in (*keys, "level")]].sum()
    out = sums.assign(accuracy=sums["n_correct"] / sums["n"], n_levels=data.groupby(keys)["level"].nunique())
    out = out.assign(auroc2=_auroc2(data, keys))
    if study.task == "binary":
        sides = data.assign(response=study.rows["outcome"].to_numpy() % 2)
        per_side = sides.groupby([*keys, "response"])["level"].nunique()
        out = out.assign(levels_per_response=per_side.groupby(level=keys).max())
    return out.reset_index()


def _auroc2(data: pd.DataFrame, keys: list[str]) -> pd.Series:
    """Return P(confidence correct > wrong) + ½ P(tie) for each group; NaN where either is absent."""
    by_level = data.groupby([*keys, "level"], sort=True)[["n_correct", "n_wrong"]].sum()
    below = by_level["n_wrong"].groupby(level=keys).cumsum() - by_level["n_wrong"] / 2
    pairs = (by_level["n_correct"] * below).groupby(level=keys).sum()
    totals = by_level.groupby(level=keys).sum()
    product = totals["n_correct"] * totals["n_wrong"]
    return pairs / product.where(product > 0)
