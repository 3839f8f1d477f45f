"""Parquet tables."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import xarray as xr

from hmeta.core.errors import DataError
from hmeta.trials.from_table import from_table
from hmeta.trials.import_options import ImportOptions

SUMMARY = "Parquet table, one row an answer"


def matches(path: Path, head: bytes) -> bool:
    """Whether the file starts as Parquet does, or is called so."""
    return head.startswith(b"PAR1") or path.suffix.lower() in (".parquet", ".pq")


def read(path: Path, options: ImportOptions) -> xr.Dataset:
    """Read a Parquet table.

    Raises
    ------
    DataError
        Where the file is truncated or not Parquet.
    """
    try:
        frame = pd.read_parquet(path)
    except (OSError, ValueError) as error:  # pyarrow's errors are subclasses of these
        raise DataError(
            "the Parquet file is truncated or damaged", where=str(path), received=str(error).splitlines()[0]
        ) from error
    index = [str(name) for name in frame.index.names if name is not None]
    frame = frame.reset_index() if index else frame
    return from_table(frame.rename(columns=str), options, path=path)
