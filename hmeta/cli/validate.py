"""The command ``hmeta validate``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def run(
    results: Annotated[Path, typer.Argument(help="The results file (.nc), of any layout.")],
    on_violation: Annotated[
        str,
        typer.Option(
            help="What to do with confidences off their scale: auto, error, exclude, clip or keep. "
            "auto refuses them on rating scales; on wide scales it clips within 5 % of the width and excludes beyond."
        ),
    ] = "auto",
    duplicates: Annotated[
        str, typer.Option(help="Where a unit answers an item twice: error, or keep the first or last.")
    ] = "error",
    json: Annotated[bool, typer.Option("--json", help="Print the report as one JSON object.")] = False,
) -> None:
    """Check a results file: rows in, used and excluded, by unit and reason, and what to know about the rest."""
    from hmeta.core.files import read_dataset
    from hmeta.trials.validation import validate

    report = validate(read_dataset(results), on_violation=on_violation, duplicates=duplicates).report
    typer.echo(report.to_json() if json else report.render())
