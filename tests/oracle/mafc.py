"""m-alternative meta-d′ by brute force: integrals over the largest sample, and simulation of all samples."""

from __future__ import annotations

from dataclasses import dataclass

import mpmath as mp
import numpy as np
from numpy.typing import NDArray
from scipy import integrate, stats

from .noises import CDFS, DENSITIES, Number

DIGITS = 24


@dataclass(frozen=True)
class Setting:
    """Parameters of one answerer; `rule` says what confidence reads: the "gap" to the runner-up, or the "max"."""

    d: float
    meta_d: float
    n_options: int
    noise: str = "gumbel"
    rule: str = "gap"


def _nodes(noise: str, mu: float, lo: float) -> list[Number]:
    """Break points of the evidence axis: far enough out that what is left is below 1e-30 of the density."""
    reach = 16 if noise == "normal" else 80
    left = -16 if noise == "normal" else -6
    inner = {mp.mpf(left), mp.mpf(0), mp.mpf(mu), mp.mpf(mu) + 4, mp.mpf(max(mu, 0.0)) + reach}
    inner |= {mp.mpf(e) for e in (mu - 4, -4, 4, 12, lo, lo + mu) if np.isfinite(e)}
    return sorted(inner)


def _gap_mass(setting: Setting, mu: float, correct: bool, lo: float, hi: float) -> Number:
    """P(correct or not, lo < gap <= hi) with the correct alternative shifted by mu.

    The winner is at x; the m - 1 others are all below x - g. Winner = the correct one, or one of the others.
    """
    pdf, cdf, m = DENSITIES[setting.noise], CDFS[setting.noise], setting.n_options

    def below(x: Number, gap: float) -> Number:
        if gap == np.inf:
            return mp.mpf(0)
        return cdf(x - gap) ** (m - 1) if correct else cdf(x - gap) ** (m - 2) * cdf(x - gap - mu)

    def integrand(x: Number) -> Number:
        return pdf(x - mu if correct else x) * (below(x, lo) - below(x, hi))

    return (1 if correct else m - 1) * mp.quad(integrand, _nodes(setting.noise, mu, lo))


def _max_mass(setting: Setting, mu: float, correct: bool, lo: float, hi: float) -> Number:
    """P(correct or not, lo < largest sample <= hi)."""
    pdf, cdf, m = DENSITIES[setting.noise], CDFS[setting.noise], setting.n_options
    nodes = _nodes(setting.noise, mu, -np.inf)
    lowest, highest = max(mp.mpf(lo), nodes[0]), min(mp.mpf(hi), nodes[-1])
    points = [lowest, *(x for x in nodes if lowest < x < highest), highest]
    if correct:
        return mp.quad(lambda x: pdf(x - mu) * cdf(x) ** (m - 1), points)
    return (m - 1) * mp.quad(lambda x: pdf(x) * cdf(x) ** (m - 2) * cdf(x - mu), points)


def outcome_probability(setting: Setting, correct: int) -> Number:
    """P(correct) or P(wrong) under the type-1 sensitivity."""
    with mp.workdps(DIGITS):
        return _gap_mass(setting, setting.d, bool(correct), 0.0, np.inf)


def rating_probability(setting: Setting, correct: int, lo: float, hi: float) -> Number:
    """P(lo < confidence variable <= hi | correct or wrong) under meta_d."""
    with mp.workdps(DIGITS):
        whole = _gap_mass(setting, setting.meta_d, bool(correct), 0.0, np.inf)
        mass = _gap_mass if setting.rule == "gap" else _max_mass
        return mass(setting, setting.meta_d, bool(correct), lo, hi) / whole


def log_joint(setting: Setting, correct: int, lo: float, hi: float) -> float:
    """Log P(correct or wrong, lo < confidence variable <= hi)."""
    return float(mp.log(outcome_probability(setting, correct) * rating_probability(setting, correct, lo, hi)))


def gap_mass_by_scipy(setting: Setting, mu: float, correct: bool, lo: float, hi: float) -> float:
    """The same mass through SciPy's adaptive quadrature and densities; checks the oracle itself."""
    family = stats.norm if setting.noise == "normal" else stats.gumbel_r
    m = setting.n_options

    def below(x: float, gap: float) -> float:
        if np.isinf(gap):
            return 0.0
        rivals = float(family.cdf(x - gap)) ** (m - 1 if correct else m - 2)
        return rivals if correct else rivals * float(family.cdf(x - gap - mu))

    def integrand(x: float) -> float:
        return float(family.pdf(x - mu if correct else x)) * (below(x, lo) - below(x, hi))

    ends = (-12.0, max(mu, 0.0) + (12.0 if setting.noise == "normal" else 45.0))
    value = integrate.quad(integrand, ends[0], ends[1], points=[0.0, mu], epsabs=1e-13, epsrel=1e-11, limit=500)[0]
    return float(value) * (1 if correct else m - 1)


def simulate_evidence(
    setting: Setting, mu: float, n: int, rng: np.random.Generator
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Draw all m samples of n trials; return correctness and the confidence variable."""
    draw = rng.normal if setting.noise == "normal" else rng.gumbel
    x = draw(size=(n, setting.n_options))
    x[:, 0] += mu
    top = np.sort(x, axis=1)
    variable = top[:, -1] - top[:, -2] if setting.rule == "gap" else top[:, -1]
    return x.argmax(axis=1) == 0, variable
