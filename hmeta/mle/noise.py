"""Metacognitive noise of many cells: type 1 first, then the noise and the criteria from the ratings given it."""

from __future__ import annotations

from functools import lru_cache, partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray

from hmeta.mle.newton import ascend
from hmeta.mle.point import Answers, type1_point
from hmeta.mle.status import ONE_LEVEL
from hmeta.mle.table import TOO_MANY, Block, blocks, from_weights, occupied, spans
from hmeta.mle.type2 import Cell, derivatives, start
from hmeta.sdt import meta_noise
from hmeta.sdt.likelihood import Likelihood, Parameters, Pieces

Floats = NDArray[np.float64]

SMALLEST, LARGEST = 0.03, 30.0
"""Noise below which it is reported as 0, and above which it is taken to be infinite (M of about 0.03)."""

MIDDLE = 0.5 * float(np.log(SMALLEST * LARGEST))
REACH = 0.5 * float(np.log(LARGEST / SMALLEST))
STARTS = (0.3, 3.0)
"""Noise from which ascents start, the higher end being kept: with d near 0 there can be two maxima."""

LEVELS_AT_ONCE = 512
"""Levels of all cells together, about 500 MB: each has as many numbers as the grid of the integral, many times."""

TO_INFINITY = f"no finite maximum: noise above {LARGEST:g}, confidence says next to nothing about correctness"


@lru_cache(maxsize=1)
def _for_ascent() -> Likelihood:
    """Return the likelihood with log noise, less the middle of its range, in the place of meta_d.

    Much noise spreads the criteria over many powers of ten; raised to the power 1/√(1 + noise²) they stay near 1, so
    that the ridge along which noise and criteria grow together becomes straight.
    """
    inner = meta_noise.likelihood()

    def prepare(outcome: Array, params: Parameters) -> Pieces:
        noise = jnp.exp(params["meta_d"] + MIDDLE)
        return inner.prepare(outcome, {"d": params["d"], "c": params["c"], "meta_noise": noise})

    def stretch(edge: Array, pieces: Pieces) -> Array:
        bottom = edge == 0.0  # masked before the logarithm, so that gradients stay finite
        power = jnp.sqrt(1.0 + jnp.square(pieces[1]))
        return jnp.where(bottom, 0.0, jnp.exp(power * jnp.log(jnp.where(bottom, 1.0, edge))))

    def log_between(outcome: Array, lo: Array, hi: Array, pieces: Pieces) -> Array:
        return inner.log_between(outcome, stretch(lo, pieces), stretch(hi, pieces), pieces)

    def log_above(outcome: Array, lo: Array, pieces: Pieces) -> Array:
        return inner.log_above(outcome, stretch(lo, pieces), pieces)

    names = ("d", "c", "meta_d")
    return Likelihood("meta_noise", "binary", names, 4, inner.log_outcome, prepare, log_between, log_above)


@partial(jax.jit, static_argnums=0)
def _fit_block(likelihood: Likelihood, cells: Cell) -> tuple[Array, Array]:
    def one(cell: Cell) -> tuple[Array, Array]:
        def climb(first: Array) -> tuple[Array, Array, Array]:
            begin = start(cell, 1.0).at[0].set(first)
            end = ascend(lambda theta: derivatives(likelihood, cell, theta, with_held=False), begin, REACH)
            settled = end.converged | (jnp.abs(end.theta[0]) > REACH)
            return end.theta[0], settled, jnp.where(settled, end.at.value, -jnp.inf)

        place, settled, value = jax.vmap(climb)(jnp.log(jnp.asarray(STARTS)) - MIDDLE)
        best = jnp.argmax(value)
        return place[best], settled[best]

    return jax.vmap(one)(cells)


def fit_meta_noise(answers: Answers) -> tuple[Floats, list[str]]:
    """Return the noise of every cell, 0 where none is needed, and the reason where there is no estimate."""
    noise, reason = np.full(len(answers.weights), np.nan), []
    for span in spans(answers.weights):
        part = answers._replace(weights=answers.weights[span], n_options=answers.n_options[span])
        noise[span], words = _fit_part(part)
        reason += words
    return noise, reason


def _fit_part(answers: Answers) -> tuple[Floats, list[str]]:
    type1 = type1_point(answers, "normal")
    levels = occupied(from_weights("binary", answers.outcome, answers.confidence, answers.weights, answers.n_options))
    of_levels = np.where(levels.informative, np.where(levels.too_many, TOO_MANY, ""), ONE_LEVEL)
    reason = [text or str(other) for text, other in zip(type1.reason, of_levels, strict=True)]
    noise = np.full(len(reason), np.nan)
    ready = np.array([not text for text in reason], dtype=bool)
    with jax.enable_x64(True):
        for block in blocks(levels, ready, room=lambda _, width: LEVELS_AT_ONCE // width):
            _store(noise, reason, block.cells, *_fit(block, type1.d, type1.c))
    return noise, reason


def _store(
    noise: Floats, reason: list[str], cells: NDArray[np.int64], place: Floats, settled: NDArray[np.bool_]
) -> None:
    for cell, at, done in zip(cells, place, settled, strict=True):
        if at < -REACH:
            noise[cell] = 0.0
        elif at > REACH or not done:
            reason[cell] = TO_INFINITY if at > REACH else "not converged"
        else:
            noise[cell] = np.exp(at + MIDDLE)


def _fit(block: Block, d: Floats, c: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    fill = np.concatenate([block.cells, np.repeat(block.cells[:1], len(block.counts) - len(block.cells))])
    ones = jnp.ones(len(fill))
    cells = Cell(
        jnp.asarray(block.counts), jnp.asarray(block.n_levels), jnp.asarray(d[fill]), jnp.asarray(c[fill]), ones, ones
    )
    place, settled = _fit_block(_for_ascent(), cells)
    n = len(block.cells)
    return np.asarray(place)[:n], np.asarray(settled)[:n]
