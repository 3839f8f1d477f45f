"""What the report cannot show, in plain words."""

from __future__ import annotations

from collections.abc import Sequence

from hmeta.report.inputs import FitInput
from hmeta.report.material import Material
from hmeta.report.page import Block, Cite, Listing, Text, say

ORDER = 210
TITLE = "What this report cannot show"
NEEDS = ""


def build(material: Material) -> Sequence[Block]:
    """Return the limits that hold for the inputs at hand."""
    items: list[Text] = []
    for fit in material.fits:
        items += [text for text in _of_fit(fit) if text not in items]
    if material.results or material.metrics:
        items += _OF_MEASURES
    return [Listing(tuple(items))] if items else []


def _of_fit(fit: FitInput) -> list[Text]:
    fitted = fit.headline
    names = {
        factor for term in fitted.from_json("terms", {}).values() for g in term["groups"] for factor in g["factors"]
    }
    out: list[Text] = []
    if fitted.parameter == "M":
        out += _noise(fit)
        if "item" not in names:
            out.append(
                (
                    "Items of different difficulty are taken as equally hard within a cell. Where easy and hard items "
                    "are mixed, confidence that only follows difficulty counts as metacognition and raises M; the "
                    "model has no term for items.",
                )
            )
    else:
        out.append(
            say(
                "For an open task there is no M: right and wrong answers would play both stimulus and response, so "
                "that the ratio would divide two functions of one table. AUROC2 mixes how much a unit knows with how "
                "well it knows it {cite}.",
                cite=Cite("galvin2003"),
            )
        )
    out.append(
        (
            "Answers of one unit to the same item, under several scales or runs, are taken as independent unless the "
            "formulas have a term for items; intervals are then too narrow.",
        )
    )
    out.append(
        (
            "A difference between units is a difference between what they did with these items, instructions and "
            "scales. It is no statement about why.",
        )
    )
    return out


def _noise(fit: FitInput) -> list[Text]:
    options = fit.headline.from_json("options", {})
    noise, m = options.get("noise", ""), fit.headline.noise
    out: list[Text] = [
        (
            f"M depends on the assumed noise ({m}). Under another noise the same answers give another M, so that only "
            f"values with the "
            "same noise may be compared.",
        )
    ]
    if fit.headline.attributes.get("task") == "binary" and "sd_ratio" not in options and not fit.holds("sd_ratio"):
        out.append(
            (
                "Both stimuli are given evidence of equal variance. Where one varies more, M of the two responses "
                "differs and the average is biased; the slope of the z-ROC tells (hmeta metrics --metric zroc_slope).",
            )
        )
    if fit.headline.attributes.get("task") == "mafc" and noise:
        out.append(
            (
                "The alternatives of a question are taken as equally attractive apart from the right one, and "
                "evidence as equally variable. Preferences for letters or positions are not modelled.",
            )
        )
    return out


_OF_MEASURES: list[Text] = [
    (
        "AUROC2, ECE, Brier score and the like mix how much a unit knows with how well it knows it: two units with "
        "equal metacognition and different accuracy differ in them.",
    ),
    say(
        "ECE depends on the number and kind of bins and is biased upwards in small samples {cite}; a low value alone "
        "is no evidence of calibration where confidence hardly varies.",
        cite=Cite("naeini2015"),
    ),
]
