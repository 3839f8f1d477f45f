"""The one parser of confidence stated in text: a value on the declared scale, a status, the rule used.

`STATEMENTS` lists the phrases that announce a confidence. To add one, add a row there and a row to the table
of its test. How the quantity itself may be written is the table of `confidence_quantities`.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from hmeta.core.errors import DataError
from hmeta.trials.confidence_quantities import QUANTITIES, QUANTITY_START, Reading, ScaleEnds

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class ParsedConfidence:
    """What one reply says about confidence.

    Attributes
    ----------
    value : float or None
        On the declared scale; None where nothing usable was stated. Never a default, never clamped.
    status : str
        One of `hmeta.core.schema.CONFIDENCE_STATUS`.
    rule : str
        The phrase and the way of writing that were recognised, such as ``label+percent``; empty for none.
    raw : str
        The reply as it came.
    candidates : tuple of float
        The values an ambiguous statement could have meant, the literal one first.
    """

    value: float | None
    status: str
    rule: str
    raw: str
    candidates: tuple[float, ...] = ()


@dataclass(frozen=True)
class Statement:
    """A phrase that announces a confidence, and on which side of it the quantity stands.

    In the pattern ``START`` stands for the beginning of any quantity.
    """

    name: str
    side: Literal["before", "after"]
    pattern: str


_LABELS = (
    r"confidence|certainty|信心(?:指数|水平|度)?|置信度|把握|自信度?|確信度|konfidenz|sicherheit|confiance|"
    r"confianza|fiducia|уверенность"
)
_MARK = r"[\"'`*_]*"
_QUALIFIER = r"(?:[\s_-]*(?:level|score|rating|value|estimate|percentage|probability))?"
_ABOUT_WHAT = r"(?:\s+(?:in|about|that|for)\s+(?:my|the|this|your|that)(?:\s+[a-z]+){1,4}?)?"
_STATED_SCALE = r"(?:\s*[(\[](?:[^()\[\]\d\n]{1,40}|[^()\[\]\n]{0,40}\d\s*(?:-|to|/|and)\s*\d[^()\[\]\n]{0,20})[)\]])?"
_SEPARATOR = r"(?:\s*(?:[:=|>]+|->|→|=>)\s*|\s+(?:is|was|of|at|-)\s+|[ \t]+)"
_OPENING = r"[\"'`*_$\\(\[{~≈ \t]*(?:<(?=[^<>\n]{1,12}>))?"
_HEDGE = r"(?:(?:about|approximately|approx\.?|around|roughly|circa|nearly|maybe|probably|大约|约)\s+)?~?\s*"
_HEAD = rf"(?<![a-z/])(?:{_LABELS}){_MARK}{_QUALIFIER}{_ABOUT_WHAT}{_MARK}{_STATED_SCALE}{_MARK}{_SEPARATOR}"
_DEGREE = r"(?:(?:very|quite|fairly|extremely|moderately)\s+)?(?:high|low|medium|moderate|strong|weak|certain|sure)"


STATEMENTS: tuple[Statement, ...] = (
    Statement("label", "before", rf"{_HEAD}{_OPENING}{_HEDGE}(?=START)"),
    Statement("label_degree", "before", rf"{_HEAD}{_OPENING}{_DEGREE}{_MARK}\W{{1,4}}{_HEDGE}(?=START)"),
    Statement("confident_at", "before", r"(?<![a-z])(?:confident|certain|sure)\s*(?::|=|at)\s*(?=START)"),
    Statement(
        "share_sure",
        "after",
        r"\s*(?:confident|confidence|sure|certain|certainty)\b(?!\s+(?:interval|level|limit|bound|region|set))",
    ),
)

_REFUSAL = re.compile(
    r"\b(?:i(?:'m| am)? (?:can't|cannot|can not|won't|will not|unable to|not able to|do not wish to|must decline)"
    r"|i'm sorry,? but|i am sorry,? but|as an ai\b.{0,60}\b(?:can't|cannot|unable))",
    re.IGNORECASE,
)
_DASHES = str.maketrans(dict.fromkeys("‐‑‒–—−", "-") | {"⁄": "/", "’": "'", "‘": "'", "“": '"', "”": '"'})


def _normalised(text: str) -> str:
    """Full-width forms, dashes and quotes in their plain shape."""
    return unicodedata.normalize("NFKC", text).translate(_DASHES)


@lru_cache(maxsize=64)
def _compiled(words: tuple[str, ...]) -> tuple[tuple[Statement, re.Pattern[str]], ...]:
    start = "|".join([QUANTITY_START, *map(re.escape, words)])
    return tuple((row, re.compile(row.pattern.replace("START", start), re.IGNORECASE)) for row in STATEMENTS)


@dataclass(frozen=True)
class _Found:
    start: int
    rule: str
    reading: Reading


@dataclass(frozen=True)
class _Reader:
    """Reads quantities and the caller's words on one scale."""

    scale: ScaleEnds
    words: Mapping[str, float]

    def at(self, text: str, position: int) -> tuple[str, Reading, int, bool] | None:
        """Read the quantity that starts at a position: its name, reading, end, and whether it is marked."""
        for word in sorted(self.words, key=len, reverse=True):
            end = position + len(word)
            if text[position:end].lower() == word.lower() and not text[end : end + 1].isalnum():
                return "word", Reading(self.words[word], "ok"), end, False
        for quantity in QUANTITIES:
            match = quantity.pattern.match(text, position)
            if match:
                reading = quantity.read(match, self.scale)
                return None if reading is None else (quantity.name, reading, match.end(), quantity.marked)
        return None

    def whole(self, text: str, rule: str) -> _Found | None:
        """Read text that is one quantity and nothing else."""
        bare = text.strip(" \t\r\n*_`\"'()[]{}$~").rstrip(".")
        found = self.at(bare, 0)
        if found and not bare[found[2] :].strip():
            return _Found(0, f"{rule}+{found[0]}", found[1])
        return None


