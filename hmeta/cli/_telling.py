"""What is being done, on stderr: one changing line on a terminal, a line a stage elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import typer


@contextmanager
def telling(*, quiet: bool) -> Iterator[Callable[[str, str], None]]:
    """Give a function of the stage and of what is being done in it that shows them until the block ends."""
    if quiet:
        yield lambda stage, what: None  # noqa: ARG005
    elif sys.stderr.isatty():
        from rich.console import Console

        with Console(stderr=True).status("starting") as line:
            yield lambda stage, what: line.update(f"{stage}: {what}" if what else stage)
    else:
        yield _lines()


def _lines() -> Callable[[str, str], None]:
    told: list[str] = []

    def tell(stage: str, what: str) -> None:
        del what
        if stage not in told:
            told.append(stage)
            typer.echo(f"hmeta: {stage}", err=True)

    return tell
