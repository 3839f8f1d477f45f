"""``hmeta report``, ``hmeta compare`` and ``hmeta plot`` on files: what they print, write and refuse."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from hmeta.assess.compute import compute_metrics
from hmeta.assess.rendering import to_dataset
from hmeta.assess.table import Resampling
from hmeta.cli import main
from hmeta.core.files import read_dataset, write_dataset, write_tree
from hmeta.core.share import share
from tests.infer.synthetic_fit import by_scale_fit, fit_tree, noise

ATLAS = share("data", "mmlu_atlas.nc")


def hmeta(capsys, *words: object) -> tuple[int, str, str]:
    """Run the command; return status, stdout and stderr."""
    with pytest.raises(SystemExit) as stop:
        main([str(word) for word in words])
    out, err = capsys.readouterr()
    return int(stop.value.code or 0), out, err


def study(folder: Path, name: str, centre: float, seed: int, **more: object) -> Path:
    """Write a fit of two models whose M is about `centre`, sd 0.05."""
    M = centre + 0.05 * noise(seed, 1) + np.array([-0.1, 0.1])
    names = {"model": [f"{name} a", f"{name} b"], "n_options": [4, 4]}
    attributes = {"likelihood": "mafc", "source": f"{name}-data.nc", **more}
    write_tree(fit_tree(M, names, attributes=attributes), folder / f"{name}.nc")
    return folder / f"{name}.nc"


def test_compare_prints_studies_differences_and_pooling(tmp_path, capsys):
    files = [study(tmp_path, "early", 0.7, 1), study(tmp_path, "late", 0.9, 2), study(tmp_path, "other", 0.8, 3)]
    status, out, _ = hmeta(capsys, "compare", *files, "--json")
    assert status == 0
    found = json.loads(out)
    assert [row["study"] for row in found["table"]] == ["early", "late", "other"]
    difference = next(r for r in found["differences"] if (r["study"], r["baseline"]) == ("late", "early"))
    assert difference["median"] == pytest.approx(0.2, abs=0.005)
    assert difference["sd"] == pytest.approx(0.05 * np.sqrt(2), rel=0.03)
    pooled = found["pooled"]["all"]
    assert pooled["mean"]["median"] == pytest.approx(0.8, abs=0.01)
    assert pooled["new"]["lower"] < pooled["mean"]["lower"]
    status, out, _ = hmeta(capsys, "compare", *files, "--baseline", "late")
    assert status == 0
    assert "over studies (random effects)" in out
    assert "Paule–Mandel" in out
    assert "note: " in out


@pytest.mark.parametrize("suffix", [".csv", ".json", ".tex", ".md", ".png", ".svg", ".pdf"])
def test_compare_writes_each_kind_of_file(tmp_path, capsys, suffix):
    files = [study(tmp_path, "early", 0.7, 1), study(tmp_path, "late", 0.9, 2)]
    status, _, err = hmeta(capsys, "compare", *files, "-o", tmp_path / f"out{suffix}")
    assert (status, err) == (0, f"wrote {tmp_path / f'out{suffix}'}\n")
    content = (tmp_path / f"out{suffix}").read_bytes()
    if suffix in (".csv", ".tex", ".md", ".svg", ".json"):
        assert b"early" in content
        assert b"0.70" in content or b"0.7" in content
    assert len(content) > 100


def test_unlike_studies_are_refused_with_the_reason(tmp_path, capsys):
    normal = json.dumps({"noise": "normal", "rule": "gap"})
    files = [study(tmp_path, "early", 0.7, 1), study(tmp_path, "late", 0.9, 2, options=normal)]
    status, out, err = hmeta(capsys, "compare", *files, "-o", tmp_path / "out.csv")
    assert (status, out) == (2, "")
    assert "their noise differs" in err
    assert "early: noise gumbel; late: noise normal" in err
    assert not (tmp_path / "out.csv").exists()


def test_m_threshold_is_no_m(tmp_path, capsys):
    table = compute_metrics(read_dataset(ATLAS), ["M_threshold(d=1.5)"], resampling=Resampling(size=0))
    write_dataset(to_dataset(table, source="atlas"), tmp_path / "metrics.nc")
    fit = study(tmp_path, "early", 0.7, 1)
    status, _, err = hmeta(capsys, "compare", fit, tmp_path / "metrics.nc")
    assert status == 2
    assert "it is no M" in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["compare", "FIT"], "two or more fits"),
        (["compare", "FIT", "FIT"], "the same file comes twice"),
        (["compare", "FIT", "RESULTS"], "this is a results file, not a fit"),
        (["compare", "FIT", "MISSING"], "no such file"),
        (["compare", "FIT", "LATE", "-o", "OUT.xlsx"], "unknown kind of file"),
        (["compare", "FIT", "LATE", "--by", "scal"], "scal"),
        (["report", "MISSING", "-o", "OUT"], "no such file"),
        (["report", "FIT", "-o", "OUT.html"], "a report is a folder"),
        (["report", "FIT", "-o", "NO/OUT"], "folder of the output does not exist"),
        (["report", "FIT", "-o", "OUT", "--rope", "0.1", "-0.1"], "region of practical equivalence"),
        (["report", "FIT", "-o", "OUT", "--interval", "94"], "write 0.94"),
        (["report", "FIT", "-o", "OUT", "--templates", "NO"], "lacks a file"),
        (["report", "FIT", "-o", "OUT", "--bins", "0"], "unusable number of bins"),
        (["report", "FIT", "-o", "OUT", "--baseline", "0-10"], "is not a level of any factor"),
        (["plot", "compare", "FIT", "-o", "OUT.png"], "two or more fits"),
        (["plot", "forest", "RESULTS", "-o", "OUT.png"], "drawn from a fit"),
        (["plot", "forest", "FIT", "-o", "OUT.png", "--bins", "4"], "has no option bins"),
    ],
)
def test_refusals_write_nothing(tmp_path, capsys, words, message):
    names = {"FIT": study(tmp_path, "early", 0.7, 1), "LATE": study(tmp_path, "late", 0.9, 2), "RESULTS": ATLAS}
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    full = [names.get(w, tmp_path / w if w.startswith(("OUT", "NO", "MISSING")) else w) for w in words]
    status, out, err = hmeta(capsys, *full)
    assert (status, out) == (2, "")
    assert message in err
    assert "Traceback" not in err
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before


def test_a_report_without_most_groups_says_what_it_cannot_show(tmp_path, capsys):
    write_tree(by_scale_fit(), tmp_path / "fit.nc")
    status, out, err = hmeta(capsys, "report", tmp_path / "fit.nc", "-o", tmp_path / "report")
    assert status == 0, err
    assert "Metacognitive efficiency" in out
    assert "not in this report: Validity screen" in out
    text = (tmp_path / "report" / "report.html").read_text(encoding="utf-8")
    assert "Not shown:" in text
    assert "Granularity of the scale" in text


def test_a_report_loads_no_sampler_of_its_own():
    code = (
        "import sys; from hmeta.report.sections import builders; from hmeta.report.write import write_report; "
        "builders(); print(*sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = run.stdout.split()
    assert "hmeta.report.sections.limits" in loaded
    assert {"numpyro", "pymc", "nutpie", "blackjax", "matplotlib"}.isdisjoint(loaded)
    assert not [name for name in loaded if name in ("hmeta.infer.fit", "hmeta.infer.nuts", "hmeta.infer.predictive")]
