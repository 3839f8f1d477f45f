"""The results file: names, layouts and codes (see docs/data-format.md)."""

from __future__ import annotations

SCHEMA_VERSION = "1"
LAYOUTS = ("trials", "counts", "estimates", "metrics")
TASKS = ("binary", "mafc", "open")

OUTCOMES = {
    "binary": ("S0R0", "S0R1", "S1R0", "S1R1"),
    "mafc": ("wrong", "correct"),
    "open": ("wrong", "correct"),
}
"""Outcome names by task; the position is the code: 2·stimulus + response, or correct."""

UNIT_COLUMNS = ("model", "participant")
"""Columns that say who answered; one of them is required."""

CONFIDENCE_STATUS = (
    "ok",
    "range",
    "percent",
    "unit_interval",
    "non_integer",
    "multiple",
    "missing",
    "out_of_range",
    "ambiguous",
    "refusal",
)
"""What reading a confidence can come to; only rows with a usable value enter a fit."""
