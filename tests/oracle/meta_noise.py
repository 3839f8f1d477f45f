"""Confidence read through lognormal noise, from its definition: one integral over the evidence, by SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import integrate, stats


def joint(d: float, c: float, noise: float, outcome: int, lo: float, hi: float) -> float:
    """P(response, lo < y <= hi | stimulus) for y = |x - c|·exp(-noise·z); the outcome is 2·stimulus + response."""
    stimulus, response = divmod(outcome, 2)
    mean, sign = (stimulus - 0.5) * d, 1.0 if response == 1 else -1.0
    normal: Any = stats.norm

    def passed(distance: float, t: float) -> float:
        if t == 0.0:
            return 1.0
        return 0.0 if np.isinf(t) else float(normal.cdf((np.log(distance) - np.log(t)) / noise))

    def integrand(log_distance: float) -> float:
        distance = np.exp(log_distance)
        density = distance * normal.pdf(c + sign * distance - mean)
        return float(density * (passed(distance, lo) - passed(distance, hi)))

    marks = sorted({float(np.clip(np.log(t), -30.0, 3.4)) for t in (lo, hi, abs(mean - c)) if 0.0 < t < np.inf})
    found = integrate.quad(integrand, -35.0, 3.5, points=marks, epsabs=1e-14, epsrel=1e-12, limit=500)
    return float(found[0])
