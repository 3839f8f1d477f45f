"""The command ``hmeta compare``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from hmeta.infer.compare_tables import Comparison


def run(
    fits: Annotated[list[Path], typer.Argument(help="Two or more fits (.nc), written by hmeta fit: the studies.")],
    parameter: Annotated[
        str | None,
        typer.Option(help="A quantity at the cells that all fits have. Default: M, for open tasks auroc2."),
    ] = None,
    by: Annotated[
        str | None, typer.Option(help="Align the studies level by level of a factor that all have, such as scale.")
    ] = None,
    baseline: Annotated[
        str | None, typer.Option(help="The study that differences are from. Default: the first.")
    ] = None,
    rope: Annotated[
        tuple[float, float], typer.Option(help="LOW HIGH: differences inside count as none in practice.")
    ] = (-0.05, 0.05),
    tau: Annotated[float, typer.Option(help="Scale of the half-normal prior of the spread between studies.")] = 0.3,
    interval: Annotated[float, typer.Option(help="Mass of the intervals.")] = 0.94,
    hdi: Annotated[bool, typer.Option("--hdi", help="Highest-density in place of equal-tailed intervals.")] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Write the studies' table (.csv, .tex, .md), everything (.json) or the figure (.png …).",
        ),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing file.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Compare studies: the quantity of each, differences between them, and what they say together.

    Studies are pooled by random effects, with a prediction for a new study. Unlike quantities are refused: M under
    different noise, M beside AUROC2, d in different units. hmeta report a.nc b.nc writes all of it as a page.

    hmeta compare a.nc b.nc c.nc -o studies.png
    """
    from hmeta.core.files import check_output
    from hmeta.infer.compare import compare_fits
    from hmeta.report.compare import check_suffix, read_studies, write_comparison

    if output is not None:
        check_output(output, inputs=fits, overwrite=overwrite)
        check_suffix(output)
    studies = read_studies(fits)
    found = compare_fits(
        {fit.name: fit.tree for fit in studies},
        parameter=parameter,
        by=by,
        baseline=baseline,
        rope=rope,
        tau_scale=tau,
        interval=interval,
        kind="hdi" if hdi else "eti",
    )
    if output is not None:
        write_comparison(found, studies, output)
    if json:
        typer.echo(found.to_json())
    else:
        _print(found)
    if output is not None:
        typer.echo(f"wrote {output}", err=True)


def _print(found: Comparison) -> None:
    from hmeta.cli._summary_table import interval_words
    from hmeta.cli._tables import print_table
    from hmeta.infer.parameter_words import words_of

    kind = interval_words({"interval": found.interval, "kind": found.kind})
    at = {"level": (str(found.by), "")} if found.by else {}
    spread = {"median": ("median", ".3f"), "lower": ("from", ".3f"), "upper": ("to", ".3f")}
    studies = {
        "study": ("study", ""),
        **at,
        "n_units": ("units", ",.0f"),
        "n_answers": ("answers", ",.0f"),
        **spread,
        "noise": ("noise", ""),
        "flags": ("to know", ""),
    }
    title = words_of(found.parameter).title
    gray = [not converged for converged in found.table["converged"]]
    print_table(found.table, studies, title=f"{title} of each study ({kind})", gray=gray)
    typer.echo("")
    probabilities = {
        "p_above": ("P(>0)", ".3f"),
        "p_direction": ("P(direction)", ".3f"),
        "p_rope": ("P(in ROPE)", ".3f"),
    }
    differences = {**at, "study": ("study", ""), "baseline": ("minus", ""), **spread, **probabilities}
    print_table(found.differences, differences, title=f"differences in {found.parameter}")
    if found.rope is not None:
        typer.echo(f"ROPE: differences from {found.rope[0]:g} to {found.rope[1]:g}")
    if found.pooled:
        typer.echo("")
        pooled = {**at, "quantity": ("quantity", ""), "n_studies": ("studies", ",.0f"), **spread}
        print_table(found.pooled_table(), pooled, title="over studies (random effects)")
        for line in found.second_opinions():
            typer.echo(line)
    typer.echo("")
    for note in found.notes:
        typer.echo(f"note: {note}")
