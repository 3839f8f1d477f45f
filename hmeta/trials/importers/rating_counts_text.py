"""Counts of ratings (nR_S1, nR_S2) as text, CSV, JSON or JSON Lines."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import xarray as xr

from hmeta.core.errors import DataError
from hmeta.core.schema import UNIT_COLUMNS
from hmeta.trials.import_options import ImportOptions
from hmeta.trials.labels import as_labels
from hmeta.trials.rating_counts import NAMES, Arrays, Unit, collect, rating_counts_dataset
from hmeta.trials.recognition import ALIASES, plain
from hmeta.trials.row_numbers import numbered
from hmeta.trials.rows import FACTORS
from hmeta.trials.text_tables import read_frame, read_text

SUMMARY = "counts nR_S1 and nR_S2 as text, CSV, JSON or JSON Lines"
RANK = 1
KEPT = tuple(name for name in FACTORS if name not in (*UNIT_COLUMNS, "scale"))
"""Columns and keys that tell several pairs of arrays of one participant apart, and are kept."""

Pairs = list[tuple[Unit, Arrays]]
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
        pairs = _from_json(text, path)
    elif re.search(r"nr_s1\s*[=:]", text, re.IGNORECASE):
        pairs = _from_assignments(text, path)
    else:
        pairs = _from_columns(path, text)
    return rating_counts_dataset(collect(pairs, where=str(path)), options, where=path.name)


def _from_json(text: str, path: Path) -> Pairs:
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
    found: Pairs = []
    for number, entry in enumerate(entries, 1):
        pair = _arrays(entry) if isinstance(entry, dict) else None
        if pair is None:
            raise DataError("an entry lacks nR_S1 or nR_S2", where=f"{path}, entry {number}", received=str(entry)[:80])
        factors = tuple((key, str(entry[key])) for key in KEPT if isinstance(entry.get(key), (str, int)))
        found += [(Unit(name, factors), arrays) for name, arrays in _named(pair, _names(entry), len(found), path)]
    return found


def _arrays(entry: dict[str, Any]) -> tuple[Any, Any] | None:
    found = {key.lower(): value for key, value in entry.items()}
    return (found["nr_s1"], found["nr_s2"]) if {"nr_s1", "nr_s2"} <= set(found) else None


def _names(entry: dict[str, Any]) -> list[str]:
    value = next((value for key, value in entry.items() if plain(key) in _UNIT), None)
    return [] if value is None else [str(name) for name in (value if isinstance(value, list) else [value])]


def _named(pair: tuple[Any, Any], names: list[str], before: int, path: Path) -> list[tuple[str, Arrays]]:
    """Return one pair of arrays, or the pairs of several participants, with their names."""
    nested = [bool(array) and isinstance(array, list) and isinstance(array[0], list) for array in pair]
    if nested[0] != nested[1] or (all(nested) and len(pair[0]) != len(pair[1])):
        raise DataError("nR_S1 and nR_S2 are for different participants", where=str(path), received=str(pair)[:80])
    pairs = list(zip(*pair, strict=True)) if all(nested) else [pair]
    if names and len(names) != len(pairs):
        raise DataError(
            "the names do not fit the arrays", where=str(path), received=f"{len(names)} names, {len(pairs)} arrays"
        )
    keys = names or [str(before + number) for number in range(1, len(pairs) + 1)]
    return list(zip(keys, pairs, strict=True))


def _from_assignments(text: str, path: Path) -> Pairs:
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
    return [(Unit(str(i)), pair) for i, pair in enumerate(zip(lists["nr_s1"], lists["nr_s2"], strict=True), 1)]


def _from_columns(path: Path, text: str) -> Pairs:
    """Return the arrays of a table: one row a level, a list in each cell, or one column a count."""
    head = text.splitlines()[0]
    frame = read_frame(path, "\t" if "\t" in head else ";" if "," not in head else ",")
    columns = {plain(str(name)): str(name) for name in frame.columns}
    owners = _owners(frame, columns, path)
    arrays = [columns[key] for name in NAMES if (key := plain(name)) in columns]
    if len(arrays) < 2:
        sides = [_numbered(columns, side, path) for side in ("s1", "s2")]
        names = owners or [Unit(str(i)) for i in range(1, len(frame) + 1)]
        rows = (tuple(list(frame[side].iloc[i]) for side in sides) for i in range(len(frame)))
        return list(zip(names, rows, strict=True))  # pyright: ignore[reportReturnType]
    first, second = (list(frame[name]) for name in arrays)
    if first and str(first[0]).strip()[:1] in ("[", "("):
        names = owners or [Unit(str(i)) for i in range(1, len(frame) + 1)]
        return [(name, (_listed(a), _listed(b))) for name, a, b in zip(names, first, second, strict=True)]
    levels: dict[Unit, Arrays] = {}
    for name, a, b in zip(owners or [Unit("1")] * len(frame), first, second, strict=True):
        one, two = levels.setdefault(name, ([], []))
        levels[name] = ([*one, a], [*two, b])
    return list(levels.items())


def _owners(frame: pd.DataFrame, columns: dict[str, str], path: Path) -> list[Unit]:
    """Return whose each row is; none where no column says so."""
    unit = next((columns[name] for name in _UNIT if name in columns), None)
    factors = [name for name in KEPT if columns.get(name) not in (None, unit)]
    if unit is None and not factors:
        return []
    names = pd.Series("1", frame.index) if unit is None else as_labels(frame[unit])
    labels = pd.DataFrame({"": names} | {name: as_labels(frame[columns[name]]) for name in factors})
    blank = labels.isna().any(axis=1).to_numpy(dtype=bool)
    if blank.any():
        raise DataError(
            "a row does not say whose counts it holds", where=f"{path}, {numbered(blank)}", mend="fill in every name"
        )
    return [Unit(name, tuple(zip(factors, rest, strict=True))) for name, *rest in labels.itertuples(index=False)]


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
