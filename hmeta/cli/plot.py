"""The command ``hmeta plot``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def run(
    figure: Annotated[str, typer.Argument(help="What to draw; hmeta list figures shows them all.")],
    inputs: Annotated[
        list[Path], typer.Argument(help="A fit, results file or table of measures (.nc); for compare several fits.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The figure to write: .png, .pdf or .svg.")],
    by: Annotated[
        str | None, typer.Option(help="One row or panel a level of this factor. Default: who answered.")
    ] = None,
    parameter: Annotated[
        str | None,
        typer.Option(
            help="A quantity at the cells: M, d, meta_d, c; auroc2, d_a, zroc_slope, accuracy for open tasks. "
            "Default: M, for open tasks auroc2."
        ),
    ] = None,
    baseline: Annotated[str | None, typer.Option(help="The level or study that differences are from.")] = None,
    rope: Annotated[
        tuple[float, float] | None, typer.Option(help="LOW HIGH: differences inside count as none in practice.")
    ] = None,
    interval: Annotated[float | None, typer.Option(help="Mass of the intervals. Default: 0.94.")] = None,
    hdi: Annotated[bool, typer.Option("--hdi", help="Highest-density in place of equal-tailed intervals.")] = False,
    bins: Annotated[int | None, typer.Option(help="Bins of a reliability diagram. Default: 10.")] = None,
    width: Annotated[str, typer.Option(help="column (89 mm), half (120 mm) or page (183 mm).")] = "page",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing file.")] = False,
) -> None:
    """Draw one figure of a file and print its caption.

    For example:

        hmeta plot forest fit.nc -o forest.png
        hmeta plot contrasts fit.nc --by scale --baseline 0-100 -o contrasts.pdf
        hmeta plot reliability results.nc -o reliability.svg --width column
    """
    from hmeta.report.plot import plot

    caption = plot(
        figure,
        inputs,
        output,
        width=width,
        overwrite=overwrite,
        by=by,
        parameter=parameter,
        baseline=baseline,
        rope=rope,
        interval=interval,
        kind="hdi" if hdi else None,
        bins=bins,
    )
    typer.echo(caption)
    typer.echo(f"wrote {output}", err=True)
