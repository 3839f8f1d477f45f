"""The command ``hmeta contrast``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from hmeta.infer.contrast_tables import Contrasts


def run(
    fit: Annotated[Path, typer.Argument(help="A fit (.nc), written by hmeta fit.")],
    by: Annotated[str, typer.Option(help="The factor whose levels are compared.")],
    baseline: Annotated[str | None, typer.Option(help="The level to compare with. Default: the first.")] = None,
    parameter: Annotated[
        str | None,
        typer.Option(
            help="A quantity at the cells: M, d, meta_d, c; auroc2, d_a, zroc_slope, accuracy for open tasks. "
            "Default: M, for open tasks auroc2."
        ),
    ] = None,
    rope: Annotated[
        tuple[float, float], typer.Option(help="LOW HIGH: differences inside count as none in practice.")
    ] = (-0.05, 0.05),
    interval: Annotated[float, typer.Option(help="Mass of the intervals.")] = 0.94,
    hdi: Annotated[bool, typer.Option("--hdi", help="Highest-density in place of equal-tailed intervals.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Compare the levels of a factor with a baseline: among the observed units, and for a new one.

    hmeta contrast fit.nc --by scale --baseline 0-100
    """
    from hmeta.core.files import read_tree
    from hmeta.infer.contrast import contrast

    found = contrast(
        read_tree(fit),
        by,
        baseline=baseline,
        parameter=parameter,
        rope=rope,
        interval=interval,
        kind="hdi" if hdi else "eti",
    )
    if json:
        typer.echo(found.to_json())
        return
    _print(found)


def _print(found: Contrasts) -> None:
    from hmeta.cli._summary_table import interval_words
    from hmeta.cli._tables import print_table, say_verdict

    kind = interval_words({"interval": found.interval, "kind": found.kind})
    spread = {"median": ("median", ".3f"), "lower": ("from", ".3f"), "upper": ("to", ".3f")}
    levels = {"level": (found.by, ""), "n_answers": ("answers", ",.0f"), **spread, "p_best": ("P(best)", ".3f")}
    print_table(found.levels, levels, title=f"{found.parameter} by {found.by}, average over observed cells ({kind})")
    typer.echo("")
    columns = {
        "level": (found.by, ""),
        "estimand": ("units", ""),
        **spread,
        "p_above": ("P(>0)", ".3f"),
        "p_direction": ("P(direction)", ".3f"),
        "p_rope": ("P(in ROPE)", ".3f"),
        "ess_bulk": ("ESS", ",.0f"),
        "of": ("compared", ""),
    }
    print_table(found.contrasts, columns, title=f"difference in {found.parameter} from {found.baseline}")
    if found.rope is not None:
        typer.echo(f"ROPE: differences from {found.rope[0]:g} to {found.rope[1]:g}")
    for note in found.notes:
        typer.echo(note)
    say_verdict(found.converged, found.reasons)
