"""Each real file imports by its natural command, with the rows that its description states."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pandas as pd
import pytest

from hmeta.cli import main
from hmeta.core.files import read_dataset
from hmeta.trials.confidence_text import parse_column

SHARED = Path(os.environ.get("HMETA_SHARED", Path(__file__).resolve().parents[2].parent / "shared"))
DATA = SHARED / "data"

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the shared data folder is not beside the repository")

RESULTS = [
    # file, options, rows, units, missing confidence, task
    ("llm/atlas_mmlu_confidence.parquet", "--scale 0-100 --n-options 4", 47151, 33, 0, "mafc"),
    ("llm/gastro_confidence_0_10.parquet", "", 14400, 48, 1926, "open"),
    ("llm/deductive_coding_confidence.parquet", "", 16950, 3, 0, "open"),
    ("llm/mmb_binary_probes.parquet", "", 10480, 20, 0, "open"),
    ("llm/human_gpt_general_knowledge.parquet", "--scale 0-100", 10440, 174, 0, "open"),
    (
        "llm/human_gpt_general_knowledge.parquet",
        "--scale 0-100 --only condition=4-choice --n-options 4",
        3480,
        174,
        0,
        "mafc",
    ),
    (
        "llm/judge_verdicts_human.parquet",
        "--column confidence=vote_share_valid --column correct=human_valid --scale 0-1",
        5972,
        6,
        0,
        "open",
    ),
    ("human/rm.parquet", "", 4000, 20, 0, "binary"),
    ("human/mask_ori.parquet", "", 25920, 16, 0, "binary"),
    ("human/orientation_continuous.parquet", "--scale=-1:1", 25920, 16, 0, "binary"),
    ("human/bang2019_exp2.parquet", "", 35000, 175, 1050, "binary"),
    ("human/adler2018_exp2.parquet", "", 25272, 8, 0, "binary"),
    ("human/jaquiery_dots.parquet", "--scale 1-50", 73251, 328, 0, "binary"),
    ("dirty/gastro_wide_raw.csv", "", 14400, 48, 1926, "open"),
    ("dirty/bang2019_sentinel_minus10.csv", "--missing -10", 2000, 20, 60, "binary"),
    ("dirty/llm_raw_json_responses.csv", "--column confidence=raw_response --scale 0-1 --ungraded", 55, 3, 0, "open"),
]

REFUSED = [
    ("llm/atlas_models.csv", "", "no column for confidence"),
    ("llm/atlas_summary_matrix.csv", "", "no column for confidence"),
    ("llm/atlas_bootstrap_cis.csv", "", "--column estimate=NAME"),
    ("published/seed000_tables.csv", "", "no column for confidence"),
    ("llm/judge_verdicts_human.parquet", "", "vote_share_valid"),
    ("dirty/bang2019_sentinel_minus10.csv", "", "--missing -10"),
    ("dirty/llm_raw_json_responses.csv", "--column confidence=raw_response --scale 0-1", "--ungraded"),
    ("human/orientation_continuous.parquet", "", "253 values from -1 to 1"),
    ("llm/atlas_mmlu_confidence.parquet", "", "--scale 0-100"),
]


def run_import(name: str, options: str, output: Path) -> int:
    with pytest.raises(SystemExit) as end:
        main(["import", str(DATA / name), *options.split(), "-o", str(output), "--json"])
    return int(end.value.code or 0)


@pytest.mark.parametrize(("name", "options", "rows", "units", "missing", "task"), RESULTS)
def test_natural_command(name, options, rows, units, missing, task, tmp_path, capsys):
    assert run_import(name, options, tmp_path / "results.nc") == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["rows"] == rows
    assert list(summary["units"].values()) == [units]
    assert summary["missing"]["confidence"] == missing
    assert summary["task"] == read_dataset(tmp_path / "results.nc").attrs["task"] == task


@pytest.mark.parametrize(("name", "options", "words"), REFUSED)
def test_what_is_no_file_of_answers_is_refused_readably(name, options, words, tmp_path, capsys):
    assert run_import(name, options, tmp_path / "results.nc") == 2
    captured = capsys.readouterr()
    assert words in captured.err
    assert "Traceback" not in captured.err
    assert not list(tmp_path.iterdir())


def test_published_intervals_import_as_estimates(tmp_path, capsys):
    options = "--column estimate=auroc --column lower=ci_lo --column upper=ci_hi"
    assert run_import("llm/atlas_bootstrap_cis.csv", options, tmp_path / "e.nc") == 0
    summary = json.loads(capsys.readouterr().out)
    assert (summary["layout"], summary["rows"]) == ("estimates", 198)


def test_wide_and_long_gastro_tables_agree(tmp_path, capsys):
    run_import("dirty/gastro_wide_raw.csv", "", tmp_path / "wide.nc")
    run_import("llm/gastro_confidence_0_10.parquet", "", tmp_path / "long.nc")
    capsys.readouterr()
    wide, long = read_dataset(tmp_path / "wide.nc"), read_dataset(tmp_path / "long.nc")
    for name in ("model", "item", "correct", "confidence", "missing_reason"):
        a, b = (pd.Series(ds[name].values).astype("object") for ds in (wide, long))
        assert a.fillna("").tolist() == b.fillna("").tolist()


def test_all_raw_json_replies_agree_with_the_source():
    table = pd.read_csv(DATA / "dirty" / "llm_raw_json_responses.csv")
    read = parse_column(table["raw_response"], 0, 1)
    assert len(read) == 55
    assert (read["value"] - table["parsed_confidence"]).abs().max() < 1e-12
