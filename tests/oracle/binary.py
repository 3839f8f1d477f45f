"""Binary meta-d′ from its definition: intervals of evidence under two stimulus distributions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import mpmath as mp
import numpy as np
from numpy.typing import NDArray
from scipy import integrate, stats

from .noises import Number, interval


@dataclass(frozen=True)
class Setting:
    """Parameters of one observer; `placement` is "absolute" (meta_c = c) or "relative" (meta_c = M·c)."""

    d: float
    c: float
    meta_d: float
    sd_ratio: float = 1.0
    noise: str = "normal"
    placement: str = "absolute"

    @property
    def meta_c(self) -> Number:
        """The type-1 criterion of the type-2 model, in full precision."""
        return mp.mpf(self.c) if self.placement == "absolute" else mp.mpf(self.meta_d) * mp.mpf(self.c) / mp.mpf(self.d)


def _evidence(setting: Setting, stimulus: int, separation: float) -> tuple[Number, float]:
    sign = 1 if stimulus == 1 else -1
    return sign * mp.mpf(separation) / 2, setting.sd_ratio if stimulus == 1 else 1.0


def response_probability(setting: Setting, stimulus: int, response: int) -> Number:
    """P(response | stimulus)."""
    loc, scale = _evidence(setting, stimulus, setting.d)
    lo, hi = (setting.c, mp.inf) if response == 1 else (mp.ninf, setting.c)
    return interval(setting.noise, lo, hi, loc, scale)


def rating_probability(setting: Setting, stimulus: int, response: int, lo: float, hi: float) -> Number:
    """P(lo < distance from meta_c <= hi | stimulus, response)."""
    loc, scale = _evidence(setting, stimulus, setting.meta_d)
    at = setting.meta_c
    if response == 1:
        bounds, side = (at + mp.mpf(lo), at + mp.mpf(hi)), (at, mp.inf)
    else:
        bounds, side = (at - mp.mpf(hi), at - mp.mpf(lo)), (mp.ninf, at)
    return interval(setting.noise, *bounds, loc, scale) / interval(setting.noise, *side, loc, scale)


def log_joint(setting: Setting, outcome: int, lo: float, hi: float) -> float:
    """Log P(response, lo < y <= hi | stimulus), the outcome being 2·stimulus + response."""
    stimulus, response = divmod(outcome, 2)
    joint = response_probability(setting, stimulus, response) * rating_probability(setting, stimulus, response, lo, hi)
    return float(mp.log(joint))


def simulate_many(
    setting: Setting,
    edges: Sequence[Sequence[float]],
    n: tuple[int, int],
    repeats: int,
    rng: np.random.Generator,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draw `repeats` times nR_S1 and nR_S2, each ``(repeat, 2 K)``.

    `edges` are the criteria of R=0 and of R=1, increasing distances above 0.
    """
    out = []
    for stimulus in (0, 1):
        p: list[float] = []
        for response, order in ((0, -1), (1, 1)):
            chance = response_probability(setting, stimulus, response)
            levels = [
                float(chance * rating_probability(setting, stimulus, response, lo, hi))
                for lo, hi in pairwise((0.0, *edges[response], np.inf))
            ]
            p += levels[::order]
        out.append(rng.multinomial(n[stimulus], np.array(p) / np.sum(p), size=repeats))
    return out[0], out[1]


def simulate_counts(
    setting: Setting,
    edges: Sequence[Sequence[float]],
    n: tuple[int, int],
    rng: np.random.Generator,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draw nR_S1 and nR_S2 once."""
    first, second = simulate_many(setting, edges, n, 1, rng)
    return first[0], second[0]


def rating_by_quadrature(setting: Setting, stimulus: int, response: int, lo: float, hi: float) -> float:
    """The same rating probability by integrating SciPy's density; checks the oracle itself."""
    families: dict[str, Any] = {
        "normal": stats.norm,
        "logistic": stats.logistic,
        "gumbel_min": stats.gumbel_l,
        "gumbel_max": stats.gumbel_r,
    }
    loc, scale = _evidence(setting, stimulus, setting.meta_d)
    density = families[setting.noise](loc=float(loc), scale=scale).pdf
    at, far = float(setting.meta_c), 60.0 * scale
    sign = 1 if response == 1 else -1

    def mass(a: float, b: float) -> float:
        ends = sorted((at + sign * a, at + sign * min(b, far)))
        middle = [float(loc)] if ends[0] < float(loc) < ends[1] else None
        found = integrate.quad(density, ends[0], ends[1], points=middle, epsabs=1e-13, epsrel=1e-12, limit=400)
        return float(found[0])

    return mass(lo, hi) / mass(0.0, np.inf)
