"""What the maximum-likelihood commands accept, and how they refuse the rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hmeta.core.errors import DataError, SpecError
from hmeta.core.registry import did_you_mean
from hmeta.mle.table import Ratings, ratings
from hmeta.sdt.likelihood import families

Floats = NDArray[np.float64]
Counts = Sequence[float] | NDArray[np.number]

ORDER = "[S1 high … S1 low, S2 low … S2 high], 2K counts for K rating levels"
PER_LEVEL = "1/(2K)"
INCLUDED = "included"
DEFAULTS = {"binary": {"noise": "normal", "meta_c": "absolute"}, "mafc": {"noise": "gumbel", "rule": "gap"}}


def check_options(task: str, chosen: dict[str, Any]) -> dict[str, object]:
    """Return the likelihood's options, defaults filled in; refuse words outside the closed sets."""
    if task not in DEFAULTS:
        raise SpecError(
            f"maximum likelihood of M is not defined for task {task}",
            received=task,
            allowed=tuple(DEFAULTS),
            mend="an open task has no type-1 table: use AUROC2 and other type-2 measures",
        )
    sets = families()[task].OPTIONS  # type: ignore[attr-defined]
    options: dict[str, object] = {name: chosen.get(name) or default for name, default in DEFAULTS[task].items()}
    for name, value in options.items():
        if value not in sets[name]:
            mend = did_you_mean(str(value), sets[name])
            raise SpecError(
                f"unknown {name}", where=f"{name} of {task}", received=str(value), allowed=sets[name], mend=mend
            )
    if options.get("rule") == "max" and options["noise"] != "normal":
        raise SpecError(
            "rule max carries no information under Gumbel noise", received="max", mend='use noise = "normal"'
        )
    return options


def check_pad(pad: float | str) -> float | None:
    """Return the amount to add to each count, or None for 1/(2K)."""
    if pad == PER_LEVEL:
        return None
    if pad == INCLUDED:
        return 0.0
    if isinstance(pad, str) or not 0.0 <= float(pad) < np.inf:
        raise SpecError(
            "padding must be an amount", received=str(pad), allowed=f'a number >= 0, "{PER_LEVEL}", "{INCLUDED}"'
        )
    return float(pad)


def _check_array(name: str, values: Counts, fractions: bool) -> Floats:
    array = np.asarray(values, dtype=float)
    received = f"{array.size} counts" if array.ndim == 1 else f"an array of shape {array.shape}"
    if array.ndim != 1 or array.size % 2:
        raise DataError("counts must be one list of even length", where=name, received=received, allowed=ORDER)
    if array.size < 4:
        raise DataError("at least two rating levels are needed", where=name, received=received, allowed=ORDER)
    _check_each(name, array, ~(np.isfinite(array) & (array >= 0)), "negative or missing count")
    if not fractions:
        mend = f'if the counts are padded already, say pad="{INCLUDED}"'
        _check_each(name, array, array % 1 > 0, "count is not a whole number", mend=mend)
    return array


def _check_each(name: str, array: Floats, bad: NDArray[np.bool_], what: str, mend: str | None = None) -> None:
    if bad.any():
        at = int(np.argmax(bad))
        where = f"{name}, position {at} (counted from 0)"
        raise DataError(what, where=where, received=f"{array[at]:g}", allowed="whole numbers from 0", mend=mend)


def check_pair(nR_S1: Counts, nR_S2: Counts, *, pad: float | str) -> Ratings:
    """Return the ratings of one pair of count arrays; every level exists, also where its counts are 0."""
    arrays = [_check_array(name, x, pad == INCLUDED) for name, x in (("nR_S1", nR_S1), ("nR_S2", nR_S2))]
    if arrays[0].size != arrays[1].size:
        received = f"{arrays[0].size} and {arrays[1].size} counts"
        raise DataError("nR_S1 and nR_S2 differ in length", where="nR_S2", received=received)
    for name, array in zip(("S1", "S2"), arrays, strict=True):
        if array.sum() == 0:
            mend = "meta-d′ needs trials of both stimuli"
            raise DataError(f"no {name} trials", where=f"nR_{name}", received="all counts 0", mend=mend)
    n_levels = arrays[0].size // 2
    place = np.arange(2 * n_levels)
    response = (place >= n_levels).astype(int)
    value = np.where(response == 1, place - n_levels + 1, n_levels - place).astype(float)
    columns = {
        "cell": np.zeros(4 * n_levels, dtype=np.int64),
        "outcome": np.concatenate([response, 2 + response]),
        "value": np.tile(value, 2),
        "count": np.concatenate(arrays),
    }
    return ratings("binary", pd.DataFrame(index=[0]), columns, sd_ratio=1.0)
