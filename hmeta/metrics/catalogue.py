"""Every measure and curve of this folder, by name, and the words in which a user asks for one."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import hmeta.metrics as package
from hmeta.core.errors import DataError
from hmeta.core.registry import did_you_mean, modules_in
from hmeta.metrics.measure import Card, Curve, Measure

FAMILIES = (
    "performance",
    "discrimination",
    "efficiency",
    "information",
    "calibration",
    "selective prediction",
    "scale use",
    "judges",
    "measurement",
)
"""In the order in which tables show them."""

LISTED = {"measure": "metrics", "curve": "curves"}
"""What the command hmeta list calls them."""


def _found[Kind: Card](kind: type[Kind]) -> dict[str, Kind]:
    cards = [
        value
        for module in modules_in(package).values()
        for value in vars(module).values()
        if isinstance(value, kind) and value.compute.__module__ == module.__name__
    ]
    return {card.name: card for card in sorted(cards, key=lambda card: FAMILIES.index(card.family))}


@cache
def measures() -> Mapping[str, Measure]:
    """Return every measure by name, family by family."""
    return _found(Measure)


@cache
def curves() -> Mapping[str, Curve]:
    """Return every curve by name."""
    return _found(Curve)


@dataclass(frozen=True)
class Request:
    """A measure with the options that were set, and whether intervals are wanted for it."""

    measure: Measure
    options: dict[str, Any] = field(default_factory=dict)
    resampled: bool = True

    @property
    def name(self) -> str:
        """As written by the user, options included: ``ece(bins=15)``."""
        inside = ", ".join(f"{name}={value}" for name, value in self.options.items())
        return f"{self.measure.name}({inside})" if inside else self.measure.name


def read_request(text: str) -> Request:
    """Read the name of a measure, with options in brackets where wanted.

    Raises
    ------
    DataError
        For an unknown measure or option, or an option that must be set and is not.

    Examples
    --------
    >>> read_request("ece(bins=15)").name
    'ece(bins=15)'
    """
    name, options = read_call(text)
    card = look_up(name, measures(), "measure")
    chosen = {key: card.option(key).check(value, name) for key, value in options.items()}
    lacking = [o for o in card.options.values() if o.default is None and o.name not in chosen]
    if lacking:
        raise DataError(
            f"{name} needs {lacking[0].name}",
            received=text,
            allowed=lacking[0].allowed,
            mend=f"for example {name}({lacking[0].name}=1)",
        )
    return Request(card, chosen)


def look_up[Kind: Card](name: str, cards: Mapping[str, Kind], what: str) -> Kind:
    """Return a card by name, or refuse with the nearest name."""
    if name not in cards:
        raise DataError(
            f"unknown {what}",
            received=repr(name),
            allowed=f"the {len(cards)} that hmeta list {LISTED[what]} shows",
            mend=did_you_mean(name, cards),
        )
    return cards[name]


def read_call(text: str) -> tuple[str, dict[str, Any]]:
    """Split ``name(option=value, …)`` into its parts; values are numbers, true/false or words."""
    refusal = DataError(
        "this names no measure", received=repr(text), allowed='a name, or a name with options: "ece(bins=15)"'
    )
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError) as error:
        raise refusal from error
    if isinstance(tree, ast.Name):
        return tree.id, {}
    if not isinstance(tree, ast.Call) or not isinstance(tree.func, ast.Name) or tree.args:
        raise refusal
    options: dict[str, Any] = {}
    for keyword in tree.keywords:
        if keyword.arg is None:
            raise refusal
        if keyword.arg in options:
            raise DataError(f"the option {keyword.arg} is given twice", received=repr(text))
        options[keyword.arg] = _value(keyword.value, refusal)
    return tree.func.id, options


def _value(node: ast.expr, refusal: DataError) -> Any:
    if isinstance(node, ast.Name):
        return {"true": True, "false": False}.get(node.id.lower(), node.id)
    try:
        return ast.literal_eval(node)
    except ValueError as error:
        raise refusal from error


def describe(card: Card) -> dict[str, Any]:
    """Return what is said about a measure or curve as plain values."""
    options = {name: option.words for name, option in card.options.items()}
    return {
        "name": card.name,
        "label": card.label,
        "family": card.family,
        "unit": card.unit,
        "better": card.better,
        "tasks": list(card.tasks),
        "columns": list(card.columns),
        "options": options,
        "neutral": card.neutral,
        "summary": card.summary,
        "definition": card.definition,
        "reference": card.reference,
        "caution": card.caution,
    }
