"""Words of the command line that several commands read alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def split(words: Sequence[str] | None) -> list[str]:
    """Return names that were given one by one or with commas."""
    return [name.strip() for word in words or [] for name in word.split(",") if name.strip()]


def one_of(asked: Mapping[str, bool]) -> str | None:
    """Return which of several flags is set, None for none; refuse more than one."""
    from hmeta.core.errors import HmetaError

    found = [name for name, value in asked.items() if value]
    if len(found) > 1:
        raise HmetaError("only one kind of output can be printed", received=", ".join(f"--{name}" for name in found))
    return found[0] if found else None
