"""Labels beside the ends of lines: near to where they belong, and none on top of another."""

from __future__ import annotations

from collections.abc import Sequence


def spread(wanted: Sequence[float], step: float, low: float, high: float) -> list[float]:
    """Return places near those wanted (ascending), at least a step apart, between low and high where they fit.

    Examples
    --------
    >>> spread([1.0, 1.0, 3.0], 1.0, 0.0, 4.0)
    [0.5, 1.5, 3.0]
    """
    groups: list[list[float]] = []  # of each group of touching places: the wanted ones
    for value in wanted:
        groups.append([value])
        while len(groups) > 1 and _end(groups[-2], step) + step > _start(groups[-1], step):
            groups[-2:] = [groups[-2] + groups[-1]]
    out = [_start(group, step) + step * i for group in groups for i in range(len(group))]
    if out and out[-1] > high:
        limit = high
        for i in range(len(out) - 1, -1, -1):
            out[i] = limit = min(out[i], limit)
            limit -= step
    for i in range(len(out)):
        least = low if i == 0 else out[i - 1] + step
        out[i] = max(out[i], least)
    return out


def _start(group: list[float], step: float) -> float:
    return sum(group) / len(group) - step * (len(group) - 1) / 2


def _end(group: list[float], step: float) -> float:
    return _start(group, step) + step * (len(group) - 1)
