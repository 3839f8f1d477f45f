"""The validation report: rows in, used and excluded, by unit and reason, and what to know about the rest."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pandas as pd

from hmeta.trials.rules import Caution
from hmeta.trials.study import label

EXCLUSION_COLUMNS = ("unit", "dataset", "scale", "reason", "count")
MOST_LINES = 12


@dataclass(frozen=True)
class ValidationReport:
    """What validation found; `rows_in` is always `rows_used` plus the sum of `exclusions["count"]`.

    A row is one answer in every layout: of `counts`, the counts are added up; of `estimates`, one estimate.
    """

    layout: str
    task: str
    rows_in: float
    rows_used: float
    exclusions: pd.DataFrame  # unit, dataset, scale, reason, count
    usage: pd.DataFrame  # unit, dataset, scale, rows_in, rows_used
    warnings: tuple[Caution, ...]

    def render(self) -> str:
        """Return the report as text."""
        head = f"{self.rows_in:g} rows in, {self.rows_used:g} used, {self.rows_in - self.rows_used:g} excluded"
        lines = [f"{head} ({self.layout}, task {self.task})", *self._excluded()]
        lines += [f"warning [{caution.rule}]: {caution.message}" for caution in self.warnings]
        return "\n".join(lines)

    def to_json(self) -> str:
        """Return the report as one JSON object."""
        content = {
            "layout": self.layout,
            "task": self.task,
            "rows_in": self.rows_in,
            "rows_used": self.rows_used,
            "exclusions": self.exclusions.to_dict("records"),
            "usage": self.usage.to_dict("records"),
            "warnings": [{"rule": caution.rule, "message": caution.message} for caution in self.warnings],
        }
        return json.dumps(content, ensure_ascii=False)

    def _excluded(self) -> list[str]:
        if not len(self.exclusions):
            return []
        by_reason = self.exclusions.groupby("reason", sort=True)["count"].sum()
        lines = [f"  excluded {count:g}: {reason}" for reason, count in by_reason.items()]
        if self.usage["unit"].nunique() < 2:
            return lines
        most = self.exclusions.sort_values("count", ascending=False, kind="stable")
        shown = most.head(MOST_LINES)
        lines += [f"    {row['count']:>6g}  {row['reason']}: {label(row)}" for _, row in shown.iterrows()]
        more = len(most) - MOST_LINES
        return [*lines, f"    and {more} more"] if more > 0 else lines
