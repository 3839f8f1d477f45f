"""How quantities are called in tables and figures, and the value that would mean nothing at all."""

from __future__ import annotations

from typing import NamedTuple


class Words(NamedTuple):
    """What a reader of one quantity is told."""

    title: str  # of a table, and of an axis
    heading: str  # of a figure
    chance: float = 0.0  # confidence says nothing about correctness; below it, confidence misleads
    below: str = "p_below_zero"  # column: the share of draws below chance
    mark: float | None = None  # where a figure has a line
    mark_text: str = ""


WORDS = {
    "M": Words("M = meta-d′ / d′", "Metacognitive efficiency", mark=1.0, mark_text="all the evidence used"),
    "auroc2": Words(
        "AUROC2 of the fitted curve (the observed one: hmeta metrics)",
        "Discrimination of right from wrong answers",
        chance=0.5,
        below="p_below_half",
        mark=0.5,
        mark_text="chance",
    ),
}
"""By quantity; the others go by their own names."""


def words_of(parameter: str) -> Words:
    """Return how a quantity is called."""
    return WORDS.get(parameter) or Words(parameter, parameter)
