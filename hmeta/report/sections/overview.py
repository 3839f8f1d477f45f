"""What was found, in a few sentences."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from hmeta.core.errors import HmetaError
from hmeta.infer.caveats import NOT_CONVERGED
from hmeta.infer.parameter_words import words_of
from hmeta.infer.summary import LEVEL, NEW, OVERALL, summarize
from hmeta.report.inputs import FitInput, unit_word
from hmeta.report.material import Material, count, with_interval
from hmeta.report.page import Block, Paragraph, Text, number, say
from hmeta.report.sections.priors import average_rests_on

ORDER = 10
TITLE = "At a glance"
NEEDS = ""


def build(material: Material) -> Sequence[Block]:
    """Return a paragraph a fit: how many answered, the average, the range, and a unit not seen."""
    return material.each(material.fits, lambda fit: _blocks(material, fit))


def _blocks(material: Material, fit: FitInput) -> list[Block]:
    blocks: list[Block] = [Paragraph(text) for text in _sentences(material, fit)]
    try:
        return [*blocks, *average_rests_on(fit, fit.prior_influence)]
    except HmetaError:  # the section on priors says why it is not known
        return blocks


def _sentences(material: Material, fit: FitInput) -> list[Text]:
    mass, kind = material.options.interval, material.options.kind
    frame = summarize(fit.tree, interval=mass, kind=kind)
    parameter, source = str(frame.attrs["parameter"]), f"{fit.file}, posterior/{frame.attrs['parameter']}"
    levels = frame[frame["kind"] == LEVEL].sort_values("median", kind="stable")
    overall = frame[frame["kind"] == OVERALL].iloc[0].to_dict()
    noise = f", under {_lower(fit.headline.noise)}" if fit.headline.noise else ""
    unit = unit_word(fit)
    found: list[Text] = [
        say(
            "{n_units} {unit} gave {n} usable answers. {word} is {average} on average over everything observed{noise}.",
            n_units=count(max(len(levels), 1), f"number of {unit}s", fit.file),
            unit=unit if len(levels) <= 1 else f"{unit}s",
            n=count(overall["n_answers"], "answers used in the fit", fit.file),
            word=_name(parameter),
            average=with_interval(overall, ".2f", f"{parameter}, {overall['estimand']}", source, mass),
            noise=noise,
        )
    ]
    clean = levels[levels["flags"].str.replace(NOT_CONVERGED, "", regex=False).str.strip("; ") == ""]
    if len(clean) > 1:
        found.append(_range(clean, unit, parameter, source))
    if len(levels) > len(clean):
        found.append(_flagged(len(levels) - len(clean), unit, parameter, source))
    new = frame[frame["kind"] == NEW]
    if len(new) == 1:
        row = new.iloc[0].to_dict()
        what = f"{parameter}, {row['estimand']}"
        found.append(
            say(
                "A {unit} that was not observed is predicted at {value}.",
                unit=unit,
                value=with_interval(row, ".2f", what, source, mass),
            )
        )
    return found


def _flagged(n: int, unit: str, parameter: str, source: str) -> Text:
    return say(
        "Flagged in the table of {parameter}, and left out of range and counts: {n}.",
        n=count(n, f"{unit}s with a flag", source),
        parameter=parameter,
    )


def _range(levels: pd.DataFrame, unit: str, parameter: str, source: str) -> Text:
    words = words_of(parameter)
    low, high = levels.iloc[0], levels.iloc[-1]
    mark = words.mark if words.mark is not None else words.chance
    below, above = int((levels["upper"] < mark).sum()), int((levels["lower"] > mark).sum())
    return say(
        "It goes from {low} ({lowest}) to {high} ({highest}); the interval lies below {mark} for {below} and above it "
        "for {above} of the {n} {unit}s.",
        low=number(low["median"], ".2f", f"posterior median of {parameter} of {low['level']}, the lowest", source),
        lowest=str(low["level"]),
        high=number(high["median"], ".2f", f"posterior median of {parameter} of {high['level']}, the highest", source),
        highest=str(high["level"]),
        mark=number(mark, "g", f"reference of {parameter}: {words.mark_text or 'zero'}", "by definition"),
        below=count(below, f"{unit}s whose interval of {parameter} lies below the reference", source),
        above=count(above, f"{unit}s whose interval of {parameter} lies above the reference", source),
        n=count(len(levels), f"number of {unit}s", source),
        unit=unit,
    )


def _name(parameter: str) -> str:
    return "Metacognitive efficiency M" if parameter == "M" else words_of(parameter).title.split(" (")[0]


def _lower(noise: str) -> str:
    words = noise if noise.startswith("Gumbel") else noise[:1].lower() + noise[1:]
    return words.replace(" = ", "\u00a0=\u00a0")
