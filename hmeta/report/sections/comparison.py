"""Several studies side by side, and what they say together."""

from __future__ import annotations

from collections.abc import Sequence

from hmeta.core.errors import HmetaError
from hmeta.infer.compare import compare_fits
from hmeta.infer.compare_tables import ALL, Comparison
from hmeta.report.figures import drawing_of
from hmeta.report.material import Material, listed, posterior_columns, try_blocks
from hmeta.report.page import Block, Cite, Column, Paragraph, Picture, Table, Text, number, say
from hmeta.report.style import WIDTHS

ORDER = 150
TITLE = "Comparison of studies"
NEEDS = "two or more fits of the same quantity"


def build(material: Material) -> Sequence[Block]:
    """Return the aligned table, differences and pooling of two or more fits; or why they cannot be compared."""
    return try_blocks(lambda: _blocks(material)) if len(material.fits) > 1 else []


def _blocks(material: Material) -> list[Block]:
    found = compared(material)
    drawing = drawing_of("compare")
    content = drawing.read(material.fits, material.options)
    caption, alt = drawing.describe(content)
    source = ", ".join(fit.file for fit in material.fits)
    picture = Picture("studies", (caption,), alt, lambda: drawing.draw(content, WIDTHS["page"]), source)
    pooled = [Paragraph(_pooled(found, level, source)) for level in found.pooled]
    return [*pooled, picture, *tables(found, source), *listed(found.notes)]


def compared(material: Material) -> Comparison:
    """Return the comparison of the fits."""
    options = material.options
    try:
        return compare_fits(
            {fit.name: fit.tree for fit in material.fits},
            rope=options.rope,
            interval=options.interval,
            kind=options.kind,
        )
    except HmetaError as error:
        raise type(error)(f"the fits are not compared: {error.what}", mend=error.mend) from error


def _pooled(found: Comparison, level: str, source: str) -> Text:
    one = found.pooled[level]
    at = "" if level == ALL else f" at {found.by} {level}"
    mass = f"{100 * found.interval:g}"
    parts = {
        f"{name}_{end}": number(getattr(estimate, end), ".2f", f"{end} of {what}", source)
        for name, estimate, what in (
            ("mean", one.mean, f"the mean {found.parameter} over studies"),
            ("new", one.new, f"{found.parameter} of a new study"),
            ("spread", one.spread, "the standard deviation between studies"),
        )
        for end in ("median", "lower", "upper")
    }
    return say(
        "Over {n} studies{at} the mean {parameter} is {mean_median} ({mass} % interval {mean_lower} to {mean_upper}), "
        "the standard deviation between studies {spread_median} ({spread_lower} to {spread_upper}), and a new study "
        "is predicted between {new_lower} and {new_upper} {cite}. I² = {i2}.",
        n=number(len(one.studies), ".0f", "studies pooled", source),
        at=at,
        parameter=found.parameter,
        mass=mass,
        cite=Cite("higgins2009"),
        i2=number(100 * one.i_squared, ".0f", "share of variation that is not sampling error", source, unit=" %"),
        **parts,
    )


def tables(found: Comparison, source: str) -> list[Table]:
    """Return the aligned table, the differences and the pooled values."""
    at = {"level": Column(found.by)} if found.by else {}
    posterior = posterior_columns(found.interval)
    studies = {
        "study": Column("study"),
        **at,
        "estimand": Column("of"),
        "n_units": Column("units", ",.0f"),
        "n_answers": Column("answers", ",.0f"),
        **posterior,
        "noise": Column("noise"),
    }
    if (found.table["flags"] != "").any():
        studies["flags"] = Column("to know")
    differences = {
        **at,
        "study": Column("study"),
        "baseline": Column("minus"),
        **posterior,
        "p_direction": Column("P(direction)", ".3f"),
        "p_rope": Column("P(in ROPE)", ".3f"),
    }
    out = [
        Table("studies", (f"{found.parameter} of each study.",), found.table, studies, source),
        Table("study-differences", ("Differences between studies.",), found.differences, differences, source),
    ]
    if found.pooled:
        pooled = {**at, "quantity": Column("quantity"), "n_studies": Column("studies", ",.0f"), **posterior}
        caption = "Over studies: the mean, the spread between studies, and a new study (random effects)."
        out.append(Table("studies-pooled", (caption,), found.pooled_table(), pooled, source))
    return out
