"""JSON Lines, and JSON files that hold one list of objects or one object of columns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import xarray as xr

from hmeta.core.errors import DataError
from hmeta.trials.from_table import from_table
from hmeta.trials.import_options import ImportOptions
from hmeta.trials.text_tables import read_text

MOST_INTEGER = 2**63
SUMMARY = "JSON Lines or a JSON list, one object an answer; or a JSON object of columns"


def matches(path: Path, head: bytes) -> bool:
    """Whether the name says JSON and the text starts with an object or a list."""
    return path.suffix.lower() in (".jsonl", ".ndjson", ".json") and head.lstrip(b"\xef\xbb\xbf \r\n\t")[:1] in (
        b"{",
        b"[",
    )


def read(path: Path, options: ImportOptions) -> xr.Dataset:
    """Read the objects as rows; nested values are kept as JSON text.

    Raises
    ------
    DataError
        Where a line is not a JSON object.
    """
    return from_table(pd.DataFrame(_columns(read_objects(path))), options, path=path)


def read_objects(path: Path) -> list[dict[str, Any]]:
    """Return the objects of a JSON list or of JSON Lines."""
    text = read_text(path)
    if text.lstrip().startswith("["):
        return [
            _checked(entry, f"{path}, entry {i}", str(entry)) for i, entry in enumerate(_loaded(text, str(path)), 1)
        ]
    if path.suffix.lower() == ".json":
        return _from_object(_loaded(text, str(path)), path)
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    return [_checked(_loaded(line, f"{path}, line {number}"), f"{path}, line {number}", line) for number, line in lines]


def _from_object(tree: dict[str, Any], path: Path) -> list[dict[str, Any]]:
    """Return the rows of one object whose keys are columns."""
    sizes = {len(value) if isinstance(value, list) else -1 for value in tree.values()}
    if len(sizes) != 1 or -1 in sizes:
        raise DataError(
            "the file holds one object that is no table",
            where=str(path),
            received="keys " + ", ".join(list(tree)[:8]),
            allowed="a list of objects, one object a line (.jsonl), or columns of one length",
        )
    return [dict(zip(tree, row, strict=True)) for row in zip(*tree.values(), strict=True)]


def _loaded(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise DataError("this is not JSON", where=where, received=f"{text[:60]!r}: {error}") from error


def _checked(entry: Any, where: str, text: str) -> dict[str, Any]:
    if not isinstance(entry, dict):
        raise DataError("this is not a JSON object", where=where, received=text[:80], allowed='{"model": ..., ...}')
    return entry


def _columns(objects: list[dict[str, Any]]) -> dict[str, pd.Series]:
    names = list(dict.fromkeys(name for entry in objects for name in entry))
    return {name: _column([entry.get(name) for entry in objects]) for name in names}


def _column(values: list[Any]) -> pd.Series:
    """Return values as truth values, numbers or text, whichever holds all of them."""
    given = [value for value in values if value is not None]
    if given and all(isinstance(value, bool) for value in given):
        return pd.Series(values, dtype="boolean")
    if given and all(isinstance(value, int) and not isinstance(value, bool) for value in given):
        fits = all(abs(value) < MOST_INTEGER for value in given)
        return (
            pd.Series(values, dtype="Int64") if fits else pd.Series([_text(value) for value in values], dtype="string")
        )
    if given and all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in given):
        return pd.Series(values, dtype="Float64")
    return pd.Series([_text(value) for value in values], dtype="string")


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)
