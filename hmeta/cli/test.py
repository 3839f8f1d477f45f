"""The command ``hmeta test``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from hmeta.assess.compare import Comparison


def run(
    results: Annotated[Path, typer.Argument(help="The results file (.nc), layout trials; counts are unpaired.")],
    condition: Annotated[str, typer.Option(help="The factor whose levels are compared: scale, prompt, signal …")],
    baseline: Annotated[str | None, typer.Option(help="The level to compare with. Default: the first.")] = None,
    metric: Annotated[list[str] | None, typer.Option(help="As for hmeta metrics. May be repeated.")] = None,
    by: Annotated[list[str] | None, typer.Option(help="Segments; each is compared by itself.")] = None,
    pair: Annotated[
        str, typer.Option(help="The column that pairs answers; none for unpaired. auto: item where the file has it.")
    ] = "auto",
    resamples: Annotated[int, typer.Option(help="Bootstrap resamples for the intervals.")] = 10_000,
    permutations: Annotated[int, typer.Option(help="Permutations for the p-values.")] = 10_000,
    interval: Annotated[float, typer.Option(help="Level of the intervals.")] = 0.95,
    correction: Annotated[str, typer.Option(help="Of the p-values: holm, bonferroni, bh or none.")] = "holm",
    seed: Annotated[int, typer.Option(help="Seed of resamples and permutations.")] = 0,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write the table as CSV.")] = None,
    on_violation: Annotated[str, typer.Option(help="As for hmeta validate, without keep.")] = "auto",
    duplicates: Annotated[str, typer.Option(help="As for hmeta validate.")] = "error",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing file.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print the table as CSV.")] = False,
) -> None:
    """Test whether measures differ between the levels of a condition and a baseline.

    For example:

        hmeta test results.nc --condition scale --baseline 0-100 --metric auroc2
    """
    from hmeta.assess.compare import TestOptions, compare_conditions
    from hmeta.assess.table_file import check_csv
    from hmeta.cli._counting import counting
    from hmeta.cli._tables import print_json, records
    from hmeta.cli._words import one_of, split
    from hmeta.core.files import read_dataset, write_bytes

    chosen = one_of({"json": json, "csv": csv})
    if output is not None:
        check_csv(output, inputs=[results], overwrite=overwrite)
    column = None if pair == "none" else pair
    options = TestOptions(resamples, permutations, interval, column, correction, seed)
    with counting("levels compared", quiet=quiet) as report:
        found = compare_conditions(
            read_dataset(results),
            condition,
            baseline=baseline,
            metrics=metric,
            by=split(by),
            options=options,
            on_violation=on_violation,
            duplicates=duplicates,
            progress=report,
        )
    text = found.frame.to_csv(index=False, lineterminator="\n")
    if output is not None:
        write_bytes(text.encode(), output)
    if chosen == "json":
        head = {"condition": found.condition, "baseline": found.baseline, "pair": found.pair}
        print_json({**head, "notes": list(found.notes), "differences": records(found.frame)})
    elif chosen == "csv":
        typer.echo(text.rstrip("\n"))
    else:
        _print(found)
    if output is not None:
        typer.echo(f"wrote {output}", err=True)


def _print(found: Comparison) -> None:
    from hmeta.cli._tables import print_table

    typer.echo(found.validation)
    typer.echo("")
    numbers = {
        "at_baseline": ("at baseline", ".3f"),
        "at_level": ("at level", ".3f"),
        "difference": ("difference", "+.3f"),
        "lower": ("from", "+.3f"),
        "upper": ("to", "+.3f"),
        "p": ("p", ".4f"),
        "p_corrected": ("p corrected", ".4f"),
        "n_pairs": ("pairs", ",.0f"),
    }
    if found.frame["n_undefined"].any():
        numbers["n_undefined"] = ("n_undefined", ",.0f")
    words = {name: (name, "") for name in found.factors}
    shown = {**words, "level": (found.condition, ""), "metric": ("measure", ""), **numbers, "reason": ("", "")}
    title = f"difference from {found.condition} = {found.baseline}, {100 * found.options.level:g} % intervals"
    print_table(found.frame, shown, title=title)
    for note in found.notes:
        typer.echo(f"note: {note}")
