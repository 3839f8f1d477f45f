"""Where words beside dots have room: what of the axes is taken, in inches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
Box = tuple[float, float, float, float]
"""Left, low, right, top."""


class Room(NamedTuple):
    """The size of the axes in inches."""

    width: float
    height: float

    def x(self, axes: Axes, values: Floats) -> Floats:
        """Return where values lie, in inches from the left."""
        low, high = axes.get_xlim()
        return np.clip((values - low) / (high - low), 0, 1) * self.width

    def y(self, axes: Axes, values: Floats) -> Floats:
        """Return where values lie, in inches from below."""
        low, high = axes.get_ylim()
        return np.clip((values - low) / (high - low), 0, 1) * self.height


class Free:
    """What of the axes is taken: by dots and words, which nothing may cover, and by lines, which words leave free."""

    def __init__(self, dots: Floats, lines: Floats) -> None:
        self.taken, self.lines = dots, lines  # (box, 4), inches

    def take(self, *boxes: Box) -> None:
        """Take boxes away from what is free."""
        self.taken = np.concatenate([self.taken, np.array(boxes)])

    def first(self, boxes: Sequence[Box], room: Room) -> Box | None:
        """Return the first box that covers nothing, or else no dot and no words."""
        inside = [b for b in boxes if b[0] >= 0 and b[1] >= 0 and b[2] <= room.width and b[3] <= room.height]
        clear = [b for b in inside if not _covers(b, self.taken)]
        return next((b for b in clear if not _covers(b, self.lines)), clear[0] if clear else None)


def _covers(box: Box, others: Floats) -> bool:
    left, low, right, top = others.T
    return bool(((box[0] < right) & (left < box[2]) & (box[1] < top) & (low < box[3])).any())
