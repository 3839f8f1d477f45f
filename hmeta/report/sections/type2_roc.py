"""Does the fit reproduce the type-2 ROC of each unit."""

from __future__ import annotations

from collections.abc import Sequence

from scipy.stats import binomtest

from hmeta.report.figures.type2_roc import Roc
from hmeta.report.inputs import FitInput
from hmeta.report.material import Material, count, try_blocks
from hmeta.report.page import PROBABILITY, Block, Column, Paragraph, Table, Text, say

ORDER = 80
TITLE = "Type-2 ROC: observed and replicated"
NEEDS = "a fit with posterior predictive draws"


CHANCE = 0.01
"""Two-sided probability below which units on one side are not put down to chance."""


def build(material: Material) -> Sequence[Block]:
    """Return the curves with their predictive bands, and AUROC2 observed and replicated."""
    return material.each(material.fits, lambda fit: try_blocks(lambda: _blocks(material, fit)))


def _blocks(material: Material, fit: FitInput) -> list[Block]:
    picture, content = material.picture("type2_roc", fit)
    return [Paragraph(_reading(fit, content)), *one_sided(fit, content), picture, _table(material, fit, content)]


def _reading(fit: FitInput, content: Roc) -> Text:
    known = content.units[content.units["why"] == ""]
    inside = known["auroc2_observed"].between(known["lower"], known["upper"]).sum()
    source = f"{fit.file}, observed_data and posterior_predictive"
    return say(
        "Ratings replicated from the posterior should look like the observed ones. The observed AUROC2 lies inside the "
        "{mass:g} % interval of its replicates for {inside} of {n} {units}, and {points} of {of} observed points of "
        "the "
        "curves lie inside their bands.".replace("{mass:g}", f"{100 * content.interval:g}"),
        inside=count(inside, "units whose observed AUROC2 lies inside the replicated interval", source),
        n=count(len(known), "units with right and wrong answers", source),
        units="units",
        points=count(known["n_inside"].sum(), "observed points inside the bands", source),
        of=count(known["n_points"].sum(), "observed points", source),
    )


def one_sided(fit: FitInput, content: Roc) -> list[Block]:
    """Return a caution where replicated AUROC2 lies on one side of the observed more often than by chance."""
    known = content.units[content.units["why"] == ""]
    above = int((known["auroc2_replicated"] > known["auroc2_observed"]).sum())
    if not len(known) or binomtest(above, len(known)).pvalue >= CHANCE:
        return []
    much = above > len(known) / 2
    text = say(
        "The replicated AUROC2 lies {side} the observed one in {n} of {of} units, which chance does not explain: the "
        "fit {does} how well confidence tells right from wrong, and its {parameter} may be too {way}.",
        side="above" if much else "below",
        n=count(above if much else len(known) - above, "units on that side", f"{fit.file}, posterior_predictive"),
        of=count(len(known), "units with right and wrong answers", f"{fit.file}, observed_data"),
        does="overstates" if much else "understates",
        parameter=fit.headline.parameter,
        way="high" if much else "low",
    )
    return [Paragraph(text, "caution")]


def _table(material: Material, fit: FitInput, content: Roc) -> Table:
    columns = {
        "unit": Column(content.by or "unit"),
        "n_right": Column("right", ",.0f"),
        "n_wrong": Column("wrong", ",.0f"),
        "auroc2_observed": Column("AUROC2 observed", ".3f"),
        "auroc2_replicated": Column("replicated", ".3f"),
        "lower": Column(f"{100 * content.interval:g} % interval", ".3f", upper="upper"),
        "p": Column("P(replicated larger)", PROBABILITY),
    }
    if (content.units["why"] != "").any():
        columns["why"] = Column("to know")
    caption = "Observed AUROC2 and that of replicated ratings; probabilities near 0 or 1 show misfit."
    source = f"{fit.file}, observed_data and posterior_predictive"
    return Table(material.name("type2-roc", fit), (caption,), content.units, columns, source)
