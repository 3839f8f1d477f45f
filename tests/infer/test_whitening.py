"""The whitening map against dense linear algebra on JAX's own Hessian."""

import numpy as np
import pytest

from hmeta.infer import whitening
from hmeta.infer.blocks import Blocks
from hmeta.infer.device import computing, find_device

CONJUGATE_GRADIENTS = 1e-4
"""Relative tolerance to which `refine` solves."""


@pytest.fixture(scope="module")
def matrix(surroundings):
    """The map as a dense matrix, (position, whitened)."""
    with computing(find_device("cpu")):
        map_, size = surroundings.map_, surroundings.target.size
        return np.stack([np.asarray(whitening.apply(map_, e) - map_.centre) for e in np.eye(size)], axis=1)


@pytest.fixture(scope="module")
def whitened(surroundings, matrix):
    """Curvature in whitened coordinates; the identity where the map is perfect."""
    return matrix.T @ surroundings.full @ matrix


def test_the_arrow_is_the_dense_hessian_where_they_are_of_one_potential(surroundings):
    s = surroundings
    with computing(find_device("cpu")):
        products = whitening.curvature_products(s.target)
        arrow = whitening.curvature(s.target, products, np.asarray(s.map_.centre), s.blocks)
    buckets = whitening.bucket_members(s.blocks, s.target.size)
    for members, inside, coupling in zip(buckets, arrow.inside, arrow.coupling, strict=True):
        for row, own, to_border in zip(members, inside, coupling, strict=True):
            real = row[row < s.target.size]
            n = len(real)
            assert own[:n, :n] == pytest.approx(s.local[np.ix_(real, real)], abs=1e-9)
            assert np.array_equal(own[n:, n:], np.eye(len(row) - n))  # padding whitens to itself
            assert np.abs(own[:n, n:]).max(initial=0.0) == 0.0
            assert to_border[:n] == pytest.approx(s.local[np.ix_(real, s.blocks.border)], abs=1e-9)
            assert np.abs(to_border[n:]).max(initial=0.0) == 0.0
    assert arrow.border == pytest.approx(s.local[np.ix_(s.blocks.border, s.blocks.border)], abs=1e-9)


def test_local_curvature_is_exact_but_for_zero_sum_effects(surroundings):
    exact = np.concatenate(
        [
            place.astype(int).ravel()
            for name, place in surroundings.target.positions.items()
            if not name.endswith(("free_model", "free_dataset"))
        ]
    )
    assert len(exact) == surroundings.target.size - 10
    here = np.ix_(exact, exact)
    assert surroundings.local[here] == pytest.approx(surroundings.full[here], abs=1e-9)


def test_the_border_is_whitened_exactly(surroundings, whitened):
    """Given the border, what remains is the Schur complement; directions flatter than the prior's 1 keep scale 1."""
    border, inside = surroundings.blocks.border, np.concatenate(surroundings.blocks.members)
    full = surroundings.full
    follow = np.linalg.solve(full[np.ix_(inside, inside)], full[np.ix_(inside, border)])
    curvature = np.linalg.eigvalsh(full[np.ix_(border, border)] - full[np.ix_(border, inside)] @ follow)
    expected = np.sort(curvature / np.maximum(curvature, whitening.LEAST_CURVATURE))
    found = np.linalg.eigvalsh(whitened[np.ix_(border, border)])
    assert found == pytest.approx(expected, abs=10 * CONJUGATE_GRADIENTS)
    assert (expected > 1 - 1e-9).sum() >= 5
    assert np.abs(whitened[np.ix_(border, inside)]).max() < 10 * CONJUGATE_GRADIENTS


def test_blocks_are_whitened_exactly_without_and_nearly_with_zero_sum_effects(surroundings, whitened):
    """Five levels share one constraint, a coupling of order 1/5 that the blocks' roots leave out."""
    *coupled, exact = surroundings.blocks.members
    assert whitened[np.ix_(exact, exact)] == pytest.approx(np.eye(len(exact)), abs=1e-9)
    for members in coupled:
        found = np.linalg.eigvalsh(whitened[np.ix_(members, members)])
        assert found.min() > 0.85
        assert found.max() < 1.5
    inside = np.concatenate(surroundings.blocks.members)
    before = np.linalg.cond(surroundings.full[np.ix_(inside, inside)])
    after = np.linalg.cond(whitened[np.ix_(inside, inside)])
    assert after < 10 < before / 3


def test_the_map_is_a_bijection(surroundings, matrix):
    y = np.random.default_rng(3).normal(size=surroundings.target.size)
    with computing(find_device("cpu")):
        position = np.asarray(whitening.apply(surroundings.map_, y))
    back = np.linalg.solve(matrix, position - np.asarray(surroundings.map_.centre))
    assert back == pytest.approx(y, abs=1e-9)
    assert np.linalg.svd(matrix)[1].min() > 1e-3


def test_variances_are_those_of_the_dense_covariance(surroundings, matrix):
    found = whitening.variances(surroundings.map_)
    assert found == pytest.approx(np.diag(matrix @ matrix.T), rel=1e-9)


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
