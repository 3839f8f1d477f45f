"""The command ``hmeta diagnose``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

NOT_CONVERGED = 3


def run(
    fit: Annotated[Path, typer.Argument(help="A fit (.nc), written by hmeta fit.")],
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object with every quantity.")] = False,
) -> int:
    """Say whether a fit has converged, and why not; exit with status 3 where it has not.

    Converged means: rank-normalised R-hat below 1.01, bulk and tail ESS above 400 for every quantity, no
    divergence, E-BFMI above 0.3 in every chain, and criteria in order in every draw.
    """
    from hmeta.core.files import read_tree
    from hmeta.infer.diagnose import diagnose

    verdict = diagnose(read_tree(fit))
    typer.echo(verdict.to_json() if json else verdict.render())
    return 0 if verdict.converged else NOT_CONVERGED
