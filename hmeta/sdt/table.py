"""Piecewise cubic (Hermite) tables of smooth functions, filled through Chebyshev polynomials.

The function is evaluated exactly at few Chebyshev nodes; the polynomial through them, and its
derivatives, fill an even grid, whose cells are then cubic with continuous first derivatives.
Outside the grid the outermost cell's cubic continues.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.polynomial import chebyshev

DEGREE_1D, DEGREE_2D = 260, 120
"""Polynomial degrees that bring the tables of ``mafc_normal`` below 1e-9 for up to 26 alternatives."""


class Axis(NamedTuple):
    """An even grid of `size` points on [start, stop]."""

    start: float
    stop: float
    size: int

    @property
    def step(self) -> float:
        """Distance of neighbouring points."""
        return (self.stop - self.start) / (self.size - 1)


def _nodes(axis: Axis, degree: int) -> np.ndarray:
    half = 0.5 * (axis.stop - axis.start)
    return axis.start + half * (chebyshev.chebpts1(degree + 1) + 1.0)


def _bases(axis: Axis, degree: int) -> tuple[np.ndarray, np.ndarray]:
    """Return matrices from values at the nodes to values and step-scaled slopes on the grid."""
    to_coefficients = np.linalg.inv(chebyshev.chebvander(chebyshev.chebpts1(degree + 1), degree))
    grid = np.linspace(-1.0, 1.0, axis.size)
    values = chebyshev.chebvander(grid, degree)
    slopes = np.stack([chebyshev.chebval(grid, chebyshev.chebder(unit)) for unit in np.eye(degree + 1)], axis=1)
    scale = axis.step * 2.0 / (axis.stop - axis.start)
    return values @ to_coefficients, slopes @ to_coefficients * scale


def tabulate_1d(function: Callable[[Array], Array], axis: Axis) -> np.ndarray:
    """Return ``(point, 2)``: value and step-scaled slope at each grid point."""
    exact = np.asarray(function(jnp.asarray(_nodes(axis, DEGREE_1D))))
    values, slopes = _bases(axis, DEGREE_1D)
    return np.stack([values @ exact, slopes @ exact], axis=-1)


def tabulate_2d(function: Callable[[Array, Array], Array], x_axis: Axis, y_axis: Axis) -> np.ndarray:
    """Return ``(x, y, 4)``: value, slope in x, slope in y and their mixed derivative, step-scaled."""
    x, y = np.meshgrid(_nodes(x_axis, DEGREE_2D), _nodes(y_axis, DEGREE_2D), indexing="ij")
    exact = np.asarray(function(jnp.asarray(x), jnp.asarray(y)))
    (xv, xs), (yv, ys) = _bases(x_axis, DEGREE_2D), _bases(y_axis, DEGREE_2D)
    return np.stack([a @ exact @ b.T for a, b in ((xv, yv), (xs, yv), (xv, ys), (xs, ys))], axis=-1)


def _locate(axis: Axis, x: Array) -> tuple[Array, Array]:
    place = (x - axis.start) / axis.step
    cell = jnp.clip(jnp.floor(place), 0, axis.size - 2).astype(int)
    return cell, place - cell


def _hermite(u: Array) -> tuple[Array, Array, Array, Array]:
    """Return the weights of value and slope at the left end, value and slope at the right end."""
    w = 1.0 - u
    return w * w * (1.0 + 2.0 * u), w * w * u, u * u * (3.0 - 2.0 * u), -u * u * w


def interpolate_1d(table: np.ndarray, axis: Axis, which: Array, x: Array) -> Array:
    """Interpolate ``table[which]`` at x; `table` is ``(choice, point, 2)``."""
    data = jnp.asarray(table)
    cell, u = _locate(axis, x)
    v0, s0, v1, s1 = _hermite(u)
    left, right = data[which, cell], data[which, cell + 1]
    return v0 * left[..., 0] + s0 * left[..., 1] + v1 * right[..., 0] + s1 * right[..., 1]


def interpolate_2d(table: np.ndarray, x_axis: Axis, y_axis: Axis, which: Array, x: Array, y: Array) -> Array:
    """Interpolate ``table[which]`` at (x, y); `table` is ``(choice, x, y, 4)``."""
    data = jnp.asarray(table)
    (i, u), (j, w) = _locate(x_axis, x), _locate(y_axis, y)
    x_weights, y_weights = _hermite(u), _hermite(w)
    total = jnp.zeros_like(u + w)
    for di in (0, 1):
        for dj in (0, 1):
            corner = data[which, i + di, j + dj]
            for sx in (0, 1):
                for sy in (0, 1):
                    total = total + x_weights[2 * di + sx] * y_weights[2 * dj + sy] * corner[..., sx + 2 * sy]
    return total
