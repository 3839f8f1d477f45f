"""How much M depends on the assumed noise and on how fine ratings are."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from hmeta.infer.ml_summary import summarize_ml
from hmeta.report.inputs import FitInput
from hmeta.report.material import Material, count, listed, try_blocks
from hmeta.report.page import Block, Column, Paragraph, Table, Text, number, say

ORDER = 190
TITLE = "Sensitivity to noise and binning"
NEEDS = "a fit whose headline is M"


def build(material: Material) -> Sequence[Block]:
    """Return maximum-likelihood estimates of M under each noise and with coarser ratings."""
    fits = [fit for fit in material.fits if fit.headline.parameter == "M"]
    return material.each(fits, lambda fit: try_blocks(lambda: _blocks(material, fit)))


def _blocks(material: Material, fit: FitInput) -> list[Block]:
    picture, content = material.picture("noise_and_bins", fit)
    summary = summarize_ml(content.table)
    return [
        Paragraph(_reading(fit, summary)),
        picture,
        _table(material, fit, content.medians),
        *listed(content.table.attrs["notes"]),
    ]


def _reading(fit: FitInput, summary: pd.DataFrame) -> Text:
    source = f"{fit.file}, observed_data, maximum likelihood"
    text = say(
        "M of each unit by maximum likelihood, without a hierarchy, under each noise and with ratings put into fewer "
        "bins. Only differences between variants count: the values themselves pool a unit's cells and are no "
        "estimates of the M above.",
    )
    fitted = summary[summary["g2"].notna()]
    if len(fitted) < 2:
        return text
    own, other = fitted[fitted["own"]].iloc[0], fitted[~fitted["own"]].sort_values("g2").iloc[0]
    return text + say(
        " Summed over units, the distance from a perfect fit of the ratings is G² = {own} under the fit's {own_noise} "
        "noise and {other} under {other_noise} noise; {preferred} of {compared} units have their highest likelihood "
        "under the fit's.",
        own=number(own["g2"], ",.0f", f"G² under {own['noise']} noise", source),
        own_noise=_noise_word(own["noise"]),
        other=number(other["g2"], ",.0f", f"G² under {other['noise']} noise", source),
        other_noise=_noise_word(other["noise"]),
        preferred=count(own["n_preferred"], f"units with the highest likelihood under {own['noise']} noise", source),
        compared=count(own["n_compared"], "units fitted under every noise", source),
    )


def _table(material: Material, fit: FitInput, medians: pd.DataFrame) -> Table:
    columns = {
        "kind": Column("varied"),
        "variant": Column("variant"),
        "n_units": Column("units", ",.0f"),
        "median": Column("median M", ".2f"),
        "difference": Column("median change", ".2f"),
    }
    caption = (
        "Median M under each noise and binning, and the median over units of the change from the fit's own variant."
    )
    source = f"{fit.file}, observed_data, maximum likelihood"
    return Table(material.name("noise-and-bins", fit), (caption,), medians, columns, source)


def _noise_word(noise: object) -> str:
    return str(noise).replace("_", " ").replace("gumbel", "Gumbel")
