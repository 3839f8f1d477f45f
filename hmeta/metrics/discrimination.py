"""How well confidence tells right answers from wrong ones."""

from __future__ import annotations

import numpy as np

from hmeta.metrics.measure import Floats, measure
from hmeta.metrics.needs import BOTH_OUTCOMES
from hmeta.metrics.tally import ratio, tally


@measure(
    label="AUROC2",
    family="discrimination",
    columns=("confidence", "correct"),
    unit="probability",
    better="higher",
    reference="Fleming & Lau (2014), type-2 ROC; the Mann–Whitney statistic over its maximum",
    needs=BOTH_OUTCOMES,
    neutral=0.5,
    default=True,
)
def auroc2(confidence: Floats, correct: Floats, *, weights: Floats) -> Floats:
    """Area under the type-2 ROC curve.

    P(confidence of a right answer > confidence of a wrong one) + P(tie)/2. It depends on accuracy as well as on
    metacognition, and on no property of the confidences but their order.
    """
    t = tally(confidence, correct, weights)
    below = np.cumsum(t.wrong, axis=-1) - 0.5 * t.wrong
    pairs = t.right.sum(axis=-1) * t.wrong.sum(axis=-1)
    return ratio((t.right * below).sum(axis=-1), pairs)
