"""How many of a known number of steps are done, on stderr: a bar on a terminal, quarters elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import typer

QUARTER = 25
QUICK = 8
"""Up to so many steps are not worth a line in a log."""


@contextmanager
def counting(what: str, *, quiet: bool) -> Iterator[Callable[[int, int], None]]:
    """Give a function of the steps done and the steps in all that shows them until the block ends."""
    if quiet:
        yield lambda done, total: None  # noqa: ARG005
    elif sys.stderr.isatty():
        with _bar(what) as report:
            yield report
    else:
        yield _lines(what)


@contextmanager
def _bar(what: str) -> Iterator[Callable[[int, int], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(bar_width=30), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task(what, total=None)
        yield lambda done, total: bars.update(task, completed=done, total=total)


def _lines(what: str) -> Callable[[int, int], None]:
    mark = 0

    def report(done: int, total: int) -> None:
        nonlocal mark
        percent = 100 * done // total
        if total > QUICK and percent >= mark + QUARTER:
            mark = percent - percent % QUARTER
            typer.echo(f"hmeta: {percent:>3} % {what}", err=True)

    return report
