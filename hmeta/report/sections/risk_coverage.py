"""What is gained by answering only where confidence is high."""

from __future__ import annotations

from collections.abc import Sequence

from hmeta.report.inputs import ResultsInput
from hmeta.report.material import Material, listed, try_blocks
from hmeta.report.page import Block, Cite, Column, Paragraph, Table, say

ORDER = 130
TITLE = "Risk and coverage"
NEEDS = "a results file: hmeta import answers.csv -o results.nc"


def build(material: Material) -> Sequence[Block]:
    """Return the risk-coverage curves and the areas under them."""
    return material.each(material.results, lambda one: try_blocks(lambda: _blocks(material, one)))


def _blocks(material: Material, one: ResultsInput) -> list[Block]:
    picture, content = material.picture("risk_coverage", one)
    columns = {
        "unit": Column(content.facts["by"] or "unit"),
        "n": Column("answers", ",.0f"),
        "risk": Column("risk, all answered", ".3f"),
        "aurc": Column("AURC", ".3f"),
        "excess_aurc": Column("excess AURC", ".3f"),
    }
    reading = say(
        "Keeping only answers above a confidence threshold leaves some share of them, the coverage, of which some "
        "share is wrong, the risk {cite}. The area under the curve (AURC) is lower the better; its excess is over the "
        "best order of the same answers.",
        cite=Cite("geifman2017"),
    )
    caption = "Risk with every answer kept, and areas under the risk-coverage curves."
    source = f"{one.file}, hmeta curve risk_coverage"
    table = Table(material.name("risk-coverage", one), (caption,), content.units, columns, source)
    return [Paragraph(reading), picture, table, *listed([*content.notes, *content.without])]
