"""Before and after calibration: the numbers from the answers themselves, and what the caption does not hide."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from hmeta.calibrate.recalibrate import recalibrate
from hmeta.core.errors import DataError
from hmeta.report.card import Options
from hmeta.report.figures.calibration import MOST_ROWS, describe, draw, read
from hmeta.report.inputs import ResultsInput
from hmeta.report.style import WIDTHS
from hmeta.trials.tables import trials_dataset
from tests.report.figures.inside import outside
from tests.report.figures.test_reliability import answers, results


def scores(p: np.ndarray, correct: np.ndarray) -> tuple[float, float]:
    """Return ECE with ten bins and the Brier score."""
    place = np.minimum(np.floor(p * 10 + 1e-5), 9)
    gaps = [abs((p[place == b] - correct[place == b]).sum()) for b in np.unique(place)]
    return float(sum(gaps) / len(p)), float(np.mean((p - correct) ** 2))


def test_numbers_from_the_answers_themselves():
    frame = answers(3, n=300)
    source = results(frame)
    content = read(source, Options())
    after = np.asarray(recalibrate(source.dataset).dataset["confidence"].values, dtype=float)
    assert len(content.units) == 3
    for row in content.units.to_dict("records"):
        mine = (frame["model"] == row["unit"]).to_numpy()
        correct = frame["correct"].to_numpy()[mine]
        stated = frame["confidence"].to_numpy()[mine] / 100
        np.testing.assert_allclose((row["ece_before"], row["brier_before"]), scores(stated, correct), atol=1e-9)
        np.testing.assert_allclose((row["ece_after"], row["brier_after"]), scores(after[mine], correct), atol=1e-6)
        share = correct.mean()
        np.testing.assert_allclose(row["brier_base"], share * (1 - share), atol=1e-12)
        np.testing.assert_allclose(row["change"], row["ece_after"] - row["ece_before"], atol=1e-12)
    assert content.units["ece_before"].is_monotonic_decreasing
    assert (content.units["ece_after"] < content.units["ece_before"]).all()  # stated 20 % too high


def test_a_collapse_to_the_base_rate_is_said():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"model": "a", "confidence": rng.choice([60, 80, 90, 100], 600)})
    frame["correct"] = rng.integers(0, 2, 600)
    content = read(results(frame), Options())
    row = content.units.iloc[0]
    assert abs(row["brier_after"] - row["brier_base"]) < 0.01
    assert "no better than always stating the share of right answers" in describe(content).caption
    assert content.cautions


def test_units_without_a_map_stay_and_say_why():
    frame = pd.concat([answers(2, n=200), answers(1, n=50, name="flat").assign(confidence=80)], ignore_index=True)
    content = read(results(frame), Options())
    row = content.units.set_index("unit").loc["flat"]
    assert np.isnan(row["ece_after"])
    assert row["reason"]
    assert "Grey: no map for 1 unit: one confidence level used (1)" in describe(content).caption
    figure = draw(content, WIDTHS["page"])
    assert any("no map" in text.get_text() for text in figure.texts)


def test_refusals():
    with pytest.raises(DataError, match="no scale is declared"):
        read(ResultsInput("a", "a.nc", trials_dataset(answers(1), task="open")), Options())
    with pytest.raises(DataError, match="no map can be fitted"):
        read(results(answers(1).assign(confidence=80)), Options())


@pytest.mark.parametrize("width", ["column", "page"])
@pytest.mark.parametrize("n_units", [1, 3, 50])
def test_words_stay_inside(n_units: int, width: str):
    name = "a-vendor-of-some-length/WWW-a-model-with-a-long-name-{}-preview-2026"
    content = read(results(answers(n_units, n=80, name=name)), Options())
    figure = draw(content, WIDTHS[width])
    assert not outside(figure)
    assert len(content.shown) == min(n_units, MOST_ROWS)
    assert len(figure.axes[0].get_yticklabels()) == min(n_units, MOST_ROWS)
    if n_units > MOST_ROWS:
        hidden = content.units[~content.units["unit"].isin(content.shown["unit"])]
        assert hidden["change"].abs().max() <= content.shown["change"].abs().min()
        assert f"Shown: the {MOST_ROWS} units" in describe(content).caption
    words = describe(content)
    assert f"{80 * n_units:,} answers" in words.caption
    assert f"{n_units} unit" in words.alt
