"""What an import came to, in numbers and in one line."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import xarray as xr

from hmeta.trials.columns import MISSING_TEXT
from hmeta.trials.tables import SCALE_COLUMNS, unit_columns


def summarise(dataset: xr.Dataset) -> dict[str, Any]:
    """Return the facts of an imported dataset.

    Parameters
    ----------
    dataset : xarray.Dataset
        Any layout.

    Returns
    -------
    dict
        layout, task, rows (answers, for counts their sum; estimates), missing (confidence and correctness),
        units, scales, columns, labels, notes, and `text`, the same in one line.
    """
    layout = str(dataset.attrs["hmeta_layout"])
    rows = _rows(dataset, layout)
    facts: dict[str, Any] = {"layout": layout, "task": str(dataset.attrs["task"]), "rows": rows}
    facts["units"] = {
        name: len(set(dataset[name].values.astype(str)) - {MISSING_TEXT}) for name in unit_columns(dataset.variables)
    }
    facts["missing"] = _missing(dataset) if layout == "trials" else {}
    facts["scales"] = _scales(dataset)
    for key, kind in (("columns", "{}"), ("labels", "{}"), ("notes", "[]")):
        facts[key] = json.loads(dataset.attrs.get(f"import_{key}", kind))
    return facts | {"text": _line(facts)}


def _rows(dataset: xr.Dataset, layout: str) -> float:
    if layout != "counts":
        return int(dataset.sizes["trial" if layout == "trials" else "row"])
    total = float(dataset["count"].sum())
    return int(total) if total.is_integer() else total


def _missing(dataset: xr.Dataset) -> dict[str, int]:
    return {
        "confidence": int(np.isnan(dataset["confidence"].values).sum()),
        "correct": int((dataset["correct"].values == -1).sum()),
    }


def _scales(dataset: xr.Dataset) -> dict[str, dict[str, float]]:
    if "scale_id" not in dataset.variables:
        return {}
    columns = {name.removeprefix("scale_"): dataset[name].values for name in SCALE_COLUMNS}
    names = dataset["scale_id"].values
    return {str(name): {key: float(values[i]) for key, values in columns.items()} for i, name in enumerate(names)}


def _line(facts: dict[str, Any]) -> str:
    what = {"trials": "answers", "counts": "answers, counted", "estimates": "estimates"}[facts["layout"]]
    units = ", ".join(f"{count} {name}s" for name, count in facts["units"].items())
    missing = ", ".join(f"{count} without {name}" for name, count in facts["missing"].items() if count)
    scales = ", ".join(facts["scales"])
    parts = [
        f"{facts['rows']:,} {what}",
        units,
        f"task {facts['task']}",
        f"scale {scales}" if scales else "",
        missing,
    ]
    return "; ".join(part for part in parts if part)
