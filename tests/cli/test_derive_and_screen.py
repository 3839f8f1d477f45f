"""``hmeta derive`` and ``hmeta screen`` from the command line."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from hmeta.cli import main
from hmeta.core.files import read_dataset, write_dataset
from hmeta.trials.tables import trials_dataset
from tests.trials.answer_tables import scale


def hmeta(capsys, *words) -> tuple[int | str | None, str, str]:
    with pytest.raises(SystemExit) as stop:
        main([str(word) for word in words])
    out, err = capsys.readouterr()
    return stop.value.code, out, err


@pytest.fixture
def results(tmp_path):
    frame = pd.DataFrame(
        {
            "model": ["a"] * 6 + ["b"] * 6,
            "item": ["1", "1", "1", "2", "2", "3"] * 2,
            "repeat": [0, 1, 2, 0, 1, 0] * 2,
            "score": [3.0, 3.5, 1, 4, 4.4, 2] * 2,
            "label": [3.0, 3, 3, 5, 5, 2] * 2,
            "confidence": [90.0, 80, 100] * 4,
            "correct": [1, 1, 0, 0, 1, 1] * 2,
            "logprob_sum": np.log([0.25] * 11 + [0.5]),
            "n_tokens": [2] * 12,
            "yes": np.log([0.6] * 12),
            "no": np.log([0.2] * 12),
        }
    )
    path = tmp_path / "results.nc"
    write_dataset(trials_dataset(frame, task="open", scales=scale(0, 100)), path)
    return path


def test_derive_resampled(results, tmp_path, capsys):
    out = tmp_path / "resampled.nc"
    status, text, _ = hmeta(capsys, "derive", "resampled", results, "--epsilon", "0.5", "-o", out)
    assert status == 0
    assert text.startswith("12 rows in, 4 answers out, confidence on 0-1, signal resampled\n")
    assert "left out 2 rows: the only score of its item" in text
    made = read_dataset(out)
    np.testing.assert_allclose(made["confidence"].values, [2 / 3, 1, 2 / 3, 1], atol=1e-6)
    assert made["correct"].values.tolist() == [1, 0, 1, 0]
    assert hmeta(capsys, "validate", out)[1].startswith("4 rows in, 4 used")


def test_derive_token_probabilities(results, tmp_path, capsys):
    out = tmp_path / "tokens.nc"
    words = ["derive", "geometric-mean", results, "--column", "logprob_sum", "--count", "n_tokens", "-o", out, "--json"]
    status, text, _ = hmeta(capsys, *words)
    assert status == 0
    assert json.loads(text)["signal"] == "token_probability"
    assert json.loads(text)["answers_out"] == 12
    np.testing.assert_allclose(read_dataset(out)["confidence"].values[-1], np.sqrt(0.5), atol=1e-6)
    out = tmp_path / "p_true.nc"
    assert hmeta(capsys, "derive", "p-true", results, "--true", "yes", "--false", "no", "-o", out)[0] == 0
    np.testing.assert_allclose(read_dataset(out)["confidence"].values, 0.75, atol=1e-6)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["resample", "RESULTS", "-o", "NEW", "--epsilon", "1"], 'Did you mean "resampled"'),
        (["resampled", "RESULTS", "-o", "NEW"], "resampled needs --epsilon"),
        (["resampled", "RESULTS", "-o", "NEW", "--epsilon", "-1"], "epsilon is no width"),
        (["resampled", "RESULTS", "-o", "NEW", "--epsilon", "1", "--count", "n"], "resampled takes no --count"),
        (["p-true", "RESULTS", "-o", "NEW", "--true", "yes"], "p-true needs --false"),
        (["p-true", "RESULTS", "-o", "NEW", "--true", "yes", "--false", "nope"], 'Did you mean "no"'),
        (["resampled", "RESULTS", "-o", "RESULTS", "--epsilon", "1", "--overwrite"], "same file as the input"),
        (["resampled", "RESULTS", "-o", "OLD", "--epsilon", "1"], "exists already"),
    ],
)
def test_derive_refuses_and_writes_nothing(results, tmp_path, capsys, words, message):
    (tmp_path / "old.nc").write_text("mine")
    names = {"RESULTS": results, "OLD": tmp_path / "old.nc", "NEW": tmp_path / "new.nc"}
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    status, _, err = hmeta(capsys, "derive", *(names.get(w, w) for w in words))
    assert status == 2
    assert message in err
    assert "Traceback" not in err
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before


def screened(tmp_path, frame: pd.DataFrame):
    path = tmp_path / "screened.nc"
    write_dataset(trials_dataset(frame, task="open", scales=scale(0, 100)), path)
    return path


@pytest.fixture
def mixed(tmp_path):
    varied = pd.DataFrame({"model": "fine", "confidence": [60.0, 70, 80, 90] * 25, "correct": [0, 1, 1, 1, 1] * 20})
    stuck = pd.DataFrame({"model": "stuck", "confidence": [100.0] * 50, "correct": [1, 0] * 25})
    return screened(tmp_path, pd.concat([varied, stuck]))


def test_screen_prints_verdicts_meanings_and_what_to_do(mixed, capsys):
    status, out, err = hmeta(capsys, "screen", mixed)
    assert (status, err) == (0, "")
    assert out.startswith("2 raters: 1 usable, 0 caution, 1 unusable")
    assert "one_level_used [unusable]: 1, threshold 1 level" in out
    assert "    stuck: always 100" in out
    assert "  do:    report accuracy alone" in out


def test_screen_prints_one_json_object(mixed, capsys):
    status, out, _ = hmeta(capsys, "screen", mixed, "--json")
    assert status == 0
    found = json.loads(out)
    assert [rater["verdict"] for rater in found["raters"]] == ["usable", "unusable"]
    assert found["flags"][0]["flag"] == "one_level_used"


def test_screen_shortens_long_lists(tmp_path, capsys):
    frame = pd.DataFrame(
        {"model": [f"m{i // 30:02d}" for i in range(300)], "confidence": 90.0, "correct": [1, 0] * 150}
    )
    out = hmeta(capsys, "screen", screened(tmp_path, frame))[1]
    assert "and 4 more (--json names all)" in out


def test_screen_refuses_what_is_no_results_file(tmp_path, capsys):
    (tmp_path / "r.nc").write_text("model,confidence\n")
    status, out, err = hmeta(capsys, "screen", tmp_path / "r.nc")
    assert (status, out) == (2, "")
    assert "not a NetCDF-4 file" in err
