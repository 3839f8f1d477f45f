"""Errors that a user can act on.

Every refusal says what was wrong, where, what was received, what is allowed and how to mend it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self


class HmetaError(Exception):
    """A refusal with one readable message.

    Parameters
    ----------
    what : str
        What was wrong, in one clause.
    where : str, optional
        File, column and rows, or file and key.
    received : str, optional
        The offending value.
    allowed : str or sequence of str, optional
        What was expected; a sequence is joined with commas.
    mend : str, optional
        What to do about it.
    """

    exit_status = 2

    def __init__(
        self,
        what: str,
        *,
        where: str | None = None,
        received: str | None = None,
        allowed: str | Sequence[str] | None = None,
        mend: str | None = None,
    ) -> None:
        self.what = what
        self.where = where
        self.received = received
        self.allowed = allowed if allowed is None or isinstance(allowed, str) else ", ".join(allowed)
        self.mend = mend
        super().__init__(self.message)

    def at(self, where: str) -> Self:
        """Return the same refusal with a place put before its own."""
        place = f"{where}, {self.where}" if self.where else where
        return type(self)(self.what, where=place, received=self.received, allowed=self.allowed, mend=self.mend)

    @property
    def message(self) -> str:
        """The whole message, one part a line after the first."""
        head = f"{self.where}: {self.what}" if self.where else self.what
        parts = [
            head,
            f"  received: {self.received}" if self.received is not None else "",
            f"  allowed:  {self.allowed}" if self.allowed is not None else "",
            f"  mend:     {self.mend}" if self.mend is not None else "",
        ]
        return "\n".join(part for part in parts if part)


class DataError(HmetaError, ValueError):
    """The data cannot be used as they are."""


class SpecError(HmetaError):
    """The model file or its formulas cannot be used as they are."""


class OutputError(HmetaError):
    """The output cannot be written."""


class DeviceError(HmetaError):
    """The device or backend asked for is not there."""
