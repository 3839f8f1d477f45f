"""How a quantity is written, and what it means on the declared scale.

Each row of `QUANTITIES` is one way of writing a quantity: a name, a pattern, and a function that turns the
match into a `Reading` on the scale. Adding a way is adding a row. The first row that matches is used.

Rules for a number that a reader could take in two ways (the scale is declared, never guessed):

========================  ==================  =================================================
written                   scale               reading
========================  ==================  =================================================
``1``                     upper end 1         ambiguous (1 or 1 %), no value
integer 10 to 100         upper end 1         percentage, status ``percent``
number between 0 and 1    upper end 100       fraction of one, status ``unit_interval``
``1.0``                   upper end 100       ambiguous (1 or 100), no value
below ``1%``              any                 ambiguous (``0.95%`` may mean 95 %), no value
percentage, ``8/10``      lower end not 0,    ambiguous (share of the range or of the upper
                          upper not 1 or 100  end), no value
``more than 90``          any                 a bound, ambiguous, no value
outside the scale         any                 ``out_of_range``, no value: nothing is clamped
========================  ==================  =================================================
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from hmeta.trials.spelled_numbers import SPELLED, spelled_to_digits


@dataclass(frozen=True)
class ScaleEnds:
    """The declared scale: its ends, and its step (0 for continuous)."""

    lower: float
    upper: float
    step: float = 0.0

    def holds(self, value: float) -> bool:
        """Whether a value lies on the scale, allowing for rounding."""
        slack = 1e-9 * max(abs(self.lower), abs(self.upper), 1.0)
        return self.lower - slack <= value <= self.upper + slack

    @property
    def takes_shares(self) -> bool:
        """Whether a share of one has a single meaning on this scale."""
        return self.lower == 0 or (self.lower >= 0 and self.upper in (1, 100))


@dataclass(frozen=True)
class Reading:
    """A value on the scale (None where there is none), its status, and the values it could have meant."""

    value: float | None
    status: str
    candidates: tuple[float, ...] = ()


@dataclass(frozen=True)
class Quantity:
    """One way of writing a quantity; `marked` says that the writing alone shows a share (``85%``, ``8/10``)."""

    name: str
    pattern: re.Pattern[str]
    read: Callable[[re.Match[str], ScaleEnds], Reading | None]
    marked: bool


def _placed(value: float, status: str, scale: ScaleEnds) -> Reading:
    """Return the value with its status if it lies on the scale, else no value."""
    return Reading(round(value, 12), status) if scale.holds(value) else Reading(None, "out_of_range")


def _share(share: float, status: str, scale: ScaleEnds) -> Reading:
    """Read a share of one."""
    if not 0 <= share <= 1:
        return Reading(None, "out_of_range")
    if scale.takes_shares:
        return _placed(share * scale.upper, status, scale)
    return Reading(None, "ambiguous", (share * scale.upper, scale.lower + share * (scale.upper - scale.lower)))


def read_number(token: str, scale: ScaleEnds, *, percent: bool = False) -> Reading:
    """Read one number as written.

    Parameters
    ----------
    token : str
        The digits, with ``.`` or ``,`` as the decimal mark; ``1`` and ``1.0`` differ.
    scale : ScaleEnds
        The declared scale.
    percent : bool
        Whether a percent sign or word stands with it.

    Returns
    -------
    Reading
        See the table at the head of this module.
    """
    token = token.replace(",", ".").replace(" ", "")
    number, whole = float(token), token.lstrip("+-").isdigit()
    if percent:
        if 0 < number < 1:
            return Reading(None, "ambiguous", (number / 100 * scale.upper, number * scale.upper))
        return _share(number / 100, "percent", scale)
    if scale.upper == 1 and scale.lower >= 0 and whole:
        if number == 1:
            return Reading(None, "ambiguous", (1.0, 0.01))
        if 10 <= number <= 100:
            return _placed(number / 100, "percent", scale)
    if scale.upper == 100 and scale.lower >= 0:
        if 0 < number < 1:
            return _placed(number * 100, "unit_interval", scale)
        if number == 1 and not whole:
            return Reading(None, "ambiguous", (1.0, 100.0))
    broken = scale.step > 0 and abs(number - round(number)) > 1e-9 and float(scale.step).is_integer()
    return _placed(number, "non_integer" if broken else "ok", scale)


def _read_plain(match: re.Match[str], scale: ScaleEnds) -> Reading:
    return read_number(match["a"], scale, percent=bool(match["percent"]))


def _read_range(match: re.Match[str], scale: ScaleEnds) -> Reading | None:
    """Read a range as its middle; a range that repeats the whole scale is no answer."""
    low, high = match["a"], match["b"]
    percent = bool(match["percent"] or match["percent_a"])
    if not percent and {_decimal(low), _decimal(high)} == {scale.lower, scale.upper}:
        return None
    if "." in low + high:
        low, high = (end if "." in end else end + ".0" for end in (low, high))
    readings = [read_number(end, scale, percent=percent) for end in (low, high)]
    for reading in readings:
        if reading.value is None:
            return Reading(None, reading.status)
    values = [reading.value for reading in readings if reading.value is not None]
    return Reading(sum(values) / 2, "range")


def _read_plus_minus(match: re.Match[str], scale: ScaleEnds) -> Reading:
    reading = _read_plain(match, scale)
    return reading if reading.value is None else Reading(reading.value, "range")


def _read_fraction(match: re.Match[str], scale: ScaleEnds) -> Reading:
    top, bottom = _decimal(match["a"]), _decimal(match["b"])
    if bottom <= 0 or top > bottom:
        return Reading(None, "out_of_range")
    return _placed(top, "ok", scale) if bottom == scale.upper else _share(top / bottom, "ok", scale)


def _read_bound(match: re.Match[str], scale: ScaleEnds) -> Reading:
    reading = _read_plain(match, scale)
    return Reading(None, "ambiguous", () if reading.value is None else (reading.value,))


def _read_spelled(match: re.Match[str], scale: ScaleEnds) -> Reading:
    return read_number(spelled_to_digits(match["a"]), scale, percent=bool(match["percent"]))


def _read_spelled_range(match: re.Match[str], scale: ScaleEnds) -> Reading | None:
    percent = bool(match["percent"])
    ends = [read_number(spelled_to_digits(match[name]), scale, percent=percent) for name in "acb" if match[name]]
    values = [end.value for end in ends if end.value is not None]
    return (
        Reading(sum(values) / 2, "range")
        if len(values) == 2
        else Reading(None, next(end.status for end in ends if end.value is None))
    )


def _decimal(token: str) -> float:
    return float(token.replace(",", "."))


_NUM = r"[+-]?(?:\d{1,3},\d{1,2}(?!\d)|\d+(?:\.\d+)?|\.\d+)(?![.,]?\d)"
_POSITIVE = r"(?:\d{1,3},\d{1,2}(?!\d)|\d+(?:\.\d+)?|\.\d+)(?![.,]?\d)"
_PERCENT = r"\s*(?P<percent>%|percent(?:age)?\b|per\s?cent\b|pct\b|prozent\b|pour\s?cent\b)?"
_BOUND = r"(?:[<>≤≥]=?|at least|more than|over|above|less than|under|below|up to|at most|no more than)\s*"


def _row(
    name: str, pattern: str, read: Callable[[re.Match[str], ScaleEnds], Reading | None], *, marked: bool = False
) -> Quantity:
    return Quantity(name, re.compile(pattern, re.IGNORECASE), read, marked)


QUANTITIES: tuple[Quantity, ...] = (
    _row("bound", rf"{_BOUND}(?P<a>{_NUM}){_PERCENT}(?!\s*>)", _read_bound),
    _row(
        "between",
        rf"between\s+(?P<a>{_NUM})\s*(?P<percent_a>%)?\s*(?:and|-)\s*(?P<b>{_POSITIVE}){_PERCENT}",
        _read_range,
    ),
    _row(
        "range",
        rf"(?:from\s+)?(?P<a>{_NUM})\s*(?P<percent_a>%)?\s*(?:-|to\b|~|到|至)\s*(?P<b>{_POSITIVE}){_PERCENT}",
        _read_range,
        marked=True,
    ),
    _row("plus_minus", rf"(?P<a>{_NUM})\s*%?\s*(?:±|\+/-)\s*{_POSITIVE}{_PERCENT}", _read_plus_minus, marked=True),
    _row("fraction", rf"(?P<a>{_NUM})\s*(?:/|out of|of(?!\s*the))\s*(?P<b>{_POSITIVE})", _read_fraction, marked=True),
    _row("percent", rf"(?P<a>{_NUM}){_PERCENT[:-1]}", _read_plain, marked=True),
    _row("number", rf"(?P<a>{_NUM})(?P<percent>)", _read_plain),
    _row(
        "spelled_range",
        rf"(?:between\s+(?P<a>{SPELLED})\s+and|(?:from\s+)?(?P<c>{SPELLED})\s+to)\s+(?P<b>{SPELLED}){_PERCENT}",
        _read_spelled_range,
    ),
    _row("spelled", rf"(?P<a>{SPELLED}){_PERCENT}", _read_spelled),
)

QUANTITY_START = rf"[+-]?\.?\d|{_BOUND}[\d.]|between\b|from\b|{SPELLED}"
"""What any quantity of the table begins with."""
