"""The validity screen: what is wrong with the confidences, before any number of efficiency is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from hmeta.assess.checks import checks
from hmeta.assess.raters import CELL, Rater, raters
from hmeta.trials.report import ValidationReport

VERDICTS = ("usable", "caution", "unusable")
"""For M and other measures of discrimination, best first."""

FLAG_COLUMNS = (*CELL, "flag", "severity", "value", "threshold", "detail", "meaning", "mend")

SAID_BY_VALIDATION = (
    "scale_read_from_data",
    "scale_direction",
    "ratings_reversed",
    "below_chance",
    "difficulty_mixed",
)
"""Cautions of validation about more than one rater, or that no check repeats."""


@dataclass(frozen=True)
class Screen:
    """What the screen found.

    Attributes
    ----------
    raters : DataFrame
        One row a unit × dataset × scale × signal: `n_asked`, `n` (usable), `n_missing`, `n_unanswered`, `accuracy`,
        `levels`, `top_value`, `top_share`, `auroc2` with `auroc2_lower` and `auroc2_upper` (95 %), `verdict`, `flags`.
    flags : DataFrame
        One row a finding: the rater, `flag`, `severity`, `value`, `threshold`, `detail`, `meaning`, `mend`.
    notes : tuple of str
        What concerns the file as a whole.
    """

    raters: pd.DataFrame
    flags: pd.DataFrame
    notes: tuple[str, ...]

    def brief(self) -> list[str]:
        """Return the verdicts in one line, and the findings with the numbers of raters in another."""
        verdicts = self.raters["verdict"].value_counts()
        lines = [f"screen: {', '.join(f'{verdicts.get(word, 0)} {word}' for word in VERDICTS)}"]
        found = self.flags["flag"].value_counts()
        if len(found):
            lines.append(f"  {', '.join(f'{flag} {n}' for flag, n in found.items())}: hmeta screen says what they mean")
        return lines

    def content(self) -> dict[str, Any]:
        """Return the screen for JSON; numbers that are not defined become null."""
        return {"raters": _records(self.raters), "flags": _records(self.flags), "notes": list(self.notes)}


def screen(ds: xr.Dataset, *, duplicates: str = "error") -> Screen:
    """Look at each rater's confidences for what makes measures of efficiency misleading.

    Parameters
    ----------
    ds : xarray.Dataset
        Layout `trials` or `counts`. It is not modified.
    duplicates : {"error", "first", "last"}
        As for `validate`.

    Returns
    -------
    Screen
        A verdict for each rater: *unusable* where M or AUROC2 is undefined or meaningless, *caution* where a finding
        must be looked at before a number is believed, else *usable*. Findings are no errors.

    Raises
    ------
    DataError
        As for `validate`: what cannot be a results file at all is refused.

    Examples
    --------
    >>> from hmeta.trials.tables import trials_dataset
    >>> table = pd.DataFrame({"model": ["a"] * 30, "correct": [1, 1, 0] * 10, "confidence": [0.9] * 30})
    >>> screen(trials_dataset(table, task="open")).flags["flag"].tolist()
    ['one_level_used']
    """
    found, report = raters(ds, duplicates=duplicates)
    flags = pd.DataFrame([row for rater in found for row in _findings(rater)], columns=list(FLAG_COLUMNS))
    table = pd.DataFrame([_row(rater) for rater in found])
    by_rater = dict(iter(flags.groupby(CELL)))
    mine = [by_rater.get(tuple(rater.place.values()), flags.iloc[:0]) for rater in found]
    verdicts = [_verdict(rows) for rows in mine]
    table = table.assign(verdict=verdicts, flags=[", ".join(rows["flag"]) for rows in mine])
    return Screen(table, flags, tuple(_notes(found, report)))


def _findings(rater: Rater) -> list[dict[str, Any]]:
    out = []
    for name, check in checks().items():
        found = check.find(rater)
        if found is not None:
            words = {"threshold": check.threshold, "detail": found.detail, "meaning": check.meaning, "mend": check.mend}
            facts = {"flag": name, "severity": check.severity, "value": found.value}
            out.append({**rater.place, **facts, **words})
    return out


def _row(rater: Rater) -> dict[str, Any]:
    value, share = rater.top
    area = rater.auroc2
    return {
        **rater.place,
        "n_asked": rater.n_asked,
        "n": rater.n,
        "n_missing": rater.n_missing,
        "n_unanswered": rater.n_unanswered,
        "accuracy": rater.accuracy,
        "levels": len(rater.value),
        "top_value": value,
        "top_share": share,
        "auroc2": area.value,
        "auroc2_lower": area.lower,
        "auroc2_upper": area.upper,
    }


def _verdict(flags: pd.DataFrame) -> str:
    worst = max((VERDICTS.index(severity) for severity in flags["severity"]), default=0)
    return VERDICTS[worst]


def _notes(found: list[Rater], report: ValidationReport) -> list[str]:
    notes = [caution.message for caution in report.warnings if caution.rule in SAID_BY_VALIDATION]
    by_scale: dict[str, list[Rater]] = {}
    for rater in found:
        if rater.n:
            by_scale.setdefault(rater.place["scale"], []).append(rater)
    for name, same in by_scale.items():
        used = [len(rater.value) for rater in same]
        if len(same) > 1 and max(used) > min(used):
            levels = same[0].scale.levels
            of = f" of the {levels:.0f}" if np.isfinite(levels) else ""
            where = f" on scale {name}" if name else ""
            notes.append(
                f"raters use from {min(used)} to {max(used)}{of} levels{where}; "
                "thresholds taken from the data differ by rater, so name the policy (common or by rater) in the report"
            )
    return notes


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return [
        {str(k): None if isinstance(v, float) and not np.isfinite(v) else v for k, v in row.items()}
        for row in frame.to_dict("records")
    ]
