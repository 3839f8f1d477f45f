"""Which confidences are given, and whether the fit would give them too."""

from __future__ import annotations

from collections.abc import Sequence

from hmeta.report.figures.ratings import Histograms
from hmeta.report.inputs import FitInput
from hmeta.report.material import Material, count, try_blocks
from hmeta.report.page import Block, Column, Paragraph, Table, Text, number, say

ORDER = 90
TITLE = "Ratings: observed and replicated"
NEEDS = "a fit with posterior predictive draws"


def build(material: Material) -> Sequence[Block]:
    """Return the rating histograms with their predictive intervals."""
    return material.each(material.fits, lambda fit: try_blocks(lambda: _blocks(material, fit)))


def _blocks(material: Material, fit: FitInput) -> list[Block]:
    picture, content = material.picture("ratings", fit)
    return [Paragraph(_reading(fit, content)), picture, _table(material, fit, content)]


def _reading(fit: FitInput, content: Histograms) -> Text:
    source = f"{fit.file}, observed_data and posterior_predictive"
    return say(
        "Each bar of the histograms has an interval of replicated ratings; {inside} of {n} observed shares ({share}) "
        "lie inside theirs, of {expected} expected.",
        inside=count(content.bars["inside"].sum(), "observed shares inside their replicated intervals", source),
        n=count(len(content.bars), "shares of ratings", source),
        share=number(100 * content.coverage, ".1f", "share of bars inside", source, unit="\u00a0%"),
        expected=number(100 * content.interval, "g", "mass of the intervals", "option interval", unit="\u00a0%"),
    )


def _table(material: Material, fit: FitInput, content: Histograms) -> Table:
    columns = {
        "unit": Column(content.by or "unit"),
        "n_right": Column("right", ",.0f"),
        "n_wrong": Column("wrong", ",.0f"),
        "n_bars": Column("shares", ",.0f"),
        "n_inside": Column("inside", ",.0f"),
    }
    caption = (
        "Shares of ratings (right and wrong answers apart, at each confidence in use) inside replicated intervals."
    )
    source = f"{fit.file}, observed_data and posterior_predictive"
    return Table(material.name("ratings", fit), (caption,), content.units, columns, source)
