"""Cases about judges: whose view a probability takes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from hmeta.assess.answers import answer_table
from hmeta.metrics.binning import bin_sums
from hmeta.metrics.judges import judge_aece
from hmeta.trials.tables import trials_dataset
from tests.trials.answer_tables import scale


def test_BUG_43_confidence_is_about_the_answer_and_p_about_class_one():
    # A file of one stimulus alone is refused (case 08), so another model saw the other one.
    frame = pd.DataFrame(
        {"model": ["m", "m", "z"], "stimulus": [0, 0, 1], "response": [0, 0, 1], "confidence": [0.8, 0.8, 0.6]}
    )
    used = answer_table(trials_dataset(frame, task="binary", scales=scale(0, 1, 0))).used
    used = used.take(np.flatnonzero(used.factors["model"] == "m"))
    probability, correct = (used.columns[name] for name in ("probability", "correct"))
    assert probability.tolist() == [0.8, 0.8]
    assert correct.tolist() == [1, 1]
    answer_view = bin_sums(probability, correct, np.ones(2)).expected_error
    p, truth = (used.columns[name] for name in ("p_positive", "stimulus"))
    np.testing.assert_allclose(p, [0.2, 0.2])
    assert float(answer_view) == pytest.approx(0.2)
    assert judge_aece(p, truth) == pytest.approx(0.2)


def test_BUG_43_the_two_views_differ_where_bins_mix_verdicts():
    # Sure and wrong about "no", sure and wrong about "yes": the class view in one bin sees no error at all.
    p, truth = np.array([0.1, 0.9]), np.array([1.0, 0.0])
    assert judge_aece(p, truth, bins=1) == pytest.approx(0.0)
    confidence, correct = np.array([0.9, 0.9]), np.array([0.0, 0.0])
    assert float(bin_sums(confidence, correct, np.ones(2), 1).expected_error) == pytest.approx(0.9)
