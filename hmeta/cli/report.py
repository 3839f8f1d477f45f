"""The command ``hmeta report``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from hmeta.report.page import Page


def run(
    inputs: Annotated[
        list[Path], typer.Argument(help="Fits, results files and tables of measures (.nc), in any mixture.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder to write.")],
    title: Annotated[str | None, typer.Option(help="Title of the report.")] = None,
    baseline: Annotated[
        str | None, typer.Option(help="The level that contrasts are against. Default: the first of each factor.")
    ] = None,
    rope: Annotated[tuple[float, float], typer.Option(help="Region of practical equivalence of contrasts.")] = (
        -0.05,
        0.05,
    ),
    interval: Annotated[float, typer.Option(help="Mass of posterior intervals.")] = 0.94,
    hdi: Annotated[bool, typer.Option("--hdi", help="Highest-density in place of equal-tailed intervals.")] = False,
    bins: Annotated[int, typer.Option(help="Bins of reliability diagrams.")] = 10,
    templates: Annotated[
        Path | None,
        typer.Option(
            help="A folder with your own report.html.j2 and report.typ: copies of reports/templates, changed."
        ),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing report.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
) -> None:
    """Write a report: one HTML page that needs nothing else, the same as PDF, figures, tables, methods and numbers.

    Sections appear where the inputs support them; a results file beside a fit adds the screen, reliability and more.

    hmeta report fit.nc results.nc -o report
    """
    from hmeta.cli._telling import telling
    from hmeta.report.card import Options
    from hmeta.report.write import write_report

    options = Options(baseline=baseline, rope=rope, interval=interval, kind="hdi" if hdi else "eti", bins=bins)
    with telling(quiet=quiet) as tell:
        page = write_report(
            inputs, output, title=title, options=options, templates=templates, overwrite=overwrite, progress=tell
        )
    _print(page, output)


def _print(page: Page, folder: Path) -> None:
    from hmeta.report.html_page import plain
    from hmeta.report.page import Picture, Table

    for banner in page.banners:
        typer.secho(plain(banner), fg="red", err=True)
    n_figures, n_tables = len(list(page.blocks(Picture))), len(list(page.blocks(Table)))
    typer.echo(f"sections: {', '.join(section.title for section in page.sections)}")
    for gap in page.missing:
        typer.echo(f"not in this report: {gap.title} (needs {gap.needs})")
    typer.echo(f"{folder / 'report.html'}   the page; opens without a network")
    typer.echo(f"{folder / 'report.pdf'}   the same as PDF")
    typer.echo(f"{folder / 'figures'}   {n_figures} figures as SVG, PDF, PNG")
    typer.echo(f"{folder / 'tables'}   {n_tables} tables as CSV, LaTeX, Markdown")
    typer.echo(f"{folder / 'methods.md'}   methods for the paper (also methods.tex, references.bib)")
    typer.echo(f"{folder / 'numbers.json'}   every number in the text, and where it came from")
