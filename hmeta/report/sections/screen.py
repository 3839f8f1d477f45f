"""What is wrong with the confidences, before any number of efficiency is read."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from hmeta.assess.screen import VERDICTS, screen
from hmeta.report.inputs import ResultsInput
from hmeta.report.material import Material, count, in_order, listed, try_blocks
from hmeta.report.page import Block, Column, Paragraph, Table, say

ORDER = 30
TITLE = "Validity screen"
NEEDS = "the results file beside the fit: hmeta report fit.nc results.nc -o report"

KEYS = ["unit", "dataset", "scale", "signal"]


def build(material: Material) -> Sequence[Block]:
    """Return the verdicts and findings of each results file."""
    return material.each(material.results, lambda one: try_blocks(lambda: _blocks(material, one)))


def _blocks(material: Material, one: ResultsInput) -> list[Block]:
    found = screen(one.dataset)
    verdicts = found.raters["verdict"].value_counts()
    numbers = {word: count(verdicts.get(word, 0), f"raters judged {word}", f"{one.file}, screen") for word in VERDICTS}
    head = say(
        "A rater is who answered on one dataset and scale. For measures of discrimination such as M and AUROC2 the "
        "screen judges {usable} of {n} raters usable, {caution} to be looked at before a number is believed, and "
        "{unusable} unusable.",
        n=count(len(found.raters), "raters", f"{one.file}, screen"),
        **numbers,
    )
    blocks: list[Block] = [Paragraph(head, "text" if not verdicts.get("unusable", 0) else "caution")]
    if len(found.flags):
        blocks += _findings(material, one, found.flags)
    return [*blocks, *listed(found.notes), _raters(material, one, found.raters)]


def _findings(material: Material, one: ResultsInput, flags: pd.DataFrame) -> list[Block]:
    table = flags.groupby(["flag", "severity", "meaning", "mend"], sort=False).size().rename("raters").reset_index()
    table["flag"] = table["flag"].str.replace("_", " ")
    caption = "What the screen found, what it means and what can be done."
    columns = {
        "flag": Column("finding"),
        "raters": Column("raters", ",.0f"),
        "severity": Column("verdict"),
        "meaning": Column("what it means"),
        "mend": Column("what to do"),
    }
    return [Table(material.name("findings", one), (caption,), table, columns, f"{one.file}, screen")]


def _raters(material: Material, one: ResultsInput, raters: pd.DataFrame) -> Table:
    kept = [key for key in KEYS if key in raters and (key == "unit" or raters[key].nunique() > 1)]
    columns = {
        **{key: Column("rater" if key == "unit" else key) for key in kept},
        "n": Column("answers", ",.0f"),
        "accuracy": Column("accuracy", ".2f"),
        "levels": Column("levels used", ",.0f"),
        "top_share": Column("most used level's share", ".2f"),
        "auroc2": Column("AUROC2", ".2f"),
        "verdict": Column("verdict"),
        "flags": Column("findings"),
    }
    raters = in_order(raters.assign(flags=raters["flags"].str.replace("_", " ")), "unit")
    gray = tuple(raters["verdict"] == VERDICTS[-1])
    caption = (
        "Each rater: usable answers, accuracy, use of the scale, AUROC2 of the answers as they are, and the verdict."
    )
    return Table(material.name("raters", one), (caption,), raters, columns, f"{one.file}, screen", gray)
