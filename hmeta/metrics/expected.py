"""What signal detection theory expects of an ideal observer's confidence, given the same decisions.

The observer has the d (and c) of the type-1 table and reads its confidence from the very evidence of the decision:
meta_d = d, so that M = 1. Its criteria lie where its ratings are used as often as those observed: given the response
for two responses, overall for m alternatives. Its right and wrong answers by level then follow, and any measure
of them.

Letters: ``side`` counts the responses with criteria of their own (two for `binary`, one for `mafc`), ``edge`` the
criteria between neighbouring levels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from scipy.special import expit, ndtr

from hmeta.metrics.measure import Floats
from hmeta.metrics.outcomes import correct_of, flat_answers, noise_of
from hmeta.metrics.tally import Tally, tally

if TYPE_CHECKING:
    from hmeta.mle.point import Answers

Noise = Literal["default", "normal", "gumbel"]

ALLOWED = {"binary": ("normal",), "mafc": ("gumbel", "normal")}
"""Noise of the evidence by task, the default first."""

HALVINGS = 52
FARTHEST = {"binary": 40.0, "gumbel": 100.0, "normal": 32.0}
"""Where criteria are sought; beyond it lies less than 1e-30 of the answers."""

Above = Callable[[Floats], tuple[Floats, Floats]]
"""From criteria ``(cell, side, edge)`` to the right and wrong answers expected above them."""


class Comparison(NamedTuple):
    """Answers as observed and as expected, ``(..., level)``; NaN where there is no finite d."""

    observed: Tally
    expected: Tally


def compare(
    outcome: Floats, n_options: Floats, confidence: Floats, *, weights: Floats, noise: Noise = "default"
) -> Comparison:
    """Return right and wrong answers by level, as observed and as an ideal observer would have them.

    Parameters
    ----------
    outcome, n_options, confidence : (row,)
    weights : (..., row)
    noise : {"default", "normal", "gumbel"}
        Of the evidence; two responses have normal noise, m alternatives Gumbel noise by default.
    """
    answers = flat_answers(outcome, n_options, confidence, weights)
    correct = correct_of(outcome, n_options)
    observed = tally(confidence, correct, answers.weights)
    chosen = noise_of(answers.task, noise, ALLOWED[answers.task])
    ideal = _expected(answers, chosen, observed) if len(outcome) else observed
    shape = (*weights.shape[:-1], len(observed.value))
    return Comparison(*(Tally(t.value, t.wrong.reshape(shape), t.right.reshape(shape)) for t in (observed, ideal)))


def _expected(answers: Answers, noise: str, observed: Tally) -> Tally:
    from hmeta.mle.point import type1_point

    point = type1_point(answers, noise)
    if answers.task == "binary":
        above, farthest = _binary(answers, point.d, point.c), FARTHEST["binary"]
    else:
        above, farthest = _mafc(answers, point.d, noise), FARTHEST[noise]
    used = _used_above(answers)
    right, wrong = above(_place(above, used, farthest))
    known = np.isfinite(point.d)[:, None]
    sums = [np.where(known, np.where(used > 0, part, 0.0).sum(axis=1), np.nan) for part in (right, wrong)]
    return Tally(observed.value, _levels(observed.wrong, sums[1]), _levels(observed.right, sums[0]))


def _used_above(answers: Answers) -> Floats:
    """Return the answers of each side above every criterion, ``(cell, side, edge)``."""
    side = answers.outcome % 2 if answers.task == "binary" else np.zeros_like(answers.outcome)
    counts = tally(answers.confidence, side, answers.weights)
    sides = (counts.wrong, counts.right) if answers.task == "binary" else (counts.wrong,)
    stacked = np.stack(sides, axis=1)
    return np.cumsum(stacked[..., ::-1], axis=-1)[..., ::-1][..., 1:]


def _place(above: Above, used: Floats, farthest: float) -> Floats:
    """Return the criteria above which as many answers are expected as were given, by bisection."""
    low, high = np.zeros_like(used), np.full_like(used, farthest)
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        right, wrong = above(middle)
        more = right + wrong > used
        low, high = np.where(more, middle, low), np.where(more, high, middle)
    return 0.5 * (low + high)


def _levels(observed: Floats, above: Floats) -> Floats:
    """Return the answers by level from the total and those above each criterion, ``(cell, level)``."""
    total = observed.sum(axis=-1, keepdims=True)
    ends = np.concatenate([total, above, np.zeros_like(total)], axis=-1)
    return np.maximum(-np.diff(ends, axis=-1), 0.0)  # rounding may leave -1e-15


def _binary(answers: Answers, d: Floats, c: Floats) -> Above:
    """Evidence N(±d/2, 1) beyond c + t for response 1, and below c - t for response 0."""
    n_s0, n_s1 = (answers.weights @ (answers.outcome // 2 == code) for code in (0, 1))
    n_right, n_wrong = (np.stack(pair, axis=1)[..., None] for pair in ((n_s0, n_s1), (n_s1, n_s0)))
    room_right = np.stack([0.5 * d + c, 0.5 * d - c], axis=1)[..., None]
    room_wrong = np.stack([c - 0.5 * d, -0.5 * d - c], axis=1)[..., None]
    return lambda t: (n_right * ndtr(room_right - t), n_wrong * ndtr(room_wrong - t))


def _mafc(answers: Answers, d: Floats, noise: str) -> Above:
    n = answers.weights.sum(axis=1)[:, None, None]
    mu, m = d[:, None, None], answers.n_options[:, None, None]
    return _gumbel(n, mu, m) if noise == "gumbel" else _normal(n, mu, m)


def _gumbel(n: Floats, mu: Floats, m: Floats) -> Above:
    """Both tails of the gap are logistic in t; see `hmeta.sdt.mafc`."""
    with np.errstate(divide="ignore", invalid="ignore"):
        shift = np.logaddexp(mu, np.log(m - 2.0))
    return lambda t: (n * expit(mu - np.log(m - 1.0) - t), n * (m - 1.0) * expit(-t - shift))


def _normal(n: Floats, mu: Floats, m: Floats) -> Above:
    import jax
    import jax.numpy as jnp

    from hmeta.sdt.mafc_normal import table_tails

    tails = table_tails(tuple(sorted({int(k) for k in m.ravel()})))
    known = np.where(np.isfinite(mu), mu, 0.0)

    def above(t: Floats) -> tuple[Floats, Floats]:
        with jax.enable_x64(True):
            at, strength, size = (jnp.asarray(x) for x in np.broadcast_arrays(t, known, m))
            right, wrong = jnp.exp(tails.correct(at, strength, size)), jnp.exp(tails.wrong(at, strength, size))
        return n * np.asarray(right), n * np.asarray(wrong)

    return above
