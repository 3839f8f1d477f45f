"""Files are read whole or refused, and written whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import xarray as xr

from hmeta.core.errors import DataError, OutputError
from hmeta.core.files import check_output, read_dataset, read_tree, write_dataset, write_tree


def results(**attributes) -> xr.Dataset:
    attrs = {"hmeta_layout": "trials", "hmeta_schema": "1", "task": "open", "title": ""} | attributes
    columns = {
        "model": ("trial", np.array(["a", "b", ""], dtype=object)),
        "confidence": ("trial", np.array([1, np.nan, 3], dtype="float32")),
        "correct": ("trial", np.array([1, 0, -1], dtype="int8")),
    }
    return xr.Dataset(columns, attrs={k: v for k, v in attrs.items() if v is not None})


def fit() -> xr.DataTree:
    posterior = xr.Dataset({"M": (("chain", "draw"), np.arange(8.0).reshape(2, 4))})
    about = xr.Dataset(attrs={"hmeta_schema": "1", "spec": "schema = '1'"})
    return xr.DataTree.from_dict({"/posterior": posterior, "/hmeta": about})


def leftovers(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir())


def test_round_trip_keeps_values_types_and_attributes(tmp_path):
    write_dataset(results(), tmp_path / "r.nc")
    back = read_dataset(tmp_path / "r.nc")
    xr.testing.assert_identical(back, results())
    assert back["confidence"].dtype == np.float32
    assert back["correct"].dtype == np.int8
    assert leftovers(tmp_path) == ["r.nc"]


def test_reading_closes_the_file(tmp_path):
    write_dataset(results(), tmp_path / "r.nc")
    read_dataset(tmp_path / "r.nc")
    with h5py.File(tmp_path / "r.nc", "r+") as file:
        assert file.mode == "r+"


def test_tree_round_trip(tmp_path):
    write_tree(fit(), tmp_path / "fit.nc")
    back = read_tree(tmp_path / "fit.nc")
    np.testing.assert_array_equal(back["posterior/M"].values, np.arange(8.0).reshape(2, 4))
    assert back["hmeta"].attrs["spec"] == "schema = '1'"


def test_numbers_are_compressed(tmp_path):
    ds = xr.Dataset({"x": ("trial", np.zeros(10_000))}, attrs=results().attrs)
    write_dataset(ds, tmp_path / "r.nc")
    with h5py.File(tmp_path / "r.nc") as file:
        stored: Any = file["x"]
        assert (stored.compression, stored.compression_opts) == ("gzip", 1)


def test_the_file_has_ordinary_permissions(tmp_path):
    write_dataset(results(), tmp_path / "r.nc")
    (tmp_path / "plain").touch()
    assert stat.S_IMODE((tmp_path / "r.nc").stat().st_mode) == stat.S_IMODE((tmp_path / "plain").stat().st_mode)


def test_existing_output_is_refused_and_untouched(tmp_path):
    target = tmp_path / "r.nc"
    target.write_text("mine")
    with pytest.raises(OutputError, match="exists already") as caught:
        write_dataset(results(), target)
    assert "--overwrite" in str(caught.value)
    assert target.read_text() == "mine"
    write_dataset(results(), target, overwrite=True)
    assert read_dataset(target).attrs["task"] == "open"


@pytest.mark.parametrize("stop", [KeyboardInterrupt, MemoryError, SystemExit])
@pytest.mark.parametrize("place", ["fsync", "replace"])
def test_an_interrupted_write_leaves_nothing(tmp_path, monkeypatch, stop, place):
    target = tmp_path / "r.nc"
    target.write_text("before")

    def broken(*_arguments):
        assert len(leftovers(tmp_path)) == 2
        raise stop

    monkeypatch.setattr(os, place, broken)
    with pytest.raises(stop):
        write_dataset(results(), target, overwrite=True)
    assert leftovers(tmp_path) == ["r.nc"]
    assert target.read_text() == "before"


@pytest.mark.parametrize(
    ("number", "message"),
    [
        (errno.ENOSPC, "the disk is full; nothing was written"),
        (errno.EDQUOT, "the disk is full; nothing was written"),
        (errno.EIO, "the file cannot be written"),
    ],
)
def test_a_full_disk_is_one_message(tmp_path, monkeypatch, number, message):
    def full(_descriptor):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OutputError, match=message):
        write_dataset(results(), tmp_path / "r.nc")
    with pytest.raises(OutputError, match=message):
        write_tree(fit(), tmp_path / "fit.nc")
    assert leftovers(tmp_path) == []


LIMITED = """
import resource, signal, sys
import numpy as np, xarray as xr
from hmeta.core.errors import OutputError
from hmeta.core.files import write_dataset
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
names = np.array([str(i) for i in range(5_000)], dtype=object)
numbers = np.random.default_rng(0).normal(size=5_000)
try:
    write_dataset(xr.Dataset({"name": ("trial", names), "x": ("trial", numbers)}), sys.argv[1])
except OutputError as error:
    print(error)
