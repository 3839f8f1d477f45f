"""The plan: everything a backend needs, as frozen arrays and names.

Letters: ``cell`` counts the likelihood cells, ``unit`` the design rows of one parameter, ``row`` the
occupied (cell, outcome, level) combinations, ``edge`` the confidence criteria, ``gap`` their differences.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Prior:
    """A prior family by name with its arguments; `default` says that the user did not set it."""

    family: str
    arguments: dict[str, float]
    default: bool = True


@dataclass(frozen=True)
class CommonTerm:
    """One population-level term, for example ``Intercept`` or ``scale``."""

    name: str
    matrix: Floats  # (unit, column)
    levels: tuple[str, ...]  # one label a column; ("",) where the term has one column
    prior: Prior


@dataclass(frozen=True)
class GroupTerm:
    """One group-level term ``(x | g)``, with one coefficient vector for each level of g.

    `free` effects are zero-sum over the levels (level - 1 free numbers for each coefficient) when
    `zero_sum`; their overall mean is then carried by the common terms.
    """

    name: str  # the grouping factor as written, "model" or "model:dataset"
    coefficients: tuple[str, ...]  # ("Intercept",) or ("Intercept", "x")
    matrix: Floats  # (unit, coefficient)
    index: Ints  # (unit,), which level of the grouping factor
    levels: tuple[str, ...]
    zero_sum: bool
    correlated: bool  # with two or more coefficients: LKJ correlation
    sd_prior: Prior
    cor_prior: Prior | None


@dataclass(frozen=True)
class ParameterPlan:
    """The linear predictor of one parameter over its own design rows."""

    name: str  # "d", "c", "M", ...
    formula: str
    link: str  # "identity" or "log"
    units: pd.DataFrame  # (unit, factor): the distinct combinations of the columns that the formula uses
    unit_of_cell: Ints  # (cell,)
    common: tuple[CommonTerm, ...]
    groups: tuple[GroupTerm, ...]


@dataclass(frozen=True)
class CriteriaPlan:
    """Ragged confidence criteria: one *ladder* for each criteria group (and response, for `binary`).

    A ladder with L occupied levels has L - 1 criteria; the edge above the top level is infinite. Where ratings start
    at 0 (`lowest`), edge 0 is 0 and every criterion is the sum of the gaps below it. Where `lowest` is minus
    infinity, one criterion of each ladder is a number of its own, its *anchor*, and gaps lead from it to the others.
    Ladders are stored padded to the longest one.
    """

    formula: str
    groups: pd.DataFrame  # (group, factor)
    ladder_group: Ints  # (ladder,), which criteria group
    ladder_outcomes: tuple[tuple[int, ...], ...]  # outcomes that read this ladder
    n_levels: Ints  # (ladder,), occupied levels L
    level_values: tuple[Floats, ...]  # for each ladder the confidence values, increasing
    gap_ladder: Ints  # (gap,)
    gap_step: Ints  # (gap,), 0-based position in its ladder of the criterion above the gap
    pooled: bool  # whether log gaps share a mean for each (response, step)
    prior: Prior  # of log gap - log(2.5 / L); pooled: of the shared mean
    sd_prior: Prior | None = None  # pooled: of the ladders' spread around that mean
    lowest: float = 0.0  # edge 0: 0, or minus infinity
    anchor_ladder: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))  # (anchor,)
    anchor_level: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))  # (anchor,), the level above it
    anchor_prior: Prior | None = None  # of anchor - Φ⁻¹(k / L) with k levels below it

    @property
    def criterion_ladder(self) -> Ints:
        """The ladder of every criterion, (criterion,)."""
        return np.repeat(np.arange(len(self.n_levels)), self.n_levels - 1)

    @property
    def criterion_step(self) -> Ints:
        """The 0-based position of every criterion in its ladder, (criterion,)."""
        return np.concatenate([np.arange(n - 1) for n in self.n_levels]).astype(np.int64)


@dataclass(frozen=True)
class RowTable:
    """The data as the likelihood sees them; zero counts of occupied levels are left out."""

    cell: Ints  # (row,)
    outcome: Ints  # (row,)
    ladder: Ints  # (row,)
    level: Ints  # (row,), 0-based level in the ladder: between edge `level` and edge `level` + 1
    count: Floats  # (row,)


@dataclass(frozen=True)
class ModelPlan:
    """A model made ready for a backend: a pure function of the specification and the data."""

    task: str
    likelihood: str
    options: dict[str, str | float]  # noise, rule, meta_c, sd_ratio ...: closed sets
    cells: pd.DataFrame  # (cell, factor); for `mafc` with column `n_options`
    rows: RowTable
    parameters: dict[str, ParameterPlan]
    criteria: CriteriaPlan
    spec_text: str  # the specification as TOML with every default written out
    notes: tuple[str, ...] = field(default=())  # warnings for the user: uninformative groups, ...
