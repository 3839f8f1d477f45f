"""Intervals of draws; kind and mass are always hmeta's own, never a library's default."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from hmeta.core.errors import HmetaError
from hmeta.core.registry import did_you_mean

Floats = NDArray[np.float64]
Kind = Literal["eti", "hdi"]

MASS = 0.94
NAMES = {"eti": "equal-tailed", "hdi": "highest-density"}


def interval_ends(draws: Floats, mass: float = MASS, kind: Kind = "eti") -> tuple[Floats, Floats]:
    """Return the ends of an interval over the last axis.

    Parameters
    ----------
    draws : (..., sample)
    mass : float
        Share of the draws inside, in (0, 1).
    kind : {"eti", "hdi"}
        Equal tails on both sides, or the narrowest interval (of a unimodal distribution).

    Returns
    -------
    lower, upper : (...,)
        NaN where a draw is not finite.

    Examples
    --------
    >>> lower, upper = interval_ends(np.arange(101.0), 0.5)
    >>> float(lower), float(upper)
    (25.0, 75.0)
    """
    check_interval(mass, kind)
    whole = np.isfinite(draws).all(axis=-1)
    filled = np.where(whole[..., None], draws, 0.0)
    if kind == "eti":
        lower, upper = np.quantile(filled, [(1 - mass) / 2, (1 + mass) / 2], axis=-1)
    else:
        lower, upper = _narrowest(np.sort(filled, axis=-1), mass)
    return np.where(whole, lower, np.nan), np.where(whole, upper, np.nan)


def describe_draws(draws: Floats, mass: float = MASS, kind: Kind = "eti") -> dict[str, Floats]:
    """Return `median`, `sd`, `lower` and `upper` over the last axis; NaN where a draw is not finite.

    Parameters
    ----------
    draws : (..., sample)
    mass, kind
        As for `interval_ends`.
    """
    lower, upper = interval_ends(draws, mass, kind)
    whole = np.isfinite(draws).all(axis=-1)
    filled = np.where(whole[..., None], draws, 0.0)
    median, sd = np.median(filled, axis=-1), filled.std(axis=-1, ddof=1)
    return {
        "median": np.where(whole, median, np.nan),
        "sd": np.where(whole, sd, np.nan),
        "lower": lower,
        "upper": upper,
    }


def share_of(hits: NDArray[np.bool_], draws: Floats) -> Floats:
    """Return the share of draws that are hits, over the last axis; NaN where a draw is not finite."""
    return np.where(np.isfinite(draws).all(axis=-1), hits.mean(axis=-1), np.nan)


def check_interval(mass: Any, kind: Any) -> None:
    """Refuse a mass outside (0, 1) and an unknown kind of interval."""
    if isinstance(mass, bool) or not isinstance(mass, int | float) or not 0 < mass < 1:
        raise HmetaError(
            "the mass of an interval is a share of the posterior",
            received=repr(mass),
            allowed="a number between 0 and 1, for example 0.94",
            mend=f"write {mass / 100:g}" if isinstance(mass, int | float) and 50 <= mass < 100 else None,
        )
    if kind not in get_args(Kind):
        raise HmetaError(
            "unknown kind of interval",
            received=repr(kind),
            allowed=get_args(Kind),
            mend=did_you_mean(str(kind), get_args(Kind)),
        )


def _narrowest(ordered: Floats, mass: float) -> tuple[Floats, Floats]:
    inside = int(np.floor(mass * ordered.shape[-1]))
    width = ordered[..., inside:] - ordered[..., : ordered.shape[-1] - inside]
    first = width.argmin(axis=-1)[..., None]
    lower = np.take_along_axis(ordered, first, axis=-1)
    return lower[..., 0], np.take_along_axis(ordered, first + inside, axis=-1)[..., 0]
