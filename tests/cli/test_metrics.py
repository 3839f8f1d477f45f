"""``hmeta metrics``, ``test``, ``curve`` and ``list`` from the command line."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest

from hmeta.cli import main
from hmeta.core.files import read_dataset, write_dataset
from hmeta.metrics.catalogue import measures
from hmeta.trials.counts import to_counts
from tests.assess.data import answers, file_of


@pytest.fixture
def results(tmp_path):
    path = tmp_path / "results.nc"
    write_dataset(file_of(answers()), path)
    return path


def hmeta(capsys, *words) -> tuple[int | str | None, str, str]:
    with pytest.raises(SystemExit) as stop:
        main([str(word) for word in words])
    out, err = capsys.readouterr()
    return stop.value.code, out, err


def table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_metrics_prints_the_report_and_a_row_a_model(results, capsys):
    status, out, err = hmeta(capsys, "metrics", results, "--bootstrap", 200)
    assert status == 0
    assert out.startswith("240 rows in, 240 used, 0 excluded")
    for word in ("AUROC2", "ECE", "Brier", "accuracy", "95 % BCa intervals, 200 resamples"):
        assert word in out
    assert [line.split()[0] for line in out.splitlines() if line.startswith(("a ", "b "))] == ["a", "b"]
    assert "Traceback" not in err


def test_metrics_as_csv_has_the_numbers_in_full(results, capsys):
    words = ["--metric", "auroc2", "--by", "domain,condition", "--csv", "-q", "--bootstrap", 0]
    _, out, _ = hmeta(capsys, "metrics", results, *words)
    rows = table(out)
    assert len(rows) == 2 * (1 + 4)
    assert list(rows[0])[:4] == ["model", "domain", "condition", "metric"]
    assert 0 < float(rows[0]["estimate"]) < 1
    assert rows[0]["lower"] == ""


def test_metrics_as_json_and_as_latex(results, capsys):
    _, out, _ = hmeta(capsys, "metrics", results, "--metric", "ece(bins=5)", "--json", "-q", "--bootstrap", 200)
    found = json.loads(out)
    assert found["metrics"] == {"ece(bins=5)": {"unit": "probability", "better": "lower"}}
    assert found["resampling"]["size"] == 200
    assert [row["model"] for row in found["values"]] == ["a", "b"]
    _, out, _ = hmeta(capsys, "metrics", results, "--metric", "auroc2", "--latex", "-q", "--bootstrap", 200)
    assert r"\toprule" in out
    assert "AUROC2" in out


def test_latex_escapes_what_tex_would_read(tmp_path, capsys):
    frame = answers(models=("a_b & 50%", "c#d"))
    path = tmp_path / "r.nc"
    write_dataset(file_of(frame), path)
    _, out, _ = hmeta(capsys, "metrics", path, "--metric", "accuracy", "--latex", "-q", "--bootstrap", 0)
    assert r"a\_b \& 50\%" in out
    assert r"c\#d" in out


def test_every_measure_that_the_file_allows(results, capsys):
    status, out, _ = hmeta(capsys, "metrics", results, "--metric", "all", "--csv", "-q", "--bootstrap", 0)
    assert status == 0
    names = {row["metric"] for row in table(out)}
    open_ones = {
        name
        for name, m in measures().items()
        if "open" in m.tasks and not {"label", "score", "debate"} & set(m.columns)
    }
    unset = {name for name, m in measures().items() if any(o.default is None for o in m.options.values())}
    assert {name.split("(")[0] for name in names} == open_ones - unset
    assert {"meta_d_threshold(threshold=0.9)", "meta_d_threshold(threshold=0.95)"} <= names
    assert len(names) > 25


@pytest.mark.parametrize("suffix", [".nc", ".csv", ".json", ".tex"])
def test_tables_are_written_by_their_suffix(results, tmp_path, capsys, suffix):
    target = tmp_path / f"table{suffix}"
    status, _, err = hmeta(capsys, "metrics", results, "--metric", "auroc2", "--bootstrap", 0, "-o", target)
    assert status == 0
    assert f"wrote {target}" in err
    if suffix == ".nc":
        ds = read_dataset(target)
        assert ds.attrs["hmeta_layout"] == "metrics"
        assert np.isfinite(ds["estimate"].values).all()
    else:
        assert "auroc2" in target.read_text().lower()
    status, _, err = hmeta(capsys, "metrics", results, "--metric", "auroc2", "-o", target)
    assert status == 2
    assert "exists already" in err


def test_a_table_of_measures_is_no_results_file(results, tmp_path, capsys):
    target = tmp_path / "table.nc"
    hmeta(capsys, "metrics", results, "--metric", "auroc2", "--bootstrap", 0, "-o", target)
    status, _, err = hmeta(capsys, "metrics", target)
    assert status == 2
    assert "table of measures" in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--metric", "acuracy"], 'Did you mean "accuracy"'),
        (["--metric", "ece(bin=3)"], 'Did you mean "bins"'),
        (["--metric", "ece(bins=2.5)"], "a whole number"),
        (["--metric", "ece(__import__('os'))"], "names no measure"),
        (["--metric", "M"], "no meaning for the task open"),
        (["--metric", "tolerance_accuracy"], "needs epsilon"),
        (["--json", "--csv"], "only one kind of output"),
        (["-o", "table.xlsx"], "unknown kind of table"),
        (["--bootstrap", "-1"], "too few resamples"),
        (["--cluster", "modle"], 'Did you mean "model"'),
    ],
)
def test_mistakes_end_with_one_message_and_status_2(results, capsys, words, message):
    status, out, err = hmeta(capsys, "metrics", results, *words)
    assert (status, out) == (2, "")
    assert message in err
    assert "Traceback" not in err


def test_test_compares_conditions(results, tmp_path, capsys):
    target = tmp_path / "differences.csv"
    words = [
        "test",
        results,
        "--condition",
        "condition",
        "--metric",
        "auroc2",
        "--resamples",
        200,
        "--permutations",
        200,
    ]
    status, out, _ = hmeta(capsys, *words, "-o", target)
    assert status == 0
    assert "difference from condition = x" in out
    assert "paired by item" in out
    assert len(table(target.read_text())) == 3
    _, out, _ = hmeta(capsys, *words, "--json", "--pair", "none")
    assert json.loads(out)["pair"] is None


def test_curves_print_points(results, capsys):
    status, out, _ = hmeta(capsys, "curve", "reliability(bins=5)", results, "--csv")
    assert status == 0
    points = table(out)
    assert sum(float(p["n"]) for p in points) == 240
    status, _, err = hmeta(capsys, "curve", "relibility", results)
    assert status == 2
    assert 'Did you mean "reliability"' in err


def test_counts_have_no_items_to_draw(results, tmp_path, capsys):
    counted = tmp_path / "counts.nc"
    write_dataset(to_counts(read_dataset(results), ["model"]), counted)
    status, _, err = hmeta(capsys, "metrics", counted, "--cluster", "item")
    assert status == 2
    assert "counts keep no items" in err


@pytest.mark.parametrize("what", ["metrics", "curves", "models", "methods"])
def test_list_shows_names_and_definitions(capsys, what):
    status, out, _ = hmeta(capsys, "list", what, "--json")
    assert status == 0
    entries = json.loads(out)[what]
    assert len(entries) >= 4
    status, out, _ = hmeta(capsys, "list", what, entries[0]["name"])
    assert status == 0
    assert out.startswith(entries[0]["name"])
    status, _, err = hmeta(capsys, "list", what, "nothing-like-this")
    assert status == 2
    assert "no such name" in err
