"""Can the draws be trusted: the verdict and the numbers behind it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from hmeta.infer.diagnose import CONSTANT, MAX_R_HAT, MIN_E_BFMI, MIN_ESS, Diagnosis
from hmeta.report.inputs import FitInput
from hmeta.report.material import Material, count, try_blocks
from hmeta.report.page import Block, Cite, Column, Listing, Paragraph, Table, Text, number, say

ORDER = 160
TITLE = "Convergence"
NEEDS = "a fit: hmeta fit results.nc -o fit.nc"


def build(material: Material) -> Sequence[Block]:
    """Return the verdict, the figure and a table by variable."""
    return material.each(material.fits, lambda fit: _blocks(material, fit))


def _blocks(material: Material, fit: FitInput) -> list[Block]:
    found = fit.diagnosis
    blocks: list[Block] = [_verdict(fit, found), Paragraph(_facts(fit, found))]
    if not found.converged:
        blocks.append(Listing(tuple((f"{reason[:1].upper()}{reason[1:]}.",) for reason in found.reasons)))
    blocks += try_blocks(lambda: [material.picture("convergence", fit)[0]])
    return [*blocks, _table(material, fit, found)]


def _verdict(fit: FitInput, found: Diagnosis) -> Paragraph:
    if found.converged:
        return Paragraph((f"{fit.name} has converged.",))
    return Paragraph((f"{fit.name} has NOT converged: do not use its numbers.",), "bad")


def _facts(fit: FitInput, found: Diagnosis) -> Text:
    moving = found.table[found.table["status"] != CONSTANT]
    source = f"{fit.file}, posterior and sample_stats"
    return say(
        "{chains} chains of {draws} draws. Over {n} quantities the largest rank-normalised R-hat is {r_hat} (limit "
        "{max_r_hat}), the smallest effective sample size {bulk} in the bulk and {tail} in the tails (limit "
        "{min_ess}) {vehtari}; {divergent} divergent transitions; smallest E-BFMI {e_bfmi} (limit {min_e_bfmi}) "
        "{betancourt}.",
        chains=count(found.n_chains, "chains", source),
        draws=count(found.n_draws, "draws of each chain", source),
        n=count(len(moving), "quantities that vary", source),
        r_hat=number(moving["r_hat"].max(), ".3f", "largest R-hat", source),
        max_r_hat=number(MAX_R_HAT, "g", "limit of R-hat", "by convention"),
        bulk=count(moving["ess_bulk"].min(), "smallest bulk effective sample size", source),
        tail=count(moving["ess_tail"].min(), "smallest tail effective sample size", source),
        min_ess=number(MIN_ESS, "g", "limit of effective sample sizes", "by convention"),
        vehtari=Cite("vehtari2021"),
        divergent=count(np.nan if found.n_divergent is None else found.n_divergent, "divergent transitions", source),
        e_bfmi=number(min(found.e_bfmi, default=np.nan), ".2f", "smallest E-BFMI of a chain", source),
        min_e_bfmi=number(MIN_E_BFMI, "g", "limit of E-BFMI", "by convention"),
        betancourt=Cite("betancourt2016"),
    )


def _table(material: Material, fit: FitInput, found: Diagnosis) -> Table:
    moving = found.table[found.table["status"] != CONSTANT]
    by = moving.groupby("variable", sort=False)
    frame = pd.DataFrame(
        {
            "quantities": by.size(),
            "r_hat": by["r_hat"].max(),
            "ess_bulk": by["ess_bulk"].min(),
            "ess_tail": by["ess_tail"].min(),
            "faulty": by["status"].apply(lambda status: int((status != "ok").sum())),
        }
    ).reset_index()
    columns = {
        "variable": Column("variable"),
        "quantities": Column("quantities", ",.0f"),
        "r_hat": Column("largest R-hat", ".3f"),
        "ess_bulk": Column("smallest bulk ESS", ",.0f"),
        "ess_tail": Column("smallest tail ESS", ",.0f"),
        "faulty": Column("outside the limits", ",.0f"),
    }
    caption = "Worst diagnostics of each variable of the posterior; quantities that never change are left out."
    return Table(material.name("diagnostics", fit), (caption,), frame, columns, f"{fit.file}, posterior")
