"""The conditional type-2 log likelihood of one cell, with its exact first and second derivatives.

Parameters are theta = (meta_d, log gaps); d and c are held. Criteria are cumulated gaps, so that each
rating level depends on meta_d and its two edges alone: derivatives are taken level by level and
assembled into an arrow-shaped Hessian.

Letters: ``side`` counts the response sides (two for `binary`, one for `mafc`), ``level`` the occupied
rating levels, ``gap`` = level - 1, ``local`` the variables of one level: (meta_d, lo, hi), and (d, c)
where ratings depend on them.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from hmeta.mle.newton import Derivatives
from hmeta.sdt.likelihood import Likelihood

SIDES = {"binary": ((0, 2), (1, 3)), "mafc": ((0, 1),)}
"""Outcomes that share criteria, for each side."""

MU, LO, HI, D, C = range(5)


class Cell(NamedTuple):
    """One cell's data: ratings by side, outcome and level, and what is held fixed."""

    counts: Array  # (side, 2, level)
    n_levels: Array  # (side,)
    d: Array
    c: Array
    sd_ratio: Array
    n_options: Array


def gap_mask(cell: Cell) -> Array:
    """Return which log gaps exist, ``(side, gap)``."""
    n_gaps = cell.counts.shape[-1] - 1
    return jnp.arange(n_gaps) < cell.n_levels[:, None] - 1


def _edges(cell: Cell, log_gaps: Array) -> tuple[Array, Array]:
    """Return the lower and upper edges of every level, ``(side, level)``; absent levels are (0, inf)."""
    above = jnp.cumsum(jnp.exp(log_gaps), axis=1)
    level = jnp.arange(cell.counts.shape[-1])
    last = cell.n_levels[:, None] - 1
    zero = jnp.zeros_like(above[:, :1])
    lo = jnp.where(level <= last, jnp.concatenate([zero, above], axis=1), 0.0)
    hi = jnp.where(level < last, jnp.concatenate([above, zero], axis=1), jnp.inf)
    return lo, hi


def _levels(likelihood: Likelihood, cell: Cell, local: Array) -> tuple[Array, Array, Array]:
    """Return log P of each level with gradient and Hessian in the local variables, summed over outcomes."""
    outcome = jnp.asarray(np.array(SIDES[likelihood.task])[:, :, None])  # (side, 2, 1)
    outcome = jnp.broadcast_to(outcome, cell.counts.shape)
    points = jnp.broadcast_to(local[:, None], (*cell.counts.shape, local.shape[-1]))

    def log_rating(z: Array, code: Array) -> Array:
        params = {"meta_d": z[MU], "sd_ratio": cell.sd_ratio, "n_options": cell.n_options}
        params |= {"d": z[D], "c": z[C]} if z.size > D else {"d": cell.d, "c": cell.c}
        return likelihood.log_rating(code, z[LO], z[HI], params)

    def all_of(z: Array, code: Array) -> tuple[Array, Array, Array]:
        def slope_of(x: Array) -> tuple[Array, tuple[Array, Array]]:
            value, slope = jax.value_and_grad(log_rating)(x, code)
            return slope, (value, slope)

        curve, (value, slope) = jax.jacfwd(slope_of, has_aux=True)(z)
        return value, slope, curve

    flat = points.reshape(-1, points.shape[-1])
    value, slope, curve = jax.vmap(all_of)(flat, outcome.reshape(-1))
    shape = cell.counts.shape
    weight = cell.counts
    return (
        (weight * value.reshape(shape)).sum(1),
        (weight[..., None] * slope.reshape(*shape, -1)).sum(1),
        (weight[..., None, None] * curve.reshape(*shape, *curve.shape[1:])).sum(1),
    )


