"""``hmeta import``: a foreign file → a results file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    import xarray as xr

    from hmeta.trials.import_options import ImportOptions, ScaleDeclaration


def run(
    file: Annotated[Path, typer.Argument(help="CSV, TSV, Parquet, JSON Lines, or counts as text, CSV, JSON or .mat.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="The results file to write.")] = Path("results.nc"),
    task: Annotated[str | None, typer.Option(help="binary, mafc or open.")] = None,
    n_options: Annotated[int | None, typer.Option(help="Number of alternatives, for the task mafc.")] = None,
    scale: Annotated[str | None, typer.Option(help="Ends of the confidence scale: 0-100, 1-7, -1:1.")] = None,
    scale_lower: Annotated[float | None, typer.Option(help="Lower end of the scale.")] = None,
    scale_upper: Annotated[float | None, typer.Option(help="Upper end of the scale.")] = None,
    scale_step: Annotated[float | None, typer.Option(help="Step of the scale; 0 for continuous.")] = None,
    scale_reversed: Annotated[bool, typer.Option("--scale-reversed", help="A low value means sure.")] = False,
    column: Annotated[
        list[str] | None, typer.Option(help="NAME=COLUMN: confidence=conf, participant=a+b. May be repeated.")
    ] = None,
    constant: Annotated[
        list[str] | None, typer.Option(help="NAME=VALUE for the whole file: model=gpt-4o. May be repeated.")
    ] = None,
    factor: Annotated[
        list[str] | None, typer.Option(help="A further column to keep; by default all. May be repeated.")
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option(help="COLUMN=VALUE[,VALUE]: import these rows alone. May be repeated.")
    ] = None,
    missing: Annotated[
        list[str] | None, typer.Option(help="A value that means missing, or COLUMN=VALUE. May be repeated.")
    ] = None,
    labels: Annotated[str | None, typer.Option(help="LABEL_FOR_0,LABEL_FOR_1 of stimulus and response.")] = None,
    wide: Annotated[str | None, typer.Option(help="CONFIDENCE_ENDING,CORRECT_ENDING of a wide table.")] = None,
    word: Annotated[list[str] | None, typer.Option(help="WORD=VALUE on the scale: high=90. May be repeated.")] = None,
    ambiguous: Annotated[
        str | None, typer.Option(help="Confidence texts with two readings: missing (default) or literal.")
    ] = None,
    ungraded: Annotated[bool, typer.Option("--ungraded", help="Import answers without correctness.")] = False,
    padded: Annotated[
        bool, typer.Option("--padded", help="Something was added to the counts; fractions are right.")
    ] = False,
    mapping: Annotated[Path | None, typer.Option(help="A TOML file with any of these declarations.")] = None,
    importer: Annotated[str | None, typer.Option(help="Name the importer instead of going by the file.")] = None,
    title: Annotated[str, typer.Option(help="Title, kept in the file.")] = "",
    source: Annotated[str, typer.Option(help="Where the data come from, kept in the file.")] = "",
    license: Annotated[str, typer.Option(help="Licence of the data, kept in the file.")] = "",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing output.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print a summary as JSON.")] = False,
) -> None:
    """Turn a foreign file into a results file, saying what was taken for what.

    For example:

        hmeta import answers.csv --scale 0-100 --n-options 4
        hmeta import answers.csv --column confidence=conf --column model=llm
        hmeta import data_Bang.csv --missing -10 -o bang.nc
        hmeta import counts.mat -o counts.nc
    """
    from hmeta.core.files import check_output, write_dataset
    from hmeta.trials.declarations import read_mapping
    from hmeta.trials.import_options import ImportOptions, pairs
    from hmeta.trials.importing import import_table

    inputs = [file] if mapping is None else [file, mapping]
    check_output(output, inputs=inputs, overwrite=overwrite)
    declared = ImportOptions(
        columns=pairs(column or [], "--column"),
        constants=pairs(constant or [], "--constant"),
        task=task,
        n_options=n_options,
        scale=_scale(scale, scale_lower, scale_upper, step=scale_step, reverse=scale_reversed),
        labels=_split(labels),
        missing=tuple(_missing(entry) for entry in missing or []),
        factors=None if factor is None else tuple(factor),
        only={name: tuple(values.split(",")) for name, values in pairs(only or [], "--only").items()},
        wide=_endings(wide),
        words=_words(word or []),
        ambiguous=ambiguous or "missing",
        ungraded=ungraded,
        padded=padded,
        title=title,
        source=source,
        license=license,
    )
    options = declared if mapping is None else read_mapping(mapping).overridden_by(declared)
    dataset = import_table(file, options, importer=importer)
    write_dataset(dataset, output, overwrite=overwrite)
    _tell(dataset, file, output, as_json=as_json, options=options)


def _scale(
    text: str | None, lower: float | None, upper: float | None, *, step: float | None, reverse: bool
) -> ScaleDeclaration | None:
    from hmeta.core.errors import DataError
    from hmeta.trials.import_options import ScaleDeclaration, parse_scale

    if text is not None and (lower is not None or upper is not None):
        raise DataError("the scale is declared twice", received="--scale and --scale-lower or --scale-upper")
    if text is not None:
        lower, upper = parse_scale(text)
    if lower is None and upper is None and step is None and not reverse:
        return None
    if lower is None or upper is None:
        raise DataError(
            "the scale is declared in part",
            received=f"lower {lower}, upper {upper}",
            allowed="both ends",
            mend="pass --scale LOWER-UPPER",
        )
    return ScaleDeclaration(lower, upper, step, reverse)


def _split(text: str | None) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",")) if text else ()


def _missing(entry: str) -> tuple[str | None, str]:
    name, mark, value = entry.partition("=")
    return (name, value) if mark else (None, entry)


def _endings(text: str | None) -> tuple[str, str] | None:
    from hmeta.core.errors import DataError

    parts = _split(text)
    if parts and len(parts) != 2:
        raise DataError("--wide takes two endings", received=text, allowed="_confidence,_correctness")
    return (parts[0], parts[1]) if parts else None


def _words(entries: list[str]) -> dict[str, float]:
    from hmeta.core.errors import DataError
    from hmeta.trials.import_options import pairs

    found: dict[str, float] = {}
    for name, value in pairs(entries, "--word").items():
        try:
            found[name] = float(value)
        except ValueError as error:
            raise DataError("--word takes WORD=NUMBER", received=f"{name}={value}") from error
    return found


def _tell(dataset: xr.Dataset, file: Path, output: Path, *, as_json: bool, options: ImportOptions) -> None:
    """Say on stderr what was done and, where asked, on stdout as JSON."""
    import json

    from hmeta.trials.import_summary import summarise

    summary = summarise(dataset) | {"input": str(file), "output": str(output)}
    for note in summary["notes"]:
        typer.echo(f"  {note}", err=True)
    typer.echo(f"{output}: {summary['text']}", err=True)
    if not options.license:
        typer.echo("  no licence was given; --license keeps it with the data", err=True)
    if as_json:
        typer.echo(json.dumps({key: value for key, value in summary.items() if key != "text"}, ensure_ascii=False))
