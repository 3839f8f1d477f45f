"""Type-1 sensitivity and bias: the decision itself, beside which measures of metacognition stand."""

from __future__ import annotations

from typing import Literal

import numpy as np

from hmeta.metrics.measure import Columns, Floats, measure
from hmeta.metrics.outcomes import OUTCOME_COLUMNS, TYPE1, WITH_TYPE1, binary_outcome, flat_answers, noise_of

BINARY_COLUMNS = ("stimulus", "response")
RATED_COLUMNS = ("stimulus", "response", "confidence")

Noise = Literal["default", "normal", "logistic", "gumbel", "gumbel_min", "gumbel_max"]
BinaryNoise = Literal["normal", "logistic", "gumbel_min", "gumbel_max"]


def binary_table(columns: Columns, weights: Floats) -> str:
    """Ask for a finite d of two stimuli and two responses."""
    outcome, n_options = binary_outcome(columns["stimulus"], columns["response"])
    coded = {"outcome": outcome, "n_options": n_options}
    return next((reason for need in TYPE1 if (reason := need(coded, weights))), "")


def zroc_maximum(columns: Columns, weights: Floats) -> str:
    """Ask for ratings to which unequal variances can be fitted."""
    from hmeta.mle.point import zroc_point

    outcome, n_options = binary_outcome(columns["stimulus"], columns["response"])
    return zroc_point(flat_answers(outcome, n_options, columns["confidence"], weights))[1][0]


@measure(
    label="d′",
    family="performance",
    columns=OUTCOME_COLUMNS,
    unit="sd",
    better="higher",
    reference="Green & Swets (1966); Hacker & Ratcliff (1979) for m alternatives",
    needs=TYPE1,
    tasks=WITH_TYPE1,
    neutral=0.0,
)
def d(outcome: Floats, n_options: Floats, *, weights: Floats, noise: Noise = "default") -> Floats:
    """Type-1 sensitivity d′ of the decision, corrected for bias or for the number of alternatives.

    Two stimuli and two responses: d = F⁻¹(P(R=1 | S=1)) - F⁻¹(P(R=1 | S=0)) with F of the noise, by default normal.
    One right answer among m: the d at which the largest of m independent samples, of which the right one is shifted by
    d, is the right one as often as observed. With Gumbel noise (default), d = logit(accuracy) + log(m - 1); with normal
    noise by inversion of the integral, so that accuracy 0.80 of two is 1.190 and 0.40 of four is 0.522. Chance is 0.
    Nothing is added to the counts: without one of the outcomes d would be infinite and is undefined here.
    """
    from hmeta.mle.point import type1_point

    answers = flat_answers(outcome, n_options, np.zeros_like(outcome), weights)
    return type1_point(answers, noise_of(answers.task, noise)).d.reshape(weights.shape[:-1])


@measure(
    label="c",
    family="performance",
    columns=BINARY_COLUMNS,
    unit="sd",
    better="none",
    reference="Macmillan & Creelman (2005), chapter 2",
    needs=(binary_table,),
    tasks=("binary",),
    neutral=0.0,
)
def c(stimulus: Floats, response: Floats, *, weights: Floats, noise: BinaryNoise = "normal") -> Floats:
    """Type-1 criterion c, the bias of the decision: above 0 favours response 0.

    c = -(F⁻¹(P(R=1 | S=1)) + F⁻¹(P(R=1 | S=0)))/2 for symmetric noise F; 0 lies midway between the two stimuli.
    Undefined where d is.
    """
    from hmeta.mle.point import type1_point

    outcome, n_options = binary_outcome(stimulus, response)
    answers = flat_answers(outcome, n_options, np.zeros_like(outcome), weights)
    return type1_point(answers, noise).c.reshape(weights.shape[:-1])


@measure(
    label="z-ROC slope",
    family="performance",
    columns=RATED_COLUMNS,
    unit="1",
    better="none",
    reference="Green & Swets (1966), chapter 3; Dorfman & Alf (1969) for the likelihood",
    needs=(binary_table, zroc_maximum),
    tasks=("binary",),
    neutral=1.0,
)
def zroc_slope(stimulus: Floats, response: Floats, confidence: Floats, *, weights: Floats) -> Floats:
    """Slope of the type-1 z-ROC: the ratio of the standard deviations of the evidence, S = 0 over S = 1.

    Responses and ratings together order the answers from sure S = 0 to sure S = 1; N(0, 1) and N(m, s²) are fitted to
    that order by maximum likelihood, and the slope is 1/s. Where it is not 1, M of equal variances misleads. Undefined
    where meta_d is, and without a finite maximum.
    """
    from hmeta.mle.point import zroc_point

    outcome, n_options = binary_outcome(stimulus, response)
    return zroc_point(flat_answers(outcome, n_options, confidence, weights))[0].reshape(weights.shape[:-1])
