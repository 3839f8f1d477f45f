"""From results to the page that goes into a paper."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import xarray as xr

from hmeta.core.errors import DataError
from hmeta.core.provenance import versions
from hmeta.core.registry import did_you_mean
from hmeta.infer.contrast import check_rope
from hmeta.infer.fitted import HEADLINE, level_labels
from hmeta.infer.intervals import check_interval
from hmeta.report.card import Options
from hmeta.report.files import Report, check_folder, write_page
from hmeta.report.inputs import FitInput, Input, as_input, factors_of, read_inputs
from hmeta.report.material import Material
from hmeta.report.page import Missing, Page, Section, Text
from hmeta.report.sections import builders
from hmeta.report.templates import find_templates

MOST_BINS = 1000

Source = str | Path | xr.Dataset | xr.DataTree


def write_report(
    inputs: Sequence[Source] | Source,
    folder: str | Path,
    *,
    title: str | None = None,
    options: Options | None = None,
    templates: str | Path | None = None,
    overwrite: bool = False,
    progress: Report | None = None,
) -> Page:
    """Write a report of fits, results files and tables of measures, in any mixture.

    Parameters
    ----------
    inputs : path, Dataset, DataTree, or sequence of them
        Fits, results files of layout `trials` or `counts`, tables of measures.
    folder : str or Path
        Gets ``report.html`` (one file that needs no other), ``report.pdf``, ``figures/`` (SVG, PDF, PNG), ``tables/``
        (CSV, LaTeX, Markdown), ``methods.md``, ``methods.tex``, ``references.bib`` and ``numbers.json`` (every number
        in the text, in full, and where it came from).
    title : str, optional
    options : Options, optional
        Intervals, the baseline of contrasts, the region of practical equivalence, bins.
    templates : str or Path, optional
        A folder with ``report.html.j2`` and ``report.typ``; default: those that come with hmeta.
    overwrite : bool
        Replace an existing report; a folder that holds anything else is never touched.
    progress : callable, optional
        Told the stage, and what is being done in it.

    Returns
    -------
    Page
        What the report says.

    Raises
    ------
    HmetaError
        For inputs that cannot be read, and a folder that cannot be written; nothing is written then.
    """
    report = progress or _silent
    folder = Path(folder).resolve()
    given = [inputs] if isinstance(inputs, str | Path | xr.Dataset | xr.DataTree) else list(inputs)
    paths = [Path(one) for one in given if isinstance(one, str | Path)]
    check_folder(folder, inputs=paths, overwrite=overwrite)
    where = find_templates(templates)
    page = build_page(_as_inputs(given), title=title, options=options or Options(), progress=report)
    write_page(page, folder, templates=where, report=report)
    return page


def build_page(inputs: Sequence[Input], *, title: str | None, options: Options, progress: Report) -> Page:
    """Return what a report says."""
    if not inputs:
        raise DataError("a report needs an input", allowed="fits, results files, tables of measures")
    check_interval(options.interval, options.kind)
    check_rope(options.rope)
    _check_options(options, inputs)
    material = Material(tuple(inputs), options)
    for fit in material.fits:
        if fit.headline.parameter == HEADLINE:
            _ = fit.ml_estimates  # begun now, waited for in its section
    sections, missing = [], []
    for name, builder in builders().items():
        progress("sections", builder.TITLE)
        blocks = tuple(builder.build(material))
        if blocks:
            sections.append(Section(name.replace("_", "-"), builder.TITLE, blocks))
        elif builder.NEEDS:
            missing.append(Missing(builder.TITLE, builder.NEEDS))
    return Page(
        words(title) if title is not None else f"Metacognition report: {', '.join(one.name for one in inputs)}",
        _facts(inputs),
        tuple(_banner(fit) for fit in material.fits if not fit.converged),
        tuple(sections),
        tuple(missing),
    )


def _check_options(options: Options, inputs: Sequence[Input]) -> None:
    """Refuse an impossible number of bins, and a baseline that no factor of any fit has as a level."""
    if not 1 <= options.bins <= MOST_BINS:
        raise DataError("unusable number of bins", received=str(options.bins), allowed=f"1 to {MOST_BINS}")
    if options.baseline is None:
        return
    fits = [one for one in inputs if isinstance(one, FitInput)]
    levels = {label for fit in fits for by in factors_of(fit) for label in level_labels(fit.headline.factors[by])}
    if options.baseline not in levels:
        raise DataError(
            f'"{options.baseline}" is not a level of any factor that is contrasted',
            where="baseline",
            allowed=sorted(levels) or "none: no fit has a factor beside who answered",
            mend=did_you_mean(options.baseline, levels),
        )


def words(title: str) -> str:
    """Return a title on one line, letters that no file can hold replaced."""
    return " ".join(title.encode(errors="replace").decode().split())


def _silent(stage: str, what: str) -> None:
    del stage, what


def _as_inputs(given: Sequence[Source]) -> list[Input]:
    paths = [one for one in given if isinstance(one, str | Path)]
    read = iter(read_inputs(paths))
    held = [
        next(read) if isinstance(one, str | Path) else as_input(one, f"input {i}") for i, one in enumerate(given, 1)
    ]
    return held


def _facts(inputs: Sequence[Input]) -> tuple[str, ...]:
    words = {"FitInput": "fit", "ResultsInput": "results file", "MetricsInput": "table of measures"}
    made_from = ", ".join(f"{one.file} ({words[type(one).__name__]})" for one in inputs)
    return (f"Made from {made_from} with hmeta {versions()['hmeta']}.",)


def _banner(fit: FitInput) -> Text:
    reasons = "; ".join(fit.doubts)
    return (f"{fit.name} has not converged: do not use its numbers. {reasons[:1].upper()}{reasons[1:]}.",)
