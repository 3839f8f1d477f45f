"""The command ``hmeta summary``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def run(
    fit: Annotated[Path, typer.Argument(help="A fit (.nc), written by hmeta fit.")],
    by: Annotated[
        str | None, typer.Option(help="The factor to summarise by. Default: who answered (model or participant).")
    ] = None,
    parameter: Annotated[
        str | None,
        typer.Option(
            help="A quantity at the cells: M, d, meta_d, c; auroc2, d_a, zroc_slope, accuracy for open tasks. "
            "Default: M, for open tasks auroc2."
        ),
    ] = None,
    interval: Annotated[float, typer.Option(help="Mass of the intervals.")] = 0.94,
    hdi: Annotated[bool, typer.Option("--hdi", help="Highest-density in place of equal-tailed intervals.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Print a parameter by unit with intervals, the observed average, and the prediction for a new unit.

    hmeta summary fit.nc --by domain
    """
    from hmeta.cli._summary_table import print_summary, print_terms, summary_content
    from hmeta.cli._tables import print_json, records
    from hmeta.core.files import read_tree
    from hmeta.infer.summary import summarize
    from hmeta.infer.summary_terms import summarize_terms

    tree = read_tree(fit)
    kind = "hdi" if hdi else "eti"
    table = summarize(tree, by=by, parameter=parameter, interval=interval, kind=kind)
    terms = summarize_terms(tree, parameter=parameter, interval=interval, kind=kind)
    if json:
        print_json({**summary_content(table), "terms": records(terms)})
        return
    print_terms(terms)
    typer.echo("")
    print_summary(table)
