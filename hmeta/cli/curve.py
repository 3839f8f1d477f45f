"""The command ``hmeta curve``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def run(
    curve: Annotated[str, typer.Argument(help='The curve, with options in brackets: "reliability(bins=15)".')],
    results: Annotated[Path, typer.Argument(help="The results file (.nc), layout trials or counts.")],
    by: Annotated[list[str] | None, typer.Option(help="Segments, as for hmeta metrics.")] = None,
    pool: Annotated[list[str] | None, typer.Option(help="As for hmeta metrics.")] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write the points as CSV.")] = None,
    on_violation: Annotated[str, typer.Option(help="As for hmeta validate, without keep.")] = "auto",
    duplicates: Annotated[str, typer.Option(help="As for hmeta validate.")] = "error",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing file.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print the points as CSV.")] = False,
) -> None:
    """Print a curve, one row a point: reliability, risk_coverage, type2_roc, ece_bins.

    For example:

        hmeta curve reliability results.nc
        hmeta curve risk_coverage results.nc --csv
    """
    from hmeta.assess.curves import compute_curve
    from hmeta.assess.table_file import check_csv
    from hmeta.cli._tables import print_json, print_table, records
    from hmeta.cli._words import one_of, split
    from hmeta.core.files import read_dataset, write_bytes

    chosen = one_of({"json": json, "csv": csv})
    if output is not None:
        check_csv(output, inputs=[results], overwrite=overwrite)
    found = compute_curve(
        read_dataset(results),
        curve,
        by=split(by),
        pool=split(pool),
        on_violation=on_violation,
        duplicates=duplicates,
    )
    text = found.frame.to_csv(index=False, lineterminator="\n")
    if output is not None:
        write_bytes(text.encode(), output)
    if chosen == "json":
        print_json({"curve": curve, "notes": list(found.notes), "points": records(found.frame)})
    elif chosen == "csv":
        typer.echo(text.rstrip("\n"))
    else:
        typer.echo(f"{found.validation}\n")
        numbers = found.frame.select_dtypes("number").columns
        print_table(found.frame, {str(name): (str(name), ".4g" if name in numbers else "") for name in found.frame})
        for note in found.notes:
            typer.echo(f"note: {note}")
    if output is not None:
        typer.echo(f"wrote {output}", err=True)
