"""Prior families by name, where each may stand, and the default of every parameter.

Names of priors in a model file: ``M.Intercept`` or ``M.scale`` (one common term), ``M.sd.model`` (one
group standard deviation), ``M.cor.participant`` (one correlation); ``M.common``, ``M.sd`` and ``M.cor``
stand for all terms that are not named; ``criteria`` (with pooling: ``criteria.mean``, ``criteria.sd``), and
``criteria.anchor`` where one criterion of each ladder is a number of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from hmeta.core.errors import SpecError
from hmeta.core.registry import did_you_mean
from hmeta.spec.plan import Prior

FAMILIES: dict[str, tuple[str, ...]] = {
    "normal": ("loc", "scale"),
    "student_t": ("df", "loc", "scale"),
    "half_normal": ("scale",),
    "half_student_t": ("df", "scale"),
    "exponential": ("rate",),
    "gamma": ("concentration", "rate"),
    "lognormal": ("loc", "scale"),
    "lkj": ("eta",),
}
"""Family -> names of its arguments; every argument but ``loc`` must be positive."""

PLACES: dict[str, tuple[str, ...]] = {
    "location": ("normal", "student_t"),
    "sd": ("half_normal", "half_student_t", "exponential", "gamma", "lognormal"),
    "cor": ("lkj",),
}
"""Place -> families allowed there."""


@dataclass(frozen=True)
class Defaults:
    """Default priors of one parameter: level-like terms, contrasts and slopes, group spread."""

    level: Prior
    contrast: Prior
    sd: Prior
    cor: Prior = field(default_factory=lambda: Prior("lkj", {"eta": 2.0}))


def _normal(loc: float, scale: float) -> Prior:
    return Prior("normal", {"loc": loc, "scale": scale})


def _half_normal(scale: float) -> Prior:
    return Prior("half_normal", {"scale": scale})


DEFAULTS: dict[tuple[str, str, str], Defaults] = {
    ("binary", "M", "identity"): Defaults(_normal(0.8, 0.5), _normal(0.0, 0.5), _half_normal(0.3)),
    ("binary", "M", "log"): Defaults(_normal(0.0, 1.0), _normal(0.0, 0.5), _half_normal(0.5)),
    ("binary", "d", "identity"): Defaults(_normal(1.5, 1.5), _normal(0.0, 1.0), _half_normal(1.0)),
    ("binary", "c", "identity"): Defaults(_normal(0.0, 1.0), _normal(0.0, 0.5), _half_normal(0.5)),
    ("binary", "sd_ratio", "log"): Defaults(_normal(0.0, 0.3), _normal(0.0, 0.3), _half_normal(0.3)),
    ("mafc", "M", "identity"): Defaults(_normal(0.8, 0.5), _normal(0.0, 0.5), _half_normal(0.3)),
    ("mafc", "M", "log"): Defaults(_normal(0.0, 1.0), _normal(0.0, 0.5), _half_normal(0.5)),
    ("mafc", "d", "identity"): Defaults(_normal(2.0, 1.5), _normal(0.0, 1.0), _half_normal(1.0)),
    ("type2", "logit_accuracy", "identity"): Defaults(_normal(0.0, 1.5), _normal(0.0, 1.0), _half_normal(1.0)),
    ("type2", "d_a", "identity"): Defaults(_normal(0.8, 0.8), _normal(0.0, 0.5), _half_normal(0.5)),
    ("type2", "zroc_slope", "log"): Defaults(_normal(0.0, 0.5), _normal(0.0, 0.3), _half_normal(0.3)),
}
"""By (likelihood, parameter, link), on the scale of the linear predictor."""

CRITERIA_DEFAULTS: dict[str, Prior] = {
    "criteria": _normal(0.0, 1.0),
    "criteria.mean": _normal(0.0, 1.0),
    "criteria.sd": _half_normal(0.5),
    "criteria.anchor": _normal(0.0, 1.5),
}
"""Priors of log gap - log(2.5 / L), with L the occupied levels; pooled: of their mean and spread. Where ratings do not
start at 0, also of the anchor criterion - Φ⁻¹(k / L), with k levels below it."""


def place_of(name: str) -> str:
    """Return where the prior of a name stands: "location", "sd" or "cor"."""
    parts = name.split(".")
    return parts[1] if len(parts) > 1 and parts[1] in ("sd", "cor") else "location"


def read_prior(name: str, table: Any, where: str) -> Prior:
    """Return the prior that a model file's table describes.

    Parameters
    ----------
    name : str
        The prior's name, which decides the families allowed.
    table : mapping
        ``{"family": ..., argument: number, ...}``.
    where : str
        File and key, for messages.

    Raises
    ------
    SpecError
        For a family or argument that is unknown, missing, not allowed here or out of range.
    """
    if not isinstance(table, dict) or not isinstance(table.get("family"), str):
        raise SpecError("a prior is a table with a family", where=where, allowed='{ family = "normal", loc = 0, ... }')
    family = table["family"]
    allowed = PLACES[place_of(name)]
    if family not in allowed:
        raise SpecError(
            f'family "{family}" cannot stand here',
            where=where,
            allowed=allowed,
            mend=did_you_mean(family, allowed),
        )
    arguments = {key: value for key, value in table.items() if key != "family"}
    for key in arguments:
        if key not in FAMILIES[family]:
            raise SpecError(
                f'"{family}" has no argument "{key}"',
                where=where,
                allowed=FAMILIES[family],
                mend=did_you_mean(key, FAMILIES[family]),
            )
    return Prior(family, {key: _argument(arguments, key, where) for key in FAMILIES[family]}, default=False)


def _argument(arguments: dict[str, Any], key: str, where: str) -> float:
    if key not in arguments:
        raise SpecError(f'argument "{key}" is missing', where=where)
    value = arguments[key]
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        raise SpecError(f'argument "{key}" must be a finite number', where=where, received=repr(value))
    if key != "loc" and value <= 0:
        raise SpecError(f'argument "{key}" must be positive', where=where, received=repr(value))
    return float(value)


@dataclass
class PriorTable:
    """Hands out priors by name: the user's, else the user's generic one, else the default.

    Collects every name that was asked for, so that names which no term uses can be refused.
    """

    given: dict[str, Prior]
    asked: dict[str, Prior] = field(default_factory=dict)
    generic: set[str] = field(default_factory=set)

    def take(self, name: str, default: Prior, generic: str | None = None) -> Prior:
        """Return the prior of `name`; `generic` is the name that stands for it where it is not given."""
        if generic is not None:
            self.generic.add(generic)
        found = self.given.get(name) or (self.given.get(generic) if generic else None) or default
        same = (found.family, found.arguments) == (default.family, default.arguments)
        prior = Prior(found.family, dict(found.arguments), default=same)
        self.asked[name] = prior
        return prior

    def refuse_unused(self, where: str) -> None:
        """Refuse names of priors that no term of the model uses."""
        known = [*self.asked, *sorted(self.generic)]
        for name in self.given:
            if name not in known:
                raise SpecError(
                    f'prior "{name}" belongs to no term of this model',
                    where=f"{where}, priors",
                    allowed=known,
                    mend=did_you_mean(name, known),
                )
