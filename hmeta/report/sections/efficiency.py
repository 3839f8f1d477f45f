"""The headline of each fit, M or AUROC2, by every factor."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from hmeta.infer.parameter_words import words_of
from hmeta.infer.summary import LEVEL, NEW, TYPICAL, summarize
from hmeta.report.inputs import FitInput, factors_of, unit_word
from hmeta.report.material import Material, posterior_columns, slug
from hmeta.report.page import PROBABILITY, Block, Column, Paragraph, Table

ORDER = 50
TITLE = "Metacognitive efficiency and discrimination"
NEEDS = "a fit: hmeta fit results.nc -o fit.nc"

READING = (
    "M = meta-d′ / d′ sets the sensitivity that confidence shows beside that of the answers: 1 where confidence uses "
    "all the evidence behind the answer, 0 where it says nothing about right and wrong, below 0 where it is higher "
    "for wrong answers, above 1 where it uses more than the answer did. M compares units of different accuracy; it "
    "does not say whether stated probabilities are right."
)
READING_OPEN = (
    "An open task has no table of stimuli and responses, so that M does not exist for it. AUROC2 is the probability "
    "that a right answer has more confidence than a wrong one; it also depends on accuracy."
)


def build(material: Material) -> Sequence[Block]:
    """Return a forest and a table for who answered and for each other factor."""
    return material.each(material.fits, lambda fit: _blocks(material, fit))


def _blocks(material: Material, fit: FitInput) -> list[Block]:
    blocks: list[Block] = [Paragraph((READING if fit.headline.parameter == "M" else READING_OPEN,))]
    for by in [None, *factors_of(fit)]:
        blocks += _by(material, fit, by)
    return blocks


def _by(material: Material, fit: FitInput, by: str | None) -> list[Block]:
    options = material.options
    frame = summarize(fit.tree, by=by, interval=options.interval, kind=options.kind)
    word = str(frame.attrs["by"] or unit_word(fit))
    picture, _ = material.picture("forest", fit, where=f"forest-{word}", by=by)
    return [picture, table(material, fit, frame, word)]


def table(material: Material, fit: FitInput, frame: pd.DataFrame, by: str) -> Table:
    """Return a summary as a table; rows that the data cannot identify are dimmed."""
    parameter = str(frame.attrs["parameter"])
    words = words_of(parameter)
    ordered = pd.concat(
        [
            frame[frame["kind"] == LEVEL].sort_values("median", ascending=False, kind="stable"),
            frame[frame["kind"] != LEVEL],
        ]
    )
    ordered = ordered.assign(n_answers=ordered["n_answers"].where(ordered["n_cells"] > 0))
    columns = {
        "level": Column(by),
        "n_answers": Column("answers", ",.0f"),
        **posterior_columns(material.options.interval),
    }
    if fit.headline.link != "log":
        columns[words.below] = Column(f"P(< {words.chance:g})", PROBABILITY)
    if "meta_d_minus_d" in ordered:
        columns["meta_d_minus_d"] = Column("meta_d − d", ".2f")
    if (ordered["flags"] != "").any():
        columns["flags"] = Column("to know")
    noise = f" ({frame.attrs['noise']})" if frame.attrs["noise"] else ""
    caption = f"{words.title.split(' (')[0]}{noise} by {by}: posterior median and interval."
    if "meta_d_minus_d" in ordered:
        caption += " meta_d − d is the difference whose ratio M is."
    if (ordered["kind"] == TYPICAL).any():
        caption += " Typical: all group effects at 0."
    if (ordered["kind"] == NEW).any():
        caption += " New: the prediction for one that was not observed."
    return Table(
        material.name(f"{parameter}-{slug(by)}", fit),
        (caption,),
        ordered.reset_index(drop=True),
        columns,
        f"{fit.file}, posterior/{parameter}",
        tuple(ordered["flags"].str.contains("uninformative", regex=False)),
    )
