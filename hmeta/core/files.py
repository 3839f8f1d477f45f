"""Reading and writing NetCDF files: refused with one message, written whole or not at all."""

from __future__ import annotations

import errno
import os
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5py
import xarray as xr

from hmeta.core.errors import DataError, HmetaError, OutputError
from hmeta.core.registry import did_you_mean
from hmeta.core.schema import LAYOUTS, SCHEMA_VERSION

HDF5_SIGNATURE = b"\x89HDF\r\n\x1a\n"
FIT_GROUPS = frozenset({"posterior", "hmeta"})
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


def read_dataset(path: str | Path) -> xr.Dataset:
    """Read a results file of any layout into memory and close it.

    Parameters
    ----------
    path : str or Path
        A NetCDF-4 file with the global attributes `hmeta_layout` and `hmeta_schema`.

    Returns
    -------
    xarray.Dataset
        The whole file, loaded.

    Raises
    ------
    DataError
        Where the file is missing, unreadable, truncated, not NetCDF-4, a fit in place of data, or of
        another schema version or an unknown layout.
    """
    path = Path(path)
    groups = _groups(path, mend=f"turn it into one first: hmeta import {path} -o results.nc")
    if FIT_GROUPS & groups:
        raise DataError(
            "this is the result of a fit, not a results file",
            where=str(path),
            mend="pass the file that was given to the fit, or use hmeta summary, diagnose or contrast",
        )
    with _reading(path):
        found = xr.load_dataset(path, engine="h5netcdf")
    _check_layout(found.attrs, path)
    _check_schema(found.attrs, path)
    found.encoding.clear()
    return found


def read_tree(path: str | Path) -> xr.DataTree:
    """Read a fit file into memory and close it.

    Raises
    ------
    DataError
        As for `read_dataset`, with the roles of data and fit exchanged.
    """
    path = Path(path)
    groups = _groups(path, mend="fit a results file first: hmeta fit results.nc -o fit.nc")
    if not FIT_GROUPS & groups:
        raise DataError(
            "this file holds no fit",
            where=str(path),
            received=f"groups: {', '.join(sorted(groups)) or 'none'}",
            allowed="a file written by hmeta fit",
            mend="run hmeta fit on it first",
        )
    with _reading(path), xr.open_datatree(path, engine="h5netcdf") as opened:
        tree = opened.load()
    attributes = dict(tree.attrs)
    if "hmeta" in tree.children:
        attributes |= tree["hmeta"].attrs
    if "hmeta_schema" in attributes:
        _check_schema(attributes, path)
    return tree


def read_any(path: str | Path) -> xr.Dataset | xr.DataTree:
    """Read a file of hmeta whatever it holds: a fit as a tree, every other layout as a dataset.

    Raises
    ------
    DataError
        As for `read_dataset`.
    """
    groups = _groups(Path(path), mend=f"turn it into one first: hmeta import {path} -o results.nc")
    return read_tree(path) if FIT_GROUPS & groups else read_dataset(path)


def distinct_names(paths: Sequence[str | Path]) -> list[str]:
    """Return short names of files: without folder and suffix where that leaves them distinct.

    Examples
    --------
    >>> distinct_names(["a/fit.nc", "b/fit.nc", "c.nc"])
    ['a/fit', 'b/fit', 'c']
    """
    parts = [Path(path).with_suffix("").parts for path in paths]
    names = [part[-1] for part in parts]
    for depth in range(2, 1 + max(map(len, parts), default=0)):
        same = {name for name in names if names.count(name) > 1}
        names = ["/".join(part[-depth:]) if name in same else name for part, name in zip(parts, names, strict=True)]
    return names


def write_dataset(ds: xr.Dataset, path: str | Path, *, overwrite: bool = False) -> None:
    """Write a dataset as compressed NetCDF-4, whole or not at all.

    Parameters
    ----------
    ds : xarray.Dataset
        What to write; attributes must be strings or numbers.
    path : str or Path
        The target. The bytes go to a temporary file beside it, which takes its name at the end.
    overwrite : bool
        Replace an existing file.

    Raises
    ------
    OutputError
        Where the target exists, its folder is missing or not writable, or the disk is full.
    """
    check_output(path, overwrite=overwrite)
    # HDF5 crashes the process when a disk fills under it, so the file is made in memory and written in one piece.
    write_bytes(ds.to_netcdf(None, engine="h5netcdf", encoding=_encoding(ds)), Path(path))


def write_tree(tree: xr.DataTree, path: str | Path, *, overwrite: bool = False) -> None:
    """Write a DataTree as compressed NetCDF-4, whole or not at all; see `write_dataset`."""
    check_output(path, overwrite=overwrite)
    encoding = {node.path: _encoding(node.to_dataset(inherit=False)) for node in tree.subtree}
    write_bytes(tree.to_netcdf(None, engine="h5netcdf", encoding=encoding), Path(path))


