"""Cases that the validity screen must name before any number of efficiency is read."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from hmeta.assess.screen import screen
from hmeta.trials.tables import trials_dataset
from tests.trials.answer_tables import N_S1, N_S2, from_counts, from_trials, scale

BOTH_LAYOUTS = pytest.mark.parametrize("make", [from_counts, from_trials])


@BOTH_LAYOUTS
def test_BUG_02_one_level_used_is_unusable_and_auroc2_is_one_half(make):
    found = screen(make([40, 0, 0, 10], [10, 0, 0, 40]))
    assert found.raters["verdict"].tolist() == ["unusable"]
    assert found.raters["auroc2"].tolist() == [0.5]
    assert "one_level_used" in found.flags["flag"].tolist()
    assert "one confidence level used" in found.flags["meaning"].iloc[0]


def test_BUG_02_one_level_in_each_response_is_unusable_too():
    found = screen(from_counts([40, 0, 10, 0], [10, 0, 40, 0]))
    assert found.raters["verdict"].tolist() == ["unusable"]


@BOTH_LAYOUTS
def test_BUG_12_swapped_stimuli_are_named_with_d_and_auroc2(make):
    found = screen(make(N_S2, N_S1))
    assert found.raters["auroc2"].item() == pytest.approx(0.290, abs=5e-4)
    inverted = found.flags.set_index("flag").loc["stimulus_inverted"]
    assert inverted["value"] == pytest.approx(-1.5041, abs=5e-4)
    assert "probably inverted" in inverted["meaning"]
    assert found.raters["verdict"].tolist() == ["caution"]
    assert screen(make(N_S1, N_S2)).raters["verdict"].tolist() == ["usable"]


def test_BUG_28_three_values_at_the_ceiling_are_three_levels():
    frame = pd.DataFrame(
        {"model": "m", "confidence": [100.0] * 70 + [90] * 20 + [80] * 10, "correct": [1, 1, 1, 0, 1] * 20}
    )
    found = screen(trials_dataset(frame, task="open", scales=scale(0, 100)))
    detail = found.flags.set_index("flag")["detail"]
    assert detail["few_values"] == "80: 10, 90: 20, 100: 70"
    assert detail["ceiling"] == "70% are 100"
    assert found.raters["levels"].tolist() == [3]
    assert "quantile bins would leave levels empty" in found.flags.set_index("flag").loc["few_values", "meaning"]


def test_BUG_34_missing_confidences_are_counted_and_warned_of():
    frame = pd.DataFrame(
        {
            "model": "m",
            "confidence": [90.0, 80, 85, 95, 70, 75, np.nan, np.nan, np.nan, np.nan],
            "correct": [1] * 6 + [0] * 4,
        }
    )
    found = screen(trials_dataset(frame, task="open", scales=scale(0, 100)))
    row = found.raters.iloc[0]
    assert (row["n"], row["n_missing"], row["n_asked"]) == (6, 4, 10)
    missing = found.flags.set_index("flag").loc["missing_confidence"]
    assert missing["value"] == pytest.approx(0.4)
    assert "rarely a random part" in missing["meaning"]
    assert "no_wrong_answers" in row["flags"]


def test_BUG_35_sources_of_confidence_are_raters_of_their_own():
    frame = pd.DataFrame(
        {
            "model": "m",
            "signal": ["verbal", "verbal", "logprob", "logprob"],
            "confidence": [0.95, 0.95, 0.29, 0.31],
            "correct": [1, 0, 1, 0],
        }
    )
    found = screen(trials_dataset(frame, task="open", scales=scale(0, 1, 0)))
    assert found.raters["signal"].tolist() == ["logprob", "verbal"]
    assert found.raters["n"].tolist() == [2, 2]
    mixed = found.flags[found.flags["flag"] == "mixed_signals"]
    assert mixed["detail"].tolist() == ["one of logprob, verbal"] * 2
    assert "one calibration map for each" in mixed["mend"].iloc[0]
