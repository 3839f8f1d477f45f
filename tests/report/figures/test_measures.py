"""Tables of measures as a figure: what is shown, in which order, and how undefined and infinite values look."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest

from hmeta.assess.compute import compute_metrics
from hmeta.assess.rendering import to_dataset
from hmeta.assess.table import Resampling
from hmeta.core.errors import DataError
from hmeta.report.card import Options
from hmeta.report.figures.measures import MOST_NAMED, MOST_PANELS, describe, draw, read
from hmeta.report.inputs import MetricsInput, as_input
from hmeta.report.style import WIDTHS
from tests.report.figures.inside import outside
from tests.report.figures.test_reliability import answers, results

MANY = ("auroc2", "ece(bins=5)", "brier", "aurc", "accuracy", "gamma", "log_score", "entropy", "overconfidence", "phi")


def table(frame: pd.DataFrame, names: Sequence[str], *, by: Sequence[str] = (), size: int = 0) -> MetricsInput:
    found = compute_metrics(results(frame).dataset, names, by=by, resampling=Resampling(size=size))
    source = as_input(to_dataset(found, source="answers.nc"), "answers")
    assert isinstance(source, MetricsInput)
    return source


def areas(frame: pd.DataFrame) -> pd.Series:
    """Return the share of pairs of a right and a wrong answer in which the right one is surer, ties half."""

    def one(part: pd.DataFrame) -> float:
        right, wrong = (part["confidence"].to_numpy()[part["correct"] == c] for c in (1, 0))
        return float(((right[:, None] > wrong) + 0.5 * (right[:, None] == wrong)).mean())

    return frame.groupby("model")[["confidence", "correct"]].apply(one)


def test_values_order_and_reference():
    frame = answers(5)
    content = read(table(frame, ["auroc2", "brier", "accuracy"], size=200), Options())
    assert [panel.name for panel in content.panels] == ["auroc2", "brier", "accuracy"]
    assert [panel.better for panel in content.panels] == ["higher", "lower", "higher"]
    assert [panel.neutral for panel in content.panels] == [0.5, None, None]
    assert [panel.unit for panel in content.panels] == ["probability", "squared probability", "probability"]
    expected = areas(frame).sort_values(ascending=False)
    assert content.cells["cell"].tolist() == expected.index.tolist()
    np.testing.assert_allclose(content.of(content.panels[0])["estimate"], expected, atol=1e-12)
    brier = frame.assign(e=(frame["confidence"] / 100 - frame["correct"]) ** 2).groupby("model")["e"].mean()
    np.testing.assert_allclose(content.of(content.panels[1])["estimate"], brier[expected.index], atol=1e-12)
    rows = content.rows
    assert ((rows["lower"] <= rows["estimate"]) & (rows["estimate"] <= rows["upper"])).all()
    assert "200 resamples" in describe(content).caption


def test_lower_is_better_puts_the_lowest_on_top():
    content = read(table(answers(5), ["brier"]), Options())
    assert content.of(content.panels[0])["estimate"].is_monotonic_increasing


def test_two_factors_and_more_measures_than_panels():
    content = read(table(answers(3), MANY, by=["topic"]), Options())
    assert len(content.cells) == 9
    assert {"vendor/model-0 · law", "vendor/model-0 · (all)"} <= set(content.cells["cell"])
    assert content.cells["average"].sum() == 3
    assert len(content.panels) == MOST_PANELS
    assert content.left_out == ["overconfidence", "phi"]
    words = describe(content)
    assert "in the table only: overconfidence, phi" in words.caption
    assert content.panels[1].title == "ece(bins=5)"
    assert content.panels[1].neutral == 0.0
    figure = draw(content, WIDTHS["page"])
    assert len(figure.axes) == MOST_PANELS
    assert not outside(figure)


def test_undefined_and_infinite_values_stay_in_their_rows():
    frame = answers(3)
    frame.loc[frame["model"] == "vendor/model-1", "correct"] = 1
    frame.loc[(frame["model"] == "vendor/model-2") & (frame["confidence"] == 100), "correct"] = 0
    content = read(table(frame, ["auroc2", "log_score"]), Options())
    assert content.cells["cell"].iloc[-1] == "vendor/model-1"
    assert np.isinf(content.of(content.panels[1])["estimate"]).any()
    assert content.beyond == ["log score"]
    caption = describe(content).caption
    assert "–: undefined: no wrong answers (1)" in caption
    assert "Triangle: infinite" in caption
    figure = draw(content, WIDTHS["page"])
    assert [text.get_text() for text in figure.axes[0].texts].count("–") == 1
    assert not outside(figure)


def test_one_value_far_from_all_others_does_not_squeeze_them():
    source = table(answers(40), ["brier"])
    far = source.frame.assign(estimate=np.r_[np.linspace(0.1, 0.3, 39), 50.0])
    content = read(MetricsInput(source.name, source.file, far, source.factors, source.content), Options())
    assert content.beyond == ["Brier score"]
    low, high = draw(content, WIDTHS["page"]).axes[0].get_xlim()
    assert low < 0.1
    assert 0.3 < high < 1


def test_a_table_without_values_is_refused():
    source = table(answers(1), ["brier"])
    empty = source.frame.assign(estimate=np.nan, reason="no answers")
    with pytest.raises(DataError, match="no value"):
        read(MetricsInput(source.name, source.file, empty, source.factors, source.content), Options())


@pytest.mark.parametrize("width", ["column", "page"])
@pytest.mark.parametrize(("n_units", "n_measures"), [(1, 1), (3, 8), (50, 4), (120, 3)])
def test_words_stay_inside(n_units: int, n_measures: int, width: str):
    name = "a-vendor-of-some-length/WWW-a-model-with-a-long-name-{}-preview-2026"
    content = read(table(answers(n_units, n=20, name=name), MANY[:n_measures]), Options())
    figure = draw(content, WIDTHS[width])
    assert len(figure.axes) == n_measures
    assert not outside(figure)
    named = [axes for axes in figure.axes if len(axes.get_yticklabels()) == n_units]
    assert bool(named) == (n_units <= MOST_NAMED)
    words = describe(content)
    assert f"{n_units} cell" in words.alt
    assert "n = 20 answers" in words.caption
