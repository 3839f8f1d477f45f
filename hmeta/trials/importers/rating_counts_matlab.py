"""Counts of ratings (nR_S1, nR_S2) in a MATLAB file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from hmeta.core.errors import DataError
from hmeta.core.registry import did_you_mean
from hmeta.trials.import_options import ImportOptions
from hmeta.trials.rating_counts import NAMES, Unit, rating_counts_dataset

SUMMARY = "counts nR_S1 and nR_S2 in a MATLAB .mat file, arrays or cell arrays"
RANK = 2
HDF5_VERSION = 2
"""SciPy's major version of MATLAB's format 7.3, which is HDF5 and which it does not read."""


def matches(path: Path, head: bytes) -> bool:
    """Whether the name or the first bytes say MATLAB."""
    return path.suffix.lower() == ".mat" or head.startswith(b"MATLAB 5.0")


def read(path: Path, options: ImportOptions) -> xr.Dataset:
    """Read the arrays: a vector for one participant; a matrix (participant × count) or a cell array for many.

    The variables may stand at the top or in one struct.

    Raises
    ------
    DataError
        Where the file is damaged, of format 7.3, or lacks one of the two arrays.
    """
    found = _variables(path)
    pairs = [_participants(found[name]) for name in NAMES]
    if len(pairs[0]) != len(pairs[1]):
        raise DataError(
            "nR_S1 and nR_S2 are for different numbers of participants",
            where=str(path),
            received=f"{len(pairs[0])} and {len(pairs[1])}",
        )
    units = {Unit(str(number)): pair for number, pair in enumerate(zip(*pairs, strict=True), 1)}
    return rating_counts_dataset(units, options, where=path.name)


def _variables(path: Path) -> dict[str, Any]:
    from scipy.io import loadmat
    from scipy.io.matlab import MatReadError, matfile_version

    try:
        hdf5 = matfile_version(str(path), appendmat=False)[0] >= HDF5_VERSION
        tree = {} if hdf5 else loadmat(path, simplify_cells=True)
    except (MatReadError, OSError, ValueError, TypeError, IndexError, EOFError) as error:
        raise DataError("the MATLAB file is damaged", where=str(path), received=str(error)) from error
    if hdf5:
        raise DataError(
            "the file is of MATLAB format 7.3",
            where=str(path),
            allowed="format 7 or older",
            mend="save it again in MATLAB with: save(file, 'nR_S1', 'nR_S2', '-v7')",
        )
    found = _search({key: value for key, value in tree.items() if not key.startswith("__")})
    for name in NAMES:
        if name not in found:
            there = [key for key in tree if not key.startswith("__")]
            raise DataError(
                f"the file has no variable {name}",
                where=str(path),
                received=", ".join(there) or "no variables",
                mend=did_you_mean(name, there) or "save the counts under the names nR_S1 and nR_S2",
            )
    return found


def _search(tree: dict[str, Any]) -> dict[str, Any]:
    """Return the two arrays wherever a struct holds them, by their exact names whatever the case."""
    lower = {name.lower(): name for name in NAMES}
    found = {lower[key.lower()]: value for key, value in tree.items() if key.lower() in lower}
    for value in tree.values():
        if not found and isinstance(value, dict):
            found = _search(value)
    return found


def _participants(value: Any) -> list[Any]:
    """Return one array a participant."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        return list(value) if value.ndim == 2 and min(value.shape) > 1 else [value.ravel()]
    cells = list(np.ravel(value)) if isinstance(value, np.ndarray) else list(value)
    if cells and all(np.ndim(cell) == 0 for cell in cells):
        return [np.asarray(cells)]
    return [np.ravel(cell) for cell in cells]
