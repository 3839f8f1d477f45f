"""The whitening map against dense linear algebra on JAX's own Hessian."""

import jax.numpy as jnp
import numpy as np
import pytest

from hmeta.infer import whitening
from hmeta.infer.blocks import Blocks
from hmeta.infer.device import computing, find_device

RIDGE = 30.0
"""Added to the curvature where a test needs every direction to be steeper than the prior."""


def dense(map_, size):
    """Return a whitening map as a matrix, (position, whitened)."""
    with computing(find_device("cpu")):
        columns = [np.asarray(whitening.apply(map_, jnp.asarray(e)) - map_.centre) for e in np.eye(size)]
    return np.stack(columns, axis=1)


@pytest.fixture(scope="module")
def matrix(surroundings):
    return dense(surroundings.map_, surroundings.expansion.target.size)


@pytest.fixture(scope="module")
def widening(surroundings):
    """`Expansion.widen` as a matrix, (expanded, number)."""
    return np.stack([surroundings.expansion.widen(e) for e in np.eye(surroundings.expansion.target.size)], axis=1)


@pytest.fixture(scope="module")
def arrow(surroundings):
    s = surroundings
    with computing(find_device("cpu")):
        product = whitening.curvature_product(s.expansion.expanded)
        wide = s.expansion.widen(np.asarray(s.map_.centre))
        return whitening.curvature(product, s.expansion.expanded, s.data, wide, s.blocks)


def test_the_arrow_is_the_dense_hessian(surroundings, arrow):
    full, border = surroundings.expanded_curvature, surroundings.blocks.border
    size = len(full)
    buckets = whitening.bucket_members(surroundings.blocks, size)
    for members, inside, coupling in zip(buckets, arrow.inside, arrow.coupling, strict=True):
        for row, own, to_border in zip(members, inside, coupling, strict=True):
            real = row[row < size]
            n = len(real)
            assert own[:n, :n] == pytest.approx(full[np.ix_(real, real)], abs=1e-9)
            assert np.array_equal(own[n:, n:], np.eye(len(row) - n))  # padding whitens to itself
            assert np.abs(own[:n, n:]).max(initial=0.0) == 0.0
            assert to_border[:n] == pytest.approx(full[np.ix_(real, border)], abs=1e-9)
            assert np.abs(to_border[n:]).max(initial=0.0) == 0.0
    assert arrow.border == pytest.approx(full[np.ix_(border, border)], abs=1e-9)


def test_the_map_whitens_exactly_where_every_direction_is_steep(surroundings, arrow, widening):
    s, size = surroundings, len(surroundings.expanded_curvature)
    steep = whitening.Curvature(
        tuple(inside + RIDGE * np.eye(inside.shape[1]) for inside in arrow.inside),
        arrow.coupling,
        arrow.border + RIDGE * np.eye(len(arrow.border)),
    )
    curvature = widening.T @ (s.expanded_curvature + RIDGE * np.eye(size)) @ widening
    with computing(find_device("cpu")):
        root = whitening.find_root(steep, s.blocks, size)
        map_ = whitening.whiten(s.expansion, root, np.zeros(len(curvature)))
        found = whitening.variances(s.expansion, root)
    assert np.linalg.eigvalsh(curvature).min() > whitening.LEAST_CURVATURE
    matrix = dense(map_, len(curvature))
    assert matrix.T @ curvature @ matrix == pytest.approx(np.eye(len(curvature)), abs=1e-9)
    assert found == pytest.approx(np.diag(widening @ np.linalg.inv(curvature) @ widening.T), rel=1e-8)


def test_only_directions_flatter_than_the_prior_keep_their_scale(surroundings, matrix):
    """The curvature of standard deviations, 6 of them, may be small or negative away from the joint mode."""
    found = np.linalg.eigvalsh(matrix.T @ surroundings.curvature @ matrix)
    flat = found < 1 - 1e-8
    assert found[~flat] == pytest.approx(np.ones(len(found) - flat.sum()), abs=1e-8)
    assert flat.sum() <= 6


def test_the_map_is_a_bijection(surroundings, matrix):
    y = np.random.default_rng(3).normal(size=len(matrix))
    with computing(find_device("cpu")):
        position = np.asarray(whitening.apply(surroundings.map_, jnp.asarray(y)))
    back = np.linalg.solve(matrix, position - np.asarray(surroundings.map_.centre))
    assert back == pytest.approx(y, abs=1e-9)
    assert np.linalg.svd(matrix)[1].min() > 1e-3


def test_variances_are_those_of_the_map(surroundings, matrix, widening):
    with computing(find_device("cpu")):
        found = whitening.variances(surroundings.expansion, surroundings.map_.root)
    assert found == pytest.approx(np.diag(widening @ matrix @ matrix.T @ widening.T), rel=1e-8)


@pytest.mark.parametrize("seed", range(5))
def test_buckets_hold_every_number_once_and_alike_sizes(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 40, size=rng.integers(1, 30))
    order = rng.permutation(sizes.sum() + 7)
    members = np.split(order[7:], np.cumsum(sizes)[:-1])
    buckets = whitening.bucket_members(Blocks(tuple(members), order[:7]), len(order))
    real = np.concatenate([b[b < len(order)] for b in buckets])
    assert sorted(real) == sorted(order[7:])
    lengths = [(b < len(order)).sum(axis=1) for b in buckets]
    assert max(n.max() / n.min() for n in lengths) < whitening.BUCKET_RATIO
    found = {tuple(row[row < len(order)]) for bucket in buckets for row in bucket}
    assert found == {tuple(m) for m in members}
