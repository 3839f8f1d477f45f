"""A linear map that makes the posterior round: position = centre + root of the inverse curvature · y.

The curvature is an arrow in the expanded space (`expansion`, `blocks`), so that one pass costs far less
than a dense matrix. Restricting a normal density to zero sums is a rotation of y that leaves out one
direction for each restriction (Householder reflections).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import scipy.linalg
from jax import Array

from hmeta.infer.blocks import Blocks
from hmeta.infer.data import Data
from hmeta.infer.expansion import Expansion
from hmeta.infer.target import Target

LEAST_CURVATURE = 1.0
"""Priors give every unconstrained number a curvature of about one or more; less is numerical or the
negative curvature of a standard deviation away from its mode."""

PROBE_BATCH = 16
DIAGONAL_BATCH = 256

BUCKET_RATIO = 1.5
"""Blocks share a bucket when the largest is at most this many times the smallest."""


class Root(NamedTuple):
    """The root of the inverse curvature in the expanded space; a pytree.

    Blocks of like size share an array, a *bucket*, padded to the bucket's largest.

    Attributes
    ----------
    members : tuple of (block, place)
        Expanded positions, padded with their number.
    roots : tuple of (block, place, place)
    shifts : tuple of (block, place, border)
        How a block's conditional mode moves with the border.
    border : (border,)
    border_root : (border, border)
    order : (expanded,)
        Where each expanded position stands in (buckets, border) laid end to end.
    """

    members: tuple[Array, ...]
    roots: tuple[Array, ...]
    shifts: tuple[Array, ...]
    border: Array
    border_root: Array
    order: Array


class Whitening(NamedTuple):
    """The map y -> position; a pytree.

    Attributes
    ----------
    centre : (number,)
    root : Root
    reflectors : (restriction, expanded)
    reflector_scales : (restriction,)
    own, last, last_weight : (number,)
        As in `Expansion`.
    """

    centre: Array
    root: Root
    reflectors: Array
    reflector_scales: Array
    own: Array
    last: Array
    last_weight: Array


def times_root(root: Root, y: Array) -> Array:
    """Return the root times an expanded vector, (expanded,)."""
    padded = jnp.append(y, 0.0)
    border = root.border_root @ y[root.border]
    inside = [
        (jnp.einsum("bpq,bq->bp", own, padded[members]) + shift @ border).ravel()
        for members, own, shift in zip(root.members, root.roots, root.shifts, strict=True)
    ]
    return jnp.concatenate([*inside, border])[root.order]


def apply(map_: Whitening, y: Array) -> Array:
    """Return the flat position of a whitened vector, (number,)."""
    n_restrictions = map_.reflectors.shape[0]
    wide = jnp.concatenate([jnp.zeros(n_restrictions), y])
    for reflector, scale in zip(map_.reflectors[::-1], map_.reflector_scales[::-1], strict=True):
        wide = wide - scale * reflector * (reflector @ wide)
    moved = times_root(map_.root, wide)
    return map_.centre + moved[map_.own] + map_.last_weight * moved[map_.last]


class Curvature(NamedTuple):
    """The arrow: diagonal blocks, their coupling to the border, and the border."""

    inside: tuple[np.ndarray, ...]  # each (block, place, place)
    coupling: tuple[np.ndarray, ...]  # each (block, place, border)
    border: np.ndarray  # (border, border)


Product = Callable[[Array, Array, Data], Array]


def curvature_product(target: Target) -> Product:
    """Return the compiled (position, directions, data) -> curvature times each direction."""
    slope = jax.grad(target.potential)

    @jax.jit
    def product(position: Array, directions: Array, data: Data) -> Array:
        def along(direction: Array) -> Array:
            return jax.jvp(lambda x: slope(x, data), (position,), (direction,))[1]

        return jax.lax.map(along, directions, batch_size=PROBE_BATCH)

    return product


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


def curvature(product: Product, expanded: Target, data: Data, wide: np.ndarray, blocks: Blocks) -> Curvature:
    """Return the curvature at an expanded position.

    Numbers of different blocks do not interact, so that one product serves the same place of all.

    Parameters
    ----------
    product : callable
        From `curvature_product`.
    expanded : Target
    data : Data
    wide : (expanded,)
    blocks : Blocks
    """
    buckets = bucket_members(blocks, expanded.size)
    n_places, n_border = max((b.shape[1] for b in buckets), default=0), len(blocks.border)
    directions = np.zeros((n_places + n_border, expanded.size + 1))
    for members in buckets:
        directions[np.arange(members.shape[1])[None, :], members] = 1.0
    directions[n_places + np.arange(n_border), blocks.border] = 1.0
    result = np.asarray(product(jnp.asarray(wide), jnp.asarray(directions[:, :-1]), data))
    result = np.pad(result, ((0, 0), (0, 1)))
    inside = tuple(_without_padding(result[: m.shape[1]][:, m], m == expanded.size) for m in buckets)
    coupling = tuple(np.moveaxis(result[n_places:][:, m], 0, 2) for m in buckets)
    return Curvature(inside, coupling, result[n_places:][:, blocks.border])


def diagonal_curvature(product: Product, expanded: Target, data: Data, wide: np.ndarray) -> Curvature:
    """Return each number's own curvature as blocks of one, for models without an affordable partition."""
    own = np.empty(expanded.size)
    for first in range(0, expanded.size, DIAGONAL_BATCH):
        places = np.arange(first, min(first + DIAGONAL_BATCH, expanded.size))
        directions = np.zeros((DIAGONAL_BATCH, expanded.size))  # one shape, one program
        directions[np.arange(len(places)), places] = 1.0
        result = np.asarray(product(jnp.asarray(wide), jnp.asarray(directions), data))
        own[places] = result[np.arange(len(places)), places]
    return Curvature((own[:, None, None],), (np.zeros((expanded.size, 1, 0)),), np.zeros((0, 0)))