"""


@pytest.mark.skipif(os.name != "posix", reason="limits on file sizes are a matter of POSIX")
def test_a_disk_that_fills_while_writing_does_not_crash_the_process(tmp_path):
    words = [sys.executable, "-c", LIMITED, str(tmp_path / "r.nc")]
    ended = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "the disk is full; nothing was written" in ended.stdout
    assert leftovers(tmp_path) == []


def test_a_missing_folder_is_refused(tmp_path):
    with pytest.raises(OutputError, match="folder of the output does not exist"):
        write_dataset(results(), tmp_path / "no" / "r.nc")


def test_a_folder_as_output_is_refused(tmp_path):
    with pytest.raises(OutputError, match="is a folder"):
        check_output(tmp_path, overwrite=True)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_write_permission_is_refused(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(OutputError, match="cannot be written"):
        check_output(tmp_path / "r.nc")
    tmp_path.chmod(0o700)


def test_the_input_is_never_the_output(tmp_path):
    source = tmp_path / "r.nc"
    write_dataset(results(), source)
    (tmp_path / "link.nc").symlink_to(source)
    (tmp_path / "sub").mkdir()
    for same in (source, tmp_path / "link.nc", tmp_path / "sub" / ".." / "r.nc"):
        with pytest.raises(OutputError, match="same file as the input"):
            check_output(same, inputs=[source], overwrite=True)
    check_output(tmp_path / "other.nc", inputs=[source])


def test_a_missing_file_names_the_nearest(tmp_path):
    write_dataset(results(), tmp_path / "results.nc")
    with pytest.raises(DataError, match="no such file") as caught:
        read_dataset(tmp_path / "result.nc")
    assert '"results.nc"' in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"model,confidence\na,3\n", b"CDF\x01\x00\x00\x00\x00"])
def test_a_file_that_is_not_netcdf_4_is_refused(tmp_path, content):
    (tmp_path / "r.nc").write_bytes(content)
    for read in (read_dataset, read_tree):
        with pytest.raises(DataError, match="not a NetCDF-4 file"):
            read(tmp_path / "r.nc")


@pytest.mark.parametrize("share", [0.02, 0.3, 0.6, 0.95, 0.999])
def test_a_truncated_file_is_refused(tmp_path, share):
    rng = np.random.default_rng(0)
    ds = results().assign(x=("other", rng.normal(size=20_000)))
    write_dataset(ds, tmp_path / "whole.nc")
    whole = (tmp_path / "whole.nc").read_bytes()
    (tmp_path / "cut.nc").write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(DataError, match="truncated or damaged") as caught:
        read_dataset(tmp_path / "cut.nc")
    assert "Traceback" not in str(caught.value)


def test_bytes_overwritten_in_the_middle_are_refused(tmp_path):
    ds = results().assign(x=("other", np.random.default_rng(1).normal(size=20_000)))
    write_dataset(ds, tmp_path / "r.nc")
    size = (tmp_path / "r.nc").stat().st_size
    with (tmp_path / "r.nc").open("r+b") as file:
        file.seek(size // 2)
        file.write(b"\xff" * 2000)
    with pytest.raises(DataError, match="truncated or damaged"):
        read_dataset(tmp_path / "r.nc")


def test_a_folder_as_input_is_refused(tmp_path):
    with pytest.raises(DataError, match="folder"):
        read_dataset(tmp_path)


@pytest.mark.parametrize("version", ["2", 2, None])
def test_another_schema_version_is_refused(tmp_path, version):
    write_dataset(results(hmeta_schema=version), tmp_path / "r.nc")
    with pytest.raises(DataError, match="schema version"):
        read_dataset(tmp_path / "r.nc")


def test_another_schema_version_of_a_fit_is_refused(tmp_path):
    tree = fit()
    tree["hmeta"].attrs["hmeta_schema"] = "9"
    write_tree(tree, tmp_path / "fit.nc")
    with pytest.raises(DataError, match="schema version"):
        read_tree(tmp_path / "fit.nc")


@pytest.mark.parametrize(("layout", "message"), [("wide", "unknown layout"), (None, "does not say")])
def test_an_unknown_layout_is_refused(tmp_path, layout, message):
    write_dataset(results(hmeta_layout=layout), tmp_path / "r.nc")
    with pytest.raises(DataError, match=message):
        read_dataset(tmp_path / "r.nc")


def test_data_and_fit_are_told_apart(tmp_path):
    write_tree(fit(), tmp_path / "fit.nc")
    write_dataset(results(), tmp_path / "r.nc")
    with pytest.raises(DataError, match="result of a fit"):
        read_dataset(tmp_path / "fit.nc")
    with pytest.raises(DataError, match="holds no fit"):
        read_tree(tmp_path / "r.nc")


def test_a_device_or_a_pipe_is_neither_input_nor_output(tmp_path):
    pipe = tmp_path / "pipe.nc"
    os.mkfifo(pipe)
    with pytest.raises(OutputError, match="device or a pipe"):
        write_dataset(results(), pipe, overwrite=True)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    with pytest.raises(DataError, match="device or a pipe"):
        read_dataset(pipe)


def test_a_name_too_long_for_the_system_is_refused(tmp_path):
    path = tmp_path / ("x" * 300 + ".nc")
    with pytest.raises(OutputError, match="no possible file name"):
        write_dataset(results(), path)
    with pytest.raises(DataError, match="no possible file name"):
        read_dataset(path)
