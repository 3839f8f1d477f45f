"""meta-d′ and what stands beside it: how much of the evidence of the decision reaches the confidence."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.special import ndtri

from hmeta.core.errors import DataError
from hmeta.metrics.measure import Columns, Floats, measure
from hmeta.metrics.needs import BOTH_OUTCOMES, two_levels
from hmeta.metrics.outcomes import RATING_COLUMNS, WITH_TYPE1, binary_outcome, flat_answers, noise_of, one_task
from hmeta.metrics.sensitivity import RATED_COLUMNS, Noise, binary_table
from hmeta.metrics.tally import tally

if TYPE_CHECKING:
    from hmeta.mle.point import MetaPoint

MetaC = Literal["absolute", "relative"]

THRESHOLD_WEAKNESS = (
    "This value cuts the scale once, at the threshold, and sets the type-2 table against itself: it moves with how the "
    "scale is used and with the 0.5 added to its cells, knows nothing of the decision, and is neither meta-d′ nor M."
)
"""Printed wherever a threshold value is shown."""


class _Last(threading.local):
    """The last fit of this thread: meta_d, M and their difference are read off the same one."""

    inputs: tuple[Floats, ...] = ()
    options: tuple[str, str] = ("", "")
    point: MetaPoint | None = None


_last = _Last()


def _fit(
    outcome: Floats, n_options: Floats, confidence: Floats, *, weights: Floats, noise: Noise, meta_c: MetaC
) -> MetaPoint:
    from hmeta.mle.point import meta_point

    inputs = (outcome, n_options, confidence, weights)
    same = len(_last.inputs) == len(inputs) and all(map(np.array_equal, inputs, _last.inputs))
    if _last.point is not None and same and _last.options == (noise, meta_c):
        return _last.point
    answers = flat_answers(outcome, n_options, confidence, weights)
    options: dict[str, object] = {"noise": noise_of(answers.task, noise)}
    options |= {"meta_c": meta_c} if answers.task == "binary" else {"rule": "gap"}
    _last.point = meta_point(answers, options)
    _last.inputs, _last.options = tuple(array.copy() for array in inputs), (noise, meta_c)
    return _last.point


def _reasons(columns: Columns, weights: Floats) -> tuple[str, str]:
    inside = (columns["outcome"], columns["n_options"], columns["confidence"])
    point = _fit(*inside, weights=weights[None], noise="default", meta_c="absolute")
    return point.meta_d_reason[0], point.M_reason[0]


def meta_d_maximum(columns: Columns, weights: Floats) -> str:
    """Ask for a finite maximum of the likelihood in meta_d (default noise)."""
    return _reasons(columns, weights)[0]


def m_defined(columns: Columns, weights: Floats) -> str:
    """Ask for a finite maximum, and for a d that is not 0 (default noise)."""
    return _reasons(columns, weights)[1]


@measure(
    label="meta-d′",
    family="efficiency",
    columns=RATING_COLUMNS,
    unit="sd",
    better="higher",
    reference="Maniscalco & Lau (2012, 2014); Fleming (2017)",
    needs=(one_task, meta_d_maximum),
    tasks=WITH_TYPE1,
    neutral=0.0,
)
def meta_d(
    outcome: Floats,
    n_options: Floats,
    confidence: Floats,
    *,
    weights: Floats,
    noise: Noise = "default",
    meta_c: MetaC = "absolute",
) -> Floats:
    """Sensitivity d′ at which an ideal observer's confidence would be as informative as the confidence observed.

    Maximum likelihood of the ratings given the outcomes, with d (and c) from the type-1 table and criteria of each
    response's own; levels that are not used are left out, and nothing is added to the counts. `noise` is normal by
    default for two responses and Gumbel for m alternatives. `meta_c` (two responses only) says where ratings part: at
    c, or at M·c. Undefined without a finite d, with one confidence level, and without a finite maximum.
    """
    point = _fit(outcome, n_options, confidence, weights=weights, noise=noise, meta_c=meta_c)
    return point.meta_d.reshape(weights.shape[:-1])


@measure(
    label="M",
    family="efficiency",
    columns=RATING_COLUMNS,
    unit="1",
    better="higher",
    reference="Maniscalco & Lau (2012, 2014); Fleming (2017)",
    needs=(one_task, m_defined),
    tasks=WITH_TYPE1,
    neutral=0.0,
)
def M(
    outcome: Floats,
    n_options: Floats,
    confidence: Floats,
    *,
    weights: Floats,
    noise: Noise = "default",
    meta_c: MetaC = "absolute",
) -> Floats:
    """Metacognitive efficiency M = meta_d / d (the M-ratio).

    1 for an observer whose confidence reads all of the evidence of the decision, 0 for one whose confidence says
    nothing about correctness. Unstable for small d; with d below 0 its sign misleads, so that d belongs beside it.
    Options and edge rules as for meta_d; undefined also at d = 0. Tasks without a type-1 table have no M.
    """
    point = _fit(outcome, n_options, confidence, weights=weights, noise=noise, meta_c=meta_c)
    return point.M.reshape(weights.shape[:-1])


@measure(
    label="meta-d′ difference",
    family="efficiency",
    columns=RATING_COLUMNS,
    unit="sd",
    better="higher",
    reference="Maniscalco & Lau (2012); Rahnev (2025), Nature Communications",
    needs=(one_task, meta_d_maximum),
    tasks=WITH_TYPE1,
)
def meta_d_difference(
    outcome: Floats,
    n_options: Floats,
    confidence: Floats,
    *,
    weights: Floats,
    noise: Noise = "default",
    meta_c: MetaC = "absolute",
) -> Floats:
    """meta_d minus d: 0 for the ideal observer, and defined at d = 0, where M is not.

    Options and edge rules as for meta_d.
    """
    point = _fit(outcome, n_options, confidence, weights=weights, noise=noise, meta_c=meta_c)
    return (point.meta_d - point.d).reshape(weights.shape[:-1])


def _noise_reason(columns: Columns, weights: Floats) -> str:
    from hmeta.mle.noise import fit_meta_noise

    outcome, n_options = binary_outcome(columns["stimulus"], columns["response"])
    return fit_meta_noise(flat_answers(outcome, n_options, columns["confidence"], weights))[1][0]


@measure(
    label="meta-noise",
    family="efficiency",
    columns=RATED_COLUMNS,
    unit="log sd",
    better="lower",
    reference="Shekhar & Rahnev (2021), Psychological Review 128, 45–70",
    needs=(binary_table, _noise_reason),
    tasks=("binary",),
    slow=True,
)
def meta_noise(stimulus: Floats, response: Floats, confidence: Floats, *, weights: Floats) -> Floats:
    """Size of the lognormal noise through which confidence reads the evidence of the decision.

    Confidence compares the distance of the evidence from c with criteria t·exp(meta_noise·z), z ~ N(0, 1), one z an
    answer. Maximum likelihood of the ratings given the outcomes, with d and c from the type-1 table and criteria of
    each response's own. 0 where confidence is at least as good as that of the ideal observer: noise cannot represent
    M above 1 (estimates below 0.03 count as 0). M of 0.8, 0.5 and 0.3 go with noise of about 0.4, 1.4 and 2.5.
    Undefined where meta_d is, and above 30, where confidence says next to nothing. Slow: minutes for 10,000 replicates.
    """
    from hmeta.mle.noise import fit_meta_noise

    outcome, n_options = binary_outcome(stimulus, response)
    return fit_meta_noise(flat_answers(outcome, n_options, confidence, weights))[0].reshape(weights.shape[:-1])


@measure(
    label="meta-uncertainty",
    family="efficiency",
    columns=RATED_COLUMNS,
    unit="sd",
    better="lower",
    reference="Boundy-Singer, Ziemba & Goris (2023), Nature Human Behaviour 7, 142–154",
    needs=(binary_table, _noise_reason),
    tasks=("binary",),
    slow=True,
)
def meta_uncertainty(stimulus: Floats, response: Floats, confidence: Floats, *, weights: Floats) -> Floats:
    """Spread of the observer's lognormal estimate of its own sensory noise (CASANDRE).

    Confidence is the distance of the evidence from c over that estimate, whose mean is the true standard deviation 1.
    With stimuli of one strength, as here, the likelihood is that of meta_noise with
    meta_uncertainty = √(exp(meta_noise²) - 1), at the same maximum: the two order people alike, and this one grows
    without measure where confidence is poor (infinite where it exceeds the largest number). No guess rate and no
    shared criteria are assumed, unlike in the authors' own program. Undefined where meta_noise is.
    """
    noise = meta_noise.compute(stimulus, response, confidence, weights=weights)
    with np.errstate(over="ignore"):
        return np.sqrt(np.expm1(noise**2))


@measure(
    label="threshold meta-d′",
    family="efficiency",
    columns=("probability", "correct"),
    unit="sd",
    better="higher",
    reference="type-2 hit and false-alarm rates at one threshold, log-linear correction of Hautus (1995)",
    needs=(*BOTH_OUTCOMES, two_levels),
    neutral=0.0,
    caution=THRESHOLD_WEAKNESS,
    variants=({"threshold": 0.9}, {"threshold": 0.95}),
)
def meta_d_threshold(probability: Floats, correct: Floats, *, weights: Floats, threshold: float = 0.9) -> Floats:
    """Type-2 d′ of one cut of the scale: Φ⁻¹(H2) - Φ⁻¹(F2).

    H2 = P(p > threshold | right) and F2 = P(p > threshold | wrong), with 0.5 added to each of the four cells, p the
    confidence as a share of its scale. Weaknesses: a whole scale becomes one cut, so that it moves with how levels are
    used; the added 0.5 moves it, the more the fewer the wrong answers (with every answer on one side of the cut it is
    not 0, for the two classes differ in size); and it sets the type-2 table against itself without a
    model of the decision. It is not meta_d. Undefined with one confidence level.
    """
    sure = probability > threshold + 1e-9  # 0.9 itself is not above 0.9, whatever its rounding
    rates = []
    for code in (1, 0):
        of = correct == code
        rates.append((weights @ (sure & of) + 0.5) / (weights @ of + 1.0))
    t = tally(probability, correct, weights)
    defined = (t.right.sum(axis=-1) > 0) & (t.wrong.sum(axis=-1) > 0) & ((t.total > 0).sum(axis=-1) > 1)
    return np.where(defined, ndtri(rates[0]) - ndtri(rates[1]), np.nan)


@measure(
    label="threshold M",
    family="efficiency",
    columns=("probability", "correct"),
    unit="1",
    better="higher",
    reference="type-2 hit and false-alarm rates at one threshold, over a d′ of the user's choosing",
    needs=(*BOTH_OUTCOMES, two_levels),
    neutral=0.0,
    caution=THRESHOLD_WEAKNESS,
    variants=({"threshold": 0.9}, {"threshold": 0.95}),
)
def M_threshold(probability: Floats, correct: Floats, *, weights: Floats, d: float, threshold: float = 0.9) -> Floats:
    """Threshold meta-d′ over a d′ that the user gives.

    meta_d_threshold(threshold) / d. It shares the weaknesses of meta_d_threshold, and its denominator comes from
    elsewhere: no value of it is the ideal observer's, and it must never stand beside M as if it were one.
    """
    if d == 0.0:
        raise DataError("a ratio to d = 0 has no meaning", where="M_threshold, option d", received="0")
    return meta_d_threshold.compute(probability, correct, weights=weights, threshold=threshold) / d
