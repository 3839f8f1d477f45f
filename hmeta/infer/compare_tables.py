"""The result of a comparison of studies: each study, each difference, and what they say together."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hmeta.infer.alike import unit_column
from hmeta.infer.caveats import list_flags
from hmeta.infer.fitted import Fitted
from hmeta.infer.intervals import NAMES, Kind, describe_draws, share_of
from hmeta.infer.parameter_words import words_of
from hmeta.infer.pooling import Estimate, Pooled

Floats = NDArray[np.float64]

ALL = "all"
"""The level of a study that is not split by a factor."""


class Study(NamedTuple):
    """One study's average of the quantity, at one level of the factor."""

    name: str
    level: str
    over: str  # what is averaged
    fitted: Fitted
    cells: NDArray[np.int64]
    draws: Floats  # (chain, draw)
    paired: Floats  # (pair,), resampled so that those of two studies can be subtracted


class Difference(NamedTuple):
    """One study minus another, at one level."""

    level: str
    study: str
    baseline: str
    draws: Floats  # (pair,)


@dataclass(frozen=True)
class Comparison:
    """Several studies side by side.

    Attributes
    ----------
    table : DataFrame
        One row a study and level: study, level, estimand, n_units, n_cells, n_answers, median, sd, lower, upper, P
        (below zero; of auroc2 below one half), flags, converged, noise.
    differences : DataFrame
        level, study, baseline, median, sd, lower, upper, p_above, p_direction, p_rope (unless the region is None).
    pooled : mapping of str to Pooled
        By level; a level that cannot be pooled is missing, and a note says why.
    """

    parameter: str
    by: str | None
    baseline: str
    rope: tuple[float, float] | None
    interval: float
    kind: Kind
    table: pd.DataFrame
    differences: pd.DataFrame
    pooled: Mapping[str, Pooled]
    facts: Mapping[str, Any]
    notes: tuple[str, ...]

    @property
    def converged(self) -> bool:
        """Whether every fit has converged."""
        return bool(self.table["converged"].all())

    def pooled_table(self) -> pd.DataFrame:
        """Return level, n_studies, quantity (mean, spread, new study), median, sd, lower, upper, p_above, reference."""
        rows = []
        for level, found in self.pooled.items():
            beside = {"reference": found.reference}
            head = {"level": level, "n_studies": len(found.studies)}
            rows += [
                {**head, "quantity": "mean", **asdict(found.mean), "p_above": found.p_mean_above, **beside},
                {**head, "quantity": "new study", **asdict(found.new), "p_above": found.p_new_above, **beside},
                {**head, "quantity": "spread", **asdict(found.spread), "p_above": np.nan, "reference": np.nan},
            ]
        return pd.DataFrame(rows)

    def shrunken_table(self) -> pd.DataFrame:
        """Return each study's true value given all studies: level, study, median, sd, lower, upper, share."""
        return pd.DataFrame(
            {"level": level, "study": name, **asdict(estimate), "share": share}
            for level, found in self.pooled.items()
            for name, estimate, share in zip(found.studies, found.shrunken, found.shares, strict=True)
        )

    def render(self) -> str:
        """Return the tables and notes as text."""
        names = list(dict.fromkeys(self.table["study"][~self.table["converged"]]))
        lines = [f"NOT CONVERGED: {', '.join(names)}"] if names else []
        split = f" by {self.by}" if self.by else ""
        lines += [f"{words_of(self.parameter).title}{split} ({self.interval:.0%} {NAMES[self.kind]} interval)"]
        lines += [self._text(self.table), "", "differences between studies", self._text(self.differences)]
        if self.pooled:
            lines += ["", "over studies (random effects)", self._text(self.pooled_table())]
            lines += ["", "each study's true value given all", self._text(self.shrunken_table())]
            lines += self.second_opinions()
        return "\n".join([*lines, "", *self.notes])

    def to_json(self) -> str:
        """Return everything as one JSON object; undefined numbers are null."""
        names = ("parameter", "by", "baseline", "rope", "interval", "kind", "facts", "notes", "converged")
        content = {"schema": "1", **{name: getattr(self, name) for name in names}}
        content |= {"table": _records(self.table), "differences": _records(self.differences)}
        content |= {"pooled": {level: asdict(found) for level, found in self.pooled.items()}}
        return json.dumps(content, ensure_ascii=False, allow_nan=False)

    def __str__(self) -> str:
        return self.render()

    def _text(self, frame: pd.DataFrame) -> str:
        shown = frame if self.by else frame.drop(columns="level", errors="ignore")
        return shown.to_string(index=False, float_format=lambda x: f"{x:.3f}", na_rep="-") if len(shown) else "none"

    def second_opinions(self) -> list[str]:
        """Return, for each level, the heterogeneity and the classical estimate in a line."""
        return [self._second_opinion(level, found) for level, found in self.pooled.items()]

    def _second_opinion(self, level: str, found: Pooled) -> str:
        other = found.classical
        of = f"{level}: " if self.by else ""
        return (
            f"{of}Q = {found.q:.2f} ({len(found.studies) - 1} df), I² = {found.i_squared:.0%}; without priors "
            f"(Paule–Mandel, Hartung–Knapp): mean {other.mean:.3f} [{other.lower:.3f}, {other.upper:.3f}], "
            f"spread {other.tau:.3f}"
        )


