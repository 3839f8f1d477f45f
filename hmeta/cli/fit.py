"""The command ``hmeta fit``."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Method(StrEnum):
    """How to estimate."""

    nuts = "nuts"
    mle = "mle"


def run(
    results: Annotated[Path, typer.Argument(help="The results file (.nc), layout trials or counts.")],
    model: Annotated[
        str | None, typer.Option("--model", "-m", help="A shipped model or a TOML file. Default: chosen from the data.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The file to write. Default: fit.nc, for mle estimates.nc.")
    ] = None,
    method: Annotated[
        Method, typer.Option(help="nuts: the whole posterior. mle: maximum likelihood of each cell by itself.")
    ] = Method.nuts,
    backend: Annotated[str | None, typer.Option(help="Default: numpyro, or else pymc.")] = None,
    device: Annotated[str | None, typer.Option(help="cpu (default) or gpu.")] = None,
    chains: Annotated[int | None, typer.Option(help="Number of chains. Default: 4.")] = None,
    warmup: Annotated[int | None, typer.Option(help="Iterations of each chain to adapt. Default: 1000.")] = None,
    draws: Annotated[int | None, typer.Option(help="Draws of each chain to keep. Default: 1000.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of everything random. Default: 0.")] = None,
    target_accept: Annotated[float | None, typer.Option(help="Acceptance aimed at. Default: 0.9.")] = None,
    formula: Annotated[
        list[str] | None, typer.Option(help='PARAMETER=FORMULA: "M=0 + scale + (1 | model)". May be repeated.')
    ] = None,
    role: Annotated[
        list[str] | None, typer.Option("--map", help="WORD=COLUMN of the model: dataset=domain. May be repeated.")
    ] = None,
    on_violation: Annotated[str, typer.Option(help="As for hmeta validate.")] = "auto",
    duplicates: Annotated[str, typer.Option(help="As for hmeta validate.")] = "error",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing file.")] = False,
    cache: Annotated[bool, typer.Option(help="Keep compiled programs for the next fit.")] = True,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the result as one JSON object.")] = False,
) -> int:
    """Fit a hierarchical meta-d′ model, or with --method mle each cell by itself.

    Open tasks have no meta-d′: there the type-2 ROC is fitted (AUROC2, d_a), by nuts only.

    Without options the kind of task and the columns choose the model, and the choice is printed. A fit that
    has not converged is written all the same, marked, and the command ends with status 3.

    hmeta fit results.nc -o fit.nc
    """
    from hmeta.cli._fitting import Request, fit_mle_and_tell, fit_nuts_and_tell, refuse_without_effect
    from hmeta.trials.import_options import pairs

    settings = {"chains": chains, "warmup": warmup, "draws": draws, "seed": seed, "target_accept": target_accept}
    places = {"backend": backend, "device": device}
    given = {name: value for name, value in {**places, **settings}.items() if value is not None}
    request = Request(
        results=results,
        model=model,
        output=output or Path("fit.nc" if method is Method.nuts else "estimates.nc"),
        formulas=pairs(formula or [], "--formula"),
        columns=pairs(role or [], "--map"),
        on_violation=on_violation,
        duplicates=duplicates,
        overwrite=overwrite,
        json=json,
    )
    if not cache:
        os.environ["JAX_ENABLE_COMPILATION_CACHE"] = "false"  # read when JAX is imported
    if method is Method.mle:
        refuse_without_effect(given)
        return fit_mle_and_tell(request)
    return fit_nuts_and_tell(request, given, quiet=quiet)
