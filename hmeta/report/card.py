"""What a figure is: one file in `report/figures`, found by folder listing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

from hmeta.infer.intervals import MASS, Kind
from hmeta.infer.pooling import TAU_SCALE

Reads = Literal["fit", "fits", "results", "metrics"]


@dataclass(frozen=True)
class Card:
    """What a figure shows, and of what.

    Attributes
    ----------
    summary : str
        One line for ``hmeta plot --help`` and ``hmeta list figures``.
    reads : {"fit", "fits", "results", "metrics"}
        The kind of file that it is drawn from.
    options : tuple of str
        Fields of `Options` that it uses; any other is refused where the user sets it.
    """

    summary: str
    reads: Reads
    options: tuple[str, ...] = ()


@dataclass(frozen=True)
class Options:
    """What a user may choose; each figure names those that it uses.

    Attributes
    ----------
    by : str, optional
        One row or panel a level of this factor. Default: who answered.
    parameter : str, optional
        A quantity at the cells of a fit. Default: its headline.
    baseline : str, optional
        The level that contrasts are against. Default: the first.
    interval : float
        Mass of intervals.
    kind : {"eti", "hdi"}
    rope : (low, high)
        Region of practical equivalence.
    bins : int
        Bins of reliability diagrams.
    tau_scale : float
        Scale of the half-normal prior of the spread between studies.
    """

    by: str | None = None
    parameter: str | None = None
    baseline: str | None = None
    interval: float = MASS
    kind: Kind = "eti"
    rope: tuple[float, float] = (-0.05, 0.05)
    bins: int = 10
    tau_scale: float = TAU_SCALE


class Words(NamedTuple):
    """What stands under a figure, and what someone hears who cannot see it."""

    caption: str
    alt: str


class Drawing(Protocol):
    """What a figure's file holds."""

    CARD: Card

    def read(self, source: Any, options: Options) -> Any:
        """Return what the figure shows, as plain tables; refuse where the source does not hold it."""
        ...

    def draw(self, content: Any, width: float) -> Any:
        """Return a matplotlib figure of a width in inches."""
        ...

    def describe(self, content: Any) -> Words:
        """Return the caption and the alternative text."""
        ...
