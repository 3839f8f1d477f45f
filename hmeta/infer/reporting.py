"""From draws at a plan's design rows to draws that a reader wants: by cell, with names.

Cells are reported as they stand up to `MAX_CELLS`; beyond it (items as group terms make a cell of
every trial) they are averaged, by answers, over the columns that neither what the ratings tell (M; AUROC2, d_a)
nor the criteria use.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
import scipy.sparse

from hmeta.infer.links import inverse_link
from hmeta.infer.sites import plain
from hmeta.infer.views import views_of
from hmeta.spec.likelihoods import FAMILIES
from hmeta.spec.plan import GroupTerm, Ints, ModelPlan

MAX_CELLS = 5000

DIMENSIONS = {"model": "llm"}
"""ArviZ breaks on a dimension called ``model``."""


def dimension_word(factor: str) -> str:
    """Return the name of the dimension that runs over a factor's levels.

    It differs from the factor's own name, which stays with the coordinate of the cells.

    Examples
    --------
    >>> dimension_word("model"), dimension_word("domain"), dimension_word("model:domain")
    ('llm', 'domain_level', 'llm_domain')
    """
    parts = factor.split(":")
    if len(parts) == 1:
        return DIMENSIONS.get(factor, f"{plain(factor)}_level")
    return "_".join(plain(DIMENSIONS.get(part, part)) for part in parts)


@dataclass(frozen=True)
class Reporting:
    """The reporting cells of a plan, and the averages that lead to them."""

    plan: ModelPlan

    @cached_property
    def columns(self) -> list[str]:
        """Factors that tell reporting cells apart."""
        every = list(self.plan.cells.columns)
        if len(self.plan.cells) <= MAX_CELLS:
            return every
        rated = FAMILIES[self.plan.likelihood].from_ratings & set(self.plan.parameters)
        wanted = {column for name in rated for column in self.plan.parameters[name].units.columns}
        wanted |= {*self.plan.criteria.groups.columns, "n_options"}
        return [name for name in every if name in wanted]

    @cached_property
    def _grouped(self) -> tuple[Ints, pd.DataFrame]:
        if not self.columns:
            return np.zeros(len(self.plan.cells), dtype=np.int64), pd.DataFrame(index=pd.RangeIndex(1))
        grouped = self.plan.cells.groupby(self.columns, sort=True, observed=True)
        return np.asarray(grouped.ngroup(), dtype=np.int64), grouped.size().reset_index()[self.columns]

    @property
    def of_cell(self) -> Ints:
        """The reporting cell of each likelihood cell, (cell,)."""
        return self._grouped[0]

    @property
    def cells(self) -> pd.DataFrame:
        """Factors of the reporting cells, (reporting cell, factor)."""
        return self._grouped[1]

    @cached_property
    def answers(self) -> np.ndarray:
        """Answers of each likelihood cell, (cell,)."""
        return np.bincount(self.plan.rows.cell, weights=self.plan.rows.count, minlength=len(self.plan.cells))

    @cached_property
    def n_answers(self) -> np.ndarray:
        """Answers of each reporting cell."""
        return np.bincount(self.of_cell, weights=self.answers, minlength=len(self.cells))

    def average(self, name: str) -> scipy.sparse.csr_array:
        """Return the matrix (reporting cell, unit) that averages a parameter over answers."""
        unit = self.plan.parameters[name].unit_of_cell
        weight = self.answers / self.n_answers[self.of_cell]
        shape = (len(self.cells), len(self.plan.parameters[name].units))
        return scipy.sparse.csr_array(scipy.sparse.coo_array((weight, (self.of_cell, unit)), shape=shape))

    def reduce(self, draws: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Return draws with each parameter at the reporting cells in place of its units, and its views there.

        Parameters
        ----------
        draws : mapping of str to (..., quantity) arrays
        """
        reduced = dict(draws)
        for name in self.plan.parameters:
            reduced[name] = self._averaged(name, draws[name])
        for name, view in views_of(self.plan.likelihood, self.plan.parameters).items():
            reduced[name] = self._averaged(view.of, inverse_link(view.link, draws[view.of]))
        return reduced

    def _averaged(self, name: str, value: np.ndarray) -> np.ndarray:
        """Return numbers at a parameter's units, (..., unit), averaged at the reporting cells."""
        flat = value.reshape(-1, value.shape[-1])
        return (self.average(name) @ flat.T).T.reshape(*value.shape[:-1], -1)

    def design(self, name: str) -> dict[str, tuple[list[str], np.ndarray]]:
        """Return the design at the reporting cells: population terms, and group terms with slopes.

        Returns
        -------
        dict
            ``"common"`` or a group's name -> (column labels, (reporting cell, column)).
        """
        parameter, average = self.plan.parameters[name], self.average(name)
        labels = [f"{t.name}[{level}]" if level else t.name for t in parameter.common for level in t.levels]
        stacked = [t.matrix for t in parameter.common]
        found = {"common": (labels, average @ np.concatenate(stacked, axis=1))} if stacked else {}
        for group in parameter.groups:
            if has_slopes(group):
                found[plain(group.name)] = (list(group.coefficients), average @ group.matrix)
        return found


def has_slopes(group: GroupTerm) -> bool:
    """Say whether a group term is more than one intercept a level."""
    return len(group.coefficients) > 1 or not np.all(group.matrix == 1.0)


def cell_labels(cells: pd.DataFrame) -> list[str]:
    """Return one label for each cell: its factors' levels, without the number of alternatives."""
    named = [name for name in cells.columns if name != "n_options"]
    if not named:
        return ["all"] * len(cells)
    return [" | ".join(str(value) for value in row) for row in cells[named].itertuples(index=False)]
