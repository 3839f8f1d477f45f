"""Open tasks on the command line: AUROC2 by default, M refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hmeta import simulate
from hmeta.cli import main
from hmeta.core.files import write_dataset

SHORT = ("--chains", 2, "--warmup", 60, "--draws", 60, "--quiet")


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("open")
    ds = simulate(task="open", n_trials=80, accuracy=0.6, d_a=[0.5, 1.0, 1.5], criteria=[-0.5, 0.5], seed=3)
    write_dataset(ds, path / "results.nc")
    return path


def hmeta(capsys, *words) -> tuple[int | str | None, str, str]:
    with pytest.raises(SystemExit) as stop:
        main([str(word) for word in words])
    out, err = capsys.readouterr()
    return stop.value.code, out, err


def test_a_fit_reports_auroc2_until_asked_otherwise(folder, capsys):
    status, out, _ = hmeta(capsys, "fit", folder / "results.nc", "-o", folder / "fit.nc", *SHORT)
    assert status in (0, 3)  # too short to converge
    assert "model: type2_hierarchical (open task with 3 levels of model)" in out
    assert "AUROC2 of the fitted curve" in out
    _, out, _ = hmeta(capsys, "summary", folder / "fit.nc")
    assert "population terms of d_a" in out
    assert "P(auroc2<½)" in out
    _, out, _ = hmeta(capsys, "summary", folder / "fit.nc", "--parameter", "accuracy", "--json")
    assert json.loads(out)["parameter"] == "accuracy"
    _, out, _ = hmeta(capsys, "contrast", folder / "fit.nc", "--by", "model")
    assert "difference in auroc2 from m1" in out
    status, _, err = hmeta(capsys, "plot", "forest", folder / "fit.nc", "-o", folder / "forest.svg")
    assert (status, (folder / "forest.svg").exists()) == (0, True), err
    status, _, err = hmeta(capsys, "summary", folder / "fit.nc", "--parameter", "M")
    assert status == 2
    assert "auroc2" in err


@pytest.mark.parametrize("words", [("--method", "mle"), ("--model", "mafc_hierarchical"), ("-m", "binary_single")])
def test_m_is_refused_with_the_reason(folder, capsys, words):
    status, _, err = hmeta(capsys, "fit", folder / "results.nc", "-o", folder / "other.nc", *words)
    assert status == 2
    assert "circular" in err
    assert "AUROC2" in err
    assert not (folder / "other.nc").exists()
