"""Differences between the levels of a factor: direction, size, and whether they matter."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hmeta.infer.contrast import contrast
from hmeta.infer.contrast_tables import NEW, OBSERVED, Contrasts
from hmeta.report.inputs import FitInput, factors_of
from hmeta.report.material import Material, count, in_order, listed, posterior_columns, slug, try_blocks
from hmeta.report.page import PROBABILITY, Block, Cite, Column, Paragraph, Table, number, say

ORDER = 60
TITLE = "Contrasts"
NEEDS = "a fit of data with a factor beside who answered, such as scale, condition or dataset"

SURE = 0.975
"""From this posterior probability on a direction counts as known in the text."""


def build(material: Material) -> Sequence[Block]:
    """Return a figure and tables for each factor beside who answered."""
    return material.each(
        material.fits,
        lambda fit: [block for by in factors_of(fit) for block in try_blocks(lambda by=by: _blocks(material, fit, by))],
    )


def _blocks(material: Material, fit: FitInput, by: str) -> list[Block]:
    options = material.options
    baseline = options.baseline if options.baseline in set(map(str, fit.headline.factors[by])) else None
    found = contrast(fit.tree, by, baseline=baseline, rope=options.rope, interval=options.interval, kind=options.kind)
    picture, _ = material.picture("contrasts", fit, where=f"contrasts-{slug(by)}", by=by, baseline=found.baseline)
    blocks: list[Block] = [_reading(fit, found), picture, _table(material, fit, found), _levels(material, fit, found)]
    blocks += listed([*found.notes, *_by_construction(found)])
    return blocks


def _reading(fit: FitInput, found: Contrasts) -> Paragraph:
    rows = found.contrasts[found.contrasts["estimand"] == OBSERVED]
    source = f"{fit.file}, posterior/{found.parameter}"
    rope = found.rope or (0.0, 0.0)
    sure, same = int((rows["p_direction"] >= SURE).sum()), int((rows["p_rope"] >= SURE).sum())
    return Paragraph(
        say(
            "Differences in {parameter} from {by} {baseline}. The direction has a posterior probability of at least "
            "{sure} for {n_sure} of {n} levels; at least that share of the draws lies inside the region of practical "
            "equivalence ({low} to {high}) for {n_same} {cite}.",
            parameter=found.parameter,
            by=found.by,
            baseline=found.baseline,
            sure=number(SURE, "g", "limit from which a direction counts as known", "by convention"),
            n_sure=count(sure, f"levels of {found.by} whose direction is known", source),
            n=count(len(rows), f"levels of {found.by} compared", source),
            low=number(rope[0], "g", "lower end of the region of practical equivalence", "option rope"),
            high=number(rope[1], "g", "upper end of the region of practical equivalence", "option rope"),
            n_same=count(same, f"levels of {found.by} practically equal to the baseline", source),
            cite=Cite("kruschke2018"),
        )
    )


def _by_construction(found: Contrasts) -> list[str]:
    """Say so where the prediction for a new unit adds nothing to what was observed."""
    rows = found.contrasts.set_index("level")
    new, observed = (rows.loc[rows["estimand"] == estimand, "median"] for estimand in (NEW, OBSERVED))
    if not len(new) or not np.allclose(new, observed.reindex(new.index), rtol=0, atol=1e-9):
        return []
    return [
        f"for a new unit the differences are those observed, by construction: the formula has no effect of {found.by} "
        "that differs between units"
    ]


def _table(material: Material, fit: FitInput, found: Contrasts) -> Table:
    columns = {
        "level": Column(found.by),
        "estimand": Column("for"),
        "n": Column("pairs", ",.0f"),
        **posterior_columns(found.interval),
        "p_direction": Column("P(direction)", PROBABILITY),
        "p_rope": Column("P(in ROPE)", PROBABILITY),
    }
    caption = (
        f"Differences in {found.parameter} from {found.by} {found.baseline}. Observed: averaged over the pairs of "
        f"cells "
        "that were observed under both levels; new: for a unit that was not observed."
    )
    frame = found.contrasts.assign(n=found.contrasts["n"].where(found.contrasts["estimand"] == OBSERVED))
    source = f"{fit.file}, posterior/{found.parameter}"
    return Table(
        material.name(f"contrasts-{slug(found.by)}", fit), (caption,), in_order(frame, "level"), columns, source
    )


def _levels(material: Material, fit: FitInput, found: Contrasts) -> Table:
    columns = {
        "level": Column(found.by),
        "n_answers": Column("answers", ",.0f"),
        **posterior_columns(found.interval),
        "p_best": Column("P(largest)", PROBABILITY),
    }
    caption = f"{found.parameter} of each level of {found.by}, and the probability that it has the largest."
    source = f"{fit.file}, posterior/{found.parameter}"
    return Table(
        material.name(f"levels-{slug(found.by)}", fit), (caption,), in_order(found.levels, "level"), columns, source
    )
