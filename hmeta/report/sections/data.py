"""Who answered what, what was excluded and why."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from hmeta.report.inputs import FitInput, Input, ResultsInput
from hmeta.report.material import Material, count, in_order
from hmeta.report.page import Block, Column, Listing, Paragraph, Table, number, say
from hmeta.trials import validate

ORDER = 20
TITLE = "Data and validation"
NEEDS = "a fit or a results file"

TASKS = {
    "binary": "two-choice questions, with what was shown and what was answered",
    "mafc": "questions with a fixed number of alternatives, of which one is right",
    "open": "open questions, of which only whether they were answered rightly is known",
}


def build(material: Material) -> Sequence[Block]:
    """Return the numbers of answers by unit, and what validation said."""
    files = {one.file for one in material.results}
    inputs: list[Any] = [fit for fit in material.fits if _origin(fit) not in files] + material.results
    return material.each(inputs, lambda one: _blocks(material, one))


def _blocks(material: Material, one: FitInput | ResultsInput) -> list[Block]:
    facts = _facts(one)
    used, total = float(facts.get("rows_used", 0)), float(facts.get("rows_in", 0))
    if not total:
        return []
    usage, excluded = pd.DataFrame(facts["usage"]), pd.DataFrame(facts["exclusions"])
    words = "Of {total} answers in {file}, {used} could be used and {out} were excluded ({share}). The task: {task}."
    if used == total:
        words = "All {total} answers in {file} could be used. The task: {task}."
    head = say(
        words,
        total=count(total, "answers in the file", one.file),
        file=_origin(one),
        used=count(used, "answers used", one.file),
        out=count(total - used, "answers excluded", one.file),
        share=number(100 * (total - used) / total, ".1f", "share of answers excluded", one.file, unit=" %"),
        task=TASKS.get(str(facts.get("task")), str(facts.get("task"))),
    )
    blocks: list[Block] = [Paragraph(head)]
    if len(excluded):
        blocks.append(_exclusions(material, one, excluded))
    warnings = [(f"{w['message'][:1].upper()}{w['message'][1:]}.",) for w in facts.get("warnings", [])]
    if warnings:
        blocks += [Paragraph(("Validation warned:",)), Listing(tuple(warnings))]
    return [*blocks, _usage(material, one, usage, excluded)]


def _facts(one: FitInput | ResultsInput) -> Mapping[str, Any]:
    if isinstance(one, FitInput):
        return one.headline.from_json("validation", {})
    return json.loads(validate(one.dataset).report.to_json())


def _origin(one: Input) -> str:
    if isinstance(one, FitInput):
        return str(one.headline.attributes.get("source") or one.file)
    return one.file


def _exclusions(material: Material, one: Input, excluded: pd.DataFrame) -> Table:
    by_reason = excluded.groupby("reason", sort=False)["count"].agg(["sum", "size"]).reset_index()
    frame = by_reason.set_axis(["reason", "answers", "places"], axis=1).sort_values("answers", ascending=False)
    return Table(
        material.name("exclusions", one),
        ("Answers that were excluded, by reason; places are combinations of who answered, dataset and scale.",),
        frame,
        {"reason": Column("reason"), "answers": Column("answers", ",.0f"), "places": Column("places", ",.0f")},
        f"{one.file}, validation",
    )


def _usage(material: Material, one: Input, usage: pd.DataFrame, excluded: pd.DataFrame) -> Table:
    keys = ["unit", "dataset", "scale"]
    kept = [key for key in keys if key == "unit" or usage[key].nunique() > 1]
    sums = usage.groupby(kept, sort=True)[["rows_in", "rows_used"]].sum().reset_index()
    sums["excluded"] = sums["rows_in"] - sums["rows_used"]
    if len(excluded):
        sums = sums.merge(_reasons(excluded, kept), on=kept, how="left").fillna({"reasons": ""})
    sums = in_order(sums, "unit")
    columns = {
        **{key: Column("who answered" if key == "unit" else key) for key in kept},
        "rows_in": Column("answers", ",.0f"),
    }
    if (sums["excluded"] > 0).any():
        columns |= {"rows_used": Column("used", ",.0f"), "excluded": Column("excluded", ",.0f")}
    if "reasons" in sums:
        columns["reasons"] = Column("why")
    caption = "Answers by who gave them, before and after validation."
    return Table(material.name("answers", one), (caption,), sums, columns, f"{one.file}, validation")


def _reasons(excluded: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Return the reasons of each place with their numbers as text."""
    sums = excluded.groupby([*keys, "reason"], sort=True)["count"].sum().reset_index()
    sums["reasons"] = [f"{reason} {n:,.0f}" for reason, n in zip(sums["reason"], sums["count"], strict=True)]
    return sums.groupby(keys)["reasons"].agg(", ".join).reset_index()