def _stated(text: str, reader: _Reader) -> Iterator[_Found]:
    """Yield every announced quantity, with the place where it stands."""
    for statement, pattern in _compiled(tuple(reader.words)):
        places = (m.end() for m in pattern.finditer(text)) if statement.side == "before" else _numbers_in(text)
        for place in places:
            found = reader.at(text, place)
            if found and (statement.side == "before" or (found[3] and pattern.match(text, found[2]))):
                yield _Found(place, f"{statement.name}+{found[0]}", found[1])


def _numbers_in(text: str) -> Iterator[int]:
    """Yield where numbers begin."""
    return (match.start() for match in re.finditer(r"(?<![\w.,/-])[\d.]", text))


def _json_values(text: str) -> Iterator[object]:
    """Yield the values of confidence keys in every JSON object of the text, numbers as they were written."""
    decoder = json.JSONDecoder(parse_float=str, parse_int=str)
    position = text.find("{")
    while position >= 0:
        try:
            tree, position = decoder.raw_decode(text, position)
        except (json.JSONDecodeError, RecursionError):
            position += 1
        else:
            yield from _confidence_keys(tree)
        position = text.find("{", position)


def _confidence_keys(tree: object) -> Iterator[object]:
    if isinstance(tree, dict):
        for key, value in tree.items():
            if re.fullmatch(rf"(?:\w+[_ ])?(?:{_LABELS}){_QUALIFIER}", str(key), re.IGNORECASE):
                yield value
            else:
                yield from _confidence_keys(value)
    elif isinstance(tree, list):
        for entry in tree:
            yield from _confidence_keys(entry)


def _from_json(text: str, reader: _Reader) -> list[_Found] | None:
    """Read the confidence keys of JSON replies; None where there is no such key."""
    values = list(_json_values(text))
    if not values:
        return None
    found = [reader.whole(value, "json") for value in values if isinstance(value, str)]
    return [entry for entry in found if entry is not None]


