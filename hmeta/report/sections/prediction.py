"""How well fits predict cells that they have not seen."""

from __future__ import annotations

from collections.abc import Sequence

from hmeta.infer.leave_out import Loo, compare_loo
from hmeta.report.inputs import FitInput
from hmeta.report.material import Material, count, try_blocks
from hmeta.report.page import Block, Cite, Column, Paragraph, Table, Text, number, say

ORDER = 180
TITLE = "Leave-one-out cross-validation"
NEEDS = "a fit with pointwise log likelihoods"


def build(material: Material) -> Sequence[Block]:
    """Return leave-one-out of each fit, and their comparison where they are of the same answers."""
    blocks = material.each(material.fits, lambda fit: try_blocks(lambda: _blocks(material, fit)))
    if len(material.fits) > 1:
        blocks += try_blocks(lambda: [_comparison(material)])
    return blocks


def _blocks(material: Material, fit: FitInput) -> list[Block]:
    picture, content = material.picture("leave_out", fit)
    if content.loo.n_bad > len(content.loo.pointwise) / 2:
        return [Paragraph(_cannot(fit, content.loo), "caution")]
    tone = "caution" if content.loo.n_bad else "text"
    return [Paragraph(_reading(fit, content.loo), tone), picture]


def _cannot(fit: FitInput, found: Loo) -> Text:
    source = f"{fit.file}, log_likelihood"
    return say(
        "Leave-one-out cross-validation over cells {cite} cannot be estimated by importance sampling: Pareto k is "
        "above 0.7 in {bad} of {n} cells, each of which has effects of its own that rest on its answers.",
        cite=Cite("vehtari2017"),
        bad=count(found.n_bad, "cells with Pareto k above 0.7", source),
        n=count(len(found.pointwise), "cells", source),
    )


def _reading(fit: FitInput, found: Loo) -> Text:
    source = f"{fit.file}, log_likelihood"
    return say(
        "Leave-one-out cross-validation over cells by Pareto-smoothed importance sampling {cite}: expected log "
        "predictive density {elpd} (standard error {se}), effective number of parameters {p}; Pareto k above 0.7 in "
        "{bad} of {n} cells{verdict}.",
        cite=Cite("vehtari2017"),
        elpd=number(found.elpd, ",.1f", "expected log predictive density", source),
        se=number(found.se, ",.1f", "its standard error", source),
        p=number(found.p, ",.1f", "effective number of parameters", source),
        bad=count(found.n_bad, "cells with Pareto k above 0.7", source),
        n=count(len(found.pointwise), "cells", source),
        verdict=": the sum is unreliable, and so is a comparison that rests on it" if found.n_bad else "",
    )


def _comparison(material: Material) -> Table:
    frame = compare_loo({fit.name: fit.tree for fit in material.fits}).reset_index()
    columns = {
        "fit": Column("fit"),
        "elpd": Column("elpd", ",.1f"),
        "difference": Column("difference", ",.1f"),
        "se_difference": Column("its standard error", ",.1f"),
        "p": Column("parameters", ",.1f"),
        "weight": Column("stacking weight", ".2f"),
        "n_bad": Column("cells with k > 0.7", ",.0f"),
        "note": Column("to know"),
    }
    caption = "Fits of the same answers by leave-one-out cross-validation, the best first."
    return Table(
        "models", (caption,), frame, columns, ", ".join(f"{fit.file}, log_likelihood" for fit in material.fits)
    )
