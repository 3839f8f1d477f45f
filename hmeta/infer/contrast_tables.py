"""The result of a contrast: each level, and each difference from the baseline."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hmeta.infer.fitted import Fitted, level_labels
from hmeta.infer.intervals import NAMES, Kind, describe_draws, share_of
from hmeta.infer.mixing import measure_mixing

Floats = NDArray[np.float64]

OBSERVED, NEW = "observed", "new"


@dataclass(frozen=True)
class Contrasts:
    """Every level of a factor against a baseline."""

    by: str
    baseline: str
    parameter: str
    rope: tuple[float, float] | None
    interval: float
    kind: Kind
    levels: pd.DataFrame  # level, n_cells, n_answers, median, sd, lower, upper, p_best
    contrasts: pd.DataFrame  # level, estimand, of, paired, n, median, sd, lower, upper, p_above, p_direction, p_rope …
    notes: tuple[str, ...]
    converged: bool
    reasons: tuple[str, ...]

    def render(self) -> str:
        """Return both tables and the notes as text."""
        kind = f"{self.interval:.0%} {NAMES[self.kind]} interval"
        verdict = [] if self.converged else [f"NOT CONVERGED: {'; '.join(self.reasons) or 'see hmeta diagnose'}"]
        lines = [
            *verdict,
            f"{self.parameter} by {self.by} ({kind})",
            _text(self.levels),
            "",
            f"difference from {self.baseline}",
            _text(self.contrasts.drop(columns=["baseline"])),
            *self.notes,
        ]
        return "\n".join(lines)

    def to_json(self) -> str:
        """Return everything as one JSON object; undefined numbers are null."""
        names = ("by", "baseline", "parameter", "rope", "interval", "kind", "notes", "converged", "reasons")
        content = {"schema": "1", **{name: getattr(self, name) for name in names}}
        content |= {"levels": _records(self.levels), "contrasts": _records(self.contrasts)}
        return json.dumps(content, ensure_ascii=False, allow_nan=False)

    def __str__(self) -> str:
        return self.render()


class Difference(NamedTuple):
    """One contrast: of what, and its draws."""

    level: str
    estimand: str
    of: str
    n: int
    draws: Floats  # (chain, draw)


def level_table(
    fitted: Fitted, name: str, values: list[Any], best: Floats, interval: float, kind: Kind
) -> pd.DataFrame:
    """Return each level's average over its own cells."""
    cells_of = [np.flatnonzero(fitted.factors[name] == value) for value in values]
    flat = np.stack([fitted.flat[cells].mean(axis=0) for cells in cells_of])
    frame = pd.DataFrame(
        {
            "level": level_labels(values),
            "n_cells": [len(cells) for cells in cells_of],
            "n_answers": [int(fitted.n_answers[cells].sum()) for cells in cells_of],
        }
    )
    return frame.assign(**describe_draws(flat, interval, kind), p_best=best)


def contrast_table(
    found: list[Difference], baseline: str, rope: tuple[float, float] | None, interval: float, kind: Kind
) -> pd.DataFrame:
    """Return the differences from the baseline, one row a level and estimand."""
    draws = np.stack([difference.draws for difference in found])
    flat = draws.reshape(len(draws), -1)
    frame = pd.DataFrame(
        {
            "level": [d.level for d in found],
            "baseline": baseline,
            "estimand": [d.estimand for d in found],
            "of": [d.of for d in found],
            "n": [d.n for d in found],
        }
    )
    above, below = share_of(flat > 0, flat), share_of(flat < 0, flat)
    frame = frame.assign(**describe_draws(flat, interval, kind), p_above=above, p_direction=np.maximum(above, below))
    if rope is not None:
        frame["p_rope"] = share_of((flat >= rope[0]) & (flat <= rope[1]), flat)
    return frame.assign(**measure_mixing(draws)._asdict())


def _text(frame: pd.DataFrame) -> str:
    return frame.to_string(index=False, float_format=lambda x: f"{x:.3f}", na_rep="-")


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return [
        {str(k): None if isinstance(v, float) and not np.isfinite(v) else v for k, v in row.items()}
        for row in frame.to_dict("records")
    ]
