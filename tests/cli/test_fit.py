"""``hmeta fit`` from the command line; a sampler stands in except where a fit is asked for."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import hmeta.infer.fit as fit_module
from hmeta.cli import main
from hmeta.cli._progress import showing_progress, status_line
from hmeta.core.files import read_dataset, read_tree, write_dataset
from hmeta.infer.options import Progress
from hmeta.trials.tables import trials_dataset
from tests.infer.synthetic_fit import by_scale_fit
from tests.trials.answer_tables import scale

RATINGS = {0: [1] * 14 + [2] * 9 + [3] * 4, 1: [1] * 6 + [2] * 15 + [3] * 22}
"""Confidence of the wrong and the right answers of each unit."""


def answers(units: tuple[str, ...] = ("a", "b", "c")) -> pd.DataFrame:
    """Return answers of some models, one of which always gives one confidence."""
    rows = [
        {"model": unit, "domain": domain, "correct": correct, "n_options": 4, "confidence": 2 if unit == "flat" else c}
        for unit in units
        for domain in ("law", "math")
        for correct, values in RATINGS.items()
        for c in values
    ]
    return pd.DataFrame(rows)


@pytest.fixture
def results(tmp_path) -> Path:
    path = tmp_path / "results.nc"
    write_dataset(trials_dataset(answers(), task="mafc", scales=scale(1, 3)), path)
    return path


def hmeta(capsys, *words) -> tuple[int | str | None, str, str]:
    with pytest.raises(SystemExit) as stop:
        main([str(word) for word in words])
    out, err = capsys.readouterr()
    return stop.value.code, out, err


def stand_in(monkeypatch: pytest.MonkeyPatch, change: Callable[[xr.DataTree], None] | None = None) -> dict[str, Any]:
    """Put a ready fit in place of sampling; return the arguments it was called with."""
    calls: dict[str, Any] = {}

    def fit(data: Any, model: Any, *, progress: Callable[[Progress], None], **words: Any) -> xr.DataTree:
        calls.update(words, data=data, model=model)
        progress(Progress("compiling", elapsed_s=2.0))
        progress(Progress("sampling", (500, 500), 1000, 3, 15.0, 4.0))
        tree = by_scale_fit()
        if change is not None:
            change(tree)
        return tree

    monkeypatch.setattr(fit_module, "fit", fit)
    return calls


def spoil(tree: xr.DataTree) -> None:
    tree["hmeta"].attrs |= {"converged": 0, "reasons": json.dumps(["7 divergent of 4,000 draws"])}


def test_the_choice_of_model_is_said_and_the_fit_written(results, tmp_path, capsys, monkeypatch):
    calls = stand_in(monkeypatch)
    target = tmp_path / "fit.nc"
    status, out, err = hmeta(capsys, "fit", results, "-o", target, "--chains", "2", "--seed", "5")
    assert status == 0
    assert out.startswith("420 rows in, 420 used")
    assert "model: mafc_pooled (mafc task with 3 levels of model × 2 levels of domain)" in out
    assert "dataset is read from column domain" in out
    assert "M ~ 1 + (1 | model) + (1 | dataset) + (1 | model:dataset)" in out
    assert "average of all 3" in out
    assert out.endswith(f"converged\nwrote {target}\n")
    assert err.splitlines() == ["hmeta: compiling, 2 s", "hmeta:  50 % sampling, 15 steps a draw, 3 divergences, 4 s"]
    assert (calls["chains"], calls["seed"], calls["columns"]) == (2, 5, {"dataset": "domain"})
    assert not {"warmup", "draws", "backend", "device"} & set(calls)
    assert calls["data"].report.rows_used == 420
    assert read_tree(target)["hmeta"].attrs["source"] == "results.nc"


def test_a_fit_that_has_not_converged_is_written_and_ends_with_3(results, tmp_path, capsys, monkeypatch):
    stand_in(monkeypatch, spoil)
    status, out, err = hmeta(capsys, "fit", results, "-o", tmp_path / "fit.nc", "--quiet")
    assert status == 3
    assert "  - 7 divergent of 4,000 draws" in out
    assert err == ""
    assert read_tree(tmp_path / "fit.nc")["hmeta"].attrs["converged"] == 0


def test_json_is_one_object(results, tmp_path, capsys, monkeypatch):
    stand_in(monkeypatch, spoil)
    status, out, _ = hmeta(capsys, "fit", results, "-o", tmp_path / "fit.nc", "--json")
    content = json.loads(out)
    assert (status, content["schema"], content["converged"], content["model"]) == (3, "1", False, "mafc_pooled")
    assert content["validation"]["rows_used"] == 420
    assert [row["level"] for row in content["rows"]] == ["ant", "bee", "cat", "average of all 3", "new model"]


def test_formulas_and_maps_reach_the_model(results, tmp_path, capsys, monkeypatch):
    calls = stand_in(monkeypatch)
    words = ["-m", "mafc_hierarchical", "--formula", "M=1 + (1 | model)", "--formula", "d=1", "--map", "model=domain"]
    status, out, _ = hmeta(capsys, "fit", results, "-o", tmp_path / "fit.nc", *words)
    assert status == 0
    assert "model: mafc_hierarchical (asked for)" in out
    assert calls["model"].parameters["d"].formula == "1"
    assert calls["columns"] == {"model": "domain"}


def test_an_interruption_leaves_no_file(results, tmp_path, capsys, monkeypatch):
    def interrupt(tree: xr.DataTree) -> None:
        del tree
        raise KeyboardInterrupt

    stand_in(monkeypatch, interrupt)
    status, _, err = hmeta(capsys, "fit", results, "-o", tmp_path / "fit.nc")
    assert status == 130
    assert err.endswith("interrupted; nothing was written\n")
    assert [p.name for p in tmp_path.iterdir()] == ["results.nc"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-o", "SAME", "--overwrite"], "same file as the input"),
        (["-o", "OLD"], "exists already"),
        (["-o", "MISSING"], "folder of the output does not exist"),
        (["-m", "mafc_poled"], 'Did you mean "mafc_pooled"'),
        (["--formula", "M"], "--formula takes NAME=VALUE"),
        (["--formula", "M=1 + scal"], 'column "scal" is not in'),
        (["--formula", "M=__import__('os')"], "--formula M"),
        (["--map", "datset=domain"], 'Did you mean "dataset"'),
        (["--chains", "0"], "chains is too small"),
        (["--target-accept", "1.5"], "not a probability"),
        (["--backend", "stan"], "unknown backend"),
        (["--device", "tpu"], "unknown device"),
        (["--on-violation", "ignore"], "unknown choice for on_violation"),
        (["--method", "vb"], "Invalid value for '--method'"),
        (["--method", "mle", "--chains", "2", "--device", "gpu"], "--device, --chains would change nothing"),
    ],
)
def test_refusals_write_nothing(results, tmp_path, capsys, words, message):
    (tmp_path / "old.nc").write_text("mine")
    names = {"SAME": results, "OLD": tmp_path / "old.nc", "MISSING": tmp_path / "no" / "new.nc"}
    words = [str(names.get(w, w)) for w in words]
    output = [] if "-o" in words else ["-o", str(tmp_path / "new.nc")]
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    status, _, err = hmeta(capsys, "fit", results, *output, *words)
    assert status == 2
    assert message in err
    assert "Traceback" not in err
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before


def test_no_cache_is_passed_on_to_jax(results, tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("JAX_ENABLE_COMPILATION_CACHE", raising=False)
    stand_in(monkeypatch)
    hmeta(capsys, "fit", results, "-o", tmp_path / "fit.nc", "--no-cache", "--quiet")
    assert os.environ.pop("JAX_ENABLE_COMPILATION_CACHE") == "false"


def test_maximum_likelihood_keeps_a_row_for_every_cell(tmp_path, capsys):
    path, target = tmp_path / "results.nc", tmp_path / "estimates.nc"
    write_dataset(trials_dataset(answers(("a", "flat")), task="mafc", scales=scale(1, 3)), path)
    status, out, err = hmeta(capsys, "fit", path, "-o", target, "--method", "mle")
    assert (status, err) == (0, "")
    assert "maximum likelihood, each cell by itself" in out
    found = read_dataset(target).to_dataframe().set_index(["model", "domain"])
    assert found.index.tolist() == [("a", "law"), ("a", "math"), ("flat", "law"), ("flat", "math")]
    # 43 of 70 right with four alternatives and Gumbel noise: d = logit(43/70) + log 3.
    assert found["d"].to_numpy() == pytest.approx(np.log(43 / 27) + np.log(3), abs=1e-6)
    assert np.isfinite(found.loc["a", ["estimate", "standard_error"]].to_numpy()).all()
    assert found.loc["flat", "estimate"].isna().all()
    assert found.loc["flat", "reason"].str.contains("one confidence level").all()


def test_a_real_fit_end_to_end(results, tmp_path, capsys):
    target = tmp_path / "fit.nc"
    words = ["--chains", "2", "--warmup", "100", "--draws", "50", "--quiet", "-m", "mafc_hierarchical"]
    status, out, _ = hmeta(capsys, "fit", results, "-o", target, *words)
    assert status == 3  # 100 draws cannot reach an ESS of 400
    assert "bulk ESS not above 400" in out
    attributes = read_tree(target)["hmeta"].attrs
    assert attributes["source"] == "results.nc"
    assert json.loads(attributes["validation"])["rows_used"] == 420
    assert hmeta(capsys, "diagnose", target)[0] == 3
    assert "average of all 3" in hmeta(capsys, "summary", target)[1]
    assert "a new domain" not in hmeta(capsys, "contrast", target, "--by", "model")[1]


def test_progress_lines_come_at_stages_and_quarters(capsys):
    with showing_progress() as report:
        for done in range(0, 1001, 25):
            report(Progress("warm-up" if done < 500 else "sampling", (done, done), 1000))
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        "hmeta:   0 % warm-up",
        "hmeta:  25 % warm-up",
        "hmeta:  50 % sampling",
        "hmeta:  75 % sampling",
        "hmeta: 100 % sampling",
    ]


def test_bars_show_every_chain_on_a_terminal(capsys, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("FORCE_COLOR", "1")
    with showing_progress() as report:
        report(Progress("sampling", (400, 900), 1000, 1, 15.0, 62.0))
    shown = capsys.readouterr().err
    assert "chain 1" in shown
    assert "chain 2" in shown
    assert "900 of 1,000" in shown


def test_a_status_line_says_what_is_known():
    progress = Progress("sampling", (1, 1), 10, 1, 15.4, 62.0, "chain 2 is slow")
    assert status_line(progress) == "sampling, 15 steps a draw, 1 divergence, chain 2 is slow, 1 min 2 s"
    assert status_line(Progress("finding the mode")) == "finding the mode"
