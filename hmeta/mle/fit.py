"""Both steps for many cells: type 1, then type 2 given type 1, with the covariance of the pair."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray

from hmeta.mle.newton import ascend
from hmeta.mle.table import Occupied, Ratings, blocks, occupied, outcome_counts
from hmeta.mle.type1 import Type1, fit_type1
from hmeta.mle.type2 import Cell, derivatives, start
from hmeta.sdt.likelihood import Likelihood, get

Floats = NDArray[np.float64]


class _Noise(NamedTuple):
    sd: float
    limit: float  # size of meta_d taken to be infinite


NOISE = {"normal": _Noise(1.0, 10.5), "logistic": _Noise(1.8, 25.0), "gumbel": _Noise(1.3, 25.0)}
"""By family; beyond the limit further meta_d changes log probabilities by less than rounding."""


SMALLEST_D = 1e-9
"""Size of d below which it counts as 0."""


class Fits(NamedTuple):
    """Estimates of every cell; NaN where undefined."""

    type1: Type1
    levels: Occupied
    meta_d: Floats  # (cell,)
    criteria: dict[int, tuple[Floats, ...]]  # cell -> edges above 0 of each side
    covariance: Floats  # (cell, 2, 2) of (d, meta_d)
    log_likelihood: Floats  # (cell,), of the ratings given the outcomes
    converged: NDArray[np.bool_]
    infinite: NDArray[np.bool_]


@lru_cache(maxsize=64)
def likelihood_of(task: str, options: tuple[tuple[str, object], ...]) -> Likelihood:
    """Return one likelihood object for each choice of options, so that compiled code is found again."""
    return get(task, **dict(options))


class _Block(NamedTuple):
    theta: Array  # (cell, parameter)
    value: Array
    converged: Array
    infinite: Array
    covariance: Array  # (cell, 2, 2)


@partial(jax.jit, static_argnums=(0, 1))
def _fit_block(likelihood: Likelihood, noise: _Noise, cells: Cell, type1: Array) -> _Block:
    def one(cell: Cell, covariance: Array) -> _Block:
        end = ascend(lambda theta: derivatives(likelihood, cell, theta), start(cell, noise.sd), noise.limit)
        joint = _joint_covariance(end.at.hessian, end.at.mixed, covariance)
        return _Block(end.theta, end.at.value, end.converged, jnp.abs(end.theta[0]) > noise.limit, joint)

    return jax.vmap(one)(cells, type1)


def _joint_covariance(hessian: Array, mixed: Array, type1: Array) -> Array:
    """Return the covariance of (d, meta_d).

    Stacked estimating equations with A = [[I11, 0], [A21, A22]] and B = blockdiag(I11, A22), the type-2
    score having mean zero given the outcomes: V = A⁻¹ B A⁻ᵀ.
    """
    inverse = jnp.linalg.inv(-hessian)
    carry = inverse[0] @ mixed  # d meta_d / d (d, c); empty where ratings do not depend on them
    held = type1[: carry.size, : carry.size]
    var_meta_d = inverse[0, 0] + carry @ held @ carry
    across = type1[0, : carry.size] @ carry
    return jnp.array([[type1[0, 0], across], [across, var_meta_d]])


def fit_cells(data: Ratings, options: dict[str, object], defined: NDArray[np.bool_]) -> Fits:
    """Fit the cells whose meta_d is defined, in blocks of similar size."""
    noise = str(options["noise"])
    given = dict(options)
    if data.task == "mafc" and noise == "normal":
        given["n_options"] = tuple(sorted({int(m) for m in data.n_options}))
    likelihood = likelihood_of(data.task, tuple(sorted(given.items())))
    type1 = fit_type1(likelihood, noise, outcome_counts(data), data.sd_ratio, data.n_options)
    levels = occupied(data)
    ready = defined & levels.informative & np.isfinite(type1.d) & np.isfinite(type1.c)
    if options.get("meta_c") == "relative":
        ready &= np.abs(type1.d) > SMALLEST_D
    fits = _empty(type1, levels, data.n_cells)
    for block in blocks(levels, ready):
        fill = np.concatenate([block.cells, np.repeat(block.cells[:1], len(block.counts) - len(block.cells))])
        held = (type1.d, type1.c, data.sd_ratio, data.n_options)
        cells = Cell(*(jnp.asarray(x) for x in (block.counts, block.n_levels, *(x[fill] for x in held))))
        found = _fit_block(likelihood, NOISE[noise.split("_")[0]], cells, jnp.asarray(type1.covariance[fill]))
        _store(fits, block.cells, found, block.n_levels, block.counts.shape[-1] - 1)
    return fits


def efficiency(fits: Fits) -> tuple[Floats, Floats]:
    """Return M = meta_d / d and its standard error by the delta method, ``(cell,)`` each; NaN where d is 0."""
    d, meta_d = np.where(np.abs(fits.type1.d) < SMALLEST_D, np.nan, fits.type1.d), fits.meta_d
    v = fits.covariance
    with np.errstate(invalid="ignore"):
        ratio = meta_d / d
        variance = (v[:, 1, 1] - 2.0 * ratio * v[:, 0, 1] + ratio**2 * v[:, 0, 0]) / d**2
        return ratio, np.sqrt(variance)


def _empty(type1: Type1, levels: Occupied, n: int) -> Fits:
    nan, no = np.full(n, np.nan), np.zeros(n, dtype=bool)
    covariance = np.full((n, 2, 2), np.nan)
    covariance[:, 0, 0] = type1.covariance[:, 0, 0]
    return Fits(type1, levels, nan.copy(), {}, covariance, nan.copy(), no.copy(), no.copy())


def _store(fits: Fits, cells: NDArray[np.int64], found: _Block, n_levels: NDArray[np.int64], n_gaps: int) -> None:
    n = len(cells)
    theta = np.asarray(found.theta)[:n]
    fits.meta_d[cells] = theta[:, 0]
    fits.log_likelihood[cells] = np.asarray(found.value)[:n]
    fits.converged[cells] = np.asarray(found.converged)[:n]
    fits.infinite[cells] = np.asarray(found.infinite)[:n]
    fits.covariance[cells] = np.asarray(found.covariance)[:n]
    for row, cell in enumerate(cells):
        gaps = np.exp(theta[row, 1:].reshape(-1, n_gaps))
        sides = zip(gaps, n_levels[row], strict=True)
        fits.criteria[int(cell)] = tuple(np.cumsum(g[: k - 1]) for g, k in sides)
