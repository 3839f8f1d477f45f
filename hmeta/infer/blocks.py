"""Which unconstrained numbers belong together: blocks that share no data, and a border that touches many.

Given the border (population-level terms, standard deviations, crossed effects), the numbers of one
model's or person's block depend on that unit's data alone, so that the posterior's curvature is an
arrow: blocks on the diagonal and a dense border.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hmeta.infer import sites
from hmeta.infer.target import Target
from hmeta.spec.plan import Ints, ModelPlan

BORDER = -1
MAX_BORDER = 400
MAX_BLOCK = 400


@dataclass(frozen=True)
class Blocks:
    """A partition of the flat vector.

    Attributes
    ----------
    members : tuple of (number,) arrays
        Flat positions of each block.
    border : (number,)
        Flat positions that belong to no block.
    """

    members: tuple[Ints, ...]
    border: Ints

    @property
    def cost(self) -> float:
        """Multiplications of one pass through the whitening map."""
        longest = max((len(m) for m in self.members), default=0)
        inside = sum(len(m) for m in self.members)
        return len(self.members) * longest**2 + inside * len(self.border) + len(self.border) ** 2


def find_blocks(target: Target) -> Blocks | None:
    """Return the cheapest partition over the model's factors, or None where none is affordable."""
    found = [_partition(target, of_cell) for of_cell in _candidates(target.plan)]
    affordable = [b for b in found if len(b.border) <= MAX_BORDER and _longest(b) <= MAX_BLOCK]
    return min(affordable, key=lambda b: b.cost) if affordable else None


def _longest(blocks: Blocks) -> int:
    return max((len(m) for m in blocks.members), default=0)


def _candidates(plan: ModelPlan) -> list[Ints]:
    """Return partitions of the cells, each (cell,): all in the border, and one for each grouping factor."""
    n_cells = len(plan.cells)
    ladder_group = np.zeros(n_cells, dtype=np.int64)
    ladder_group[plan.rows.cell] = plan.criteria.ladder_group[plan.rows.ladder]
    by_term = [t.group.index[t.parameter.unit_of_cell] for t in sites.group_terms(plan)]
    return [np.full(n_cells, BORDER), ladder_group, *by_term]


def _partition(target: Target, of_cell: Ints) -> Blocks:
    block = np.full(target.size, BORDER, dtype=np.int64)
    for positions, owner in _owners(target, of_cell):
        block[positions.ravel()] = owner.ravel()
    names = [b for b in np.unique(block) if b != BORDER]
    return Blocks(tuple(np.flatnonzero(block == b) for b in names), np.flatnonzero(block == BORDER))


def _owners(target: Target, of_cell: Ints) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return flat positions with the block of each, for the sites that can be in a block."""
    plan, positions = target.plan, target.positions
    found = []
    for term in sites.group_terms(plan):
        level_of_cell = term.group.index[term.parameter.unit_of_cell]
        owner = _single_owner(level_of_cell, of_cell, len(term.group.levels))
        place = positions[sites.group_site(term.parameter, term.group, "free")]  # (free, coefficient)
        found.append((place.astype(int), np.repeat(owner[: len(place), None], place.shape[1], axis=1)))
    ladder_owner = _single_owner(plan.rows.ladder, of_cell[plan.rows.cell], len(plan.criteria.n_levels))
    criteria = {"log_gap": plan.criteria.gap_ladder, "anchor": plan.criteria.anchor_ladder}
    found += [(positions[name].astype(int), ladder_owner[of]) for name, of in criteria.items() if name in positions]
    return found


def _single_owner(level: Ints, owner: Ints, n_levels: int) -> Ints:
    """Return the one owner of each level, or BORDER where a level has none or several, (level,)."""
    lowest = np.full(n_levels, np.iinfo(np.int64).max)
    highest = np.full(n_levels, BORDER)
    np.minimum.at(lowest, level, owner)
    np.maximum.at(highest, level, owner)
    return np.where(lowest == highest, highest, BORDER)
