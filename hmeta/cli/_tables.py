"""Tables on the terminal and in a pipe: whole names, aligned numbers, the verdict beside them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    import pandas as pd

PIPE_WIDTH = 1_000_000
"""A pipe has no width; a table must not be cut there."""

SCHEMA = "1"


def print_table(
    frame: pd.DataFrame, columns: Mapping[str, tuple[str, str]], *, title: str = "", gray: Sequence[bool] = ()
) -> None:
    """Print some columns of a table.

    Parameters
    ----------
    frame : DataFrame
    columns : mapping
        Column to heading and format, "" for text; columns that the table lacks are left out.
    title : str
    gray : sequence of bool
        Rows to print dimmed.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    shown = {name: head for name, head in columns.items() if name in frame}
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for heading, style in shown.values():
        table.add_column(heading, justify="right" if style else "left", no_wrap=bool(style), overflow="fold")
    for i, row in enumerate(frame.to_dict("records")):
        cells = [Text(format_value(row[name], style)) for name, (_, style) in shown.items()]
        table.add_row(*cells, style="dim" if len(gray) > i and gray[i] else None)
    if title:
        typer.echo(title)
    _print(table)


def _print(table: Any) -> None:
    import sys

    from rich.console import Console

    console = Console(file=sys.stdout, highlight=False, width=None if sys.stdout.isatty() else PIPE_WIDTH)
    if console.is_terminal:
        console.print(table)
        return
    with console.capture() as captured:
        console.print(table)
    typer.echo("\n".join(line.rstrip() for line in captured.get().splitlines()))


def format_value(value: Any, style: str) -> str:
    """Return a number in a format, an undefined one as a dash, and text as it is."""
    if value is None or (isinstance(value, float) and value != value):
        return "–"
    return format(value, style) if style else str(value)


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table for JSON; numbers that are not finite become null."""
    import math

    return [
        {str(k): None if isinstance(v, float) and not math.isfinite(v) else v for k, v in row.items()}
        for row in frame.to_dict("records")
    ]


def print_json(content: Mapping[str, Any]) -> None:
    """Print one JSON object with the version of its schema."""
    typer.echo(json.dumps({"schema": SCHEMA, **content}, ensure_ascii=False, allow_nan=False, default=_plain))


def _plain(value: Any) -> Any:
    """Return a NumPy number as Python's own."""
    return value.item() if hasattr(value, "item") else str(value)


def say_verdict(converged: bool, reasons: Sequence[str]) -> None:
    """Print whether the fit has converged, with the reasons where it has not."""
    import sys

    if converged:
        typer.secho("converged", fg="green" if sys.stdout.isatty() else None)
        return
    typer.secho("NOT CONVERGED: do not read numbers off this fit", fg="red" if sys.stdout.isatty() else None)
    for reason in reasons:
        typer.echo(f"  - {reason}")
