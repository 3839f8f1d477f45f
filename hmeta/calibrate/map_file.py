"""A calibration map as JSON: what was fitted, on which scale, to how many answers, segment by segment."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from hmeta.calibrate.maps import Method, method
from hmeta.core.errors import DataError, HmetaError
from hmeta.core.files import check_input, check_output, write_bytes

SCHEMA = "1"
KIND = "hmeta calibration map"
SCALE_FIELDS = ("lower", "upper", "step", "reversed")


@dataclass(frozen=True)
class SegmentMap:
    """The map of one segment, or why it has none."""

    at: dict[str, str]  # column to value
    scales: tuple[dict[str, float], ...]  # lower, upper, step, reversed
    n: float
    n_right: float
    parameters: dict[str, Any] | None = None
    reason: str = ""
    mend: str = ""

    @property
    def label(self) -> str:
        """The segment as a person would say it: "claude, 0-100"."""
        return ", ".join(self.at.values()) or "all answers"


@dataclass(frozen=True)
class MapFile:
    """The maps of one fit, as saved and applied."""

    method: Method
    options: dict[str, Any]
    keys: tuple[str, ...]
    pooled: tuple[str, ...]
    segments: tuple[SegmentMap, ...]
    source: str = ""
    schema: str = field(default=SCHEMA)

    @property
    def words(self) -> str:
        """What the file holds, in a sentence."""
        fitted = sum(s.parameters is not None for s in self.segments)
        apart = f", apart by {', '.join(self.keys)}" if self.keys else ""
        number = "one map" if fitted == 1 else f"{fitted} maps"
        return f"{self.method.words}; {number} fitted on all answers{apart}"

    def to_json(self) -> str:
        """Return the file as text."""
        content = {
            "kind": KIND,
            "schema": self.schema,
            "summary": self.words,
            "created_by": f"hmeta {version('hmeta')}",
            "source": self.source,
            "method": self.method.name,
            "options": self.options,
            "input": "confidence on the unit interval, (c − lower)/(upper − lower); mirrored where reversed is 1",
            "segment_columns": list(self.keys),
            "pooled": list(self.pooled),
            "segments": [_segment_json(one) for one in self.segments],
        }
        return json.dumps(content, ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def _segment_json(one: SegmentMap) -> dict[str, Any]:
    head = {"at": one.at, "scales": list(one.scales), "n": one.n, "n_right": one.n_right}
    return head | ({"reason": one.reason} if one.parameters is None else {"parameters": one.parameters})


def write_map(maps: MapFile, path: str | Path, *, overwrite: bool = False) -> None:
    """Save maps as JSON, whole or not at all.

    Raises
    ------
    OutputError
        Where the file exists already or cannot be written.
    """
    check_output(path, overwrite=overwrite)
    write_bytes(maps.to_json().encode(), Path(path))


def read_map(path: str | Path) -> MapFile:
    """Read maps saved by `write_map`.

    Raises
    ------
    DataError
        Where the file is missing, no calibration map, of another schema version, or damaged.
    """
    path = Path(path)
    check_input(path, pattern="*.json")
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise DataError("this is not a calibration map", where=str(path), received=f"no JSON: {error}") from error
    if not isinstance(content, dict) or content.get("kind") != KIND:
        raise DataError(
            "this is not a calibration map", where=str(path), mend="make one: hmeta calibrate … --save-map map.json"
        )
    if content.get("schema") != SCHEMA:
        raise DataError(
            "this version of hmeta cannot read the map's schema version",
            where=str(path),
            received=repr(content.get("schema")),
            allowed=repr(SCHEMA),
        )
    try:
        return _from_json(content)
    except HmetaError as error:
        raise error.at(str(path)) from error
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
        raise DataError(
            "the calibration map is damaged", where=str(path), received=f"{type(error).__name__}: {error}"
        ) from error


def _from_json(content: Mapping[str, Any]) -> MapFile:
    chosen = method(content["method"])
    keys = tuple(map(str, content["segment_columns"]))
    return MapFile(
        method=chosen,
        options=chosen.check(content["options"]),
        keys=keys,
        pooled=tuple(map(str, content["pooled"])),
        segments=tuple(_segment(one, chosen, keys) for one in content["segments"]),
        source=str(content["source"]),
    )


def _segment(one: Mapping[str, Any], chosen: Method, keys: tuple[str, ...]) -> SegmentMap:
    at = {name: str(one["at"][name]) for name in keys}
    scales = tuple({name: float(scale[name]) for name in SCALE_FIELDS} for scale in one["scales"])
    found = SegmentMap(at, scales, float(one["n"]), float(one["n_right"]), reason=str(one.get("reason", "")))
    if "parameters" not in one:
        return found
    _check_parameters(one["parameters"], chosen, found.label)
    return SegmentMap(at, scales, found.n, found.n_right, parameters=one["parameters"])


def _check_parameters(parameters: Mapping[str, Any], chosen: Method, label: str) -> None:
    """Refuse parameters under which some confidence has no probability."""
    numbers = np.concatenate([np.atleast_1d(np.asarray(v, dtype=np.float64)) for v in parameters.values()])
    value = chosen.apply(parameters, np.linspace(0, 1, 101))
    if not (np.isfinite(numbers).all() and np.all((value >= 0) & (value <= 1))):
        raise DataError(
            "the calibration map is damaged",
            where=f"segment {label}",
            received=", ".join(f"{k} = {v}" for k, v in parameters.items() if not isinstance(v, list)),
            allowed="parameters that give probabilities",
        )


def same_scale(one: Mapping[str, float], other: Mapping[str, float]) -> bool:
    """Return whether two scales have the same ends and direction; a step says nothing about their meaning."""
    return all(math.isclose(one[k], other[k], abs_tol=1e-12) for k in ("lower", "upper", "reversed"))
