"""Round numbers along an axis, none beyond its ends."""

from __future__ import annotations


def ticks_between(low: float, high: float, most: int) -> list[float]:
    """Return about `most` round numbers from `low` to `high`.

    Examples
    --------
    >>> ticks_between(0.0, 0.66, 4)
    [0.0, 0.2, 0.4, 0.6]
    """
    from matplotlib.ticker import MaxNLocator

    room = 1e-9 * (high - low)
    found = MaxNLocator(most, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)
    return [round(float(tick), 12) for tick in found if low - room <= tick <= high + room]
