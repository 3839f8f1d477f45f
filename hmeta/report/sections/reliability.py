"""Are stated confidences right as often as they say."""

from __future__ import annotations

from collections.abc import Sequence

from hmeta.report.inputs import ResultsInput
from hmeta.report.material import Material, listed, try_blocks
from hmeta.report.page import Block, Cite, Column, Paragraph, Table, say

ORDER = 120
TITLE = "Reliability"
NEEDS = "a results file whose confidence is on a scale that stands for a probability"


AS_PROBABILITIES = "as probabilities"


def build(material: Material) -> Sequence[Block]:
    """Return the reliability diagrams and their numbers."""
    return material.each(material.results, lambda one: try_blocks(lambda: _blocks(material, one)))


def read_as_probabilities(notes: Sequence[str]) -> list[Block]:
    """Return a caution where ratings that are no probabilities are read as such."""
    if not any(AS_PROBABILITIES in note for note in notes):
        return []
    return [
        Paragraph(
            (
                "These ratings are no probabilities. ECE and Brier score depend on reading them as equally spaced "
                "from 0 to 1; their absolute values mean nothing by themselves.",
            ),
            "caution",
        )
    ]


def _blocks(material: Material, one: ResultsInput) -> list[Block]:
    picture, content = material.picture("reliability", one)
    unit = str(content.facts["by"] or "unit")
    units = {
        "unit": Column(unit),
        "n": Column("answers", ",.0f"),
        "confidence": Column("mean confidence", ".3f"),
        "accuracy": Column("accuracy", ".3f"),
        "ece": Column("ECE", ".3f"),
    }
    reading = say(
        "On the diagonal, answers are right as often as their confidence says; below it, confidence is too high "
        "{cite}.",
        cite=Cite("naeini2015"),
    )
    source = f"{one.file}, hmeta curve reliability"
    caption = "Mean confidence, accuracy and expected calibration error."
    return [
        *read_as_probabilities(content.notes),
        Paragraph(reading),
        picture,
        Table(material.name("reliability", one), (caption,), content.units, units, source),
        *listed([*content.notes, *content.without]),
    ]
