"""``hmeta calibrate`` from the command line."""

from __future__ import annotations

import json

import numpy as np
import pytest

from hmeta.cli import main
from hmeta.core.files import read_dataset, write_dataset
from tests.calibrate.answer_files import answers, results


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "results.nc"
    write_dataset(results(answers(domain=["x", "y", "z"] * 100)), path)
    return path


def hmeta(capsys, *words) -> tuple[int | str | None, str, str]:
    with pytest.raises(SystemExit) as stop:
        main([str(word) for word in words])
    out, err = capsys.readouterr()
    return stop.value.code, out, err


def test_the_table_shows_before_and_after_by_segment(file, tmp_path, capsys):
    status, out, err = hmeta(capsys, "calibrate", file, "--method", "platt", "-o", tmp_path / "c.nc")
    assert (status, err) == (0, "")
    lines = [line.split() for line in out.splitlines()]
    assert out.startswith("300 rows in, 300 used, 0 excluded")
    assert "platt, judged on held-out answers, 5 folds by item, seed 0" in out
    shown = [line[:3] for line in lines if line[1:2] in (["before"], ["after"])]
    assert shown == [
        ["a", "before", "150"],
        ["a", "after", "150"],
        ["b", "before", "150"],
        ["b", "after", "150"],
        ["(mean)", "before", "300"],
        ["(mean)", "after", "300"],
    ]
    assert f"wrote {tmp_path / 'c.nc'}: calibrated confidence" in out
    assert np.isfinite(read_dataset(tmp_path / "c.nc")["confidence"].values).all()


def test_without_an_output_nothing_is_written(file, tmp_path, capsys):
    status, out, _ = hmeta(capsys, "calibrate", file)
    assert status == 0
    assert "beta, judged on held-out answers" in out
    assert [p.name for p in tmp_path.iterdir()] == ["results.nc"]


def test_json_holds_the_same_numbers(file, tmp_path, capsys):
    status, out, _ = hmeta(
        capsys, "calibrate", file, "--by", "domain", "--pool", "model", "--folds", "3", "--seed", "4", "--json",
        "--save-map", tmp_path / "map.json",
    )  # fmt: skip
    assert status == 0
    content = json.loads(out)
    assert (content["schema"], content["method"], content["folds"], content["seed"]) == ("1", "beta", 3, 4)
    assert (content["segment_columns"], content["pooled"], content["folds_by"]) == (["domain"], ["model"], "item")
    assert [(row["domain"], row["when"]) for row in content["comparison"]][:2] == [("x", "before"), ("x", "after")]
    assert content["comparison"][0]["n"] == 100
    assert len(content["mean"]) == 2
    assert content["in_sample"] is False
    assert content["validation"]["rows_used"] == 300
    assert json.loads((tmp_path / "map.json").read_text())["method"] == "beta"


def test_in_sample_numbers_are_labelled(file, capsys):
    _, out, _ = hmeta(capsys, "calibrate", file, "--method", "isotonic", "--in-sample")
    assert "isotonic, judged on the answers that the maps were fitted to (in-sample: errors are too low)" in out
    assert "in folds" not in out
    assert json.loads(hmeta(capsys, "calibrate", file, "--in-sample", "--json")[1])["in_sample"] is True


def test_a_saved_map_is_applied_to_a_new_file(file, tmp_path, capsys):
    new, target, saved = tmp_path / "new.nc", tmp_path / "c.nc", tmp_path / "map.json"
    write_dataset(results(answers(50, seed=8)), new)
    assert hmeta(capsys, "calibrate", file, "--method", "isotonic", "--save-map", saved)[0] == 0
    status, out, _ = hmeta(capsys, "calibrate", new, "--map", saved, "-o", target)
    assert status == 0
    assert "isotonic, judged by a saved map, on new answers" in out
    assert read_dataset(target).sizes["trial"] == 100


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--method", "bta"], 'Did you mean "beta"'),
        (["--method", "platt(smooth=true)"], 'Did you mean "smoothing"'),
        (["--by", "domian"], 'Did you mean "domain"'),
        (["--pool", "domain"], "domain cannot be pooled"),
        (["--folds", "1"], "number of folds"),
        (["-o", "SAME", "--overwrite"], "same file as the input"),
        (["-o", "OLD"], "exists already"),
        (["--save-map", "OLD"], "exists already"),
        (["-o", "NEW", "--save-map", "NEW"], "cannot go to the same file"),
        (["--save-map", "MISSING"], "folder of the output does not exist"),
        (["-o", "CSV"], "unknown kind of results file"),
        (["-o", "BARE"], "call it new.nc"),
        (["--in-sample", "--folds", "3"], "received: --folds"),
        (["--in-sample", "--folds", "3", "--seed", "1"], "received: --folds, --seed"),
        (["--method", "histogram(bins=1001)"], "1 to 1000"),
        (["--map", "OLD"], "not a calibration map"),
        (["--map", "OLD", "-o", "OLD", "--overwrite"], "same file as the input"),
        (["--map", "OLD", "--method", "beta", "--in-sample"], "received: --method, --in-sample"),
    ],
)
def test_refusals_end_with_status_2_and_write_nothing(file, tmp_path, capsys, words, message):
    (tmp_path / "old.nc").write_text("mine")
    names = {"SAME": file, "OLD": "old.nc", "NEW": "new.nc", "MISSING": "no/new.json", "CSV": "new.csv", "BARE": "new"}
    words = [str(tmp_path / names[w]) if w in names else w for w in words]
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    status, out, err = hmeta(capsys, "calibrate", file, *words)
    assert (status, out) == (2, "")
    assert message in err
    assert "Traceback" not in err
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before
