"""What `hmeta fit` does between its options and its exit status."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from hmeta.cli._tables import print_json, print_table, records

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from hmeta.spec import ModelSpec
    from hmeta.trials import Validated

OK, NOT_CONVERGED = 0, 3


@dataclass(frozen=True)
class Request:
    """What was asked for, apart from how to sample."""

    results: Path
    model: str | None
    output: Path
    formulas: Mapping[str, str]
    columns: Mapping[str, str]
    on_violation: str
    duplicates: str
    overwrite: bool
    json: bool


@dataclass(frozen=True)
class Ready:
    """Data that were validated, and the model for them."""

    valid: Validated
    spec: ModelSpec
    name: str
    why: str
    columns: dict[str, str]

    def content(self) -> dict[str, Any]:
        """Return what was used, for JSON."""
        import json

        return {
            "model": self.name,
            "why": self.why,
            "columns": self.columns,
            "validation": json.loads(self.valid.report.to_json()),
        }


def refuse_without_effect(given: Mapping[str, Any]) -> None:
    """Refuse options of the sampler where nothing is sampled."""
    from hmeta.core.errors import HmetaError

    if given:
        options = ", ".join("--" + name.replace("_", "-") for name in given)
        raise HmetaError(
            f"{options} would change nothing: maximum likelihood does not sample",
            where="--method mle",
            mend="leave it out, or use --method nuts",
        )


def prepare(request: Request, *, type1: bool = False) -> Ready:
    """Check the output, read and validate the data, and find the model; say what was found.

    With `type1` data without a type-1 table are refused.
    """
    from hmeta.assess.screen import screen
    from hmeta.core.files import check_output, read_dataset
    from hmeta.spec import choose_model, load_model, with_formulas
    from hmeta.spec.refusals import refuse_open, source_name
    from hmeta.trials import validate

    inputs = [request.results, *([Path(request.model)] if request.model and Path(request.model).exists() else [])]
    check_output(request.output, inputs=inputs, overwrite=request.overwrite)
    dataset = read_dataset(request.results)
    valid = validate(dataset, on_violation=request.on_violation, duplicates=request.duplicates)
    if type1:
        refuse_open(str(valid.dataset.attrs.get("task")), source_name(dataset))
    columns = dict(request.columns)
    name, why = request.model, "asked for"
    if name is None:
        choice = choose_model(valid.dataset)
        name, why, columns = choice.name, choice.why, {**choice.columns, **columns}
    spec = with_formulas(load_model(name), dict(request.formulas))
    ready = Ready(valid, spec, str(name), why, columns)
    if not request.json:
        _say_ready(ready, screen(dataset, duplicates=request.duplicates).brief())
    return ready


def fit_nuts_and_tell(request: Request, given: Mapping[str, Any], *, quiet: bool) -> int:
    """Sample, write the fit, print its summary and return the exit status."""
    from hmeta.cli._progress import showing_progress
    from hmeta.core.files import write_tree
    from hmeta.infer.fit import fit

    ready = prepare(request)
    with showing_progress(quiet=quiet) as report:
        tree = fit(ready.valid, ready.spec, columns=ready.columns, progress=report, **given)
    tree["hmeta"].attrs["source"] = request.results.name
    write_tree(tree, request.output, overwrite=request.overwrite)
    _tell_fit(tree, request, ready)
    return OK if int(tree["hmeta"].attrs["converged"]) else NOT_CONVERGED


def fit_mle_and_tell(request: Request) -> int:
    """Maximise each cell's likelihood, write and print the estimates."""
    from hmeta.core.files import write_dataset
    from hmeta.infer.mle import fit_mle
    from hmeta.spec import plan

    ready = prepare(request, type1=True)
    plan_ = plan(ready.spec, ready.valid.dataset, columns=ready.columns)
    estimates = fit_mle(plan_).rename(columns=ready.columns)
    write_dataset(_estimates(estimates, plan_.task, request.results), request.output, overwrite=request.overwrite)
    if request.json:
        print_json({"output": str(request.output), **ready.content(), "method": "mle", "estimates": records(estimates)})
        return OK
    factors = {str(name): (str(name), "") for name in estimates.columns[: list(estimates.columns).index("n")]}
    numbers = {
        "n": ("answers", ",.0f"),
        **{name: (name, ".2f") for name in ("accuracy", "auroc2", "d", "c", "meta_d", "M")},
        "se_M": ("se(M)", ".2f"),
        "status": ("status", ""),
        "reason": ("reason", ""),
    }
    typer.echo("")
    print_table(estimates, {**factors, **numbers}, title="maximum likelihood, each cell by itself")
    typer.echo(f"wrote {request.output}")
    return OK


def _say_ready(ready: Ready, screened: Sequence[str]) -> None:
    typer.echo(ready.valid.report.render())
    for line in screened:
        typer.echo(line)
    typer.echo(f"model: {ready.name} ({ready.why})")
    for word, column in ready.columns.items():
        typer.echo(f"  {word} is read from column {column}")
    for name, parameter in {**ready.spec.parameters, "criteria": ready.spec.criteria}.items():
        link = "" if parameter.link == "identity" else f"  [{parameter.link} link]"
        typer.echo(f"  {name} ~ {parameter.formula}{link}")


def _tell_fit(tree: xr.DataTree, request: Request, ready: Ready) -> None:
    import json

    from hmeta.cli._summary_table import print_summary, summary_content
    from hmeta.infer.summary import summarize

    table = summarize(tree)
    facts = tree["hmeta"].attrs
    notes = json.loads(facts.get("notes", "[]"))
    if request.json:
        content = {"output": str(request.output), **ready.content(), "method": "nuts", "model_notes": notes}
        print_json({**content, "wall_time_s": facts.get("wall_time_s"), **summary_content(table)})
        return
    for note in notes:
        typer.echo(f"note: {note}")
    typer.echo("")
    print_summary(table)
    typer.echo(f"wrote {request.output}")


def _estimates(frame: pd.DataFrame, task: str, source: Path) -> xr.Dataset:
    """Return the estimates as a dataset; cells without one keep their row, with the reason."""
    import xarray as xr

    from hmeta.trials.columns import encode
    from hmeta.trials.tables import attributes

    named = frame.rename(columns={"M": "estimate", "se_M": "standard_error"})
    words = attributes("estimates", task=task, source=source.name, title="meta-d′ by maximum likelihood", quantity="M")
    return xr.Dataset({str(name): ("row", encode(named[name])) for name in named.columns}, attrs=words)
