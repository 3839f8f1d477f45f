"""What was assumed before the data, and how much of it is left in the results."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from hmeta.infer.prior_sensitivity import worst_verdicts
from hmeta.infer.prior_table import prior_table
from hmeta.report.inputs import FitInput
from hmeta.report.material import Material, count, listed, try_blocks
from hmeta.report.page import Block, Cite, Column, Paragraph, Table, Text, number, say

ORDER = 170
TITLE = "Priors and their influence"
NEEDS = "a fit: hmeta fit results.nc -o fit.nc"


NO_CONCERN = "–"
SENSITIVE = 0.05
"""From here on a quantity counts as sensitive (Kallioinen et al. 2024)."""

LEAST_SHIFT = 0.5
"""Posterior standard deviations by which a prior must move the average before it is told."""


def build(material: Material) -> Sequence[Block]:
    """Return the prior table and the sensitivity to power-scaling."""
    return material.each(
        material.fits,
        lambda fit: [
            *try_blocks(lambda: [material.picture("priors", fit)[0]]),
            *try_blocks(lambda: [_priors(material, fit)]),
            *try_blocks(lambda: _sensitivity(material, fit)),
        ],
    )


def _priors(material: Material, fit: FitInput) -> Table:
    frame = prior_table(fit.tree)
    columns = {
        "prior": Column("prior"),
        "on": Column("on"),
        "distribution": Column("distribution"),
        "prior_lower": Column("its central 94 %", ".2f", upper="prior_upper"),
        "posterior_median": Column("posterior", ".2f", lower="posterior_lower", upper="posterior_upper"),
        "shrinkage": Column("learned", ".2f"),
    }
    if frame["level"].astype(str).ne("").any():
        columns = {"prior": columns.pop("prior"), "level": Column("level"), **columns}
    caption = (
        "Priors, with the median and central 94 % of each and of the posterior. Learned is 1 − (posterior sd / "
        "prior sd)²: near 1 the data decide, near 0 the prior."
    )
    return Table(material.name("priors", fit), (caption,), frame, columns, f"{fit.file}, hmeta/spec and posterior")


def _sensitivity(material: Material, fit: FitInput) -> list[Block]:
    found = fit.prior_influence
    frame = worst_verdicts(found)
    frame["prior"] = frame["prior"].where(frame["prior_sensitivity"] >= SENSITIVE, NO_CONCERN)
    columns = {
        "quantity": Column("quantity"),
        "prior": Column("most sensitive to"),
        "prior_sensitivity": Column("to this prior", ".3f"),
        "likelihood_sensitivity": Column("to the data", ".3f"),
        "verdict": Column("verdict"),
    }
    caption = (
        "Sensitivity of each reported quantity to power-scaling the prior that it depends on most, and the "
        "likelihood. From 0.05 on a quantity counts as sensitive."
    )
    table = Table(
        material.name("prior-sensitivity", fit), (caption,), frame, columns, f"{fit.file}, log_likelihood and spec"
    )
    return [
        Paragraph(_reading(fit, frame)),
        *average_rests_on(fit, found),
        table,
        *listed(found.attrs.get("notes", ())),
    ]


def average_rests_on(fit: FitInput, found: pd.DataFrame) -> list[Block]:
    """Return a caution where a prior carries the observed average along: the one that moves it most."""
    average = found[(found["kind"] == "average") & ~found["verdict"].isin(["", NO_CONCERN])]
    sd = float(fit.headline.flat.mean(axis=0).std(ddof=1))
    moving = average[average["shift"].abs() > LEAST_SHIFT * sd]
    if not len(moving):
        return []
    row = moving.sort_values("shift", key=abs).iloc[-1]
    source = f"{fit.file}, log_likelihood and spec"
    text = say(
        "The average of {parameter} rests in part on the {prior}: counted double, they would move it by about {shift}, "
        "while its posterior standard deviation is {sd}. Fit again with a wider prior in the model file, and report "
        "both, before the value is used.",
        parameter=fit.headline.parameter,
        prior=str(row["scaled"]).replace("prior of", "priors of"),
        shift=number(row["shift"], "+.3f", f"move of the average if the {row['scaled']} counted double", source),
        sd=number(sd, ".3f", "posterior standard deviation of the average", source),
    )
    return [Paragraph(text, "caution")]


def _reading(fit: FitInput, frame: pd.DataFrame) -> Text:
    source = f"{fit.file}, log_likelihood and spec"
    conflict = (frame["verdict"] == "prior-data conflict").sum()
    weak = frame["verdict"].str.startswith("weak likelihood").sum()
    return say(
        "Scaling priors and likelihood by powers near 1 {cite} shows how much each of {n} quantities rests on them. "
        "Prior and data are in conflict for {conflict}; for {weak} the prior weighs because the data say little.",
        cite=Cite("kallioinen2024"),
        n=count(len(frame), "quantities looked at", source),
        conflict=count(conflict, "quantities with a conflict between prior and data", source),
        weak=count(weak, "quantities with a strong prior or a weak likelihood", source),
    )
