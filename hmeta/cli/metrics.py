"""The command ``hmeta metrics``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from hmeta.assess.table import MetricTable

MOST_WIDE = 8
"""Measures up to which a table has one column for each."""


def run(
    results: Annotated[Path, typer.Argument(help="The results file (.nc), layout trials or counts.")],
    metric: Annotated[
        list[str] | None,
        typer.Option(help='A measure, with options in brackets: "ece(bins=15)"; or all. May be repeated.'),
    ] = None,
    by: Annotated[
        list[str] | None, typer.Option(help="Segments, beside who answered, dataset, scale and signal: domain.")
    ] = None,
    pool: Annotated[list[str] | None, typer.Option(help="A column to pool over that is otherwise kept apart.")] = None,
    average: Annotated[
        str | None, typer.Option(help="Print the mean over the levels of a column instead: participant.")
    ] = None,
    bootstrap: Annotated[int, typer.Option(help="Resamples for the intervals; 0 for none.")] = 10_000,
    interval: Annotated[float, typer.Option(help="Level of the intervals.")] = 0.95,
    kind: Annotated[str, typer.Option(help="Kind of interval: bca or percentile.")] = "bca",
    cluster: Annotated[str | None, typer.Option(help="Draw whole clusters: item, model, …")] = None,
    strata: Annotated[str | None, typer.Option(help="Draw within the levels of a column.")] = None,
    null: Annotated[
        int, typer.Option(help="Permutations of confidence over answers, for the value by chance and its p-value.")
    ] = 0,
    seed: Annotated[int, typer.Option(help="Seed of the resamples.")] = 0,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write the table: .nc, .csv, .json or .tex.")
    ] = None,
    on_violation: Annotated[str, typer.Option(help="As for hmeta validate, without keep.")] = "auto",
    duplicates: Annotated[str, typer.Option(help="As for hmeta validate.")] = "error",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing file.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print the long table as CSV.")] = False,
    latex: Annotated[bool, typer.Option("--latex", help="Print the table as LaTeX (booktabs).")] = False,
) -> None:
    """Compute measures of confidence with bootstrap intervals, by who answered and by segments.

    For example:

        hmeta metrics results.nc
        hmeta metrics results.nc --metric auroc2 --metric "ece(bins=15)" --by domain
        hmeta metrics results.nc --metric all --cluster item -o metrics.csv
    """
    from dataclasses import replace

    from hmeta.assess.average import average as average_over
    from hmeta.assess.compute import compute_metrics
    from hmeta.assess.table import Resampling
    from hmeta.assess.table_file import check_format, render, write_table
    from hmeta.cli._counting import counting
    from hmeta.cli._words import one_of, split
    from hmeta.core.files import read_dataset

    chosen = one_of({"json": json, "csv": csv, "latex": latex})
    if output is not None:
        check_format(output, inputs=[results], overwrite=overwrite)
    plan = Resampling(bootstrap, interval, kind, cluster, strata, seed, null)
    with counting("cells resampled", quiet=quiet) as report:
        table = compute_metrics(
            read_dataset(results),
            metric,
            by=split(by),
            pool=split(pool),
            resampling=plan if average is None else replace(plan, size=0),
            on_violation=on_violation,
            duplicates=duplicates,
            progress=report,
        )
    if average is not None:
        table = average_over(table, average, plan)
    if output is not None:
        write_table(table, output, source=results.name, overwrite=overwrite)
    if chosen is None:
        _print(table, written=output is not None)
    else:
        typer.echo(render(table, chosen).rstrip("\n"))
    if output is not None:
        typer.echo(f"wrote {output}", err=True)


def _print(table: MetricTable, *, written: bool) -> None:
    from hmeta.assess.rendering import reasons

    typer.echo(table.validation)
    for line in table.screen:
        typer.echo(line)
    typer.echo("")
    if len(table.requests) <= MOST_WIDE:
        _print_wide(table)
    elif written:
        typer.echo(f"{len(table.frame):,} values of {len(table.requests)} measures are in the file alone")
    else:
        _print_long(table)
    for line in reasons(table):
        typer.echo(f"– {line}")
    for note in table.notes:
        typer.echo(f"note: {note}")


def _title(table: MetricTable) -> str:
    from hmeta.resample.intervals import NAMES

    plan = table.resampling
    if not plan.size:
        return "without intervals (--bootstrap 0)"
    whole = f" of whole {plan.cluster}s" if plan.cluster else ""
    within = f" within {plan.strata}" if plan.strata else ""
    return f"[{100 * plan.level:g} % {NAMES[plan.kind]} intervals, {plan.size:,} resamples{whole}{within}]"


def _print_wide(table: MetricTable) -> None:
    from hmeta.assess.rendering import wide
    from hmeta.cli._tables import print_table

    frame = wide(table)
    texts = {name: (str(name), "") for name in frame.columns}
    print_table(frame, {**texts, "n": ("answers", ",.0f")}, title=_title(table))


def _print_long(table: MetricTable) -> None:
    """Print a block for each cell, a line a measure, families together."""
    from hmeta.assess.rendering import heading, value_text
    from hmeta.cli._tables import print_table

    typer.echo(_title(table))
    words = {
        r.name: {"family": r.measure.family, "measure": heading(r), "unit": r.measure.unit} for r in table.requests
    }
    parts = table.frame.groupby(list(table.factors), sort=False) if table.factors else [((), table.frame)]
    columns = {name: (name, "") for name in ("family", "measure", "value", "unit")}
    for levels, part in parts:
        lines = [{**words[row["metric"]], "value": value_text(row)} for row in part.to_dict("records")]
        import pandas as pd

        typer.echo("")
        name = ", ".join(map(str, levels if isinstance(levels, tuple) else (levels,)))
        print_table(pd.DataFrame(lines), columns, title=f"{name}: {part['n'].max():,.0f} answers")
