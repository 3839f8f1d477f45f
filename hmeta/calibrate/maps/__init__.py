"""The maps from confidence to calibrated probability, one a file, found by listing this folder.

A map is a module with two functions and two sentences: ``fit(probability, correct, weights, **options)`` returns
its parameters as a dict of numbers and lists, ``apply(parameters, probability)`` the calibrated probability,
`WORDS` says what it does and `REFERENCE` where it comes from. A fit that cannot be made is refused with
`CannotFit`, never replaced by the identity.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from types import ModuleType
from typing import Any, get_type_hints

import numpy as np

from hmeta.calibrate.levels import Floats
from hmeta.core.errors import DataError
from hmeta.core.registry import did_you_mean, modules_in
from hmeta.metrics.measure import Option, check_column, check_weights

Parameters = Mapping[str, Any]
"""Numbers and lists of numbers by name: what JSON holds."""


@dataclass(frozen=True)
class Method:
    """A map by name."""

    name: str
    module: ModuleType

    @property
    def words(self) -> str:
        """What the map does, in one sentence."""
        return self.module.WORDS

    def describe(self) -> dict[str, Any]:
        """Return what is said about the map as plain values."""
        page = inspect.getdoc(self.module.fit) or ""
        about = _sections(page)
        options = {
            name: f"{option.words}{': ' + about[name] if about.get(name) else ''}"
            for name, option in self.options.items()
        }
        return {
            "name": self.name,
            "summary": (inspect.getdoc(self.module) or "").split("\n\n")[0],
            "definition": page.split("\n\nParameters\n")[0],
            "formula": self.words,
            "options": options,
            "reference": self.module.REFERENCE,
        }

    @cached_property
    def options(self) -> dict[str, Option]:
        """The options of its fit."""
        hints = get_type_hints(self.module.fit)
        given = inspect.signature(self.module.fit).parameters.values()
        return {p.name: Option(p.name, hints[p.name], p.default) for p in given if p.kind is p.KEYWORD_ONLY}

    def fit(self, probability: Any, correct: Any, weights: Any = None, **options: Any) -> dict[str, Any]:
        """Return the parameters that fit best.

        Parameters
        ----------
        probability, correct : (row,) array_like
            Confidence on the unit interval, and 0 or 1.
        weights : (row,) array_like, optional
            How many answers each row stands for; default 1.
        **options
            See `options`.

        Raises
        ------
        CannotFit
            Where no answer, one kind of outcome or one level is there, or the best parameters are infinite.
        """
        p, y = check_column("probability", probability), check_column("correct", correct)
        if len(p) != len(y):
            raise DataError("columns differ in length", received=f"probability: {len(p)}, correct: {len(y)}")
        return self.module.fit(p, y, check_weights(weights, len(p)), **self.check(options))

    def apply(self, parameters: Parameters, probability: Any) -> Floats:
        """Return the calibrated probability, ``(row,)``."""
        return self.module.apply(parameters, np.asarray(probability, dtype=np.float64))

    def check(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return options as the fit takes them, or refuse unknown names and impossible values."""
        for name in options:
            if name not in self.options:
                raise DataError(
                    f"the map {self.name} has no option {name}",
                    received=name,
                    allowed=list(self.options) or "no options",
                    mend=did_you_mean(name, self.options),
                )
        return {name: self.options[name].check(value, self.name) for name, value in options.items()}


def _sections(page: str) -> dict[str, str]:
    """Return what a docstring says of each parameter."""
    found: dict[str, list[str]] = {}
    name = ""
    for line in page.partition("\nParameters\n")[2].partition("\nReturns\n")[0].splitlines()[1:]:
        if line[:1].strip():
            name = line.split(" : ")[0]
        else:
            found.setdefault(name, []).append(line.strip())
    return {key: " ".join(part for part in lines if part) for key, lines in found.items()}


@cache
def methods() -> Mapping[str, Method]:
    """Return every map by name."""
    import hmeta.calibrate.maps as here

    return {name: Method(name, module) for name, module in modules_in(here).items()}


def method(name: str) -> Method:
    """Return a map by name, or refuse with the nearest one."""
    if name not in methods():
        raise DataError(
            "unknown calibration map", received=repr(name), allowed=list(methods()), mend=did_you_mean(name, methods())
        )
    return methods()[name]


def read_method(text: str) -> tuple[Method, dict[str, Any]]:
    """Read the name of a map, with options in brackets where wanted: ``histogram(bins=15)``."""
    from hmeta.metrics.catalogue import read_call

    name, options = read_call(text)
    found = method(name)
    return found, found.check(options)
