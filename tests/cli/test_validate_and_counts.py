"""``hmeta validate`` and ``hmeta counts`` from the command line."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from hmeta.cli import main
from hmeta.core.files import read_dataset, write_dataset
from hmeta.trials.tables import trials_dataset
from tests.trials.answer_tables import scale


@pytest.fixture
def results(tmp_path):
    frame = pd.DataFrame(
        {
            "model": ["a", "b"] * 50,
            "domain": ["x"] * 50 + ["y"] * 50,
            "note": ["n"] * 100,
            "correct": [1, 0, 1] * 33 + [1],
            "confidence": [4, 3, 2, 1, None] * 20,
        }
    )
    path = tmp_path / "results.nc"
    write_dataset(trials_dataset(frame, task="open", scales=scale(1, 4)), path)
    return path


def hmeta(capsys, *words) -> tuple[int | str | None, str, str]:
    with pytest.raises(SystemExit) as stop:
        main([str(word) for word in words])
    out, err = capsys.readouterr()
    return stop.value.code, out, err


def test_validate_prints_the_report(results, capsys):
    status, out, _ = hmeta(capsys, "validate", results)
    assert status == 0
    assert out.startswith("100 rows in, 80 used, 20 excluded (trials, task open)\n  excluded 20: missing confidence")


def test_validate_prints_one_json_object(results, capsys):
    status, out, _ = hmeta(capsys, "validate", results, "--json")
    assert status == 0
    assert json.loads(out)["rows_used"] == 80


def test_validate_refuses_with_one_message(tmp_path, capsys):
    (tmp_path / "r.nc").write_text("model,confidence\n")
    status, out, err = hmeta(capsys, "validate", tmp_path / "r.nc")
    assert (status, out) == (2, "")
    assert "not a NetCDF-4 file" in err
    assert "Traceback" not in err


def test_counts_writes_a_file_that_validates(results, tmp_path, capsys):
    target = tmp_path / "counts.nc"
    status, out, _ = hmeta(capsys, "counts", results, "-o", target)
    assert status == 0
    assert "summed over: note" in out
    assert "4 cells" in out
    counts = read_dataset(target)
    assert int(counts["count"].sum()) == 80
    assert hmeta(capsys, "validate", target)[1].startswith("80 rows in, 80 used")


def test_counts_by_named_factors(results, tmp_path, capsys):
    status, out, _ = hmeta(capsys, "counts", results, "-o", tmp_path / "c.nc", "--by", "model", "--json")
    assert status == 0
    assert json.loads(out)["rows_in"] == 100
    assert read_dataset(tmp_path / "c.nc")["model"].values.tolist() == ["a", "b"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-o", "SAME", "--overwrite"], "same file as the input"),
        (["-o", "OLD"], "exists already"),
        (["-o", "NEW", "--by", "modle"], 'Did you mean "model"'),
        (["-o", "MISSING"], "folder of the output does not exist"),
        (["-o", "NEW", "--duplicates", "none"], "unknown choice for duplicates"),
    ],
)
def test_counts_refuses_and_writes_nothing(results, tmp_path, capsys, words, message):
    (tmp_path / "old.nc").write_text("mine")
    names = {"SAME": results, "OLD": "old.nc", "NEW": "new.nc", "MISSING": "no/new.nc"}
    words = [str(tmp_path / names[w]) if w in names else w for w in words]
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    status, _, err = hmeta(capsys, "counts", results, *words)
    assert status == 2
    assert message in err
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before
