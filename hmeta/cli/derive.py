"""The command ``hmeta derive``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    import xarray as xr

    from hmeta.assess.derive import Derived

METHODS = {
    "resampled": ("epsilon",),
    "geometric-mean": ("column", "count"),
    "p-true": ("true", "false"),
}
"""The options that each method needs, and no other takes."""


def run(
    method: Annotated[str, typer.Argument(help="resampled, geometric-mean or p-true.")],
    results: Annotated[Path, typer.Argument(help="The results file (.nc), layout trials.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The results file to write.")],
    epsilon: Annotated[
        float | None, typer.Option(help="resampled: half the width of the window, in the units of the score.")
    ] = None,
    column: Annotated[
        str | None, typer.Option(help="geometric-mean: the column with the sum of log-probabilities.")
    ] = None,
    count: Annotated[str | None, typer.Option(help="geometric-mean: the column with the number of tokens.")] = None,
    true: Annotated[str | None, typer.Option(help='p-true: the column with the log-probability of "true".')] = None,
    false: Annotated[str | None, typer.Option(help='p-true: the column with the log-probability of "false".')] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing file.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print what was done as one JSON object.")] = False,
) -> None:
    """Make a results file whose confidence comes from repeated answers or from token probabilities.

    For example:

        hmeta derive resampled results.nc --epsilon 0.5 -o resampled.nc
        hmeta derive geometric-mean results.nc --column logprob_sum --count n_tokens -o tokens.nc
        hmeta derive p-true results.nc --true logprob_true --false logprob_false -o p_true.nc

    resampled takes the window of width 2ε that holds most of an item's scores: its share is the confidence, its mean
    the answer, and the answer is right within ε of the label.
    """
    from hmeta.cli._tables import print_json
    from hmeta.core.files import check_output, read_dataset, write_dataset

    given = {"epsilon": epsilon, "column": column, "count": count, "true": true, "false": false}
    _check(method, given)
    check_output(output, inputs=[results], overwrite=overwrite)
    made = _derive(method, read_dataset(results), given)
    write_dataset(made.dataset, output, overwrite=overwrite)
    if json:
        print_json({**made.content(), "output": str(output)})
        return
    typer.echo(made.render())
    typer.echo(f"wrote {output}")


def _check(method: str, given: dict[str, float | str | None]) -> None:
    from hmeta.core.errors import DataError
    from hmeta.core.registry import did_you_mean

    if method not in METHODS:
        raise DataError(
            "unknown method", received=repr(method), allowed=list(METHODS), mend=did_you_mean(method, METHODS)
        )
    lacking = [f"--{name}" for name in METHODS[method] if given[name] is None]
    if lacking:
        raise DataError(f"{method} needs {' and '.join(lacking)}", mend="see hmeta derive --help")
    idle = [f"--{name}" for name, value in given.items() if value is not None and name not in METHODS[method]]
    if idle:
        allowed = [f"--{name}" for name in METHODS[method]]
        raise DataError(f"{method} takes no {' or '.join(idle)}", allowed=allowed)


def _derive(method: str, ds: xr.Dataset, given: dict[str, float | str | None]) -> Derived:
    from hmeta.assess.derive import derive_geometric_mean, derive_p_true, derive_resampled

    if method == "resampled":
        return derive_resampled(ds, float(given["epsilon"] or 0.0))
    one, two = (str(given[name]) for name in METHODS[method])
    return derive_geometric_mean(ds, one, two) if method == "geometric-mean" else derive_p_true(ds, one, two)