def _statements_in(text: str, reader: _Reader) -> list[_Found]:
    """Everything stated, in reading order, one entry for each place."""
    found = _from_json(text, reader)
    if found is not None:
        return found
    by_place: dict[int, _Found] = {}
    for entry in _stated(text, reader):
        by_place.setdefault(entry.start, entry)
    if by_place:
        return [by_place[start] for start in sorted(by_place)]
    alone = reader.whole(text, "alone")
    return [alone] if alone else []


def parse_confidence(
    text: str | None, *, lower: float, upper: float, step: float = 0.0, words: Mapping[str, float] | None = None
) -> ParsedConfidence:
    """Read the confidence that a reply states, on a declared scale.

    The last statement counts; where statements differ the status is ``multiple``. Nothing is clamped and no
    number stands in for a missing one.

    Parameters
    ----------
    text : str or None
        The reply: prose, JSON, JSON in a code fence, or a bare quantity.
    lower, upper : float
        The ends of the declared scale.
    step : float
        Step of the scale, 0 for continuous; on a scale of whole steps 7.5 gets the status ``non_integer``.
    words : mapping of str to float, optional
        Values on the scale for words such as "high"; without it words carry no value.

    Returns
    -------
    ParsedConfidence
        Value, status, rule and raw text.

    Raises
    ------
    DataError
        Where `lower` is not below `upper`.

    Examples
    --------
    >>> parse_confidence("Answer: B. Confidence: 85%", lower=0, upper=1).value
    0.85
    >>> parse_confidence("Confidence: 2.5", lower=0, upper=1).status
    'out_of_range'
    """
    if not lower < upper:
        raise DataError(
            "the confidence scale is empty",
            received=f"lower {lower:g}, upper {upper:g}",
            allowed="a lower end below the upper end",
        )
    if text is None or not text.strip():
        return ParsedConfidence(None, "missing", "", text or "")
    plain = _normalised(text)
    found = _statements_in(plain, _Reader(ScaleEnds(lower, upper, step), words or {}))
    if not found:
        return ParsedConfidence(None, "refusal" if _REFUSAL.search(plain) else "missing", "", text)
    last = found[-1]
    differ = any(entry.reading != last.reading for entry in found)
    status = "multiple" if differ and last.reading.value is not None else last.reading.status
    return ParsedConfidence(last.reading.value, status, last.rule, text, last.reading.candidates)


def parse_column(
    texts: Iterable[object],
    lower: float,
    upper: float,
    *,
    step: float = 0.0,
    words: Mapping[str, float] | None = None,
) -> pd.DataFrame:
    """Parse a column of replies.

    Parameters
    ----------
    texts : iterable
        Replies; None and NaN count as missing, other values are taken as their text.
    lower, upper, step, words
        As in `parse_confidence`.

    Returns
    -------
    pandas.DataFrame
        Columns ``value`` (NaN where there is none), ``status``, ``rule``, ``raw`` and ``literal`` (what an
        ambiguous statement means when taken as it stands on the scale), one row a reply.
    """
    import pandas as pd

    nan = float("nan")
    rows = [
        parse_confidence(None if _absent(text) else str(text), lower=lower, upper=upper, step=step, words=words)
        for text in texts
    ]
    return pd.DataFrame(
        {
            "value": pd.Series([nan if row.value is None else row.value for row in rows], dtype=float),
            "status": [row.status for row in rows],
            "rule": [row.rule for row in rows],
            "raw": [row.raw for row in rows],
            "literal": pd.Series([row.candidates[0] if row.candidates else nan for row in rows], dtype=float),
        }
    )


def _absent(value: object) -> bool:
    """Whether a cell holds nothing."""
    return value is None or value != value or str(value) in ("", "<NA>", "NaT")
