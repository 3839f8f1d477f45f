"""A linear map that makes the posterior round: position = centre + root of the inverse curvature · y.

The curvature is taken in the arrow form of `blocks`; one pass costs far less than a dense matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

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


class Whitening(NamedTuple):
    """The map y -> position; a pytree.

    Attributes
    ----------
    centre : (number,)
    block_members : (block, place)
        Flat positions, padded with `number`.
    block_root : (block, place, place)
    block_shift : (block, place, border)
        How a block's conditional mode moves with the border.
    border : (border,)
    border_root : (border, border)
    order : (number,)
        Where each flat position stands in (blocks, border) laid end to end.
    """

    centre: Array
    block_members: Array
    block_root: Array
    block_shift: Array
    border: Array
    border_root: Array
    order: Array


def apply(map_: Whitening, y: Array) -> Array:
    """Return the flat position of a whitened vector, (number,)."""
    padded = jnp.append(y, 0.0)
    border = map_.border_root @ y[map_.border]
    inside = jnp.einsum("bpq,bq->bp", map_.block_root, padded[map_.block_members])
    inside = inside + jnp.einsum("bps,s->bp", map_.block_shift, border)
    return map_.centre + jnp.concatenate([inside.ravel(), border])[map_.order]


class Curvature(NamedTuple):
    """The arrow: diagonal blocks, their coupling to the border, and the border."""

    inside: np.ndarray  # (block, place, place)
    coupling: np.ndarray  # (block, place, border)
    border: np.ndarray  # (border, border)


def padded_members(blocks: Blocks, size: int) -> np.ndarray:
    """Return the members of all blocks, (block, place), padded with `size`."""
    longest = max((len(m) for m in blocks.members), default=0)
    padded = np.full((len(blocks.members), longest), size, dtype=np.int64)
    for row, members in zip(padded, blocks.members, strict=True):
        row[: len(members)] = members
    return padded


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
    members = padded_members(blocks, target.size)
    n_places, n_border = members.shape[1], len(blocks.border)
    directions = np.zeros((n_places + n_border, target.size + 1))
    directions[np.arange(n_places)[None, :], members] = 1.0
    directions[n_places + np.arange(n_border), blocks.border] = 1.0
    result = np.asarray(products.local(position, directions[:, :-1], target.data))
    result = np.pad(result, ((0, 0), (0, 1)))
    inside = np.moveaxis(result[:n_places][:, members], 0, 2)  # (block, place, place of the probe)
    coupling = np.moveaxis(result[n_places:][:, members], 0, 2)
    padding = members == target.size
    inside[padding] = 0.0
    inside[np.broadcast_to(padding[:, None, :], inside.shape)] = 0.0
    inside[:, np.arange(n_places), np.arange(n_places)] += padding
    return Curvature(inside, coupling, result[n_places:][:, blocks.border])


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
    inside_root = _inverse_root(arrow.inside)
    shift = -(inside_root @ inside_root) @ arrow.coupling
    schur = arrow.border + np.einsum("bps,bpt->st", arrow.coupling, shift)
    return _assemble(target, blocks, centre, (inside_root, shift, _inverse_root(schur)))


def refine(target: Target, products: Products, rough: Whitening, blocks: Blocks) -> Whitening:
    """Return the map with the border's part exact.

    How the blocks' joint mode follows the border is solved with the full curvature, by conjugate
    gradients that the rough map preconditions; only the blocks' own roots stay approximate.
    """
    centre = np.asarray(rough.centre)
    members, root = np.asarray(rough.block_members), np.asarray(rough.block_root)
    inside = np.concatenate(blocks.members) if blocks.members else np.array([], dtype=np.int64)

    def times(directions: np.ndarray) -> np.ndarray:
        return np.asarray(products.full(centre, directions, target.data))

    def curvature_inside(x: np.ndarray) -> np.ndarray:
        direction = np.zeros((1, target.size))
        direction[0, inside] = x
        return times(direction)[0, inside]

    def precondition(x: np.ndarray) -> np.ndarray:
        padded = np.zeros(target.size + 1)
        padded[inside] = x
        twice = np.einsum("bpq,bq->bp", root, np.einsum("bpq,bq->bp", root, padded[members]))
        padded[members] = twice
        return padded[inside]

    sides = np.zeros((len(blocks.border), target.size))
    sides[np.arange(len(blocks.border)), blocks.border] = 1.0
    columns = times(sides)
    shape = (len(inside), len(inside))
    operator = scipy.sparse.linalg.LinearOperator(shape, curvature_inside, dtype=float)
    preconditioner = scipy.sparse.linalg.LinearOperator(shape, precondition, dtype=float)
    follow = np.zeros((target.size + 1, len(blocks.border)))
    for column, coupling in enumerate(columns[:, inside]):
        solution, _ = scipy.sparse.linalg.cg(operator, -coupling, M=preconditioner, rtol=1e-4, maxiter=50)
        follow[inside, column] = solution
    schur = columns[:, blocks.border] + columns[:, inside] @ follow[inside]
    return _assemble(target, blocks, centre, (root, follow[members], _inverse_root(schur)))


def _assemble(
    target: Target, blocks: Blocks, centre: np.ndarray, parts: tuple[np.ndarray, np.ndarray, np.ndarray]
) -> Whitening:
    members = padded_members(blocks, target.size)
    inside_root, shift, border_root = parts
    flat = np.concatenate([members.ravel(), blocks.border])
    order = np.zeros(target.size, dtype=np.int64)
    real = flat < target.size
    order[flat[real]] = np.flatnonzero(real)
    return Whitening(*(jnp.asarray(a) for a in (centre, members, inside_root, shift, blocks.border, border_root, order)))


def variances(map_: Whitening) -> np.ndarray:
    """Return the variance of each number under the normal density of the map, (number,)."""
    border = np.asarray(map_.border_root)
    border_covariance = border @ border
    root, shift = np.asarray(map_.block_root), np.asarray(map_.block_shift)
    inside = np.einsum("bpq,bpq->bp", root, root) + np.einsum("bps,st,bpt->bp", shift, border_covariance, shift)
    return np.concatenate([inside.ravel(), np.diag(border_covariance)])[np.asarray(map_.order)]


def _inverse_root(matrix: np.ndarray) -> np.ndarray:
    """Return the symmetric inverse square root of each matrix, with eigenvalues floored."""
    values, vectors = np.linalg.eigh(0.5 * (matrix + np.swapaxes(matrix, -1, -2)))
    values = np.maximum(values, LEAST_CURVATURE)
    return (vectors / np.sqrt(values)[..., None, :]) @ np.swapaxes(vectors, -1, -2)
