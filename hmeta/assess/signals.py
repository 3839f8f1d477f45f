"""Confidence made from something other than a stated number: repeated answers, token probabilities.

Functions of arrays; `hmeta.assess.derive` turns whole results files with them.

Letters: ``item`` counts questions, ``repeat`` the answers to one of them, ``token`` the tokens of one answer.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from hmeta.core.errors import DataError
from hmeta.metrics.measurement import EDGE

Floats = NDArray[np.float64]

ROUNDING = 1e-6
"""Logarithms of probabilities this far above 0 are rounding, and taken as 0."""

BLOCK = 2_000_000
"""Comparisons of two repeats that are held in memory at once."""


class Resampled(NamedTuple):
    """The densest window of each item; NaN where it has fewer than two scores."""

    confidence: Floats  # (item,), share of the item's scores that lie in the window
    score: Floats  # (item,), their mean
    n_scores: NDArray[np.int64]  # (item,), scores given
    n_inside: NDArray[np.int64]  # (item,), scores in the window, 0 where there is none


def resampled_confidence(scores: Any, epsilon: float) -> Resampled:
    """Return how strongly repeated scores of one item agree, and on what.

    Of all closed windows of width 2ε the one that holds most scores is taken. Its share of the scores is the
    confidence, the mean of the scores in it the answer. Where several windows hold as many, the one whose scores span
    least is taken; of these the one with the mean nearest to the median of all scores; of these the lower one.
    Scores up to 1e-9 beyond an end count as inside.

    Parameters
    ----------
    scores : (item, repeat) array_like
        NaN for repeats without a score; they count neither for nor against.
    epsilon : float
        Half the width, in the units of the score; 0 asks for identical scores.

    Returns
    -------
    Resampled
        NaN for an item with fewer than two scores: one score agrees with itself and tells nothing.

    Examples
    --------
    >>> found = resampled_confidence([[3, 3.5, 4, 1], [2, 5, np.nan, np.nan], [4, np.nan, np.nan, np.nan]], epsilon=0.5)
    >>> found.confidence.tolist(), found.score.tolist()
    ([0.75, 0.5, nan], [3.5, 2.0, nan])
    """
    values = _matrix(scores, "scores")
    if not values.shape[1]:
        values = np.full((len(values), 1), np.nan)
    if not (np.isfinite(epsilon) and epsilon >= 0):
        raise DataError("epsilon is no width", received=f"{epsilon:g}", allowed="a number, 0 or more")
    ordered = np.sort(values, axis=1)  # NaN goes to the end
    n_items, n_repeats = ordered.shape
    block = max(1, BLOCK // max(1, n_repeats**2))
    parts = [_densest(ordered[start : start + block], 2 * epsilon + EDGE) for start in range(0, n_items, block)]
    inside, mean = (np.concatenate([part[i] for part in parts]) if parts else np.zeros(0) for i in (0, 1))
    n = np.isfinite(ordered).sum(axis=1)
    enough = n >= 2
    share = np.where(enough, inside / np.maximum(n, 1), np.nan)
    return Resampled(share, np.where(enough, mean, np.nan), n, np.where(enough, inside, 0).astype(np.int64))


def geometric_mean_probability(logprobs: Any, n_tokens: Any = None) -> Floats:
    """Return the geometric mean of the token probabilities of each answer: exp(Σ log p / n).

    Parameters
    ----------
    logprobs : (answer, token) or (answer,) array_like
        Natural logarithms of the token probabilities, NaN beyond the end of an answer; or, with `n_tokens`, their
        sum over each answer.
    n_tokens : (answer,) array_like, optional
        Tokens of each answer.

    Returns
    -------
    (answer,) ndarray
        NaN for answers without tokens, or with a missing sum.

    Raises
    ------
    DataError
        For logarithms above 0, which are no logarithms of probabilities.

    Examples
    --------
    >>> geometric_mean_probability([[np.log(0.5), np.log(0.125)], [np.log(0.9), np.nan]]).round(6).tolist()
    [0.25, 0.9]
    """
    if n_tokens is None:
        tokens = _log_probabilities(_matrix(logprobs, "logprobs"), "logprobs")
        count = (~np.isnan(tokens)).sum(axis=1).astype(np.float64)
        total = np.nansum(tokens, axis=1)
    else:
        total = _log_probabilities(np.asarray(logprobs, dtype=np.float64), "logprobs")
        count = np.asarray(n_tokens, dtype=np.float64)
        _same_length(total, count)
        odd = np.isfinite(count) & ((count < 0) | (count != np.round(count)))
        if odd.any():
            raise _refusal("numbers of tokens are not whole numbers", "n_tokens", count, odd)
    fine = (count > 0) & ~np.isnan(total)
    return np.where(fine, np.exp(np.where(fine, total, 0.0) / np.where(fine, count, 1.0)), np.nan)


def p_true(logprob_true: Any, logprob_false: Any) -> Floats:
    """Return P(true) from the log-probabilities of the two answers "true" and "false", normalised to sum to one.

    p_T/(p_T + p_F) = 1/(1 + exp(log p_F − log p_T)); the probability of any other token is left out.

    Parameters
    ----------
    logprob_true, logprob_false : (answer,) array_like
        Natural logarithms; −∞ for a probability of 0.

    Returns
    -------
    (answer,) ndarray
        NaN where one is missing, or both probabilities are 0.

    Examples
    --------
    >>> p_true([np.log(0.6), np.nan], [np.log(0.2), -0.5]).round(6).tolist()
    [0.75, nan]
    """
    true = _log_probabilities(np.asarray(logprob_true, dtype=np.float64), "logprob_true")
    false = _log_probabilities(np.asarray(logprob_false, dtype=np.float64), "logprob_false")
    _same_length(true, false)
    lost = np.isnan(true) | np.isnan(false) | (np.isneginf(true) & np.isneginf(false))
    return np.where(lost, np.nan, expit(np.where(lost, 0.0, true) - np.where(lost, 0.0, false)))


def _densest(ordered: Floats, width: float) -> tuple[Floats, ...]:
    """Return the number and the mean of the scores in the densest window of each item, (item,) each.

    A densest window can always be moved up until it starts at a score, so windows are tried from each score.
    """
    start, other = ordered[:, :, None], ordered[:, None, :]  # (item, start, repeat)
    at = np.arange(ordered.shape[1])
    # From its own place on: equal scores before it are the business of the window that starts there.
    inside = (other - start <= width) & (at[None, None, :] >= at[None, :, None])
    n = inside.sum(axis=2).astype(np.float64)  # (item, start)
    mean = np.where(inside, other, 0.0).sum(axis=2) / np.maximum(n, 1)
    last = at + np.maximum(n - 1, 0).astype(np.intp)
    span = np.where(n > 0, np.take_along_axis(ordered, last, axis=1) - ordered, np.inf)
    away = np.where(n > 0, np.abs(mean - _medians(ordered)[:, None]), np.inf)
    # Differences below 1e-9 are rounding of the same span or the same distance; the last key is the first in rank.
    best = np.lexsort((np.round(away, 9), np.round(span, 9), -n), axis=1)[:, :1]
    return tuple(np.take_along_axis(found, best, axis=1)[:, 0] for found in (n, mean))


def _medians(ordered: Floats) -> Floats:
    """Return the median of each row of sorted values with NaN at the end, NaN for a row of NaN alone."""
    given = np.isfinite(ordered).sum(axis=1, keepdims=True)
    halves = np.concatenate([(given - 1) // 2, given // 2], axis=1)
    return np.take_along_axis(ordered, np.maximum(halves, 0), axis=1).mean(axis=1)


def _matrix(values: Any, name: str) -> Floats:
    found = np.asarray(values, dtype=np.float64)
    if found.ndim != 2:
        raise DataError("one row an item is needed", where=name, received=f"shape {found.shape}")
    if np.isinf(found).any() and name == "scores":
        raise _refusal("scores are infinite", name, found, np.isinf(found))
    return found


def _log_probabilities(values: Floats, name: str) -> Floats:
    above = values > ROUNDING
    if above.any():
        raise _refusal(
            "values are above 0, so they are no logarithms of probabilities",
            name,
            values,
            above,
            mend="pass natural logarithms, not probabilities",
        )
    return np.minimum(values, 0.0)


def _same_length(one: Floats, two: Floats) -> None:
    if one.shape != two.shape or one.ndim != 1:
        raise DataError("the two columns differ in shape", received=f"{one.shape} and {two.shape}")


def _refusal(what: str, name: str, values: Floats, bad: NDArray[np.bool_], mend: str | None = None) -> DataError:
    seen = ", ".join(f"{v:g}" for v in values[bad][:5])
    return DataError(f"{int(bad.sum())} {what}", where=name, received=seen, mend=mend)
