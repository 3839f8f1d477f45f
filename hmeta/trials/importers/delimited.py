"""CSV and TSV tables, read strictly: every row has as many fields as the header."""

from __future__ import annotations

from pathlib import Path

import xarray as xr

from hmeta.trials.from_table import from_table
from hmeta.trials.import_options import ImportOptions
from hmeta.trials.text_tables import read_frame

SUMMARY = "CSV or TSV table, one row an answer (or wide: two columns a model)"
SUFFIXES = (".csv", ".tsv", ".tab", ".txt")
RANK = -1


def matches(path: Path, head: bytes) -> bool:
    """Whether the name says that this is a delimited text."""
    del head
    return path.suffix.lower() in SUFFIXES


def read(path: Path, options: ImportOptions) -> xr.Dataset:
    """Read a delimited table.

    Raises
    ------
    DataError
        Where the text is not UTF-8, a row has too many or too few fields, or a name occurs twice.
    """
    delimiter, notes = _delimiter(path)
    return from_table(read_frame(path, delimiter), options, path=path, notes=notes)


def _delimiter(path: Path) -> tuple[str, tuple[str, ...]]:
    """Return the delimiter by the file's name and its first line."""
    with path.open("rb") as file:
        first = file.readline(1 << 20)
    if b"\t" in first and (path.suffix.lower() != ".csv" or b"," not in first):
        return "\t", ()
    if b";" in first and b"," not in first:
        return ";", ("fields are separated by semicolons",)
    return ",", ()
