"""One confidence that fills a unit's column without meaning anything: a default put in for a missing value."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from hmeta.trials.rules import caution
from hmeta.trials.scales import MOST_RATING_LEVELS, n_levels
from hmeta.trials.study import Study, label, named

LEAST_SHARE = 0.2
LEAST_ANSWERS = 20
RARE_ELSEWHERE = 0.1
NEIGHBOURHOOD = 0.05
FEW_NEIGHBOURS = 0.05
UNIT = ["unit", "dataset", "scale"]


@caution
def imputed_value(study: Study) -> Iterable[str]:
    """Name units with a spike that looks put in.

    On a wide scale, a value is suspicious where it (1) makes a fifth of the unit's answers or more,
    (2) stands alone: next to nothing within 5 % of the scale's width on either side, (3) is rare among
    the other units of the scale, or, without other units, is the middle or low end of the scale, and
    (4) tells nothing: these answers are as often correct as those given with more confidence. A ceiling
    has nothing above it and is never named; an honest low value goes with lower accuracy.
    """
    levels = _levels(study)
    found = [spike for _, scale in levels.groupby("scale") for spike in _on_scale(scale, study.scales)]
    if found:
        yield f"one value fills the confidences and may stand for missing ones: {named(found)}"


def _levels(study: Study) -> pd.DataFrame:
    """Return for each unit and level its answers and how many of them are correct."""
    count = study.rows["count"].to_numpy(dtype=np.float64)
    data = study.places.assign(value=study.rows["confidence"].to_numpy(), n=count, right=count * study.correct)
    return data.groupby([*UNIT, "value"], sort=True)[["n", "right"]].sum().reset_index()


def _on_scale(levels: pd.DataFrame, scales: pd.DataFrame | None) -> list[str]:
    ends = _ends(levels, scales)
    if ends is None:
        return []
    levels = levels.assign(total=levels.groupby(UNIT)["n"].transform("sum"))
    likely = levels[_frequent(levels) & _odd(levels, ends)]
    own = dict(iter(levels.groupby(UNIT)))
    return [
        f"{label(place)}: {place['n'] / place['total']:.0%} are exactly {place['value']:g}"
        for _, place in likely.iterrows()
        if _stands_alone(place, own[tuple(place[UNIT])], NEIGHBOURHOOD * (ends[1] - ends[0]))
    ]


def _frequent(levels: pd.DataFrame) -> pd.Series:
    return (levels["n"] >= LEAST_SHARE * levels["total"]) & (levels["total"] >= LEAST_ANSWERS)


def _odd(levels: pd.DataFrame, ends: tuple[float, float]) -> pd.Series:
    """Return whether other units hardly use the value, or, without others, whether it is a likely default."""
    others = levels["n"].sum() - levels["total"]
    elsewhere = levels.groupby("value")["n"].transform("sum") - levels["n"]
    rare = elsewhere < RARE_ELSEWHERE * levels["n"] / levels["total"] * others
    return rare.where(others > 0, levels["value"].isin([ends[0], (ends[0] + ends[1]) / 2]))


def _stands_alone(place: pd.Series, mine: pd.DataFrame, reach: float) -> bool:
    near = (mine["value"] - place["value"]).abs() <= reach
    neighbours = mine["n"][near].sum() - place["n"]
    above = mine[mine["value"] > place["value"]]
    if neighbours > FEW_NEIGHBOURS * place["n"] or above["n"].sum() < LEAST_ANSWERS / 2:
        return False
    return _tells_nothing(place, above)


def _tells_nothing(place: pd.Series, above: pd.DataFrame) -> bool:
    """Return whether answers at the value are no less often correct than those above it, within one standard error."""
    n, m = place["n"], above["n"].sum()
    here, higher = place["right"] / n, above["right"].sum() / m
    pooled = (place["right"] + above["right"].sum()) / (n + m)
    return here >= higher - np.sqrt(pooled * (1 - pooled) * (1 / n + 1 / m))


def _ends(levels: pd.DataFrame, scales: pd.DataFrame | None) -> tuple[float, float] | None:
    """Return the ends of the scale where it is wide, else None."""
    if scales is None:
        return None
    own = scales[scales["scale_id"] == levels["scale"].iloc[0]] if len(scales) > 1 else scales
    if not len(own):
        return None
    lower, upper, step = (float(own[f"scale_{end}"].iloc[0]) for end in ("lower", "upper", "step"))
    return (lower, upper) if n_levels(lower, upper, step) > MOST_RATING_LEVELS else None
