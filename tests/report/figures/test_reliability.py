"""Reliability diagrams: their numbers against sums by hand and statsmodels, and what they refuse."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.proportion import proportion_confint

from hmeta.core.errors import DataError
from hmeta.report.card import Options
from hmeta.report.figures.reliability import MOST_FACETS, describe, draw, read
from hmeta.report.inputs import ResultsInput
from hmeta.report.style import WIDTHS
from hmeta.trials.tables import trials_dataset
from tests.report.figures.inside import outside

PERCENT = pd.DataFrame({"scale_id": ["0-100"], "scale_lower": 0, "scale_upper": 100, "scale_step": 1})
RATINGS = pd.DataFrame({"scale_id": ["1-4"], "scale_lower": 1, "scale_upper": 4, "scale_step": 1})


def answers(n_units: int, n: int = 60, *, name: str = "vendor/model-{}") -> pd.DataFrame:
    """Return answers that are right less often than their confidence says, on two topics."""
    rng = np.random.default_rng(n_units)
    frames = []
    for unit in range(n_units):
        confidence = rng.choice([15, 40, 55, 70, 85, 95, 100], size=n)
        correct = (rng.random(n) < 0.8 * confidence / 100).astype(int)
        topic = rng.choice(["law", "physics"], size=n)
        frames.append(
            pd.DataFrame({"model": name.format(unit), "confidence": confidence, "correct": correct, "topic": topic})
        )
    return pd.concat(frames, ignore_index=True)


def results(frame: pd.DataFrame, scales: pd.DataFrame = PERCENT) -> ResultsInput:
    return ResultsInput("answers", "answers.nc", trials_dataset(frame, task="open", scales=scales))


@pytest.mark.parametrize("bins", [4, 10])
def test_bins_and_units_against_sums_by_hand(bins: int):
    frame = answers(3)
    content = read(results(frame), Options(bins=bins))
    assert len(content.bins) > 6
    p = frame["confidence"] / 100
    by_hand = frame.assign(p=p, bin=np.minimum(np.floor(p * bins + 1e-9), bins - 1).astype(int))
    for (unit, number), part in by_hand.groupby(["model", "bin"]):
        (row,) = content.bins[(content.bins["unit"] == unit) & (content.bins["bin"] == number)].to_dict("records")
        interval = proportion_confint(part["correct"].sum(), len(part), alpha=0.05, method="wilson")
        assert row["n"] == len(part)
        np.testing.assert_allclose([row["lower"], row["upper"]], [number / bins, (number + 1) / bins], atol=1e-12)
        np.testing.assert_allclose([row["confidence"], row["accuracy"]], part[["p", "correct"]].mean(), atol=1e-12)
        np.testing.assert_allclose([row["accuracy_lower"], row["accuracy_upper"]], interval, atol=1e-12)
    assert content.bins["n"].sum() == len(frame)
    for row in content.units.to_dict("records"):
        mine = by_hand[by_hand["model"] == row["unit"]]
        gaps = mine.groupby("bin").apply(lambda g: abs((g["p"] - g["correct"]).sum()), include_groups=False)
        assert row["n"] == len(mine)
        np.testing.assert_allclose(row["ece"], gaps.sum() / len(mine), atol=1e-12)
        np.testing.assert_allclose([row["confidence"], row["accuracy"]], mine[["p", "correct"]].mean(), atol=1e-12)


def test_by_a_factor_puts_those_who_answered_together():
    frame = answers(3)
    content = read(results(frame), Options(by="topic"))
    assert content.units["unit"].tolist() == ["law", "physics"]
    assert content.units["n"].tolist() == frame["topic"].value_counts().sort_index().tolist()
    np.testing.assert_allclose(content.units["accuracy"], frame.groupby("topic")["correct"].mean(), atol=1e-12)
    assert "Answers of 3 models are put together" in describe(content).caption


def test_scales_are_kept_apart():
    frame = answers(2).assign(scale="0-100")
    coarse = answers(2).assign(scale="1-4", confidence=lambda f: 1 + f["confidence"] // 34)
    both = pd.concat([frame, coarse], ignore_index=True)
    content = read(results(both, pd.concat([PERCENT, RATINGS], ignore_index=True)), Options())
    assert len(content.units) == 4
    assert {"vendor/model-0 · 0-100", "vendor/model-1 · 1-4"} <= set(content.units["unit"])


def test_ratings_are_said_to_be_read_as_probabilities():
    frame = answers(2).assign(confidence=lambda f: 1 + f["confidence"] // 34)
    content = read(results(frame, RATINGS), Options())
    assert "ratings 1..4 as probabilities" in describe(content).caption
    assert any("ratings 1..4" in text.get_text() for text in draw(content, WIDTHS["page"]).texts)


def test_refusals():
    plain = answers(2)
    for options, message in ((Options(bins=0), "number of bins"), (Options(by="topik"), 'Did you mean "topic"')):
        with pytest.raises(DataError, match=message):
            read(results(plain), options)
    with pytest.raises(DataError, match="no scale is declared"):
        read(ResultsInput("a", "a.nc", trials_dataset(plain, task="open")), Options())


def test_a_unit_without_answers_is_named():
    frame = answers(3)
    frame["confidence"] = frame["confidence"].astype(float).where(frame["model"] != "vendor/model-1")
    content = read(results(frame), Options())
    assert len(content.units) == 2
    assert "Not shown: vendor/model-1" in describe(content).caption


def test_too_many_units_are_put_together_with_their_spread():
    frame = answers(MOST_FACETS + 5, n=120)
    content = read(results(frame), Options())
    assert content.together
    row = content.pooled[content.pooled["bin"] == 7].iloc[0]
    inside = frame[frame["confidence"] == 70]
    each = inside.groupby("model")["correct"].agg(["mean", "size"])
    each = each[each["size"] >= 5]["mean"]
    assert row["n_units"] == len(each) > 50
    np.testing.assert_allclose(row["accuracy"], inside["correct"].mean(), atol=1e-12)
    np.testing.assert_allclose([row["low"], row["middle"], row["high"]], np.quantile(each, [0.1, 0.5, 0.9]), atol=1e-12)
    words = describe(content)
    assert "65 units are too many" in words.caption
    assert len(content.bins["unit"].unique()) == MOST_FACETS + 5


@pytest.mark.parametrize("width", ["column", "page"])
@pytest.mark.parametrize("n_units", [1, 3, 50, 70])
def test_words_stay_inside(n_units: int, width: str):
    name = "a-vendor-of-some-length/WWW-a-model-with-a-long-name-{}-preview-2026"
    content = read(results(answers(n_units, n=20, name=name)), Options())
    figure = draw(content, WIDTHS[width])
    assert len(figure.axes) == (2 if n_units == 70 else n_units)
    assert not outside(figure)
    words = describe(content)
    assert f"{20 * n_units:,} answers" in words.caption
    assert f"{n_units} unit" in words.alt
