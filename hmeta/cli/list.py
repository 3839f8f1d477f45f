"""The command ``hmeta list``."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

SHOWN = (
    "formula", "family", "unit", "better", "tasks", "columns", "likelihood", "reports", "parameters", "priors",
    "options", "settings", "reads", "neutral", "reference", "caution",
)  # fmt: skip
"""What a page shows below the definition, in this order."""

WIDTH = 12


class Kind(StrEnum):
    """What can be listed."""

    metrics = "metrics"
    curves = "curves"
    models = "models"
    methods = "methods"
    figures = "figures"


def run(
    what: Annotated[Kind, typer.Argument(help="metrics, curves, models, methods of post-hoc calibration, or figures.")],
    name: Annotated[str | None, typer.Argument(help="One of them, to show its whole definition.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show what hmeta can compute, with definitions, units, options and references.

    With a name the whole page of one: of a model its parameters with their formulas and links, and its priors.

    For example:

        hmeta list metrics
        hmeta list metrics ece
        hmeta list models mafc_pooled
        hmeta list methods platt
        hmeta list figures
    """
    from hmeta.cli._tables import print_json, print_table

    listing = {
        Kind.metrics: _metrics,
        Kind.curves: _curves,
        Kind.models: _models,
        Kind.methods: _methods,
        Kind.figures: _figures,
    }
    entries = listing[what]()
    if name is not None:
        _show(entries, what, name, json=json)
        return
    if json:
        print_json({what.value: entries})
        return
    import pandas as pd

    columns = {key: (key, "") for key in ("name", "family", "unit", "better", "tasks", "reads", "summary")}
    print_table(pd.DataFrame([{key: _words(value) for key, value in entry.items()} for entry in entries]), columns)
    typer.echo(f"hmeta list {what} NAME shows the whole of one")


def _show(entries: list[dict[str, Any]], what: Kind, name: str, *, json: bool) -> None:
    from hmeta.cli._tables import print_json
    from hmeta.core.errors import DataError
    from hmeta.core.registry import did_you_mean

    found = {entry["name"]: entry for entry in entries}
    if name not in found:
        raise DataError(
            f"there is no such name among the {what}",
            received=repr(name),
            mend=did_you_mean(name, found) or f"hmeta list {what} shows them",
        )
    entry = found[name]
    if json:
        print_json(entry)
        return
    typer.echo(f"{entry['name']}\n")
    for line in str(entry.get("definition", entry["summary"])).splitlines():
        typer.echo(f"  {line}" if line else "")
    typer.echo("")
    for key in SHOWN:
        _show_line(key, entry.get(key))


def _show_line(key: str, value: Any) -> None:
    """Print one fact, a dict with a line for each of its names."""
    if value in (None, "", [], {}):
        return
    if not isinstance(value, dict):
        typer.echo(f"  {key + ':':<{WIDTH}}{_words(value)}")
        return
    typer.echo(f"  {key}:")
    for name, inner in value.items():
        typer.echo(f"    {name} = {inner}")


def _words(value: Any) -> str:
    if isinstance(value, dict):
        return "; ".join(f"{key} = {inner}" for key, inner in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _metrics() -> list[dict[str, Any]]:
    from hmeta.metrics.catalogue import describe, measures

    return [describe(card) for card in measures().values()]


def _curves() -> list[dict[str, Any]]:
    from hmeta.metrics.catalogue import curves, describe

    return [describe(card) for card in curves().values()]


def _models() -> list[dict[str, Any]]:
    from hmeta.spec import load_model
    from hmeta.spec.describe import describe_model
    from hmeta.spec.model_file import shipped_models

    return [describe_model(name, load_model(name)) for name in shipped_models()]


def _methods() -> list[dict[str, Any]]:
    from hmeta.calibrate.maps import methods

    return [method.describe() for method in methods().values()]


def _figures() -> list[dict[str, Any]]:
    from hmeta.report.figures import figure_names
    from hmeta.report.plot import describe

    return [describe(name) for name in figure_names()]
