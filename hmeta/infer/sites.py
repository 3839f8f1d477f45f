"""The random quantities of a plan, by name, and the linear predictors: what both backends walk.

A group term ``(x | g)`` becomes ``<parameter>_sd_<g>`` and ``<parameter>_free_<g>``; its effects are
``sd^(1-w) · spread(free)`` with ``free ~ Normal(0, sd^w)``. The weight w is the coefficient's centring: 0 is
the non-centred and 1 the centred form, and values between them interpolate. `spread` maps level - 1
free numbers to level effects that sum to zero, keeping distances, or is the identity.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy.special import ndtri

from hmeta.spec.plan import CriteriaPlan, GroupTerm, ModelPlan, ParameterPlan

TYPICAL_TOP_CRITERION = 2.5
"""Where the prior expects the highest criterion of a ladder to lie, in units of the noise."""

Centring = Mapping[str, float]


def plain(name: str) -> str:
    """Return a term's name as a word fit for a variable: ``model:domain`` becomes ``model_domain``."""
    return "".join(c if c.isalnum() else "_" for c in name).strip("_")


def common_site(parameter: ParameterPlan, term: str) -> str:
    """Return the site of a population-level term."""
    return f"{parameter.name}_{plain(term)}"


def group_site(parameter: ParameterPlan, group: GroupTerm, role: str) -> str:
    """Return the site of a group-level term; `role` is "sd", "cor" or "free"."""
    return f"{parameter.name}_{role}_{plain(group.name)}"


def effects_name(parameter: ParameterPlan, group: GroupTerm) -> str:
    """Return the name under which a group's effects are reported."""
    return f"{parameter.name}_{plain(group.name)}"


def centring_keys(parameter: ParameterPlan, group: GroupTerm) -> list[str]:
    """Return the key of each coefficient of a group term in a `Centring`."""
    name = f"{parameter.name}.{group.name}"
    if len(group.coefficients) == 1:
        return [name]
    return [f"{name}[{coefficient}]" for coefficient in group.coefficients]


def n_free(group: GroupTerm) -> int:
    """Return how many free numbers each coefficient of a group term has."""
    return len(group.levels) - int(group.zero_sum)


class ArrayModule(Protocol):
    """What the predictors need of ``jax.numpy`` or ``pytensor.tensor``."""

    sum: Any
    concatenate: Any


def spread(xp: ArrayModule, free: Any, n_levels: int) -> Any:
    """Return effects that sum to zero over the first axis, from one number fewer.

    The map is an isometry (a Householder reflection), so that independent normal numbers become
    exchangeable effects.

    Parameters
    ----------
    xp : module
        ``jax.numpy`` or ``pytensor.tensor``.
    free : (level - 1, coefficient)
    n_levels : int
    """
    root = float(np.sqrt(n_levels))
    total = xp.sum(free, axis=0, keepdims=True)
    shift = total / (root + n_levels)
    return xp.concatenate([free, shift - total / root], axis=0) - shift


def group_effects(xp: ArrayModule, group: GroupTerm, free: Any, scale: Any) -> Any:
    """Return a group's effects, (level, coefficient).

    Parameters
    ----------
    xp : module
    group : GroupTerm
    free : (free, coefficient)
    scale : (coefficient,) or (coefficient, coefficient)
        Standard deviations, or the Cholesky factor of the covariance for correlated terms.
    """
    effects = spread(xp, free, len(group.levels)) if group.zero_sum else free
    return effects @ scale.T if group.correlated else effects * scale


def log_gap_location(criteria: CriteriaPlan) -> np.ndarray:
    """Return the prior location of each log gap, (gap,): log(2.5 / L)."""
    levels = criteria.n_levels[criteria.gap_ladder]
    return np.log(TYPICAL_TOP_CRITERION / levels)


def anchor_location(criteria: CriteriaPlan) -> np.ndarray:
    """Return the prior location of each anchor, (anchor,): Φ⁻¹(k / L) with k of L levels below it."""
    return ndtri(criteria.anchor_level / criteria.n_levels[criteria.anchor_ladder])


def pooled_gap_index(criteria: CriteriaPlan) -> tuple[np.ndarray, int]:
    """Return which shared mean each gap has, (gap,), and their number: one for each (response, step)."""
    sides = np.array([outcomes[0] for outcomes in criteria.ladder_outcomes])
    keys = np.stack([sides[criteria.gap_ladder], criteria.gap_step], axis=1)
    _, index = np.unique(keys, axis=0, return_inverse=True)
    return index.ravel(), int(index.max()) + 1


@dataclass(frozen=True)
class Term:
    """A group term with its parameter, for loops over all of a plan's group terms."""

    parameter: ParameterPlan
    group: GroupTerm


def group_terms(plan: ModelPlan) -> list[Term]:
    """Return every group term of a plan."""
    return [Term(p, g) for p in plan.parameters.values() for g in p.groups]
