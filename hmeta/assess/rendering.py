"""A table of measures for people and for papers: wide or long, as text, CSV, JSON, LaTeX or NetCDF."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from hmeta.assess.table import MetricTable
from hmeta.trials.columns import encode
from hmeta.trials.tables import attributes

DASH = "–"


def wide(table: MetricTable) -> pd.DataFrame:
    """Return one row a cell with `n` and one text column a measure: estimate [lower, upper].

    Columns are named by the measure's label, or as the user wrote it where options were set.
    """
    frame = table.frame
    cells = frame[list(table.factors)].drop_duplicates().reset_index(drop=True)
    n_measures = len(table.requests)
    out = cells.assign(n=frame["n"].to_numpy().reshape(-1, n_measures).max(axis=1))
    for place, request in enumerate(table.requests):
        out[heading(request)] = [value_text(row) for row in frame.iloc[place::n_measures].to_dict("records")]
    return out


def heading(request: Any) -> str:
    """Return what a column of a measure is called."""
    return request.name if request.options else request.measure.label


def value_text(row: Mapping[Any, Any]) -> str:
    """Return "0.712 [0.690, 0.733]", without brackets where there is no interval, a dash without an estimate."""
    if np.isnan(row["estimate"]):
        return DASH
    text = number(row["estimate"])
    if not (np.isnan(row["lower"]) or np.isnan(row["upper"])):
        text = f"{text} [{number(row['lower'])}, {number(row['upper'])}]"
    if not np.isnan(row.get("p_null", np.nan)):
        text = f"{text} (by chance {number(row['null_mean'])}, p {row['p_null']:.4f})"
    if row.get("n_undefined", 0) and "n_units" in row:
        text = f"{text} ({row['n_units']} of {row['n_units'] + row['n_undefined']})"
    return text


def number(value: float) -> str:
    """Return a number with three decimals, whole numbers and those above 100 without, huge ones as powers of ten."""
    if np.isinf(value):
        return "∞" if value > 0 else "−∞"
    if abs(value) >= 1e6:
        return f"{value:.2e}"
    whole = abs(value) >= 2 and float(value).is_integer()  # a count; 1 may be a share
    return f"{value:,.0f}" if whole or abs(value) >= 100 else f"{value:.3f}"


def reasons(table: MetricTable) -> list[str]:
    """Return why values are missing, one line a reason, with the cells named."""
    told = table.frame[table.frame["reason"] != ""]
    lines = []
    for (reason, lacking), part in told.groupby(["reason", told["estimate"].isna()], sort=False):
        names = list(dict.fromkeys(part["metric"]))
        cells = part[list(table.factors)].drop_duplicates().astype("str").agg(", ".join, axis=1).tolist()
        where = f" in {_some(cells, 'cells')}" if table.factors and cells else ""
        lines.append(f"{reason}: {'no ' if lacking else ''}{_some(names, 'measures')}{where}")
    return lines


def _some(words: Sequence[str], what: str, most: int = 4) -> str:
    if len(words) <= most:
        return "; ".join(words)
    return f"{'; '.join(words[:most])} and {len(words) - most} more {what}"


def to_csv(table: MetricTable) -> str:
    """Return the long table as CSV, numbers in full."""
    return table.frame.to_csv(index=False, lineterminator="\n")


def to_latex(table: MetricTable) -> str:
    """Return the wide table as LaTeX (booktabs), special characters escaped."""
    shown = wide(table).astype({"n": "int64"})
    style = shown.style.format(escape="latex").format_index(escape="latex", axis=1).hide(axis="index")
    level = f"{100 * table.resampling.level:g}"
    caption = f"Measures of confidence with {level}\\,\\% bootstrap intervals." if table.resampling.size else None
    text = style.to_latex(hrules=True, caption=caption, position_float=None)
    return text.replace("–", "--").replace("∞", "$\\infty$").replace("−", "$-$")


def content(table: MetricTable) -> dict[str, Any]:
    """Return everything as plain values for JSON."""
    plan = table.resampling
    return {
        "factors": list(table.factors),
        "metrics": {r.name: {"unit": r.measure.unit, "better": r.measure.better} for r in table.requests},
        "resampling": {
            "size": plan.size,
            "level": plan.level,
            "kind": plan.kind,
            "cluster": plan.cluster,
            "strata": plan.strata,
            "seed": plan.seed,
            "null": plan.null,
        },
        "notes": list(table.notes),
        "screen": list(table.screen),
    }


def to_dataset(table: MetricTable, *, source: str) -> xr.Dataset:
    """Return the long table as a dataset of layout `metrics`."""
    import json

    words = attributes("metrics", source=source, title="measures of confidence", validation=table.validation)
    data = {str(name): ("row", encode(table.frame[name])) for name in table.frame.columns}
    return xr.Dataset(data, attrs=words | {"content": json.dumps(content(table), ensure_ascii=False)})
