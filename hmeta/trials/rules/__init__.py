"""Validation rules, one function each, found by listing this folder.

A rule is one of three kinds, said by its decorator: a *refusal* raises, an *exclusion* returns which
trials it drops and why, a *caution* returns what the user should know. To add a rule, write the function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from hmeta.core.registry import modules_in
from hmeta.trials.study import Answers, Study


@dataclass(frozen=True)
class Mark:
    """Trials to exclude for one reason."""

    reason: str
    rows: NDArray[np.bool_]  # (trial,)


@dataclass(frozen=True)
class Caution:
    """Something to know about data that are kept."""

    rule: str
    message: str

    def __str__(self) -> str:
        return self.message


Refusal = Callable[[Answers], None]
Exclusion = Callable[[Answers], Iterable[Mark]]
CautionRule = Callable[[Study], Iterable[str]]


def refusal(rule: Refusal) -> Refusal:
    """Mark a function as a refusal."""
    rule.__dict__["rule_kind"] = "refusal"
    return rule


def exclusion(rule: Exclusion) -> Exclusion:
    """Mark a function as an exclusion."""
    rule.__dict__["rule_kind"] = "exclusion"
    return rule


def caution(rule: CautionRule) -> CautionRule:
    """Mark a function as a caution."""
    rule.__dict__["rule_kind"] = "caution"
    return rule


def rules(kind: str) -> dict[str, Callable[..., object]]:
    """Return every rule of one kind by name, in the order of the folder and of each file."""
    return {
        name: function
        for module in _modules().values()
        for name, function in vars(module).items()
        if getattr(function, "rule_kind", None) == kind and function.__module__ == module.__name__
    }


def _modules() -> dict[str, ModuleType]:
    import hmeta.trials.rules as here

    return modules_in(here)
