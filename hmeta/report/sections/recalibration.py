"""What a map of confidence to probability, learned from other answers, would mend."""

from __future__ import annotations

from collections.abc import Sequence

from hmeta.report.inputs import ResultsInput
from hmeta.report.material import Material, listed, try_blocks
from hmeta.report.page import Block, Cite, Column, Paragraph, Table, say
from hmeta.report.sections.reliability import read_as_probabilities

ORDER = 140
TITLE = "Calibration before and after"
NEEDS = "a results file whose confidence is on a scale that stands for a probability"


def build(material: Material) -> Sequence[Block]:
    """Return calibration errors before and after cross-fitted beta maps, with what shows a collapse."""
    return material.each(material.results, lambda one: try_blocks(lambda: _blocks(material, one)))


def _blocks(material: Material, one: ResultsInput) -> list[Block]:
    picture, content = material.picture("calibration", one)
    columns = {
        "unit": Column(content.by or "unit"),
        "n": Column("answers", ",.0f"),
        "accuracy": Column("accuracy", ".3f"),
        "ece_before": Column("ECE before", ".3f"),
        "ece_after": Column("after", ".3f"),
        "brier_before": Column("Brier before", ".3f"),
        "brier_after": Column("after", ".3f"),
        "brier_base": Column("of the base rate", ".3f"),
    }
    if (content.units["reason"] != "").any():
        columns["reason"] = Column("to know")
    reading = say(
        "Beta maps {cite} judged {judged}. A low error after the map is worth little where the Brier score is that of "
        "always stating the share of right answers.",
        cite=Cite("kull2017"),
        judged=content.judged,
    )
    cautions = [Paragraph((f"{text[:1].upper()}{text[1:]}.",), "caution") for text in content.cautions]
    caption = "Expected calibration error and Brier score before and after, and the Brier score of the base rate."
    source = f"{one.file}, hmeta calibrate --method beta"
    table = Table(material.name("calibration", one), (caption,), content.units, columns, source)
    return [
        *read_as_probabilities(content.notes),
        Paragraph(reading),
        *cautions,
        picture,
        table,
        *listed(content.notes),
    ]
