"""How far a fit is, on stderr: bars on a terminal, plain lines elsewhere."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Callable

    from hmeta.infer.options import Progress

    Report = Callable[[Progress], None]

SAMPLING = ("warm-up", "sampling")
STEP = 25
"""Per cent between two plain lines of one stage."""


@contextmanager
def showing_progress(*, quiet: bool = False) -> Iterator[Report]:
    """Give a function that shows progress reports until the block ends; an interruption is never lost in between.

    Ctrl-C can fall into a callback of the compiler, which drops the exception: the next report raises it again.
    """
    with _noticing_interruption() as check:
        if quiet:
            yield _checked(_ignore, check)
        elif sys.stderr.isatty():
            with _bars() as report:
                yield _checked(report, check)
        else:
            yield _checked(_PlainLines(), check)
        check()


def _checked(report: Report, check: Callable[[], None]) -> Report:
    def both(progress: Progress) -> None:
        check()
        report(progress)

    return both


@contextmanager
def _noticing_interruption() -> Iterator[Callable[[], None]]:
    """Give a function that raises KeyboardInterrupt once the user has interrupted, however often it was dropped."""
    asked: list[int] = []

    def note(signum: int, frame: object) -> None:
        del frame
        asked.append(signum)
        raise KeyboardInterrupt

    def check() -> None:
        if asked:
            raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():  # only the main thread gets signals
        yield check
        return
    shown = sys.unraisablehook

    def hide(dropped: sys.UnraisableHookArgs) -> None:
        if dropped.exc_type is not KeyboardInterrupt:
            shown(dropped)

    before, sys.unraisablehook = signal.signal(signal.SIGINT, note), hide
    try:
        yield check
    finally:
        signal.signal(signal.SIGINT, before)
        sys.unraisablehook = shown


def _ignore(progress: Progress) -> None:
    del progress


def status_line(progress: Progress) -> str:
    """Return the stage with what is known about it: "sampling, 15 steps a draw, 2 divergences, 12 s"."""
    parts = [progress.stage]
    if progress.n_steps:
        parts.append(f"{progress.n_steps:.0f} steps a draw")
    if progress.divergences:
        parts.append(f"{progress.divergences:,} divergence{'s' if progress.divergences > 1 else ''}")
    if progress.message:
        parts.append(progress.message)
    if progress.elapsed_s >= 1:
        parts.append(_duration(progress.elapsed_s))
    return ", ".join(parts)


class _PlainLines:
    """Writes a line when the stage changes, and at each quarter of all iterations."""

    def __init__(self) -> None:
        self.stage = ""
        self.mark = 0

    def __call__(self, progress: Progress) -> None:
        done, total = sum(progress.chain_done), progress.total * max(len(progress.chain_done), 1)
        percent = 100 * done // total if total else 0
        if progress.stage == self.stage and percent < self.mark + STEP:
            return
        self.stage, self.mark = progress.stage, percent - percent % STEP
        known = f" {percent:>3} %" if progress.stage in SAMPLING else ""
        typer.echo(f"hmeta:{known} {status_line(progress)}", err=True)


@contextmanager
def _bars() -> Iterator[Report]:
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=30),
        TextColumn("{task.fields[count]}", justify="right"),
        TimeRemainingColumn(compact=True),
    )
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        stage = bars.add_task("starting", total=None, count="")
        tasks: list[Any] = []

        def report(progress: Progress) -> None:
            while len(tasks) < len(progress.chain_done):
                tasks.append(bars.add_task(f"chain {len(tasks) + 1}", total=progress.total, count=""))
            for task, done in zip(tasks, progress.chain_done, strict=False):
                shown = min(done, progress.total)
                bars.update(task, completed=shown, total=progress.total, count=f"{shown:,} of {progress.total:,}")
            bars.update(stage, description=status_line(progress))

        yield report


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
