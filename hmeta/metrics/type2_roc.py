"""The type-2 ROC: right against wrong answers as the criterion on confidence moves."""

from __future__ import annotations

import numpy as np

from hmeta.metrics.measure import Columns, Floats, curve, measure
from hmeta.metrics.needs import BOTH_OUTCOMES
from hmeta.metrics.outcomes import flat_weights
from hmeta.metrics.tally import ratio, tally

COLUMNS = ("confidence", "correct")


def three_levels(columns: Columns, weights: Floats) -> str:
    """Ask for the three confidence levels that a slope needs."""
    n = len(np.unique(columns["confidence"][weights > 0]))
    return "" if n > 2 else f"{'two confidence levels' if n == 2 else 'one confidence level'} used, a slope needs three"


def few_levels(columns: Columns, weights: Floats) -> str:
    """Ask for no more confidence levels than can be fitted."""
    from hmeta.mle.table import MOST_LEVELS, TOO_MANY

    return TOO_MANY if len(np.unique(columns["confidence"][weights > 0])) > MOST_LEVELS else ""


def binormal_maximum(columns: Columns, weights: Floats) -> str:
    """Ask for a finite maximum of the binormal likelihood."""
    from hmeta.mle.type2_roc import NO_MAXIMUM, fit_type2_roc

    found = fit_type2_roc(columns["confidence"], columns["correct"], weights[None])
    return NO_MAXIMUM if np.isnan(found.d_a[0]) else ""


NEEDS = (*BOTH_OUTCOMES, three_levels, few_levels, binormal_maximum)


@measure(
    label="type-2 d_a",
    family="discrimination",
    columns=COLUMNS,
    unit="sd",
    better="higher",
    reference="Simpson & Fitter (1973); Dorfman & Alf (1969) for the likelihood",
    needs=NEEDS,
    neutral=0.0,
)
def type2_d_a(confidence: Floats, correct: Floats, *, weights: Floats) -> Floats:
    """Distance of right from wrong answers on a binormal type-2 ROC.

    The confidence variable is N(0, 1) for wrong and N(m, s²) for right answers, with criteria between the levels, by
    maximum likelihood; d_a = m·√(2 / (1 + s²)), and Φ(d_a/√2) is the area under the continuous curve. It depends on
    accuracy as AUROC2 does, but not on how many levels the scale has. Undefined with fewer than three levels and
    without a finite maximum.
    """
    from hmeta.mle.type2_roc import fit_type2_roc

    return fit_type2_roc(confidence, correct, flat_weights(weights)).d_a.reshape(weights.shape[:-1])


@measure(
    label="type-2 z-ROC slope",
    family="discrimination",
    columns=COLUMNS,
    unit="1",
    better="none",
    reference="Dorfman & Alf (1969); Clarke, Birdsall & Tanner (1959) for type 2",
    needs=NEEDS,
    neutral=1.0,
)
def type2_zroc_slope(confidence: Floats, correct: Floats, *, weights: Floats) -> Floats:
    """Slope of the z-transformed type-2 ROC: standard deviation of wrong over that of right answers.

    1/s of the model of type2_d_a. Below 1 the confidence of right answers varies more than that of wrong ones.
    Undefined where type2_d_a is.
    """
    from hmeta.mle.type2_roc import fit_type2_roc

    return fit_type2_roc(confidence, correct, flat_weights(weights)).slope.reshape(weights.shape[:-1])


@curve(
    label="type-2 ROC",
    family="discrimination",
    columns=COLUMNS,
    reference="Clarke, Birdsall & Tanner (1959); Galvin, Podd, Drga & Whitmore (2003)",
    needs=BOTH_OUTCOMES,
)
def type2_roc(confidence: Floats, correct: Floats, *, weights: Floats) -> dict[str, Floats]:
    """Shares of right and of wrong answers at or above each confidence level.

    One point a level that is used, from the highest to the lowest, after a first point (0, 0) without a criterion
    (NaN); answers of one level move together. The last point is (1, 1), and the area under straight lines between the
    points is AUROC2. NaN without right or without wrong answers.
    """
    t = tally(confidence, correct, weights)
    used = t.total > 0
    right, wrong = (np.concatenate([[0.0], np.cumsum(part[used][::-1])]) for part in (t.right, t.wrong))
    return {
        "criterion": np.concatenate([[np.nan], t.value[used][::-1]]),
        "hits": ratio(right, np.asarray(t.right.sum())),
        "false_alarms": ratio(wrong, np.asarray(t.wrong.sum())),
    }
