"""Numbers from zero to one hundred written as English words."""

from __future__ import annotations

import re

_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_VALUES = {word: value for value, word in enumerate(_ONES)} | {word: 20 + 10 * i for i, word in enumerate(_TENS)}

_TENS_PATTERN = rf"(?:{'|'.join(_TENS)})(?:[\s-]+(?:{'|'.join(_ONES[1:10])}))?"
_ONES_PATTERN = "|".join(sorted(_ONES, key=len, reverse=True))
_DECIMAL_PATTERN = rf"(?:zero\s+)?point(?:\s+(?:{'|'.join(_ONES[:10])}))+"
SPELLED = rf"(?:{_DECIMAL_PATTERN}|(?:(?:one|a)\s+)?hundred|{_TENS_PATTERN}|{_ONES_PATTERN})\b"
"""A regular expression for one spelled number, to be used without regard to case."""


def spelled_to_digits(words: str) -> str:
    """Return a spelled number as decimal digits.

    Parameters
    ----------
    words : str
        Text that `SPELLED` matches.

    Returns
    -------
    str
        An integer, or a decimal number below one.

    Examples
    --------
    >>> spelled_to_digits("Eighty-five"), spelled_to_digits("zero point nine five")
    ('85', '0.95')
    """
    parts = re.split(r"[\s-]+", words.lower().strip())
    if "point" in parts:
        return "0." + "".join(str(_VALUES[word]) for word in parts[parts.index("point") + 1 :])
    if "hundred" in parts:
        return "100"
    return str(sum(_VALUES[word] for word in parts))
