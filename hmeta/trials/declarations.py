"""What the user declares about a foreign file, from a small TOML file or as Python arguments."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from hmeta.core.errors import DataError
from hmeta.core.registry import did_you_mean
from hmeta.trials.import_options import ImportOptions, ScaleDeclaration, parse_scale


def declare(**declared: Any) -> ImportOptions:
    """Return declarations made as plain Python values.

    Parameters
    ----------
    **declared
        Fields of `ImportOptions`. A scale may be text or a pair of numbers, ``n_options`` also
        ``{"column": NAME, "values": {...}}``, ``missing`` a list of values or of (column, value).

    Raises
    ------
    DataError
        For a name that is no field, or a value of the wrong kind.

    Examples
    --------
    >>> declare(scale="0-100", n_options=4).scale
    ScaleDeclaration(lower=0.0, upper=100.0, step=None, reversed=False)
    """
    known = {entry.name for entry in fields(ImportOptions)}
    for name in declared:
        if name not in known:
            raise DataError(
                f'unknown declaration "{name}"',
                where="import_table",
                received=f"{name}={declared[name]!r}"[:80],
                allowed=sorted(known),
                mend=did_you_mean(name, known),
            )
    try:
        return ImportOptions(**{k: v for name, value in declared.items() for k, v in _python(name, value).items()})
    except DataError:
        raise
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise DataError("a declaration has the wrong kind", where="import_table", received=str(error)) from error


def _python(name: str, value: Any) -> dict[str, Any]:
    """Return one Python argument as options."""
    if value is None or name == "n_options_by":
        return {} if value is None else {name: value}
    if name == "scale":
        return {name: _as_scale(value)}
    if name == "scales":
        return {name: {str(key): _as_scale(entry) for key, entry in value.items()}}
    if name == "missing":
        entries = [value] if isinstance(value, (str, int, float)) else list(value)
        return {name: tuple(_coded_missing(entry) for entry in entries)}
    return _option(name, value)


def _coded_missing(entry: Any) -> tuple[str | None, str]:
    """Return a code for missing, of one column or of every column."""
    if not isinstance(entry, (tuple, list)):
        return None, str(entry)
    column, value = entry
    return None if column is None else str(column), str(value)


def _whole(name: str, value: Any) -> int:
    if isinstance(value, bool) or int(value) != float(value):
        raise ValueError(f"{name} takes a whole number, not {value!r}")
    return int(value)


def _truth(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{name} is true or false, not {value!r}")
    return value


def _as_scale(value: Any) -> ScaleDeclaration:
    """Return a scale given as a declaration, a text, a pair of ends, or a dict of lower, upper, step, reversed."""
    if isinstance(value, ScaleDeclaration):
        return value
    if isinstance(value, str):
        return ScaleDeclaration(*parse_scale(value))
    if isinstance(value, Mapping):
        return _scale(value)
    lower, upper = value
    return ScaleDeclaration(float(lower), float(upper))


def read_mapping(path: str | Path) -> ImportOptions:
    """Read a mapping file.

    Parameters
    ----------
    path : str or Path
        TOML with any of: ``task``, ``n_options`` (a number, or a table with ``column`` and ``values``),
        ``title``, ``source``, ``license``, ``missing`` (a list), ``factors`` (a list), ``ungraded``,
        ``ambiguous``, ``wide`` (two endings), ``padded``, ``labels`` (a list of two), and the tables
        ``[columns]``, ``[constants]``, ``[only]``, ``[words]``, ``[label_codes.stimulus]``, ``[scale]`` or
        ``[scales.NAME]`` with ``lower``, ``upper``, ``step``, ``reversed``.

    Raises
    ------
    DataError
        Where the file is missing, not TOML, has an unknown key or a value of the wrong kind.
    """
    path = Path(path)
    try:
        tree = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise DataError("the mapping file cannot be read", where=str(path), received=str(error)) from error
    except tomllib.TOMLDecodeError as error:
        raise DataError("the mapping file is not TOML", where=str(path), received=str(error)) from error
    known = {entry.name for entry in fields(ImportOptions)} - {"n_options_by"} | {"schema"}
    for key in tree:
        if key not in known:
            raise DataError(
                f'unknown key "{key}"', where=str(path), allowed=sorted(known), mend=did_you_mean(key, known)
            )
    try:
        return ImportOptions(**{key: value for name in tree for key, value in _option(name, tree[name]).items()})
    except DataError as error:
        raise error.at(str(path)) from error
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise DataError(
            "a value of the mapping file has the wrong kind", where=str(path), received=str(error)
        ) from error


def _option(name: str, value: Any) -> dict[str, Any]:
    """Return one key of the mapping file as options."""
    match name:
        case "schema":
            return {}
        case "n_options" if isinstance(value, dict):
            return {
                "n_options_by": (str(value["column"]), {str(k): _whole(name, v) for k, v in value["values"].items()})
            }
        case "n_options":
            return {name: _whole(name, value)}
        case "scale":
            return {name: _scale(value)}
        case "scales":
            return {name: {str(key): _scale(entry) for key, entry in value.items()}}
        case "missing":
            return {name: tuple(_coded_missing(entry) for entry in ([value] if isinstance(value, str) else value))}
        case "label_codes":
            return {name: {str(k): {str(a): _whole(name, b) for a, b in v.items()} for k, v in value.items()}}
        case "only":
            return {name: {k: tuple(map(str, v)) if isinstance(v, list) else (str(v),) for k, v in value.items()}}
        case "words":
            return {name: {str(k): float(v) for k, v in value.items()}}
        case "labels" | "factors" | "wide" if isinstance(value, str):
            raise TypeError(f"{name} takes a list of names, not one text")
        case "labels" | "factors" | "wide":
            return {name: tuple(map(str, value))}
        case "columns" | "constants":
            return {name: {str(k): str(v) for k, v in value.items()}}
        case "ungraded" | "padded":
            return {name: _truth(name, value)}
        case _:
            return {name: str(value)}


def _scale(value: Mapping[str, Any]) -> ScaleDeclaration:
    for key in value:
        if key not in ("lower", "upper", "step", "reversed"):
            raise KeyError(f'unknown key "{key}" of a scale')
    step = value.get("step")
    return ScaleDeclaration(
        float(value["lower"]),
        float(value["upper"]),
        None if step is None else float(step),
        _truth("reversed", value.get("reversed", False)),
    )
