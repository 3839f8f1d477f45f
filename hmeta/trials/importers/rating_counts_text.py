"""Counts of ratings (nR_S1, nR_S2) as text, CSV, JSON or JSON Lines."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import xarray as xr

from hmeta.core.errors import DataError
from hmeta.trials.import_options import ImportOptions
from hmeta.trials.rating_counts import rating_counts_dataset
from hmeta.trials.recognition import ALIASES, plain
from hmeta.trials.text_tables import read_frame, read_text

SUMMARY = "counts nR_S1 and nR_S2 as text, CSV, JSON or JSON Lines"
RANK = 1
_UNIT = (*ALIASES["participant"], "id", "name", *ALIASES["model"])


def matches(path: Path, head: bytes) -> bool:
    """Whether both arrays are named in the first bytes of a text file."""
    found = head.lower()
    return b"\x00" not in head and b"nr_s1" in found and b"nr_s2" in found and path.suffix.lower() != ".mat"


def read(path: Path, options: ImportOptions) -> xr.Dataset:
    """Read the arrays of one or many participants.

    Accepted: lines ``nR_S1 = [36, 24, ...]``; a CSV with the columns nR_S1 and nR_S2 (one row a level), or
    with a list in each cell (one row a participant), or with numbered columns nR_S1_1, nR_S1_2 …; JSON with
    the keys nR_S1 and nR_S2 (arrays, or arrays of arrays), a list of such objects, or participants as keys.

    Raises
    ------
    DataError
        Where the text has none of these shapes, or an array is impossible.
    """
    text = read_text(path)
    if text.lstrip()[:1] in ("{", "["):
        units = _from_json(text, path)
    elif re.search(r"nr_s1\s*[=:]", text, re.IGNORECASE):
        units = _from_assignments(text, path)
    else:
        units = _from_columns(path, text)
    return rating_counts_dataset(units, options, where=path.name)


def _from_json(text: str, path: Path) -> dict[str, tuple[Any, Any]]:
    try:
        tree = json.loads(text)
    except json.JSONDecodeError:
        try:
            tree = [json.loads(line) for line in text.splitlines() if line.strip()]
        except json.JSONDecodeError as error:
            raise DataError("this is not JSON", where=str(path), received=str(error)) from error
    if isinstance(tree, dict) and not _arrays(tree):
        tree = [value | {"participant": key} for key, value in tree.items() if isinstance(value, dict)]
    entries = tree if isinstance(tree, list) else [tree]
    units: dict[str, tuple[Any, Any]] = {}
    for number, entry in enumerate(entries, 1):
        pair = _arrays(entry) if isinstance(entry, dict) else None
        if pair is None:
            raise DataError("an entry lacks nR_S1 or nR_S2", where=f"{path}, entry {number}", received=str(entry)[:80])
        units |= _named(pair, _names(entry), len(units), path)
    return units


def _arrays(entry: dict[str, Any]) -> tuple[Any, Any] | None:
    found = {key.lower(): value for key, value in entry.items()}
    return (found["nr_s1"], found["nr_s2"]) if {"nr_s1", "nr_s2"} <= set(found) else None


def _names(entry: dict[str, Any]) -> list[str]:
    value = next((value for key, value in entry.items() if plain(key) in _UNIT), None)
    return [] if value is None else [str(name) for name in (value if isinstance(value, list) else [value])]


def _named(pair: tuple[Any, Any], names: list[str], before: int, path: Path) -> dict[str, tuple[Any, Any]]:
    """Return one pair of arrays, or the pairs of several participants, by name."""
    nested = [bool(array) and isinstance(array, list) and isinstance(array[0], list) for array in pair]
    if nested[0] != nested[1] or (all(nested) and len(pair[0]) != len(pair[1])):
        raise DataError("nR_S1 and nR_S2 are for different participants", where=str(path), received=str(pair)[:80])
    pairs = list(zip(*pair, strict=True)) if all(nested) else [pair]
    if names and len(names) != len(pairs):
        raise DataError(
            "the names do not fit the arrays", where=str(path), received=f"{len(names)} names, {len(pairs)} arrays"
        )
    keys = names or [str(before + number) for number in range(1, len(pairs) + 1)]
    return dict(zip(keys, pairs, strict=True))


def _from_assignments(text: str, path: Path) -> dict[str, tuple[Any, Any]]:
    found = re.findall(r"(nr_s[12])\s*[=:]\s*(?:c\s*\(|np\.array\()?\s*[\[(]?([^\])\n;]*)", text, re.IGNORECASE)
    lists: dict[str, list[list[str]]] = {"nr_s1": [], "nr_s2": []}
    for name, numbers in found:
        lists[name.lower()].append([part for part in re.split(r"[,\s]+", numbers.strip()) if part])
    if len(lists["nr_s1"]) != len(lists["nr_s2"]):
        raise DataError(
            "nR_S1 and nR_S2 do not come in pairs",
            where=str(path),
            received=f"{len(lists['nr_s1'])} and {len(lists['nr_s2'])} arrays",
        )
    return {str(i): pair for i, pair in enumerate(zip(lists["nr_s1"], lists["nr_s2"], strict=True), 1)}


def _from_columns(path: Path, text: str) -> dict[str, tuple[Any, Any]]:
    delimiter = "\t" if "\t" in text.splitlines()[0] else ";" if "," not in text.splitlines()[0] else ","
    frame = read_frame(path, delimiter)
    columns = {plain(str(name)): str(name) for name in frame.columns}
    unit = next((columns[name] for name in _UNIT if name in columns), None)
    plain_names = {name: columns[key] for name in ("nR_S1", "nR_S2") if (key := plain(name)) in columns}
    if len(plain_names) == 2:
        first, second = (frame[plain_names[name]] for name in ("nR_S1", "nR_S2"))
        if str(first.iloc[0]).strip()[:1] in ("[", "("):
            names = list(range(1, len(frame) + 1)) if unit is None else list(frame[unit])
            return {str(n): (_listed(a), _listed(b)) for n, a, b in zip(names, first, second, strict=True)}
        groups = frame.groupby(unit, sort=False) if unit else [("1", frame)]
        return {str(k): (list(g[plain_names["nR_S1"]]), list(g[plain_names["nR_S2"]])) for k, g in groups}
    sides = [_numbered(columns, side, path) for side in ("s1", "s2")]
    names = list(range(1, len(frame) + 1)) if unit is None else list(frame[unit])
    return {str(name): (list(frame[sides[0]].iloc[i]), list(frame[sides[1]].iloc[i])) for i, name in enumerate(names)}


def _listed(cell: Any) -> list[str]:
    return [part for part in re.split(r"[,\s]+", str(cell).strip(" []()")) if part]


def _numbered(columns: dict[str, str], side: str, path: Path) -> list[str]:
    """Return the columns nR_S1_1, nR_S1_2 … in the order of their numbers."""
    found = {int(m[1]): name for key, name in columns.items() if (m := re.fullmatch(rf"n_?r_{side}_?(\d+)", key))}
    if not found:
        raise DataError(
            f"no columns for nR_{side.upper()} were found", where=str(path), received=", ".join(columns.values())
        )
    return [found[number] for number in sorted(found)]
