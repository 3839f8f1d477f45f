"""CSV and TSV tables, read strictly: every row has as many fields as the header."""

from __future__ import annotations

import csv
from pathlib import Path

import pandas as pd
import xarray as xr

from hmeta.core.errors import DataError
from hmeta.trials.from_table import from_table
from hmeta.trials.import_options import ImportOptions
from hmeta.trials.reported import as_numbers

SUMMARY = "CSV or TSV table, one row an answer (or wide: two columns a model)"
SUFFIXES = (".csv", ".tsv", ".tab", ".txt")


def matches(path: Path, head: bytes) -> bool:
    """Whether the name says that this is a delimited text."""
    return path.suffix.lower() in SUFFIXES and b"\x00" not in head


def read(path: Path, options: ImportOptions) -> xr.Dataset:
    """Read a delimited table.

    Raises
    ------
    DataError
        Where the text is not UTF-8, a row has too many or too few fields, or a name occurs twice.
    """
    delimiter, notes = _delimiter(path)
    return from_table(read_frame(path, delimiter), options, path=path, notes=notes)


def read_frame(path: Path, delimiter: str) -> pd.DataFrame:
    """Read a delimited text; columns that hold numbers only become numbers."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, delimiter=delimiter, strict=True)
            header = [name.strip() for name in next(reader, [])]
            _check_header(header, path)
            rows = [_checked(row, header, reader.line_num, path) for row in reader if row]
    except UnicodeDecodeError as error:
        raise DataError("the file is not UTF-8 text", where=str(path), received=str(error)) from error
    except csv.Error as error:
        raise DataError("the file is not a well-formed table", where=str(path), received=str(error)) from error
    frame = pd.DataFrame(rows, columns=header, dtype="string")
    return frame.assign(**{name: _typed(frame[name]) for name in header})


def _typed(column: pd.Series) -> pd.Series:
    numbers = as_numbers(column)
    return column if numbers is None else numbers


def _delimiter(path: Path) -> tuple[str, tuple[str, ...]]:
    """Return the delimiter by the file's name and its first line."""
    with path.open("rb") as file:
        first = file.readline(1 << 20)
    if b"\t" in first and (path.suffix.lower() != ".csv" or b"," not in first):
        return "\t", ()
    if b";" in first and b"," not in first:
        return ";", ("fields are separated by semicolons",)
    return ",", ()


def _check_header(header: list[str], path: Path) -> None:
    if not header:
        raise DataError("the file is empty", where=str(path), allowed="a header line and one row an answer")
    twice = sorted({name for name in header if header.count(name) > 1})
    if twice or "" in header:
        raise DataError(
            "a column name occurs twice" if twice else "a column has no name",
            where=f"{path}, line 1",
            received=", ".join(twice) if twice else f"column {header.index('') + 1} of {len(header)}",
            mend="give every column a name of its own",
        )


def _checked(row: list[str], header: list[str], line: int, path: Path) -> list[str]:
    if len(row) == len(header):
        return row
    raise DataError(
        f"a row has {len(row)} fields and the header {len(header)}",
        where=f"{path}, line {line}",
        received=", ".join(row)[:120],
        mend="quote fields that hold the separator",
    )
