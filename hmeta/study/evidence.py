"""Evidence drawn number by number: answers from one sample, ratings from fresh samples given the answer.

Nothing here evaluates a likelihood, so that agreement with `hmeta.sdt` means something. No trial is lost:
fresh evidence for the rating is drawn given the answer, and so never lies on the wrong side of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtri_exp

from hmeta.core.errors import HmetaError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Noise(NamedTuple):
    """The upper tail of a distribution in log space, and the noise that has it as its lower tail."""

    log_sf: Callable[[Floats], Floats]
    inverse_log_sf: Callable[[Floats], Floats]
    mirrored: str


BINARY_NOISES = {
    "normal": Noise(lambda x: log_ndtr(-x), lambda p: -ndtri_exp(p), "normal"),
    "logistic": Noise(lambda x: -np.logaddexp(0.0, x), lambda p: -p + np.log(-np.expm1(p)), "logistic"),
    "gumbel_min": Noise(lambda x: -np.exp(x), lambda p: np.log(-p), "gumbel_max"),
    "gumbel_max": Noise(
        lambda x: np.log(-np.expm1(-np.exp(-x))), lambda p: -np.log(-np.log1p(-np.exp(p))), "gumbel_min"
    ),
}
CHOICE_NOISES = ("gumbel", "normal")
OPEN_NOISES = ("normal",)

BATCH = 2_000_000
"""Numbers drawn at once while waiting for evidence that agrees with an answer."""

MOST_TRIES = 2_000_000
"""Draws after which an answer counts as impossible under the evidence that rates it."""


class Answers(NamedTuple):
    """What evidence led to, each (trial,)."""

    answer: Ints  # the response, or 1 for correct
    distance: Floats  # the confidence variable: 0 or more, for an open task any number


class Observer(NamedTuple):
    """True values behind each trial of a binary task, each (trial,)."""

    d: Floats
    c: Floats
    meta_d: Floats
    meta_c: Floats
    sd_ratio: Floats


def answer_binary(rng: np.random.Generator, stimulus: Ints, observer: Observer, noise: str) -> Answers:
    """Answer 1 where evidence of strength d passes c, and rate fresh evidence of strength meta_d.

    The rating evidence is drawn on the answer's side of meta_c by the inverse of its distribution function.
    """
    sign, sd = np.where(stimulus == 1, 0.5, -0.5), np.where(stimulus == 1, observer.sd_ratio, 1.0)
    first = sign * observer.d + sd * _beyond(rng, np.full(len(stimulus), -np.inf), noise)
    answer = (first > observer.c).astype(np.int64)
    edge = (observer.meta_c - sign * observer.meta_d) / sd
    distance = np.empty(len(stimulus))
    for response, side in ((1, noise), (0, BINARY_NOISES[noise].mirrored)):
        here = answer == response
        start = edge[here] if response == 1 else -edge[here]
        distance[here] = sd[here] * (_beyond(rng, start, side) - start)
    _refuse_impossible(observer.meta_d[~np.isfinite(distance)])
    return Answers(answer, np.maximum(distance, 0.0))


def _beyond(rng: np.random.Generator, start: Floats, noise: str) -> Floats:
    """Draw numbers of a distribution given that they are above `start`, however unlikely that is."""
    form = BINARY_NOISES[noise]
    with np.errstate(over="ignore", divide="ignore"):
        return form.inverse_log_sf(form.log_sf(start) - rng.exponential(size=len(start)))


def answer_choice(rng: np.random.Generator, d: Floats, meta_d: Floats, n_options: Ints, noise: str) -> Answers:
    """Choose the largest of m samples, the correct one shifted by d, and rate the gap of fresh samples."""
    width = int(n_options.max())
    shape = (len(d), width)
    x = rng.gumbel(size=shape) if noise == "gumbel" else rng.normal(size=shape)
    x[:, 0] += d
    x[np.arange(width) >= n_options[:, None]] = -np.inf
    correct = (x.argmax(axis=1) == 0).astype(np.int64)
    rate = _gumbel_gap if noise == "gumbel" else _normal_gap
    return Answers(correct, rate(rng, correct, meta_d, n_options))


def answer_open(rng: np.random.Generator, accuracy: Floats, d_a: Floats, zroc_slope: Floats) -> Answers:
    """Answer right with a probability, and draw confidence: N(0, 1) where wrong, N(mu, 1 / zroc_slope²) where right.

    d_a is the distance of the two means in units of the root mean square standard deviation.
    """
    correct = (rng.random(len(accuracy)) < accuracy).astype(np.int64)
    sd = 1.0 / zroc_slope
    mu = d_a * np.sqrt((1.0 + sd**2) / 2.0)
    noise = rng.normal(size=len(accuracy))
    return Answers(correct, np.where(correct == 1, mu + sd * noise, noise))


def _gumbel_gap(rng: np.random.Generator, correct: Ints, meta_d: Floats, n_options: Ints) -> Floats:
    """Draw the largest sample, then the largest of the others below it.

    The largest of Gumbel samples is Gumbel, located at the log of the summed exponentials, whichever wins.
    """
    others = n_options - 1.0
    with np.errstate(divide="ignore"):
        wrong_rest = np.logaddexp(meta_d, np.log(others - 1.0))
    rest = np.where(correct == 1, np.log(others), wrong_rest)
    top = np.logaddexp(meta_d, np.log(others)) + rng.gumbel(size=len(meta_d))
    runner_up = rest + rng.gumbel(size=len(meta_d))
    return np.logaddexp(0.0, top - runner_up)  # top minus the runner-up cut off at top


def _normal_gap(rng: np.random.Generator, correct: Ints, meta_d: Floats, n_options: Ints) -> Floats:
    """Draw all samples again until they agree with the answer, many at once for those that wait long."""
    gap, pending, repeats, tried = np.empty(len(meta_d)), np.arange(len(meta_d)), 1, 0
    width = int(n_options.max())
    absent = np.arange(width) >= n_options[:, None]  # (trial, option)
    while len(pending):
        x = rng.normal(size=(len(pending), repeats, width))
        x[..., 0] += meta_d[pending, None]
        x[np.broadcast_to(absent[pending, None], x.shape)] = -np.inf
        agrees = (x.argmax(axis=-1) == 0) == (correct[pending, None] == 1)
        found, first = agrees.any(axis=1), agrees.argmax(axis=1)
        top = np.sort(x[found, first[found]], axis=-1)
        gap[pending[found]] = top[:, -1] - top[:, -2]
        pending, tried = pending[~found], tried + repeats
        repeats = max(1, min(2 * repeats, BATCH // max(1, len(pending) * width)))
        _refuse_impossible(meta_d[pending[: len(pending) * (tried > MOST_TRIES)]])
    return gap


def _refuse_impossible(meta_d: Floats) -> None:
    """Refuse the evidence of trials, if any, that practically never leads to their answer."""
    if len(meta_d):
        raise HmetaError(
            "an answer can hardly occur under the evidence that rates it",
            received=f"meta_d = M·d = {meta_d[0]:.3g}",
            mend="choose d and M of which M·d is nearer to 0",
        )
