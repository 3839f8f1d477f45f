"""Tables of measures as text and as files; the suffix says which kind."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path

from hmeta.assess.rendering import content, to_csv, to_dataset, to_latex
from hmeta.assess.table import MetricTable
from hmeta.core.errors import OutputError
from hmeta.core.files import check_output, write_bytes, write_dataset
from hmeta.core.registry import did_you_mean

SCHEMA = "1"
NETCDF = ".nc"


def _to_json(table: MetricTable) -> str:
    rows = [
        {str(k): None if isinstance(v, float) and not math.isfinite(v) else v for k, v in row.items()}
        for row in table.frame.to_dict("records")
    ]
    return json.dumps({"schema": SCHEMA, **content(table), "values": rows}, ensure_ascii=False) + "\n"


FORMATS: dict[str, Callable[[MetricTable], str]] = {"csv": to_csv, "json": _to_json, "latex": to_latex}
SUFFIXES = {".csv": "csv", ".json": "json", ".tex": "latex"}


def render(table: MetricTable, format: str) -> str:
    """Return the table as text of one of `FORMATS`."""
    return FORMATS[format](table)


def check_format(path: Path, *, inputs: Sequence[Path], overwrite: bool) -> None:
    """Refuse an output that cannot be written, or whose suffix is no kind of table."""
    _check_suffix(path, (NETCDF, *SUFFIXES))
    check_output(path, inputs=inputs, overwrite=overwrite)


def check_csv(path: Path, *, inputs: Sequence[Path], overwrite: bool) -> None:
    """Refuse an output that cannot be written, or is not called a CSV file."""
    _check_suffix(path, (".csv",))
    check_output(path, inputs=inputs, overwrite=overwrite)


def _check_suffix(path: Path, known: tuple[str, ...]) -> None:
    if path.suffix.lower() not in known:
        raise OutputError(
            "unknown kind of table",
            where=str(path),
            received=f'"{path.suffix}"' if path.suffix else "no suffix",
            allowed=known,
            mend=did_you_mean(path.suffix, known) or f"call it {path.stem}.csv",
        )


def write_table(table: MetricTable, path: Path, *, source: str, overwrite: bool = False) -> None:
    """Write the table as the kind of file that its suffix names, whole or not at all."""
    check_format(path, inputs=[], overwrite=overwrite)
    suffix = path.suffix.lower()
    if suffix == NETCDF:
        write_dataset(to_dataset(table, source=source), path, overwrite=overwrite)
        return
    write_bytes(render(table, SUFFIXES[suffix]).encode(), path)
