"""How much the units know: accuracy and d, beside what their confidence makes of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from hmeta.infer.evidence import is_right
from hmeta.infer.fitted import default_unit, level_labels
from hmeta.infer.summary import LEVEL, OVERALL, summarize
from hmeta.report.inputs import FitInput
from hmeta.report.material import Material, count, in_order, posterior_columns, try_blocks
from hmeta.report.page import Block, Column, Paragraph, Table, number, say

ORDER = 40
TITLE = "Accuracy and sensitivity"
NEEDS = "a fit: hmeta fit results.nc -o fit.nc"


FEWEST_RANKED = 10
"""Units from which on a rank correlation is told."""


def build(material: Material) -> Sequence[Block]:
    """Return a table of accuracy and d by unit, and the headline against d."""
    return material.each(material.fits, lambda fit: _blocks(material, fit))


def _blocks(material: Material, fit: FitInput) -> list[Block]:
    known = "d" if fit.holds("d") else "accuracy"
    return [
        *try_blocks(lambda: _picture(material, fit)),
        *try_blocks(lambda: [_table(material, fit, known)]),
    ]


def _picture(material: Material, fit: FitInput) -> list[Block]:
    picture, content = material.picture("knowing", fit)
    units, source = content.units, f"{fit.file}, posterior/{content.x} and posterior/{content.y}"
    if len(units) < FEWEST_RANKED:
        return [picture]
    rho = dict(zip(("rho", "low", "high"), content.rho, strict=True))
    text = say(
        "{x} goes from {lowest} to {highest}. Its rank correlation with {y} over {n} units is {rho} ({low} to "
        "{high}); the interval is about these units' values, not about which units were studied, and errors of {x} "
        "move both axes.",
        x=content.x,
        y=content.y,
        lowest=number(units["x"].min(), ".2f", f"smallest median of {content.x}", source),
        highest=number(units["x"].max(), ".2f", f"largest median of {content.x}", source),
        n=count(content.n_ranked, "units in the rank correlation", source),
        **{name: number(value, ".2f", f"rank correlation, {name}", source) for name, value in rho.items()},
    )
    return [Paragraph(text), picture]


def _table(material: Material, fit: FitInput, known: str) -> Table:
    options = material.options
    frame = summarize(fit.tree, parameter=known, interval=options.interval, kind=options.kind)
    parts = [frame[frame["kind"] == kind].reset_index(drop=True) for kind in (LEVEL, OVERALL)]
    attributes, frame = frame.attrs, pd.concat([in_order(parts[0], "level"), parts[1]], ignore_index=True)
    frame["accuracy"] = accuracy(fit, frame)
    frame.attrs.update(attributes)
    unit = str(frame.attrs["by"]) or "unit"
    columns = {
        "level": Column(unit),
        "n_answers": Column("answers", ",.0f"),
        "accuracy": Column("share right", ".3f"),
        **posterior_columns(options.interval),
    }
    word = f"d ({fit.headline.noise})" if known == "d" and fit.headline.noise else known
    caption = f"Share of right answers as observed, and posterior of {word} by {unit}."
    return Table(material.name(known, fit), (caption,), frame, columns, f"{fit.file}, observed_data, posterior/{known}")


def accuracy(fit: FitInput, frame: pd.DataFrame) -> list[float]:
    """Return the observed share of right answers of each level of a summary, and of everything."""
    fitted = fit.headline
    rows, unit = fitted.observed, default_unit(fitted)
    if rows is None:
        return [float("nan")] * len(frame)
    counts = rows.assign(right=rows["count"] * is_right(rows["outcome"].to_numpy(), str(fitted.attributes["task"])))
    whole = float(counts["right"].sum() / counts["count"].sum())
    if unit is None:
        return [whole] * len(frame)
    names = np.array(level_labels(fitted.factors[unit]), dtype=object)[counts["cell"]]
    sums = counts.groupby(names)[["right", "count"]].sum()
    shares = sums["right"] / sums["count"]
    return [float(shares[row["level"]]) if row["kind"] == LEVEL else whole for row in frame.to_dict("records")]
