"""Codings that look turned round: stimuli, rating order, scale direction."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import NormalDist

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hmeta.trials.rules import caution
from hmeta.trials.study import Study, labels, named

SURE = 2.0
"""A departure counts from two standard errors on."""

CLEAR_D = 1.0


@caution
def stimulus_inverted(study: Study) -> Iterable[str]:
    """Name units with negative d′ whose confidence is higher when wrong: stimulus or response is swapped."""
    if study.task != "binary":
        return
    s = study.summary
    d, error = d_prime(s)
    turned = pd.Series(d < -SURE * error) & (auroc2_z(s) < -SURE)
    if turned.any():
        shown = _with_values(s, turned, d)
        yield f"the coding of stimulus or response is probably inverted (d′ below 0 and AUROC2 below 0.5): {shown}"


@caution
def ratings_reversed(study: Study) -> Iterable[str]:
    """Name units that discriminate well while their confidence is higher when wrong."""
    if study.task != "binary":
        return
    s = study.summary
    d, _ = d_prime(s)
    turned = pd.Series(d > CLEAR_D) & (auroc2_z(s) < -SURE)
    if turned.any():
        shown = _with_values(s, turned, d)
        yield f"the order of the ratings is probably reversed (AUROC2 below 0.5 while d′ is above 1): {shown}"


@caution
def below_chance(study: Study) -> Iterable[str]:
    """Name units that do clearly worse than guessing."""
    if study.task != "mafc":
        return
    count = study.rows["count"].to_numpy(dtype=np.float64)
    chance = 1 / study.rows["n_options"].to_numpy(dtype=np.float64)
    parts = study.places.assign(n=count, right=count * study.correct, mean=count * chance)
    s = parts.assign(variance=count * chance * (1 - chance)).groupby(["unit", "dataset", "scale"]).sum().reset_index()
    low = (s["right"] - s["mean"]) < -SURE * np.sqrt(s["variance"])
    if low.any():
        yield f"accuracy is below chance; the answers may be scored against a wrong key: {named(labels(s, low))}"


@caution
def scale_direction(study: Study) -> Iterable[str]:
    """Say where every unit of a scale is surer when wrong: the scale runs the other way."""
    s = study.summary.assign(z=auroc2_z(study.summary))
    for scale, units in s[s["auroc2"].notna()].groupby("scale"):
        pooled = units["z"].sum() / np.sqrt(len(units))
        if (units["auroc2"] < 0.5).all() and pooled < -SURE:
            where = f" on scale {scale}" if scale else ""
            yield f"AUROC2 is below 0.5 for every unit{where}; check scale_reversed and the coding of correct"


def d_prime(summary: pd.DataFrame) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return d′ of each unit and its standard error, NaN where a rate is 0, 1 or undefined."""
    z, variance = [], []
    for hits, n in (("hits", "n_s1"), ("false_alarms", "n_s0")):
        total = summary[n].to_numpy(dtype=np.float64)
        rate = summary[hits].to_numpy(dtype=np.float64) / np.where(total > 0, total, np.nan)
        inside = np.where((rate > 0) & (rate < 1), rate, np.nan)
        quantile = np.array([NormalDist().inv_cdf(r) if r == r else np.nan for r in inside])
        density = np.exp(-0.5 * quantile**2) / np.sqrt(2 * np.pi)
        z.append(quantile)
        variance.append(inside * (1 - inside) / (total * density**2))
    return z[0] - z[1], np.sqrt(variance[0] + variance[1])


def auroc2_z(summary: pd.DataFrame) -> pd.Series:
    """Return how many standard errors (Mann–Whitney, no difference) AUROC2 lies above 0.5."""
    pairs = (summary["n_correct"] * summary["n_wrong"]).where(lambda p: p > 0)
    return (summary["auroc2"] - 0.5) / np.sqrt((summary["n"] + 1) / (12 * pairs))


def _with_values(summary: pd.DataFrame, chosen: pd.Series, d: NDArray[np.float64]) -> str:
    values = zip(labels(summary, chosen), d[chosen.to_numpy()], summary["auroc2"][chosen], strict=True)
    return named([f"{name} (d′ {one:.2f}, AUROC2 {two:.2f})" for name, one, two in values])
