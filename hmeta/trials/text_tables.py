"""Delimited texts, read strictly: every row has as many fields as the header."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd

from hmeta.core.errors import DataError
from hmeta.trials.reported import as_numbers

MOST_CHARACTERS = 2**31 - 1
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


def read_text(path: Path) -> str:
    """Return a file's text, which must be UTF-8, with or without a byte-order mark.

    Raises
    ------
    DataError
        Where the file cannot be read or is no such text.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise DataError("the file cannot be read", where=str(path), received=error.strerror) from error
    if raw.startswith(UTF16_MARKS):
        raise _not_utf8(path, "UTF-16 text")
    if b"\x00" in raw:
        raise _not_utf8(path, f"a null byte at position {raw.index(0)}")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _not_utf8(path, f"byte {raw[error.start]:#04x} at position {error.start}") from error


def _not_utf8(path: Path, received: str) -> DataError:
    return DataError(
        "the file is not UTF-8 text",
        where=str(path),
        received=received,
        mend="save it again as UTF-8 text",
    )


def read_frame(path: Path, delimiter: str) -> pd.DataFrame:
    """Read a delimited text; columns that hold numbers only become numbers.

    Raises
    ------
    DataError
        Where the text is not UTF-8, a row has too many or too few fields, or a name occurs twice.
    """
    reader = csv.reader(io.StringIO(read_text(path), newline=""), delimiter=delimiter, strict=True)
    try:
        with _long_fields():
            header = [name.strip() for name in next(reader, [])]
            _check_header(header, path)
            rows = [_checked(row, header, reader.line_num, path) for row in reader if row]
    except csv.Error as error:
        raise DataError(
            "the file is not a well-formed table",
            where=f"{path}, line {reader.line_num}",
            received=str(error),
            mend="close every quotation mark, and double those inside a field",
        ) from error
    frame = pd.DataFrame(rows, columns=header, dtype="string")
    return frame.assign(**{name: _typed(frame[name]) for name in header})


@contextmanager
def _long_fields() -> Iterator[None]:
    """Lift the limit on a field's length: a field may hold a whole reply."""
    before = csv.field_size_limit(MOST_CHARACTERS)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _typed(column: pd.Series) -> pd.Series:
    numbers = as_numbers(column)
    return column if numbers is None else numbers


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