def check_output(path: str | Path, *, inputs: Iterable[str | Path] = (), overwrite: bool = False) -> None:
    """Refuse an output path early, before any long work.

    Parameters
    ----------
    path : str or Path
        Where the output is to go.
    inputs : iterable of str or Path
        Files that the output must not replace, even with `overwrite`.
    overwrite : bool
        Whether an existing file may be replaced.

    Raises
    ------
    OutputError
        Where the path is an input, a folder, an existing file, or in a folder that cannot be written.
    """
    path = Path(path)
    if not str(path.name):
        raise OutputError("the output has no name", where=str(path), mend="give a file name to -o")
    exists = _exists(path, OutputError)
    if exists and not (path.is_file() or path.is_dir()):
        raise OutputError("the output is a device or a pipe, not a file", where=str(path), mend="give a file name")
    for source in inputs:
        if _same_file(path, Path(source)):
            raise OutputError(
                "the output is the same file as the input", where=str(path), mend="give another name to -o"
            )
    if path.is_dir():
        raise OutputError("the output is a folder", where=str(path), mend="give a file name")
    if exists and not overwrite:
        raise OutputError("the output exists already", where=str(path), mend="pass --overwrite or another name")
    if not path.parent.is_dir():
        raise OutputError(
            "the folder of the output does not exist",
            where=str(path),
            received=str(path.parent),
            mend=f"create it: mkdir -p {path.parent}",
        )
    if not os.access(path.parent, os.W_OK):
        raise OutputError("the folder of the output cannot be written", where=str(path), received=str(path.parent))


def _exists(path: Path, refusal: type[HmetaError]) -> bool:
    """Return whether a path exists; a name that the system cannot hold is refused."""
    try:
        return path.exists()
    except OSError as error:
        raise refusal("this is no possible file name", where=f"{path.name[:40]} …", received=error.strerror) from error


def check_input(path: Path, *, pattern: str = "*") -> None:
    """Refuse an input that is not there or is no regular file; near names among `pattern` are offered."""
    if not _exists(path, DataError):
        near = sorted(p.name for p in path.parent.glob(pattern)) if path.parent.is_dir() else []
        raise DataError("no such file", where=str(path), mend=did_you_mean(path.name, near))
    if path.is_dir():
        raise DataError("this is a folder, not a file", where=str(path))
    if not path.is_file():
        raise DataError(
            "this is a device or a pipe, not a file", where=str(path), mend="save its content in a file first"
        )


def _same_file(path: Path, other: Path) -> bool:
    if path.exists() and other.exists():
        return path.samefile(other)
    return path.resolve() == other.resolve()


def _groups(path: Path, *, mend: str) -> frozenset[str]:
    """Return the names of the top-level groups, after checking that the file is whole HDF5."""
    check_input(path, pattern="*.nc")
    try:
        with path.open("rb") as file:
            head = file.read(len(HDF5_SIGNATURE))
    except OSError as error:
        raise DataError("the file cannot be read", where=str(path), received=error.strerror) from error
    if head != HDF5_SIGNATURE:
        raise DataError(
            "this is not a NetCDF-4 file",
            where=str(path),
            received="an empty file" if not head else f"a file that starts with {head!r}",
            allowed="a file written by hmeta",
            mend=mend,
        )
    with _reading(path), h5py.File(path, "r") as file:
        return frozenset(name for name, member in file.items() if isinstance(member, h5py.Group))


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    # h5py and xarray report damage as any of these, depending on where the bytes end.
    try:
        yield
    except (OSError, RuntimeError, KeyError, ValueError, AttributeError) as error:
        raise DataError(
            "the file is truncated or damaged",
            where=str(path),
            received=str(error).splitlines()[0] if str(error) else type(error).__name__,
            mend="copy or make the file again",
        ) from error


def _check_layout(attributes: dict[Any, Any], path: Path) -> None:
    layout = attributes.get("hmeta_layout")
    if layout in LAYOUTS:
        return
    raise DataError(
        "the file does not say that it is a results file" if layout is None else "unknown layout",
        where=f"{path}, attribute hmeta_layout",
        received="nothing" if layout is None else repr(layout),
        allowed=LAYOUTS,
        mend="make the file with hmeta import",
    )


def _check_schema(attributes: dict[Any, Any], path: Path) -> None:
    version = attributes.get("hmeta_schema")
    if str(version) == SCHEMA_VERSION:
        return
    raise DataError(
        "this version of hmeta cannot read the file's schema version",
        where=f"{path}, attribute hmeta_schema",
        received="nothing" if version is None else repr(version),
        allowed=repr(SCHEMA_VERSION),
        mend="make the file again with this version of hmeta, or install the version that wrote it",
    )


def _encoding(ds: xr.Dataset) -> dict[Any, dict[str, Any]]:
    # Scalars cannot be chunked, and variable-length strings gain nothing from zlib.
    squeezed = {"zlib": True, "complevel": 1}
    return {name: squeezed for name, v in ds.variables.items() if v.dtype.kind in "iufb" and v.size > 1}


def write_bytes(content: bytes | memoryview, path: Path) -> None:
    """Write bytes to a temporary file beside the target, and give it the target's name once it is whole.

    Raises
    ------
    OutputError
        Where the disk is full or the file cannot be written.
    """
    part = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}.part")
    try:
        with part.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except OSError as error:
        raise _output_error(error, path) from error
    finally:
        part.unlink(missing_ok=True)


def _output_error(error: OSError, path: Path) -> OutputError:
    """Return the refusal for what the system said while an output was written."""
    if error.errno in _FULL:
        return OutputError(
            "the disk is full; nothing was written", where=str(path), mend="free some space or write elsewhere"
        )
    return OutputError("the file cannot be written", where=str(path), received=error.strerror or str(error))
