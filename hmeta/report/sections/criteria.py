"""How much evidence each confidence takes."""

from __future__ import annotations

from collections.abc import Sequence

from hmeta.report.inputs import FitInput
from hmeta.report.material import Material, posterior_columns, try_blocks
from hmeta.report.page import Block, Column, Paragraph, Table

ORDER = 100
TITLE = "Criteria"
NEEDS = "a fit: hmeta fit results.nc -o fit.nc"

READING = (
    "A criterion is the evidence from which on a unit gives at least a certain confidence. Units that use the scale "
    "alike have criteria at the same places; criteria close together mean that confidences in between are hardly given."
)


def build(material: Material) -> Sequence[Block]:
    """Return the criteria of each group."""
    return material.each(material.fits, lambda fit: try_blocks(lambda: _blocks(material, fit)))


def _blocks(material: Material, fit: FitInput) -> list[Block]:
    picture, content = material.picture("criteria", fit)
    columns = {"group": Column("criteria of")}
    if content.criteria["side"].astype(str).ne("").any():
        columns["side"] = Column("answer")
    columns |= {"confidence": Column("confidence from", "g"), **posterior_columns(content.interval)}
    caption = "Posterior of each criterion; the confidence is the lowest that lies beyond it."
    source = f"{fit.file}, posterior/criteria"
    table = Table(material.name("criteria", fit), (caption,), content.criteria, columns, source)
    return [Paragraph((READING,)), picture, table]
