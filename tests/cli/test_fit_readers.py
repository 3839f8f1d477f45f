"""``hmeta summary``, ``diagnose``, ``contrast`` and ``plot`` from the command line."""

from __future__ import annotations

import json

import numpy as np
import pytest

from hmeta.cli import main
from hmeta.core.files import write_tree
from tests.infer.synthetic_fit import by_scale_fit


@pytest.fixture
def fit(tmp_path):
    path = tmp_path / "fit.nc"
    write_tree(by_scale_fit(), path)
    return path


@pytest.fixture
def bad_fit(tmp_path):
    tree = by_scale_fit()
    tree["sample_stats"]["diverging"].values[0, :7] = True
    tree["hmeta"].attrs |= {"converged": 0, "reasons": json.dumps(["7 divergent of 4,000 draws"])}
    path = tmp_path / "bad.nc"
    write_tree(tree, path)
    return path


def hmeta(capsys, *words) -> tuple[int | str | None, str, str]:
    with pytest.raises(SystemExit) as stop:
        main([str(word) for word in words])
    out, err = capsys.readouterr()
    return stop.value.code, out, err


def test_summary_prints_terms_units_and_verdict(fit, capsys):
    status, out, err = hmeta(capsys, "summary", fit)
    assert (status, err) == (0, "")
    assert "M = meta-d′ / d′ (Gumbel noise, m = 4, 94 % equal-tailed intervals)" in out
    assert any(line.split()[:3] == ["bee", "400", "0.65"] for line in out.splitlines())
    assert any(line.startswith("M_scale[0-100]") for line in out.splitlines())
    assert "new model: prediction for a new model, average over observed domain × scale" in out
    assert out.endswith("converged\n")


def test_summary_in_json(fit, capsys):
    _, out, _ = hmeta(capsys, "summary", fit, "--json", "--hdi", "--by", "scale", "--interval", "0.9")
    content = json.loads(out)
    assert (content["schema"], content["kind"], content["interval"]) == ("1", "hdi", 0.9)
    assert content["rows"][0]["level"] == "0-100"
    assert content["rows"][0]["median"] == pytest.approx(0.8, abs=0.005)
    assert content["rows"][-1]["meta_d_minus_d"] is None


def test_summary_of_a_bad_fit_says_so_before_and_after_the_table(bad_fit, capsys):
    status, out, _ = hmeta(capsys, "summary", bad_fit)
    assert status == 0
    assert out.count("NOT CONVERGED") == 2
    assert "  - 7 divergent of 4,000 draws" in out


def test_diagnose_exits_with_0_or_3(fit, bad_fit, capsys):
    assert hmeta(capsys, "diagnose", fit)[0] == 0
    status, out, _ = hmeta(capsys, "diagnose", bad_fit)
    assert status == 3
    assert out.startswith("NOT CONVERGED")
    status, out, _ = hmeta(capsys, "diagnose", bad_fit, "--json")
    assert (status, json.loads(out)["divergences"]) == (3, 7)


def test_contrast_prints_both_estimands(fit, capsys):
    status, out, _ = hmeta(capsys, "contrast", fit, "--by", "scale", "--baseline", "0-100", "--rope", "-0.1", "0.1")
    assert status == 0
    assert "difference in M from 0-100" in out
    assert "paired over 6 model × domain" in out
    assert "a new model" in out
    assert "ROPE: differences from -0.1 to 0.1" in out


def test_contrast_in_json(fit, capsys):
    content = json.loads(hmeta(capsys, "contrast", fit, "--by", "model", "--baseline", "bee", "--json")[1])
    found = {row["level"]: row["median"] for row in content["contrasts"] if row["estimand"] == "observed"}
    assert found == pytest.approx({"ant": -0.2, "cat": 0.2})


def test_plot_writes_the_figure(fit, tmp_path, capsys):
    status, out, err = hmeta(capsys, "plot", "forest", fit, "-o", tmp_path / "f.png")
    assert status == 0
    assert out.startswith("M = meta-d′ / d′ (Gumbel noise, m = 4)")
    assert err.startswith("wrote")
    assert (tmp_path / "f.png").read_bytes()[:4] == b"\x89PNG"


def test_long_names_are_whole_in_a_pipe(tmp_path, capsys):
    tree = by_scale_fit()
    name = "vendor/" + "long-" * 40 + "name"
    values = np.where(tree["posterior"]["model"].values == "ant", name, tree["posterior"]["model"].values)
    tree["posterior"].dataset = tree["posterior"].to_dataset().assign_coords(model=("cell", values.astype(object)))
    write_tree(tree, tmp_path / "long.nc")
    assert name in hmeta(capsys, "summary", tmp_path / "long.nc", "--parameter", "d")[1]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["summary", "FIT", "--by", "modle"], 'Did you mean "model"'),
        (["summary", "FIT", "--interval", "94"], "write 0.94"),
        (["contrast", "FIT", "--by", "scale", "--baseline", "1-6"], 'Did you mean "1-5"'),
        (["contrast", "FIT"], "Missing option"),
        (["diagnose", "OTHER"], "not a NetCDF-4 file"),
        (["plot", "forest", "FIT", "-o", "FIT", "--overwrite"], "same file as the input"),
        (["plot", "forest", "FIT", "-o", "OTHER"], "exists already"),
        (["plot", "forest", "FIT", "-o", "NEW.jpg"], "unknown kind of figure"),
        (["plot", "rainbow", "FIT", "-o", "NEW.png"], "forest"),
    ],
)
def test_refusals(fit, tmp_path, capsys, words, message):
    (tmp_path / "other.txt").write_text("mine")
    names = {"FIT": fit, "OTHER": tmp_path / "other.txt"}
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    words = [str(names.get(w, tmp_path / w if w.startswith("NEW") else w)) for w in words]
    status, out, err = hmeta(capsys, *words)
    assert (status, out) == (2, "")
    assert message in err
    assert "Traceback" not in err
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before
