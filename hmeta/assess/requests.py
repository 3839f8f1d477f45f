"""Which measures a file allows, and which of them the user asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hmeta.assess.answers import AnswerTable
from hmeta.core.errors import DataError
from hmeta.metrics.catalogue import Request, measures, read_request
from hmeta.metrics.measure import Card, Measure

EVERY = "all"


def requests_for(table: AnswerTable, metrics: Sequence[str] | None) -> tuple[Request, ...]:
    """Return the measures to compute: those named, or the main ones that the file allows.

    Raises
    ------
    DataError
        For a measure that is unknown, has no meaning for the task, or reads columns that the file does not have.
    """
    if not metrics:
        return tuple(Request(m) for m in measures().values() if m.default and obstacle(m, table) is None)
    if EVERY in metrics:
        named = [read_request(text) for text in metrics if text != EVERY]
        rest = [
            Request(m, resampled=not m.slow)
            for m in measures().values()
            if not _must_set(m) and obstacle(m, table) is None
        ]
        return _checked(_distinct([*rest, *named]), table)
    return _checked(_distinct([read_request(text) for text in metrics]), table)


def _spread(request: Request) -> list[Request]:
    """Return a request under each of the measure's variants that the user has left open."""
    open_ones = [v for v in request.measure.variants if not set(v) & set(request.options)]
    return [replace(request, options={**request.options, **v}) for v in open_ones] or [request]


def _must_set(measure: Measure) -> bool:
    return any(option.default is None for option in measure.options.values())


def _distinct(requests: Sequence[Request]) -> tuple[Request, ...]:
    every = [one for request in requests for one in _spread(request)]
    return tuple({request.name: request for request in every}.values())


def _checked(requests: tuple[Request, ...], table: AnswerTable) -> tuple[Request, ...]:
    for request in requests:
        refusal = obstacle(request.measure, table)
        if refusal is not None:
            raise refusal
    return requests


def _other_way(measure: Card, task: str) -> str | None:
    if measure.family == "judges":
        return "import verdicts as the task binary: stimulus is the truth, response the verdict"
    return "an open task has no type-1 table; auroc2, type2_d_a and meta_i need none" if task == "open" else None


def obstacle(measure: Card, table: AnswerTable) -> DataError | None:
    """Return the refusal for a measure that this file does not allow, or None."""
    if table.task not in measure.tasks:
        return DataError(
            f"{measure.name} has no meaning for the task {table.task}",
            allowed=f"tasks {', '.join(measure.tasks)}",
            mend=_other_way(measure, table.task),
        )
    if table.has(measure.columns):
        return None
    there = table.rows_for(measure.columns)
    lacking = [name for name in measure.columns if name not in there.columns]
    texts = [name for name in lacking if name in there.factors]
    return DataError(
        f"{measure.name} reads columns that the file does not have",
        received=f"{', '.join(texts)} without numbers" if texts else f"no column {', '.join(lacking)}",
        allowed=", ".join(measure.columns),
    )
