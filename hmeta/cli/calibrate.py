"""The command ``hmeta calibrate``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    import pandas as pd

    from hmeta.calibrate.recalibrate import Calibrated

RESULTS = ".nc"


def run(
    results: Annotated[Path, typer.Argument(help="The results file (.nc), layout trials or counts.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The results file to write. Default: only say what changes.")
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            help="beta (default), platt, temperature, isotonic or histogram; with options: "
            '"platt(smoothing=true)", "isotonic(ties=raw)", "histogram(bins=15, mass=equal_mass)".'
        ),
    ] = None,
    by: Annotated[
        str | None, typer.Option(help="Further columns with maps of their own, with commas: domain,language.")
    ] = None,
    pool: Annotated[
        str | None,
        typer.Option(help="Which of model, participant, scale and signal share a map, with commas. Default: none."),
    ] = None,
    folds: Annotated[
        int | None, typer.Option(help="Number of folds, by item where there are items. Default: 5.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the folds. Default: 0.")] = None,
    in_sample: Annotated[
        bool, typer.Option("--in-sample", help="Hold nothing out: errors are then too low, and labelled so.")
    ] = False,
    save_map: Annotated[Path | None, typer.Option(help="Save the maps of all answers as JSON.")] = None,
    use_map: Annotated[Path | None, typer.Option("--map", help="Apply saved maps instead of fitting new ones.")] = None,
    on_violation: Annotated[str, typer.Option(help="As for hmeta validate.")] = "auto",
    duplicates: Annotated[str, typer.Option(help="As for hmeta validate.")] = "error",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace existing files.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Replace confidence by calibrated probabilities, and show what that gains and costs on held-out answers.

    For example:

        hmeta calibrate results.nc --method beta -o calibrated.nc
        hmeta calibrate results.nc --method isotonic --by domain --save-map map.json
        hmeta calibrate new.nc --map map.json -o calibrated.nc
    """
    from hmeta.calibrate.map_file import read_map, write_map
    from hmeta.calibrate.recalibrate import apply_maps, recalibrate
    from hmeta.core.files import read_dataset, write_dataset

    if in_sample:
        _refuse_in_sample([name for name, value in (("folds", folds), ("seed", seed)) if value is not None])
    _check_outputs(output, save_map, [results, *([use_map] if use_map else [])], overwrite=overwrite)
    if use_map is not None:
        given = {"method": method, "by": by, "pool": pool, "folds": folds, "seed": seed, "save-map": save_map}
        _refuse_with_map([*(k for k, v in given.items() if v is not None), *(["in-sample"] if in_sample else [])])
        maps = read_map(use_map)
        done = apply_maps(read_dataset(results), maps, on_violation=on_violation, duplicates=duplicates)
    else:
        done = recalibrate(
            read_dataset(results),
            method="beta" if method is None else method,
            by=_names(by),
            pool=_names(pool),
            folds=5 if folds is None else folds,
            seed=0 if seed is None else seed,
            in_sample=in_sample,
            on_violation=on_violation,
            duplicates=duplicates,
        )
    if output is not None:
        write_dataset(done.dataset, output, overwrite=overwrite)
    if save_map is not None:
        write_map(done.maps, save_map, overwrite=overwrite)
    if json:
        _print_json(done, output, save_map)
        return
    _print(done)
    for path, what in ((output, "calibrated confidence"), (save_map, "maps of all answers")):
        if path is not None:
            typer.echo(f"wrote {path}: {what}")


def _names(text: str | None) -> list[str]:
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def _check_outputs(output: Path | None, save_map: Path | None, inputs: list[Path], *, overwrite: bool) -> None:
    from hmeta.core.errors import OutputError
    from hmeta.core.files import check_output

    if output is not None and output.suffix.lower() != RESULTS:
        raise OutputError(
            "unknown kind of results file",
            where=str(output),
            received=f'"{output.suffix}"' if output.suffix else "no suffix",
            allowed=RESULTS,
            mend=f"call it {output.stem}{RESULTS}",
        )
    for path in (output, save_map):
        if path is not None:
            check_output(path, inputs=inputs, overwrite=overwrite)
    if output is not None and save_map is not None and output.resolve() == save_map.resolve():
        raise OutputError("results and maps cannot go to the same file", where=str(output))


def _refuse_in_sample(idle: list[str]) -> None:
    from hmeta.core.errors import DataError

    if idle:
        words = ", ".join(f"--{name}" for name in idle)
        raise DataError("nothing is held out with --in-sample", received=words, mend="leave these options out")


def _refuse_with_map(idle: list[str]) -> None:
    from hmeta.core.errors import DataError

    if idle:
        words = ", ".join(f"--{name}" for name in idle)
        raise DataError("nothing is fitted with --map", received=words, mend="leave these options out")


def _mean(done: Calibrated) -> pd.DataFrame | None:
    from hmeta.calibrate.comparison import mean_over_segments

    return mean_over_segments(done.comparison) if sum(not one.reason for one in done.maps.segments) > 1 else None


def _print(done: Calibrated) -> None:
    import pandas as pd

    from hmeta.cli._tables import print_table

    typer.echo(done.report.render())
    typer.echo("")
    columns = {
        **{key: (key, "") for key in done.maps.keys},
        "when": ("", ""),
        "n": ("answers", ",.0f"),
        "accuracy": ("accuracy", ".3f"),
        "mean_confidence": ("confidence", ".3f"),
        "ece": ("ECE", ".3f"),
        "brier": ("Brier", ".3f"),
        "brier_uncertainty": ("base rate's", ".3f"),
        "brier_reliability": ("reliability", ".4f"),
        "brier_resolution": ("resolution", ".4f"),
        "log_score": ("log score", ".3f"),
        "auroc2": ("AUROC2", ".3f"),
        "auroc2_within_folds": ("in folds", ".3f"),
        "confidence_sd": ("SD", ".3f"),
        "n_outputs": ("outputs", ".0f"),
    }
    if not done.grouped_by:
        columns.pop("auroc2_within_folds")
    mean = _mean(done)
    table = done.comparison if mean is None else pd.concat([done.comparison, mean], ignore_index=True)
    gray = [when == "before" for when in table["when"]]
    print_table(table, columns, title=f"{done.maps.method.name}, judged {done.judged}", gray=gray)
    typer.echo("")
    for note in done.notes:
        typer.echo(note)
    for caution in done.cautions:
        typer.echo(f"caution: {caution}")


def _print_json(done: Calibrated, output: Path | None, save_map: Path | None) -> None:
    import json

    from hmeta.cli._tables import print_json, records

    mean = _mean(done)
    content = {
        "method": done.maps.method.name,
        "options": done.maps.options,
        "segment_columns": list(done.maps.keys),
        "pooled": list(done.maps.pooled),
        "folds": done.folds,
        "folds_by": done.grouped_by,
        "seed": done.seed,
        "in_sample": "in-sample" in done.judged,
        "judged": done.judged,
        "comparison": records(done.comparison),
        "mean": [] if mean is None else records(mean),
        "notes": list(done.notes),
        "cautions": list(done.cautions),
        "output": None if output is None else str(output),
        "map": None if save_map is None else str(save_map),
        "validation": json.loads(done.report.to_json()),
    }
    print_json(content)
