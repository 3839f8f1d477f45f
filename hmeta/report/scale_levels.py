"""How many levels a confidence scale has: as the fit stores it, or else as its name says."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from hmeta.core.errors import DataError
from hmeta.infer.fitted import Fitted

SPAN = re.compile(r"(?<!\d)(\d+)\s*(?:-|–|—|\.\.|…|to)\s*(\d+)(?!\d)")
"""Two whole numbers with a dash, two dots or "to" between them."""


def levels_of_scales(fitted: Fitted, scales: Sequence[str]) -> dict[str, float]:
    """Return the number of levels of each scale, infinite for a continuous one.

    Parameters
    ----------
    fitted : Fitted
        Its attribute `scales` is used where the fit has one.
    scales : sequence of str

    Raises
    ------
    DataError
        For a scale that is not declared and whose name does not tell.
    """
    declared = {str(s["scale"]): declared_levels(s) for s in fitted.from_json("scales", [])}
    found = {scale: declared.get(scale, levels_in_name(scale)) for scale in scales}
    unknown = [scale for scale, n in found.items() if n is None]
    if unknown:
        raise DataError(
            "it is not known how many levels a scale has",
            where=", ".join(unknown),
            received="no declaration in the fit, and a name that does not tell",
            allowed='names such as "0-100" or "1..7", or a fit of a file that declares its scales',
            mend="import the file with scale_lower, scale_upper and scale_step, and fit it again",
        )
    return {scale: n for scale, n in found.items() if n is not None}


def declared_levels(scale: dict[str, object]) -> float | None:
    """Return the number of levels of a declared scale; None where an end is missing.

    Examples
    --------
    >>> declared_levels({"lower": 0.0, "upper": 1.0, "step": 0.1}), declared_levels({"lower": 0, "upper": 1, "step": 0})
    (11.0, inf)
    """
    lower, upper, step = (float(str(scale.get(name, "nan"))) for name in ("lower", "upper", "step"))
    if not (math.isfinite(lower) and math.isfinite(upper) and math.isfinite(step)):
        return None
    if step == 0:
        return math.inf
    # a little more than the quotient, since 1 / 0.1 may end below 10
    return float(math.floor((upper - lower) / step + 1e-9) + 1)


def levels_in_name(name: str) -> float | None:
    """Return the number of whole numbers in the span that a name holds; None where it holds none, or several.

    Examples
    --------
    >>> levels_in_name("0-100"), levels_in_name("rating 1..7"), levels_in_name("high"), levels_in_name("5-1")
    (101.0, 7.0, None, None)
    """
    spans = [(int(a), int(b)) for a, b in SPAN.findall(name)]
    if len(spans) != 1 or spans[0][0] >= spans[0][1]:
        return None
    return float(spans[0][1] - spans[0][0] + 1)


def natural_order(labels: Sequence[str]) -> list[str] | None:
    """Return labels in the order of what they say: scales by their levels, numbers by value; None for other words.

    Examples
    --------
    >>> natural_order(["0-100", "0-5"]), natural_order(["10", "9"]), natural_order(["law", "arts"])
    (['0-5', '0-100'], ['9', '10'], None)
    """
    for size in (levels_in_name, _as_number):
        sizes = [(value, label) for label in labels if (value := size(label)) is not None]
        if labels and len(sizes) == len(labels):
            return [label for _, label in sorted(sizes)]
    return None


def _as_number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
