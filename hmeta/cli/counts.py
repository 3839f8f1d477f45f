"""The command ``hmeta counts``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def run(
    results: Annotated[Path, typer.Argument(help="The results file (.nc), layout trials or counts.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The file of counts to write.")],
    by: Annotated[
        str | None,
        typer.Option(help="Factors that make the cells, with commas: model,domain. Default: those known by name."),
    ] = None,
    on_violation: Annotated[str, typer.Option(help="As for hmeta validate.")] = "auto",
    duplicates: Annotated[str, typer.Option(help="As for hmeta validate.")] = "error",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing file.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the report as one JSON object.")] = False,
) -> None:
    """Count answers by cell, outcome and confidence, after validating them.

    hmeta counts results.nc -o counts.nc --by model,domain
    """
    from hmeta.core.files import check_output, read_dataset, write_dataset
    from hmeta.trials.counts import left_out, to_counts
    from hmeta.trials.validation import validate

    check_output(output, inputs=[results], overwrite=overwrite)
    valid = validate(read_dataset(results), on_violation=on_violation, duplicates=duplicates)
    counts = to_counts(valid.dataset, None if by is None else [name.strip() for name in by.split(",") if name.strip()])
    write_dataset(counts, output, overwrite=overwrite)
    if json:
        typer.echo(valid.report.to_json())
        return
    typer.echo(valid.report.render())
    summed = left_out(valid.dataset, counts)
    if summed:
        typer.echo(f"summed over: {', '.join(summed)}")
    sizes = counts.sizes
    typer.echo(f"wrote {output}: {sizes['cell']} cells, {sizes['row']} occupied combinations")
