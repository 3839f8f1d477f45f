"""The command ``hmeta list``."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer


class Kind(StrEnum):
    """What can be listed."""

    metrics = "metrics"
    curves = "curves"
    models = "models"
    methods = "methods"


def run(
    what: Annotated[Kind, typer.Argument(help="metrics, curves, models, or methods of post-hoc calibration.")],
    name: Annotated[str | None, typer.Argument(help="One of them, to show its whole definition.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show what hmeta can compute, with definitions, units, options and references.

    For example:

        hmeta list metrics
        hmeta list metrics ece
    """
    from hmeta.cli._tables import print_json, print_table

    entries = {Kind.metrics: _metrics, Kind.curves: _curves, Kind.models: _models, Kind.methods: _methods}[what]()
    if name is not None:
        _show(entries, what, name, json=json)
        return
    if json:
        print_json({what.value: entries})
        return
    import pandas as pd

    columns = {key: (key, "") for key in ("name", "family", "unit", "better", "tasks", "summary")}
    print_table(pd.DataFrame(entries), columns)
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
    for key in ("family", "unit", "better", "tasks", "columns", "options", "neutral", "reference"):
        if entry.get(key) not in (None, "", [], {}):
            typer.echo(f"  {key + ':':<11}{_words(entry[key])}")


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
    from hmeta.spec.model_file import shipped_models

    found = {name: load_model(name) for name in shipped_models()}
    return [{"name": name, "tasks": [spec.likelihood], "summary": spec.summary} for name, spec in found.items()]


def _methods() -> list[dict[str, Any]]:
    import inspect

    from hmeta.calibrate import maps
    from hmeta.core.registry import modules_in

    pages = {name: (inspect.getdoc(module) or "") for name, module in modules_in(maps).items()}
    return [{"name": name, "summary": text.split("\n\n")[0], "definition": text} for name, text in pages.items()]
