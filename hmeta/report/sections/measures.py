"""Measures without a model: tables of measures, and the usual ones of each results file."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from hmeta.assess.compute import compute_metrics
from hmeta.assess.rendering import content
from hmeta.assess.table import Resampling
from hmeta.metrics.catalogue import measures
from hmeta.report.inputs import MetricsInput, ResultsInput
from hmeta.report.material import Material, listed, try_blocks
from hmeta.report.page import Block, Cite, Column, Paragraph, Table, Text, number, say
from hmeta.resample.intervals import NAMES

ORDER = 110
TITLE = "Measures"
NEEDS = "a results file, or a table of measures: hmeta metrics results.nc -o metrics.nc"

RESAMPLES = 2000
"""Of the main measures of a results file; a table of measures brings its own."""

MOST_IN_TABLE = 5
"""Measures with intervals in one table; more make several."""

MOST_TOLD = 12


def build(material: Material) -> Sequence[Block]:
    """Return a figure and tables for each table of measures, and of the main measures of each results file."""
    tables: list[MetricsInput] = list(material.metrics)
    return [
        *material.each(tables, lambda one: try_blocks(lambda: _blocks(material, one))),
        *material.each(material.results, lambda one: try_blocks(lambda: _blocks(material, _main(one)))),
    ]


def _main(one: ResultsInput) -> MetricsInput:
    """Return the main measures that a results file allows, by who answered."""
    table = compute_metrics(one.dataset, resampling=Resampling(size=RESAMPLES))
    return MetricsInput(one.name, one.file, table.frame, table.factors, content(table))


def _blocks(material: Material, one: MetricsInput) -> list[Block]:
    picture, _ = material.picture("measures", one)
    names = list(dict.fromkeys(one.frame["metric"]))
    n_tables = -(-len(names) // MOST_IN_TABLE)
    groups = [list(group) for group in np.array_split(np.array(names, dtype=object), n_tables)]
    tables = [_table(material, one, group, f"-{i}" if len(groups) > 1 else "") for i, group in enumerate(groups, 1)]
    notes = [*one.content.get("notes", []), *_reasons(one), *_beside(one)]
    return [Paragraph(_how(one)), picture, *tables, *listed(notes)]


def _how(one: MetricsInput) -> Text:
    plan = one.content.get("resampling", {})
    if not plan.get("size"):
        return ("Measures of the answers as they are, without intervals.",)
    whole = f" of whole {plan['cluster']}s" if plan.get("cluster") else ""
    return say(
        "Measures of the answers as they are, with {level} % {kind} bootstrap intervals from {size} resamples{whole} "
        "{cite}.",
        level=number(100 * plan["level"], "g", "level of the intervals", one.file),
        kind=NAMES[plan["kind"]],
        size=number(plan["size"], ",.0f", "bootstrap resamples", one.file),
        whole=whole,
        cite=Cite("efron1987"),
    )


def _table(material: Material, one: MetricsInput, names: list[str], part: str) -> Table:
    keys = list(one.factors)
    frame = wide_numbers(one, names)
    columns = {key: Column(key) for key in keys} | {"n": Column("answers", ",.0f")}
    for name in names:
        columns[name] = Column(label(name), ".3f", lower=f"{name}_lower", upper=f"{name}_upper")
    units = {n: one.content.get("metrics", {}).get(n, {}).get("unit", "") for n in names}
    told = [f"{columns[n].heading} ({unit})" for n, unit in units.items() if unit]
    caption = f"Measures by {' × '.join(keys) or 'file'}: {', '.join(told)}." if told else "Measures."
    return Table(material.name(f"measures{part}", one), (caption,), frame, columns, f"{one.file}, hmeta metrics")


def label(name: str) -> str:
    """Return how a measure is called; with options, as the user wrote it."""
    known = measures()
    return known[name].label if name in known else name


def wide_numbers(one: MetricsInput, names: Sequence[str]) -> pd.DataFrame:
    """Return one row a cell: the factors, n, and each measure with its ends, as numbers."""
    keys = list(one.factors)
    frame = one.frame if keys else one.frame.assign(_all="all")
    index = keys or ["_all"]
    ordered = frame[index].drop_duplicates()
    cells = frame.groupby(index, sort=False)
    out = [cells["n"].max().rename("n")]
    for name in names:
        rows = frame[frame["metric"] == name].set_index(index)
        out += [
            rows["estimate"].rename(name),
            rows["lower"].rename(f"{name}_lower"),
            rows["upper"].rename(f"{name}_upper"),
        ]
    whole = ordered.merge(pd.concat(out, axis=1).reset_index(), on=index, how="left")
    return whole if keys else whole.drop(columns="_all")


def _beside(one: MetricsInput) -> list[str]:
    """Say which measures have intervals that do not hold their estimate."""
    rows = one.frame
    out = rows[(rows["estimate"] < rows["lower"]) | (rows["estimate"] > rows["upper"])]
    return [
        f"{label(str(name))}: {n} interval{'s' if n > 1 else ''} without the estimate, which is biased in samples of "
        "this size; the interval corrects for it"
        for name, n in out["metric"].value_counts().items()
    ]


def _reasons(one: MetricsInput) -> list[str]:
    told = one.frame[one.frame["reason"].astype(str) != ""].drop_duplicates(["metric", "reason"])
    lines = [f"{label(str(row['metric']))}: {row['reason']}" for row in told.to_dict("records")]
    return lines[:MOST_TOLD] + ([f"and {len(lines) - MOST_TOLD} more reasons"] if len(lines) > MOST_TOLD else [])
