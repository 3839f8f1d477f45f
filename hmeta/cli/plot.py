"""The command ``hmeta plot``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Figure(StrEnum):
    """What can be drawn."""

    forest = "forest"


def run(
    figure: Annotated[Figure, typer.Argument(help="What to draw.")],
    fit: Annotated[Path, typer.Argument(help="A fit (.nc), written by hmeta fit.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The figure to write: .png, .pdf or .svg.")],
    by: Annotated[str | None, typer.Option(help="One row a level of this factor. Default: who answered.")] = None,
    parameter: Annotated[
        str | None,
        typer.Option(
            help="A quantity at the cells: M, d, meta_d, c; auroc2, d_a, zroc_slope, accuracy for open tasks. "
            "Default: M, for open tasks auroc2."
        ),
    ] = None,
    interval: Annotated[float, typer.Option(help="Mass of the thin intervals; the thick ones hold half.")] = 0.94,
    hdi: Annotated[bool, typer.Option("--hdi", help="Highest-density in place of equal-tailed intervals.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing file.")] = False,
) -> None:
    """Draw a fit: forest shows each unit's median and intervals, sorted.

    hmeta plot forest fit.nc -o forest.png
    """
    from hmeta.core.files import check_output, read_tree
    from hmeta.report.forest import check_suffix, forest

    check_output(output, inputs=[fit], overwrite=overwrite)
    check_suffix(output)
    tree = read_tree(fit)
    kind = "hdi" if hdi else "eti"
    draw = {Figure.forest: forest}[figure]
    draw(tree, path=output, by=by, parameter=parameter, interval=interval, kind=kind, overwrite=overwrite)
    typer.echo(f"wrote {output}", err=True)
