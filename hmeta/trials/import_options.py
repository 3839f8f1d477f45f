"""What can be declared about a foreign file."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from hmeta.core.errors import DataError
from hmeta.core.registry import did_you_mean
from hmeta.core.schema import TASKS


@dataclass(frozen=True)
class ScaleDeclaration:
    """A confidence scale: its ends, its step (0 continuous, None to be read off the data), its direction."""

    lower: float
    upper: float
    step: float | None = None
    reversed: bool = False

    def __post_init__(self) -> None:
        if not (self.lower < self.upper and math.isfinite(self.upper - self.lower)):
            raise DataError(
                "the confidence scale is empty or has no end",
                received=f"{self.lower:g} to {self.upper:g}",
                allowed="a lower end below the upper end, both finite",
            )
        if self.step is not None and not 0 <= self.step <= self.upper - self.lower:
            raise DataError(
                "the step of the confidence scale is impossible",
                received=f"{self.step:g} on {self.name}",
                allowed=f"0 for continuous, or a step up to {self.upper - self.lower:g}",
            )

    @property
    def name(self) -> str:
        """The ends, as in ``0-100``."""
        return f"{self.lower:g}-{self.upper:g}"


@dataclass(frozen=True)
class ImportOptions:
    """Declarations that apply to one file; the defaults declare nothing.

    Attributes
    ----------
    columns : mapping
        The schema's name of a column to the file's; ``a+b`` joins two columns.
    constants : mapping
        Columns with one value for the whole file.
    task : str, optional
        ``binary``, ``mafc`` or ``open``.
    n_options : int, optional
        Number of alternatives of every trial.
    n_options_by : (str, mapping), optional
        A column, and the number of alternatives for each of its values.
    scale : ScaleDeclaration, optional
        The one confidence scale of the file.
    scales : mapping
        Scales by the values of the column ``scale``.
    labels : tuple of str
        The two labels of stimulus and response, the one for 0 first.
    label_codes : mapping
        Codes for the labels of ``stimulus`` and ``response``, where the two use different labels.
    missing : tuple
        (column or None for every column, value) that stands for missing.
    factors : tuple of str, optional
        Which further columns to keep; None keeps all.
    only : mapping
        Column to the values whose rows are imported.
    wide : (str, str), optional
        Endings of the confidence and the correctness columns of a wide table.
    words : mapping
        Confidence words to values on the scale.
    ambiguous : str
        ``missing`` or ``literal``: what a stated confidence with two readings becomes.
    ungraded : bool
        Whether correctness may be absent.
    padded : bool
        Whether counts may be fractions because something was added to them.
    title, source, license : str
        Attributes of the results file.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    constants: Mapping[str, str] = field(default_factory=dict)
    task: str | None = None
    n_options: int | None = None
    n_options_by: tuple[str, Mapping[str, int]] | None = None
    scale: ScaleDeclaration | None = None
    scales: Mapping[str, ScaleDeclaration] = field(default_factory=dict)
    labels: tuple[str, ...] = ()
    label_codes: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    missing: tuple[tuple[str | None, str], ...] = ()
    factors: tuple[str, ...] | None = None
    only: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    wide: tuple[str, str] | None = None
    words: Mapping[str, float] = field(default_factory=dict)
    ambiguous: str = "missing"
    ungraded: bool = False
    padded: bool = False
    title: str = ""
    source: str = ""
    license: str = ""

    def __post_init__(self) -> None:
        if self.task is not None and self.task not in TASKS:
            raise DataError(
                "unknown kind of task", received=self.task, allowed=TASKS, mend=did_you_mean(self.task, TASKS)
            )
        if self.ambiguous not in ("missing", "literal"):
            raise DataError("unknown choice for ambiguous", received=self.ambiguous, allowed="missing, literal")
        if self.n_options is not None and self.n_options < 2:
            raise DataError("n_options is too small", received=str(self.n_options), allowed="2 or more")
        if self.labels and len(set(self.labels)) != 2:
            raise DataError(
                "labels must name the two classes", received=",".join(self.labels), allowed="LABEL_FOR_0,LABEL_FOR_1"
            )

    def overridden_by(self, other: ImportOptions) -> ImportOptions:
        """Return these options with everything that `other` declares put in place."""
        empty = ImportOptions()
        changes: dict[str, Any] = {}
        for entry in fields(self):
            mine, theirs = getattr(self, entry.name), getattr(other, entry.name)
            if theirs != getattr(empty, entry.name):
                changes[entry.name] = {**mine, **theirs} if isinstance(theirs, dict) else theirs
        return replace(self, **changes)


_NUMBER = r"-?\d+(?:\.\d+)?"


def parse_scale(text: str) -> tuple[float, float]:
    """Return the ends of a scale written as ``0-100``, ``-1:1`` or ``1 to 7``.

    Raises
    ------
    DataError
        Where the text is not two numbers.
    """
    found = re.fullmatch(rf"\s*[\[(]?({_NUMBER})\s*(?:-|:|,|\.\.|to|–)\s*({_NUMBER})[\])]?\s*", text)
    if not found:
        raise DataError("the scale cannot be read", received=text, allowed="LOWER-UPPER, for example 0-100")
    return float(found[1]), float(found[2])


def pairs(entries: list[str] | tuple[str, ...], option: str) -> dict[str, str]:
    """Return NAME=VALUE entries as a mapping.

    Raises
    ------
    DataError
        Where an entry has no equals sign or a name is given twice.
    """
    found: dict[str, str] = {}
    for entry in entries:
        name, mark, value = entry.partition("=")
        if not (mark and name.strip() and value.strip()):
            raise DataError(f"{option} takes NAME=VALUE", received=entry)
        if name.strip() in found:
            raise DataError(f"{option} names {name.strip()} twice", received=entry)
        found[name.strip()] = value.strip()
    return found
