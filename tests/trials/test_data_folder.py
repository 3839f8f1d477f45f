"""The data that ship with hmeta: unchanged bytes, right totals, made again alike."""

from __future__ import annotations

import hashlib
import os
import runpy
import shutil
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from hmeta.core.files import read_dataset
from hmeta.trials.count_table import count_table

DATA = Path(__file__).resolve().parents[2] / "data"
SHARED = Path(os.environ.get("HMETA_SHARED", DATA.parents[1] / "shared"))


def checksums() -> dict[str, str]:
    lines = (DATA / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    return {name: digest for digest, name in (line.split("  ") for line in lines)}


def test_every_shipped_data_file_has_its_checksum():
    shipped = {str(path.relative_to(DATA)) for path in DATA.rglob("*") if path.suffix in (".nc", ".csv")}
    assert shipped == set(checksums())


@pytest.mark.parametrize("name", sorted(checksums()))
def test_checksum(name):
    assert hashlib.sha256((DATA / name).read_bytes()).hexdigest() == checksums()[name]


def test_atlas_totals():
    dataset = read_dataset(DATA / "mmlu_atlas.nc")
    table = count_table(dataset, ["model", "family", "domain"])
    assert dataset.attrs["license"] == "CC BY 4.0"
    assert table.task == "mafc"
    assert table.count.sum() == 47151
    assert table.cells["model"].nunique() == 33
    assert table.cells["domain"].nunique() == 6
    assert table.cells["family"].nunique() == 7
    assert len(table.cells) == 198
    assert set(table.cells["n_options"]) == {4}
    assert dataset["scale_lower"].values.tolist() + dataset["scale_upper"].values.tolist() == [0, 100]


def test_atlas_spike_of_imputed_values():
    table = count_table(read_dataset(DATA / "mmlu_atlas.nc"), ["model"])
    mine = table.cells["model"].tolist().index("openai/gpt-oss-120b")
    rows = table.cell == mine
    assert table.count[rows & (table.confidence == 50)].sum() == 980
    assert table.count[rows].sum() == 1500


def test_bang_totals():
    dataset = read_dataset(DATA / "bang2019.nc")
    table = count_table(dataset, ["participant", "condition"])
    assert table.task == "binary"
    assert table.count.sum() == 35000 - 1050
    assert table.cells["participant"].nunique() == 175
    assert sorted(table.cells["condition"].unique()) == ["coarse", "fine"]
    assert sorted(np.unique(table.confidence)) == [1, 2, 3, 4]
    assert set(table.outcome) == {0, 1, 2, 3}


@pytest.mark.parametrize(("name", "rows"), [("seed000_tables.csv", 1076), ("seed004_tables.csv", 2470)])
def test_published_tables(name, rows):
    table = pd.read_csv(DATA / "published" / name)
    assert len(table) == rows
    assert table["value"].notna().all()


@pytest.mark.skipif(not (SHARED / "data").is_dir(), reason="the shared data folder is not beside the repository")
@pytest.mark.parametrize("script", ["make_mmlu_atlas", "make_bang2019", "make_published"])
def test_scripts_make_the_same_files(script, tmp_path, monkeypatch, capsys):
    for path in DATA.glob("*.py"):
        shutil.copy(path, tmp_path)
    monkeypatch.setenv("HMETA_SHARED", str(SHARED))
    monkeypatch.syspath_prepend(str(tmp_path))
    runs = []
    for _ in range(2):
        sys.modules.pop("locations", None)
        runpy.run_path(str(tmp_path / f"{script}.py"), run_name="__main__")
        runs.append((tmp_path / "SHA256SUMS").read_text(encoding="utf-8"))
    sys.modules.pop("locations", None)
    capsys.readouterr()
    assert runs[0] == runs[1]
    for name in (line.split("  ")[1] for line in runs[0].splitlines()):
        if name.endswith(".csv"):
            assert (tmp_path / name).read_bytes() == (DATA / name).read_bytes()
        else:
            xr.testing.assert_identical(read_dataset(tmp_path / name), read_dataset(DATA / name))
