"""The checks of the validity screen, one function each, found by listing this folder.

A check looks at one rater and returns what it found, or None. Its decorator carries the verdict that the finding
entails, the threshold in words, what it means and what to do. To add a check, write the function.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from hmeta.assess.raters import Rater
from hmeta.core.registry import modules_in

Severity = Literal["unusable", "caution"]


class Found(NamedTuple):
    """What a check found in one rater."""

    value: float
    detail: str


Find = Callable[[Rater], Found | None]


@dataclass(frozen=True)
class Check:
    """One check with what is said about it."""

    severity: Severity
    threshold: str
    meaning: str
    mend: str
    find: Find


def check(severity: Severity, threshold: str, meaning: str, mend: str) -> Callable[[Find], Find]:
    """Make a function a check under its own name."""

    def wrap(find: Find) -> Find:
        find.__dict__["check"] = Check(severity, threshold, meaning, mend, find)
        return find

    return wrap


def checks() -> dict[str, Check]:
    """Return every check by name: what makes a rater unusable first, else in the order of folder and file."""
    found = {
        name: function.__dict__["check"]
        for module in modules_in(sys.modules[__name__]).values()
        for name, function in vars(module).items()
        if "check" in getattr(function, "__dict__", {}) and function.__module__ == module.__name__
    }
    return dict(sorted(found.items(), key=lambda item: item[1].severity != "unusable"))