def derivatives(likelihood: Likelihood, cell: Cell, theta: Array, *, with_held: bool = True) -> Derivatives:
    """Differentiate the conditional log likelihood of one cell at theta = (meta_d, log gaps).

    Log gaps that do not exist get zero gradient and a Hessian of -1 on the diagonal.

    Parameters
    ----------
    likelihood : Likelihood
    cell : Cell
    theta : (parameter,)
    with_held : bool
        Whether the mixed derivatives with d and c are wanted, which standard errors need.
    """
    mask = gap_mask(cell)
    log_gaps = jnp.where(mask, theta[1:].reshape(mask.shape), 0.0)
    lo, hi = _edges(cell, log_gaps)
    held = (cell.d, cell.c) if with_held and likelihood.task == "binary" else ()
    local = [jnp.broadcast_to(x, lo.shape) for x in (theta[0], lo, hi, *held)]
    value, slope, curve = _levels(likelihood, cell, jnp.stack(local, axis=-1))

    # Edge k closes level k from above and level k + 1 from below.
    by_edge = slope[:, 1:, LO] + slope[:, :-1, HI]  # (side, gap)
    mixed_edge = curve[:, 1:, LO] + curve[:, :-1, HI]  # (side, gap, local)
    diagonal = curve[:, 1:, LO, LO] + curve[:, :-1, HI, HI]
    neighbours = curve[:, 1:-1, LO, HI]  # (side, gap - 1)
    n_sides, n_gaps = mask.shape
    k = jnp.arange(n_gaps)
    square = jnp.zeros((n_sides, n_gaps, n_gaps)).at[:, k, k].set(diagonal)
    square = square.at[:, k[:-1], k[1:]].set(neighbours).at[:, k[1:], k[:-1]].set(neighbours)

    # Edges are sums of gaps, gaps exponentials: d edge_i / d log gap_j = gap_j for j <= i.
    chain = jnp.tril(jnp.ones((n_gaps, n_gaps))) * jnp.where(mask, jnp.exp(log_gaps), 0.0)[:, None, :]
    by_gap = jnp.einsum("sij,si->sj", chain, by_edge)
    mixed_gap = jnp.einsum("sij,sil->sjl", chain, mixed_edge)
    blocks = jnp.einsum("sij,sik,skl->sjl", chain, square, chain)
    blocks = blocks.at[:, k, k].add(by_gap - jnp.where(mask, 0.0, 1.0))

    n = n_sides * n_gaps
    hessian = jnp.zeros((1 + n, 1 + n)).at[0, 0].set(curve[..., MU, MU].sum())
    border = mixed_gap[..., MU].reshape(-1)
    hessian = hessian.at[0, 1:].set(border).at[1:, 0].set(border)
    for side in range(n_sides):
        span = slice(1 + side * n_gaps, 1 + (side + 1) * n_gaps)
        hessian = hessian.at[span, span].set(blocks[side])
    gradient = jnp.concatenate([slope[..., MU].sum()[None], by_gap.reshape(-1)])
    mixed_mu = curve[..., MU, D:].sum((0, 1))
    mixed = jnp.concatenate([mixed_mu[None], mixed_gap[..., D:].reshape(n, -1)])
    return Derivatives(value.sum(), gradient, hessian, mixed)


def start(cell: Cell, spread: float) -> Array:
    """Return a start for theta: meta_d = d within reason, criteria at half-normal quantiles of the pooled ratings.

    Parameters
    ----------
    cell : Cell
    spread : float
        Standard deviation of the evidence.
    """
    pooled = cell.counts.sum(1)  # (side, level)
    below = jnp.cumsum(pooled, axis=1)[:, :-1] / jnp.maximum(pooled.sum(1, keepdims=True), 1e-300)
    reach = spread * 1.3
    edge = reach * jax.scipy.special.ndtri(0.5 + 0.5 * jnp.clip(below, 1e-6, 1.0 - 1e-6))
    gaps = jnp.diff(edge, axis=1, prepend=0.0)
    log_gaps = jnp.where(gap_mask(cell), jnp.log(jnp.maximum(gaps, 1e-4)), 0.0)
    return jnp.concatenate([jnp.clip(cell.d, -3.0, 3.0)[None], log_gaps.reshape(-1)])
