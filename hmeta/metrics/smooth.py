"""Calibration error without bins.

Letters: ``set`` counts sets of weights, ``wave`` the cosines cos(nπt), ``t`` points of [0, 1] and its mirror image.
"""

from __future__ import annotations

import numpy as np

from hmeta.metrics.binning import level_sums
from hmeta.metrics.measure import Floats, measure
from hmeta.metrics.needs import answers

OCTAVES = 10
"""Bandwidths are sought from 1 down to 2⁻¹⁰ = 0.00098."""

HALVINGS = 6
"""Steps of bisection within an octave, before a last linear one."""

WAVES = 2.2
"""Cosines kept, times 1/bandwidth: beyond, their damping exp(−(nπσ)²/2) is below 1e-10."""

POINTS = 32
"""Points of the integral over [0, 1] and its mirror image, times 1/bandwidth."""

BLOCK = 2**21
"""Numbers held at once in an intermediate array (16 MB)."""


@measure(
    label="smooth ECE",
    family="calibration",
    columns=("probability", "correct"),
    unit="probability",
    better="lower",
    reference="Błasiok & Nakkiran (2023), definition of smECE with the reflected Gaussian kernel",
    needs=(answers,),
    neutral=0.0,
)
def smooth_ece(probability: Floats, correct: Floats, *, weights: Floats) -> Floats:
    """Calibration error without bins: the residual is smoothed, by as much as its own size.

    r_σ(t) = Σ_i (p_i − c_i)·K_σ(t, p_i)/n with K_σ the Gaussian kernel of standard deviation σ, reflected at 0 and 1;
    smECE_σ = ∫|r_σ(t)|dt over [0, 1], which falls as σ grows. The value is the one σ with smECE_σ = σ.

    Exact for the weighted distinct levels but for the integral (error below 2e-4 of the value) and, below 0.001, the
    bandwidth, which is then 2⁻¹⁰. Undefined without answers, never 0 for none.

    Notes
    -----
    The reflected kernel is 1 + 2 Σ_n exp(−(nπσ)²/2)·cos(nπt)·cos(nπp): the cosine coefficients of the residual are
    computed once, and any bandwidth then costs one Fourier transform.

    The authors' program relplot agrees to its step in the bandwidth, 0.001, for confidences within (0, 1) and
    bandwidths to 0.15. It gives answers at exactly 0 or 1 half of their weight, since its mirror shares the end point,
    and cuts the kernel at ±0.5.
    """
    levels = level_sums(probability, correct, weights)
    n = levels.weight.sum(axis=-1)
    residual = levels.weight * levels.value - levels.outcome
    flat = (residual / np.where(n > 0, n, 1.0)[..., None]).reshape(int(n.size), len(levels.value))
    return np.where(n > 0, _fixed_point(levels.value, flat).reshape(n.shape), np.nan)


def smooth_error(coefficients: Floats, bandwidth: Floats, points: int) -> Floats:
    """Return smECE at given bandwidths, ``(set,)``, from cosine coefficients ``(set, wave)``."""
    n_sets, n_waves = coefficients.shape
    damping = -0.5 * (np.pi * np.arange(n_waves)) ** 2
    out = np.empty(n_sets)
    step = max(1, BLOCK // points)
    for start in range(0, n_sets, step):
        rows = slice(start, start + step)
        damped = coefficients[rows] * np.exp(damping * bandwidth[rows, None] ** 2)
        out[rows] = np.abs(np.fft.irfft(damped, n=points, axis=-1)).sum(axis=-1)
    return out


def cosine_coefficients(value: Floats, residual: Floats, n_waves: int) -> Floats:
    """Return Σ_level residual·cos(nπ·value) for n = 0, 1, …, ``(set, wave)``, from residuals ``(set, level)``."""
    step = max(1, BLOCK // max(1, len(value)))
    blocks = [np.arange(start, min(start + step, n_waves)) for start in range(0, n_waves, step)]
    return np.concatenate([residual @ np.cos(np.pi * np.outer(value, block)) for block in blocks], axis=-1)


def resolution(bandwidth: float) -> tuple[int, int]:
    """Return how many cosines and points (a power of two) a bandwidth needs."""
    return int(np.ceil(WAVES / bandwidth)) + 1, 2 ** int(np.ceil(np.log2(POINTS / bandwidth)))


def _fixed_point(value: Floats, residual: Floats) -> Floats:
    """Return the σ with smECE_σ = σ for residuals ``(set, level)``: octave by octave, then by bisection."""
    out = np.empty(len(residual))
    left = np.arange(len(residual))
    n_waves, points = resolution(1.0)
    upper_error = smooth_error(cosine_coefficients(value, residual, n_waves), np.ones(len(left)), points)
    for octave in range(OCTAVES):
        lower = 2.0 ** -(octave + 1)
        n_waves, points = resolution(lower)
        coefficients = cosine_coefficients(value, residual[left], n_waves)
        lower_error = smooth_error(coefficients, np.full(len(left), lower), points)
        here = lower_error >= lower
        ends = (lower, lower_error[here], upper_error[here])
        out[left[here]] = _bisect(coefficients[here], points, *ends)
        left, upper_error = left[~here], lower_error[~here]
        if not len(left):
            return out
    out[left] = upper_error
    return out


def _bisect(coefficients: Floats, points: int, lower: float, low_error: Floats, high_error: Floats) -> Floats:
    """Return the fixed point between `lower` and twice it, ``(set,)``."""
    low, high = np.full(len(low_error), lower), np.full(len(low_error), 2 * lower)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        error = smooth_error(coefficients, middle, points)
        up = error >= middle
        low, low_error = np.where(up, middle, low), np.where(up, error, low_error)
        high, high_error = np.where(up, high, middle), np.where(up, high_error, error)
    above, below = low_error - low, np.maximum(high - high_error, 0.0)
    share = np.where(above + below > 0, above / np.where(above + below > 0, above + below, 1.0), 0.0)
    return low + share * (high - low)
