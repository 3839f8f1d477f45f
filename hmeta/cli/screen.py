"""The command ``hmeta screen``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    import pandas as pd

    from hmeta.assess.screen import Screen

MOST_SHOWN = 6
"""Raters that are named under one finding."""


def run(
    results: Annotated[Path, typer.Argument(help="The results file (.nc), layout trials or counts.")],
    duplicates: Annotated[str, typer.Option(help="As for hmeta validate.")] = "error",
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Screen confidences for what makes efficiency misleading: constant, imputed, reversed, too few.

    hmeta screen results.nc

    Each unit × dataset × scale × signal gets a verdict: usable, caution, or unusable for M. Findings are no errors;
    the exit status is 0.
    """
    from hmeta.assess.screen import screen
    from hmeta.cli._tables import print_json
    from hmeta.core.files import read_dataset

    found = screen(read_dataset(results), duplicates=duplicates)
    if json:
        print_json(found.content())
        return
    _print(found)


def _print(found: Screen) -> None:
    from hmeta.assess.checks import checks
    from hmeta.cli._tables import print_table

    n = found.raters["verdict"].value_counts()
    title = ", ".join(f"{n.get(word, 0)} {word}" for word in ("usable", "caution", "unusable"))
    columns = {name: (name, "") for name in ("unit", "dataset", "scale", "signal") if found.raters[name].any()}
    columns |= {
        "n_asked": ("asked", ",.0f"),
        "n": ("usable", ",.0f"),
        "accuracy": ("accuracy", ".3f"),
        "levels": ("levels", "d"),
        "top_value": ("top value", "g"),
        "top_share": ("share", ".2f"),
        "auroc2": ("AUROC2", ".3f"),
        "verdict": ("verdict", ""),
        "flags": ("findings", ""),
    }
    dim = (found.raters["verdict"] == "unusable").tolist()
    print_table(found.raters, columns, title=f"{len(found.raters)} raters: {title}", gray=dim)
    for name in checks():
        rows = found.flags[found.flags["flag"] == name]
        if len(rows):
            _print_finding(rows)
    for note in found.notes:
        typer.echo(f"\nnote: {note}")


def _print_finding(rows: pd.DataFrame) -> None:
    """Print what one kind of finding means, what to do, and where it was found."""
    first = rows.iloc[0]
    typer.echo(f"\n{first['flag']} [{first['severity']}]: {len(rows)}, threshold {first['threshold']}")
    typer.echo(f"  means: {first['meaning']}")
    typer.echo(f"  do:    {first['mend']}")
    for _, row in rows.head(MOST_SHOWN).iterrows():
        place = ", ".join(row[name] for name in ("unit", "dataset", "scale", "signal") if row[name])
        typer.echo(f"    {place}: {row['detail']}")
    if len(rows) > MOST_SHOWN:
        typer.echo(f"    and {len(rows) - MOST_SHOWN} more (--json names all)")
