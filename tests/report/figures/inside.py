"""Do the words of a figure lie inside it."""

from __future__ import annotations

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

SLACK = 1.5
"""Pixels by which glyphs may stand over."""


def outside(figure: Figure) -> list[str]:
    """Return the visible texts of a figure that leave its canvas."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    renderer = canvas.get_renderer()
    width, height = figure.get_size_inches() * figure.dpi
    undrawn = _beyond_the_axes(figure)
    found = []
    for text in figure.findobj(Text):
        if id(text) not in undrawn and text.get_visible() and text.get_text().strip():
            box = text.get_window_extent(renderer)
            if box.x0 < -SLACK or box.y0 < -SLACK or box.x1 > width + SLACK or box.y1 > height + SLACK:
                found.append(text.get_text())
    return found


def _beyond_the_axes(figure: Figure) -> set[int]:
    """Return the labels of ticks beyond the limits of their axis: they count as visible, and are not drawn."""
    out = set()
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            slack = 1e-9 * (high - low)
            for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
                if not low - slack <= tick.get_loc() <= high + slack:
                    out |= {id(tick.label1), id(tick.label2)}
    return out