def study_table(studies: Sequence[Study], interval: float, kind: Kind) -> pd.DataFrame:
    """Return one row a study and level."""
    words = words_of(studies[0].fitted.parameter)
    return pd.DataFrame(
        [
            {
                "study": study.name,
                "level": study.level,
                "estimand": study.over,
                "n_units": _count_units(study),
                "n_cells": len(study.cells),
                "n_answers": int(study.fitted.n_answers[study.cells].sum()),
                **asdict(estimate_of(study, interval, kind)),
                words.below: float(share_of(study.draws.ravel() < words.chance, study.draws.ravel())),
                "flags": list_flags(study.fitted, study.draws, study.cells, unit=_judged_alone(study)),
                "converged": study.fitted.converged,
                "noise": study.fitted.noise,
            }
            for study in studies
        ]
    ).astype({"n_units": "Int64"})


def estimate_of(study: Study, interval: float, kind: Kind) -> Estimate:
    """Return a study's median, standard deviation and interval; NaN where a draw is not finite."""
    return Estimate(**{name: float(v) for name, v in describe_draws(study.draws.ravel(), interval, kind).items()})


def difference_table(
    found: Sequence[Difference], rope: tuple[float, float] | None, interval: float, kind: Kind
) -> pd.DataFrame:
    """Return one row a difference."""
    frame = pd.DataFrame(
        {
            "level": [d.level for d in found],
            "study": [d.study for d in found],
            "baseline": [d.baseline for d in found],
        }
    )
    if not found:
        return frame
    draws = np.stack([d.draws for d in found])
    above, below = share_of(draws > 0, draws), share_of(draws < 0, draws)
    frame = frame.assign(**describe_draws(draws, interval, kind), p_above=above, p_direction=np.maximum(above, below))
    return frame if rope is None else frame.assign(p_rope=share_of((draws >= rope[0]) & (draws <= rope[1]), draws))


def _count_units(study: Study) -> int | None:
    """Return how many answered, None where the fit pools over who did and does not say."""
    column = unit_column(study.fitted)
    if column is not None:
        return int(study.fitted.factors[column].iloc[study.cells].nunique())
    usage = study.fitted.from_json("validation", {}).get("usage", [])
    return len({row.get("unit") for row in usage}) or None if study.level == ALL else None


def _judged_alone(study: Study) -> bool:
    """Say whether the row is one unit, whose own data must say something about the quantity."""
    return len(study.fitted.factors) == 1 or study.level != ALL


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    rows = frame.to_dict("records")
    return [{str(k): None if pd.isna(v) or v in (np.inf, -np.inf) else v for k, v in row.items()} for row in rows]