def _without_padding(probed: np.ndarray, padding: np.ndarray) -> np.ndarray:
    """Return (probe, block, place) as (block, place, place), with the identity where places are padding."""
    inside = np.moveaxis(probed, 0, 2).copy()
    either = padding[:, :, None] | padding[:, None, :]
    inside[either] = np.broadcast_to(np.eye(padding.shape[1]), inside.shape)[either]
    return inside


def find_root(arrow: Curvature, blocks: Blocks, size: int) -> Root:
    """Return the root of the inverse of an arrow-shaped curvature; `size` numbers in all."""
    buckets = bucket_members(blocks, size)
    roots = tuple(_inverse_root(inside) for inside in arrow.inside)
    shifts = tuple(-(root @ root) @ coupling for root, coupling in zip(roots, arrow.coupling, strict=True))
    schur = arrow.border.copy()
    for coupling, shift in zip(arrow.coupling, shifts, strict=True):
        schur += np.einsum("bps,bpt->st", coupling, shift)
    flat = np.concatenate([*(members.ravel() for members in buckets), blocks.border])
    order = np.zeros(size, dtype=np.int64)
    real = flat < size
    order[flat[real]] = np.flatnonzero(real)
    return Root(
        members=tuple(jnp.asarray(members) for members in buckets),
        roots=tuple(jnp.asarray(root) for root in roots),
        shifts=tuple(jnp.asarray(shift) for shift in shifts),
        border=jnp.asarray(blocks.border),
        border_root=jnp.asarray(_inverse_root(schur)),
        order=jnp.asarray(order),
    )


def whiten(expansion: Expansion, root: Root, centre: np.ndarray) -> Whitening:
    """Return the map around a centre, (number,), with the zero-sum restrictions kept."""
    size = expansion.expanded.size
    if expansion.restricted:
        normals = _restrictions_in_y(expansion, root)
        factored: Any = scipy.linalg.qr(normals, mode="raw")
        packed, scales = factored[0]
        reflectors = np.tril(packed, -1)
        np.fill_diagonal(reflectors, 1.0)
    else:
        reflectors, scales = np.zeros((size, 0)), np.zeros(0)
    arrays = (reflectors.T, scales, expansion.own, expansion.last, expansion.last_weight)
    return Whitening(jnp.asarray(centre), root, *(jnp.asarray(a) for a in arrays))


def _restrictions_in_y(expansion: Expansion, root: Root) -> np.ndarray:
    """Return the directions of y that the restrictions forbid, (expanded, restriction)."""
    size = expansion.expanded.size
    rows = np.zeros((len(expansion.restricted), size))
    for row, places in zip(rows, expansion.restricted, strict=True):
        row[places] = 1.0
    transposed = jax.linear_transpose(lambda y: times_root(root, y), jnp.zeros(size))
    return np.stack([np.asarray(transposed(jnp.asarray(row))[0]) for row in rows], axis=1)


def variances(expansion: Expansion, root: Root) -> np.ndarray:
    """Return the variance of each expanded number under the restricted normal density, (expanded,)."""
    border = np.asarray(root.border_root)
    border_covariance = border @ border
    found = []
    for own, follow in zip(map(np.asarray, root.roots), map(np.asarray, root.shifts), strict=True):
        followed = np.einsum("bps,st,bpt->bp", follow, border_covariance, follow)
        found.append((np.einsum("bpq,bpq->bp", own, own) + followed).ravel())
    total = np.concatenate([*found, np.diag(border_covariance)])[np.asarray(root.order)]
    if not expansion.restricted:
        return total
    basis, _ = np.linalg.qr(_restrictions_in_y(expansion, root))
    forbidden = np.stack([np.asarray(times_root(root, jnp.asarray(column))) for column in basis.T])
    return total - np.sum(forbidden**2, axis=0)


def _inverse_root(matrix: np.ndarray) -> np.ndarray:
    """Return the symmetric inverse square root of each matrix, with eigenvalues floored."""
    values, vectors = np.linalg.eigh(0.5 * (matrix + np.swapaxes(matrix, -1, -2)))
    values = np.maximum(values, LEAST_CURVATURE)
    return (vectors / np.sqrt(values)[..., None, :]) @ np.swapaxes(vectors, -1, -2)
