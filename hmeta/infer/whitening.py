"""A linear map that makes the posterior round: position = centre + root of the inverse curvature · y.

The curvature is taken in the arrow form of `blocks`; one pass costs far less than a dense matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import scipy.sparse.linalg
from jax import Array

from hmeta.infer.blocks import Blocks
from hmeta.infer.data import Data
from hmeta.infer.target import Target

LEAST_CURVATURE = 1.0
"""Priors give every unconstrained number a curvature of about one or more; less is numerical or the
negative curvature of a standard deviation away from its mode."""

PROBE_BATCH = 16

BUCKET_RATIO = 1.5
"""Blocks share a bucket when the largest is at most this many times the smallest."""


class Whitening(NamedTuple):
    """The map y -> position; a pytree.

    Blocks of like size share an array, a *bucket*, padded to the bucket's largest.

    Attributes
    ----------
    centre : (number,)
    members : tuple of (block, place)
        Flat positions, padded with `number`.
    roots : tuple of (block, place, place)
    shifts : tuple of (block, place, border)
        How a block's conditional mode moves with the border.
    border : (border,)
    border_root : (border, border)
    order : (number,)
        Where each flat position stands in (buckets, border) laid end to end.
    """

    centre: Array
    members: tuple[Array, ...]
    roots: tuple[Array, ...]
    shifts: tuple[Array, ...]
    border: Array
    border_root: Array
    order: Array


def apply(map_: Whitening, y: Array) -> Array:
    """Return the flat position of a whitened vector, (number,)."""
    padded = jnp.append(y, 0.0)
    border = map_.border_root @ y[map_.border]
    inside = [
        (jnp.einsum("bpq,bq->bp", root, padded[members]) + shift @ border).ravel()
        for members, root, shift in zip(map_.members, map_.roots, map_.shifts, strict=True)
    ]
    return map_.centre + jnp.concatenate([*inside, border])[map_.order]


class Curvature(NamedTuple):
    """The arrow: diagonal blocks, their coupling to the border, and the border."""

    inside: tuple[np.ndarray, ...]  # each (block, place, place)
    coupling: tuple[np.ndarray, ...]  # each (block, place, border)
    border: np.ndarray  # (border, border)


def bucket_members(blocks: Blocks, size: int) -> list[np.ndarray]:
    """Return the members of all blocks in buckets of like size, each (block, place), padded with `size`."""
    ordered = sorted(blocks.members, key=len)
    buckets = []
    while ordered:
        longest = len(ordered[-1])
        alike = [m for m in ordered if len(m) > longest / BUCKET_RATIO]
        ordered = ordered[: len(ordered) - len(alike)]
        bucket = np.full((len(alike), longest), size, dtype=np.int64)
        for row, members in zip(bucket, alike, strict=True):
            row[: len(members)] = members
        buckets.append(bucket)
    return buckets


def curvature(target: Target, products: Products, position: np.ndarray, blocks: Blocks) -> Curvature:
    """Return the posterior's curvature at a position.

    Parameters
    ----------
    target : Target
    products : Products
        From `curvature_products`.
    position : (number,)
    blocks : Blocks

    Notes
    -----
    Numbers of different blocks do not interact, so that one product serves the same place of all.
    """
    buckets = bucket_members(blocks, target.size)
    n_places, n_border = max((b.shape[1] for b in buckets), default=0), len(blocks.border)
    directions = np.zeros((n_places + n_border, target.size + 1))
    for members in buckets:
        directions[np.arange(members.shape[1])[None, :], members] = 1.0
    directions[n_places + np.arange(n_border), blocks.border] = 1.0
    result = np.asarray(products.local(jnp.asarray(position), jnp.asarray(directions[:, :-1]), target.data))
    result = np.pad(result, ((0, 0), (0, 1)))
    inside = tuple(_without_padding(result[: m.shape[1]][:, m], m == target.size) for m in buckets)
    coupling = tuple(np.moveaxis(result[n_places:][:, m], 0, 2) for m in buckets)
    return Curvature(inside, coupling, result[n_places:][:, blocks.border])


def _without_padding(probed: np.ndarray, padding: np.ndarray) -> np.ndarray:
    """Return (probe, block, place) as (block, place, place), with the identity where places are padding."""
    inside = np.moveaxis(probed, 0, 2).copy()
    either = padding[:, :, None] | padding[:, None, :]
    inside[either] = np.broadcast_to(np.eye(padding.shape[1]), inside.shape)[either]
    return inside


class Products(NamedTuple):
    """Compiled (position, directions, data) -> curvature times each direction, (direction, number).

    `local` lacks the coupling between blocks that zero-sum effects bring, so that one direction can
    probe all blocks; `full` has it.
    """

    local: Callable[[Array, Array, Data], Array]
    full: Callable[[Array, Array, Data], Array]


def curvature_products(target: Target) -> Products:
    """Return the compiled functions behind `curvature`."""
    return Products(_product(target.local_potential), _product(target.potential))


def _product(potential: Callable[[Array, Data], Array]) -> Callable[[Array, Array, Data], Array]:
    slope = jax.grad(potential)

    @jax.jit
    def product(position: Array, directions: Array, data: Data) -> Array:
        def along(direction: Array) -> Array:
            return jax.jvp(lambda x: slope(x, data), (position,), (direction,))[1]

        return jax.lax.map(along, directions, batch_size=PROBE_BATCH)

    return product


def whiten(target: Target, arrow: Curvature, centre: np.ndarray, blocks: Blocks) -> Whitening:
    """Return the map that whitens a normal density with this curvature around `centre`."""
    roots = tuple(_inverse_root(inside) for inside in arrow.inside)
    shifts = tuple(-(root @ root) @ coupling for root, coupling in zip(roots, arrow.coupling, strict=True))
    schur = arrow.border.copy()
    for coupling, shift in zip(arrow.coupling, shifts, strict=True):
        schur += np.einsum("bps,bpt->st", coupling, shift)
    return _assemble(target, blocks, centre, (roots, shifts, _inverse_root(schur)))


def refine(target: Target, products: Products, rough: Whitening, blocks: Blocks) -> Whitening:
    """Return the map with the border's part exact.

    How the blocks' joint mode follows the border is solved with the full curvature, by conjugate
    gradients that the rough map preconditions; only the blocks' own roots stay approximate.
    """
    centre, roots = np.asarray(rough.centre), [np.asarray(root) for root in rough.roots]
    buckets = bucket_members(blocks, target.size)
    inside = np.concatenate(blocks.members) if blocks.members else np.array([], dtype=np.int64)

    def times(directions: np.ndarray) -> np.ndarray:
        return np.asarray(products.full(jnp.asarray(centre), jnp.asarray(directions), target.data))

    def curvature_inside(x: np.ndarray) -> np.ndarray:
        direction = np.zeros((1, target.size))
        direction[0, inside] = x
        return times(direction)[0, inside]

    def precondition(x: np.ndarray) -> np.ndarray:
        padded = np.zeros(target.size + 1)
        padded[inside] = x
        for members, root in zip(buckets, roots, strict=True):
            once = np.einsum("bpq,bq->bp", root, padded[members])
            padded[members] = np.einsum("bpq,bq->bp", root, once)
            padded[-1] = 0.0
        return padded[inside]

    sides = np.zeros((len(blocks.border), target.size))
    sides[np.arange(len(blocks.border)), blocks.border] = 1.0
    columns = times(sides)
    shape = (len(inside), len(inside))
    operator: Any = scipy.sparse.linalg.LinearOperator(shape, matvec=curvature_inside, dtype=np.float64)  # pyright: ignore[reportCallIssue]
    preconditioner: Any = scipy.sparse.linalg.LinearOperator(shape, matvec=precondition, dtype=np.float64)  # pyright: ignore[reportCallIssue]
    follow = np.zeros((target.size + 1, len(blocks.border)))
    for column, coupling in enumerate(columns[:, inside]):
        solution, _ = scipy.sparse.linalg.cg(operator, -coupling, M=preconditioner, rtol=1e-4, maxiter=50)
        follow[inside, column] = solution
    schur = columns[:, blocks.border] + columns[:, inside] @ follow[inside]
    shifts = tuple(follow[members] for members in buckets)
    return _assemble(target, blocks, centre, (tuple(roots), shifts, _inverse_root(schur)))


Parts = tuple[tuple[np.ndarray, ...], tuple[np.ndarray, ...], np.ndarray]


def _assemble(target: Target, blocks: Blocks, centre: np.ndarray, parts: Parts) -> Whitening:
    buckets = bucket_members(blocks, target.size)
    roots, shifts, border_root = parts
    flat = np.concatenate([*(members.ravel() for members in buckets), blocks.border])
    order = np.zeros(target.size, dtype=np.int64)
    real = flat < target.size
    order[flat[real]] = np.flatnonzero(real)
    return Whitening(
        centre=jnp.asarray(centre),
        members=tuple(jnp.asarray(members) for members in buckets),
        roots=tuple(jnp.asarray(root) for root in roots),
        shifts=tuple(jnp.asarray(shift) for shift in shifts),
        border=jnp.asarray(blocks.border),
        border_root=jnp.asarray(border_root),
        order=jnp.asarray(order),
    )


def variances(map_: Whitening) -> np.ndarray:
    """Return the variance of each number under the normal density of the map, (number,)."""
    border = np.asarray(map_.border_root)
    border_covariance = border @ border
    found = []
    for root, shift in zip(map_.roots, map_.shifts, strict=True):
        own, follow = np.asarray(root), np.asarray(shift)
        followed = np.einsum("bps,st,bpt->bp", follow, border_covariance, follow)
        found.append((np.einsum("bpq,bpq->bp", own, own) + followed).ravel())
    return np.concatenate([*found, np.diag(border_covariance)])[np.asarray(map_.order)]


def _inverse_root(matrix: np.ndarray) -> np.ndarray:
    """Return the symmetric inverse square root of each matrix, with eigenvalues floored."""
    values, vectors = np.linalg.eigh(0.5 * (matrix + np.swapaxes(matrix, -1, -2)))
    values = np.maximum(values, LEAST_CURVATURE)
    return (vectors / np.sqrt(values)[..., None, :]) @ np.swapaxes(vectors, -1, -2)
