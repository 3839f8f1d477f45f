"""How the headline changes with the number of levels of the scale."""

from __future__ import annotations

from collections.abc import Sequence

from hmeta.core.errors import DataError
from hmeta.report.figures.granularity import Granularity
from hmeta.report.inputs import FitInput
from hmeta.report.material import Material, posterior_columns
from hmeta.report.page import Block, Column, Paragraph, Table, Text, number, say

ORDER = 70
TITLE = "Granularity of the scale"
NEEDS = "a fit with a factor scale whose scales differ in their number of levels"


def build(material: Material) -> Sequence[Block]:
    """Return the curve over the number of levels, where scales differ in it."""
    return material.each(material.fits, lambda fit: _blocks(material, fit))


def _blocks(material: Material, fit: FitInput) -> list[Block]:
    try:
        picture, content = material.picture("granularity", fit)
    except DataError:
        return []
    return [Paragraph(_reading(fit, content)), picture, _table(material, fit, content)]


def _reading(fit: FitInput, content: Granularity) -> Text:
    scales, source = content.scales, f"{fit.file}, posterior/{content.parameter}"
    low, high = (scales.iloc[int(scales["median"].argsort().iloc[i])] for i in (0, -1))
    return say(
        "Averaged over what was observed, {parameter} is smallest on scale {lowest} ({low}) and largest on {highest} "
        "({high}).",
        parameter=content.parameter,
        lowest=str(low["scale"]),
        low=number(low["median"], ".2f", f"{content.parameter} on scale {low['scale']}", source),
        highest=str(high["scale"]),
        high=number(high["median"], ".2f", f"{content.parameter} on scale {high['scale']}", source),
    )


def _table(material: Material, fit: FitInput, content: Granularity) -> Table:
    columns = {
        "scale": Column("scale"),
        "levels": Column("levels", ",.0f"),
        **posterior_columns(material.options.interval),
    }
    caption = f"{content.parameter} by scale, ordered by the number of its levels."
    return Table(
        material.name("granularity", fit),
        (caption,),
        content.scales,
        columns,
        f"{fit.file}, posterior/{content.parameter}",
    )
