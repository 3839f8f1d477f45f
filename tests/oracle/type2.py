"""The binormal type-2 ROC from its definition: intervals of confidence of right and of wrong answers."""

from __future__ import annotations

from dataclasses import dataclass

import mpmath as mp
import numpy as np
from numpy.typing import NDArray
from scipy import integrate, stats

from .noises import Number, interval


@dataclass(frozen=True)
class Setting:
    """Parameters of one answerer; confidence of right answers has sd 1 / zroc_slope, of wrong ones 1."""

    logit_accuracy: float
    d_a: float
    zroc_slope: float = 1.0

    @property
    def sd(self) -> Number:
        """Standard deviation of the confidence variable of right answers."""
        return 1 / mp.mpf(self.zroc_slope)

    @property
    def mean(self) -> Number:
        """Mean of the confidence variable of right answers: d_a root mean square standard deviations above wrong."""
        return mp.mpf(self.d_a) * mp.sqrt((1 + self.sd**2) / 2)


def outcome_probability(setting: Setting, correct: int) -> Number:
    """P(right) or P(wrong)."""
    odds = mp.exp(mp.mpf(setting.logit_accuracy))
    return odds / (1 + odds) if correct else 1 / (1 + odds)


def rating_probability(setting: Setting, correct: int, lo: float, hi: float) -> Number:
    """P(lo < confidence variable <= hi | right or wrong)."""
    loc, scale = (setting.mean, setting.sd) if correct else (mp.mpf(0), mp.mpf(1))
    return interval("normal", lo, hi, loc, scale)


def log_joint(setting: Setting, correct: int, lo: float, hi: float) -> float:
    """Log P(right or wrong, lo < confidence variable <= hi)."""
    return float(mp.log(outcome_probability(setting, correct) * rating_probability(setting, correct, lo, hi)))


def rating_by_quadrature(setting: Setting, correct: int, lo: float, hi: float) -> float:
    """The same rating probability by integrating SciPy's density; checks the oracle itself."""
    loc, scale = (float(setting.mean), float(setting.sd)) if correct else (0.0, 1.0)
    ends = max(lo, loc - 12 * scale), min(hi, loc + 12 * scale)
    found = integrate.quad(stats.norm(loc, scale).pdf, *ends, epsabs=1e-13, epsrel=1e-12, limit=400)
    return float(found[0])


def area_by_quadrature(setting: Setting) -> float:
    """P(confidence of a right answer > of a wrong one), integrated over the wrong answer's confidence."""

    def above(t: float) -> float:
        return float(stats.norm.pdf(t) * stats.norm.sf(t, float(setting.mean), float(setting.sd)))

    return float(integrate.quad(above, -12.0, 12.0, epsabs=1e-13, epsrel=1e-12, limit=400)[0])


def simulate_evidence(
    setting: Setting, n: int, rng: np.random.Generator
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Draw n answers; return correctness and the confidence variable."""
    right = rng.random(n) < float(outcome_probability(setting, 1))
    noise = rng.normal(size=n)
    return right, np.where(right, float(setting.mean) + float(setting.sd) * noise, noise)
