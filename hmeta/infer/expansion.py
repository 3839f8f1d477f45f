"""A plan whose zero-sum effects are free: the space in which curvature is sparse.

With one free number for every level, a unit's numbers depend on that unit's data alone. The sampled
space is the part of it in which each zero-sum term's effects add up to zero.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from hmeta.infer import sites
from hmeta.infer.target import Target
from hmeta.spec.plan import Ints, ModelPlan


def free_plan(plan: ModelPlan) -> ModelPlan:
    """Return the plan with every zero-sum restriction lifted."""
    parameters = {
        name: replace(parameter, groups=tuple(replace(group, zero_sum=False) for group in parameter.groups))
        for name, parameter in plan.parameters.items()
    }
    return replace(plan, parameters=parameters)


@dataclass(frozen=True)
class Expansion:
    """A target, its expanded twin, and the way between their flat vectors.

    With n levels, effects e and free numbers f of a zero-sum term (`sites.spread`),
    f_i = e_i - e_n·√n / (√n + n).
    """

    target: Target

    @cached_property
    def expanded(self) -> Target:
        """The target without zero-sum restrictions."""
        return Target(free_plan(self.target.plan), self.target.shape, self.target.data)

    @cached_property
    def _maps(self) -> tuple[Ints, Ints, np.ndarray, list[Ints]]:
        own = np.zeros(self.target.size, dtype=np.int64)
        last = np.zeros(self.target.size, dtype=np.int64)
        weight = np.zeros(self.target.size)
        restricted: list[Ints] = []
        wide = {name: place.astype(np.int64) for name, place in self.expanded.positions.items()}
        narrow = {name: place.astype(np.int64) for name, place in self.target.positions.items()}
        for name, place in narrow.items():
            own[place.ravel()] = wide[name][: len(place)].ravel() if place.ndim else wide[name]
        for term in sites.group_terms(self.target.plan):
            if not term.group.zero_sum:
                continue
            name, n = sites.group_site(term.parameter, term.group, "free"), len(term.group.levels)
            last[narrow[name]] = wide[name][-1]
            weight[narrow[name]] = -np.sqrt(n) / (np.sqrt(n) + n)
            restricted += list(wide[name].T)
        return own, last, weight, restricted

    @property
    def own(self) -> Ints:
        """Where each number stands in the expanded vector, (number,)."""
        return self._maps[0]

    @property
    def last(self) -> Ints:
        """Where the last level of each number's term stands in the expanded vector, (number,)."""
        return self._maps[1]

    @property
    def last_weight(self) -> np.ndarray:
        """How much of the last level's effect each number takes, (number,); 0 without a restriction."""
        return self._maps[2]

    @property
    def restricted(self) -> list[Ints]:
        """Expanded positions whose numbers add up to zero, one array for each restriction."""
        return self._maps[3]

    def narrow(self, wide: np.ndarray) -> np.ndarray:
        """Return the flat vector of an expanded one that obeys the restrictions."""
        return wide[self.own] + self.last_weight * wide[self.last]

    def widen(self, position: np.ndarray) -> np.ndarray:
        """Return the expanded vector of a flat one."""
        wide = np.zeros(self.expanded.size)
        wide[self.own] = position
        for term in sites.group_terms(self.target.plan):
            if term.group.zero_sum:
                name = sites.group_site(term.parameter, term.group, "free")
                free = position[self.target.positions[name].astype(np.int64)]
                wide[self.expanded.positions[name].astype(np.int64)] = sites.spread(np, free, len(term.group.levels))
        return wide
