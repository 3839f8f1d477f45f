"""Reliability diagrams: the share of right answers against stated confidence, bin by bin, unit by unit."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from hmeta.core.errors import DataError
from hmeta.metrics.binning import MOST_BINS
from hmeta.report.answering_units import counted, curve_by_unit
from hmeta.report.card import Card, Options, Words
from hmeta.report.facet_names import broken_names
from hmeta.report.inputs import ResultsInput
from hmeta.report.style import (
    BLUE,
    EDGE,
    GRAY,
    INK,
    ORANGE,
    SKY,
    TEXT,
    TINY,
    Grid,
    Head,
    axes_at,
    facets,
    head_of,
    layout_facets,
    letters_in,
    new_figure,
    tidy,
    words_above,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CARD = Card(
    "share of right answers against stated confidence, in bins with 95 % intervals and counts, for each unit",
    reads="results",
    options=("by", "bins"),
)

MOST_FACETS = 60
"""Beyond this many units the figure shows all of them together and how they spread."""

LEAST = 5
"""Answers that a unit needs in a bin to count in the spread over units."""

SPREAD = (0.1, 0.9)
"""Quantiles over units of that spread."""

STRIP, GAP, TOP = 0.24, 0.05, 1.04
"""Height of the bars below a diagram, the space between them, and the upper end, where accuracy runs from 0 to 1."""

NAME_LINE, BETWEEN, ABOVE_NAMES = 0.092, 0.12, 0.14
"""Inches of a line of a facet's name, between facets, and above their names."""

ROOMY, NARROW, TALL = 0.8, 0.58, 12.0
"""Inches that a facet gets, and gets where the figure would be taller than `TALL`."""


@dataclass(frozen=True)
class Reliability:
    """What is drawn.

    Attributes
    ----------
    bins : DataFrame
        unit, bin (from 0), lower, upper, n, confidence, accuracy, accuracy_lower, accuracy_upper.
    units : DataFrame
        unit, n, ece, confidence, accuracy.
    pooled : DataFrame
        Of all units together by bin: bin, lower, upper, n, confidence, accuracy, n_units (with `LEAST` answers there),
        middle, low, high (median and `SPREAD` of their accuracies).
    facts : dict
        n_bins, by, pooled (what was put together, in words).
    without : tuple of str
        Units that have no diagram, and why.
    notes : tuple of str
    """

    bins: pd.DataFrame
    units: pd.DataFrame
    pooled: pd.DataFrame
    facts: dict[str, object]
    without: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def together(self) -> bool:
        """Whether there are too many units for a diagram each."""
        return len(self.units) > MOST_FACETS


def read(source: ResultsInput, options: Options) -> Reliability:
    """Return the diagrams of a results file.

    Raises
    ------
    DataError
        Where no scale is declared, for an unknown factor, and for an impossible number of bins.
    """
    if not 1 <= options.bins <= MOST_BINS:
        raise DataError("unusable number of bins", received=str(options.bins), allowed=f"1 to {MOST_BINS}")
    table = curve_by_unit(source, f"reliability(bins={options.bins})", options.by)
    number = (table.frame["lower"] * options.bins).round().astype(int)
    bins = table.frame.assign(bin=number)
    bins = bins[["unit", "bin", *(c for c in table.frame if c != "unit")]]
    facts = {"n_bins": options.bins, "by": table.by, "pooled": table.pooled}
    return Reliability(bins, _units(bins), _pool(bins), facts, table.without, table.notes)


def draw(content: Reliability, width: float) -> Figure:
    """Return a diagram a unit, or, beyond `MOST_FACETS` units, one of all of them."""
    return _draw_together(content, width) if content.together else _draw_facets(content, width)


def describe(content: Reliability) -> Words:
    """Return the caption and the alternative text."""
    units, facts = content.units, content.facts
    n = float(units["n"].sum())
    caption = [
        f"Share of right answers against stated confidence, {facts['n_bins']} bins of equal width, {n:,.0f} answers."
    ]
    if content.together:
        caption.append(
            f"{len(units)} units are too many for a diagram each. Left: dots are all answers of a bin together; lines "
            f"the median (white) and the middle 80 % of the units with {LEAST} answers or more there, chance included. "
            "Right: every unit's accuracy against its mean confidence."
        )
    else:
        caption.append(
            "Dots: a bin's mean confidence and accuracy, with 95 % Wilson intervals, which take answers as "
            "independent; diamond: all answers; bars: share of the answers in each bin (full height: all of them). "
            "ECE: mean distance of dots from the diagonal, weighted by answers."
        )
    if facts["pooled"]:
        caption.append(f"Answers of {facts['pooled']} are put together.")
    caption += [f"{_capital(note)}." for note in content.notes]
    without = content.without
    if without:
        caption.append(
            f"Not shown: {'; '.join(without[:5])}{f' and {len(without) - 5} more' if len(without) > 5 else ''}."
        )
    best, worst = (units.iloc[int(place)] for place in (units["ece"].argmin(), units["ece"].argmax()))
    over = int((units["confidence"] > units["accuracy"]).sum())
    ends = [f"{one['ece']:.3f} ({one['unit']})" for one in (best, worst)]
    alt = (
        f"Reliability diagram of {counted(len(units))} (by {facts['by']}), {n:,.0f} answers: ECE from {ends[0]} to "
        f"{ends[1]}; {over} of {len(units)} are on average more confident than accurate."
    )
    return Words(" ".join(caption), alt)


def _units(bins: pd.DataFrame) -> pd.DataFrame:
    """Return n, ECE, mean confidence and accuracy of each unit: sums over its bins, which part its answers."""
    n = bins["n"]
    parts = bins[["unit"]].assign(
        n=n,
        ece=n * (bins["confidence"] - bins["accuracy"]).abs(),
        confidence=n * bins["confidence"],
        accuracy=n * bins["accuracy"],
    )
    sums = parts.groupby("unit", sort=False).sum()
    means = sums[["ece", "confidence", "accuracy"]].div(sums["n"], axis=0)
    return pd.concat([sums[["n"]], means], axis=1).reset_index()


def _pool(bins: pd.DataFrame) -> pd.DataFrame:
    """Return the bins of all units together, with the spread of the units' accuracies."""
    rows = []
    for number, part in bins.groupby("bin", sort=True):
        n = part["n"].to_numpy()
        told = part["accuracy"][n >= LEAST]
        low, middle, high = told.quantile([SPREAD[0], 0.5, SPREAD[1]]) if len(told) else (np.nan,) * 3
        means = {name: float((part[name] * n).sum() / n.sum()) for name in ("confidence", "accuracy")}
        edges = {name: part[name].iloc[0] for name in ("lower", "upper")}
        spread = {"n_units": len(told), "middle": middle, "low": low, "high": high}
        rows.append({"bin": number, **edges, "n": n.sum(), **means, **spread})
    return pd.DataFrame(rows)


def _draw_facets(content: Reliability, width: float) -> Figure:
    units = content.units
    notes = [f"{_capital(note)}." for note in content.notes]
    lines = [
        "Dots: accuracy of a bin with 95 % interval; diamond: all answers; bars: share of the answers in each bin."
    ]
    head = head_of(width, f"Accuracy against stated confidence by {content.facts['by']}", [*lines, *notes])
    grid, names, roomy = _layout(list(map(str, units["unit"])), width, head)
    figure = new_figure(width, grid.height)
    by_unit = dict(iter(content.bins.groupby("unit", sort=False)))
    for i, axes in facets(figure, grid, len(units)):
        unit = units.iloc[i]
        bins = by_unit[unit["unit"]]
        _panel(axes, bins, int(str(content.facts["n_bins"])))
        _points(axes, bins)
        _mean(axes, unit["confidence"], unit["accuracy"], size=5.0 if roomy else 4.0)
        numbers = [f"ECE {unit['ece']:.3f}", f"n {unit['n']:,.0f}"]
        rows = [*names[i].split("\n"), *([" · ".join(numbers)] if roomy else numbers)]
        _write_above(axes, grid, rows)
    _outer_labels(figure, grid)
    words_above(figure, head)
    return figure


def _layout(units: list[str], width: float, head: Head) -> tuple[Grid, list[str], bool]:
    """Return the facets, the names above them, and whether ECE and n stand on one line: not in a tall figure."""
    grid, names = _facets_of(units, width, head, narrowest=ROOMY, numbers=1)
    if grid.height <= TALL:
        return grid, names, True
    return *_facets_of(units, width, head, narrowest=NARROW, numbers=2), False


def _facets_of(units: list[str], width: float, head: Head, *, narrowest: float, numbers: int) -> tuple[Grid, list[str]]:
    """Return facets in which a step of confidence is as long as one of accuracy, with room for what is above them."""
    shape = {"narrowest": narrowest, "aspect": TOP + GAP + STRIP, "head": head}
    one_line = layout_facets(len(units), width, between=(BETWEEN, NAME_LINE * (1 + numbers) + ABOVE_NAMES), **shape)
    names, n_lines = broken_names(units, letters_in(one_line.cell_width, 1.06 * TINY))
    between = (BETWEEN, NAME_LINE * (n_lines + numbers) + ABOVE_NAMES)
    return layout_facets(len(units), width, between=between, **shape), names


def _write_above(axes: Axes, grid: Grid, rows: list[str]) -> None:
    """Write the name of a facet and, nearest to it, its numbers."""
    for line, text in enumerate(reversed(rows)):
        y = 1 + (0.045 + NAME_LINE * line) / grid.cell_height
        axes.text(0, y, text, transform=axes.transAxes, fontsize=TINY, va="baseline", ha="left", color=INK)


def _panel(axes: Axes, bins: pd.DataFrame, n_bins: int) -> None:
    """Draw what every diagram has: the diagonal, and bars for the share of the answers in each bin."""
    from matplotlib.collections import PolyCollection

    axes.set_xlim(-0.03, 1.03)
    axes.set_ylim(-GAP - STRIP, TOP)
    axes.plot([0, 1], [0, 1], color=GRAY, linewidth=0.6, linestyle=(0, (4, 3)), zorder=1)
    axes.axhline(-GAP / 2, color=GRAY, linewidth=0.4, zorder=1)
    floor, inset = -GAP - STRIP, 0.1 / n_bins
    share = STRIP * bins["n"] / bins["n"].sum()
    corners = zip(bins["lower"] + inset, bins["upper"] - inset, floor + share, strict=True)
    bars = [[(a, floor), (a, top), (b, top), (b, floor)] for a, b, top in corners]
    axes.add_collection(PolyCollection(bars, facecolors=SKY, linewidths=0, zorder=2), autolim=False)
    axes.set_xticks([0, 0.5, 1], ["0", ".5", "1"])
    axes.set_yticks([0, 0.5, 1], ["0", ".5", "1"])
    axes.spines["left"].set_bounds(0, 1)


def _points(axes: Axes, bins: pd.DataFrame, size: float = 2.6) -> None:
    from matplotlib.collections import LineCollection

    ends = zip(bins["confidence"], bins["accuracy_lower"], bins["accuracy_upper"], strict=True)
    lines = [[(x, a), (x, b)] for x, a, b in ends]
    axes.add_collection(LineCollection(lines, colors=BLUE, linewidths=0.7, alpha=0.75, zorder=3), autolim=False)
    marks = {"marker": "o", "linestyle": "none", "markersize": size, "color": BLUE, "clip_on": False}
    axes.plot(bins["confidence"], bins["accuracy"], markeredgecolor="white", markeredgewidth=0.3, zorder=4, **marks)


def _mean(axes: Axes, confidence: float, accuracy: float, *, size: float) -> None:
    """Mark all answers together: hollow, for most of them are often in one bin, whose dot it would hide."""
    look = {"markerfacecolor": "none", "markeredgecolor": ORANGE, "markeredgewidth": 0.9, "clip_on": False}
    axes.plot([confidence], [accuracy], marker="D", markersize=size, linestyle="none", zorder=5, **look)


def _outer_labels(figure: Figure, grid: Grid) -> None:
    width = figure.get_size_inches()[0]
    across = grid.columns * (grid.cell_width + grid.between_x) - grid.between_x
    figure.text(
        (grid.left + across / 2) / width,
        0.07 / grid.height,
        "stated confidence (as a probability)",
        **{"fontsize": TEXT, "color": INK, "ha": "center", "va": "bottom"},
    )
    centre = (grid.bottom + grid.height - grid.top) / 2 / grid.height
    along = {"fontsize": TEXT, "color": INK, "ha": "left", "va": "center", "rotation": 90}
    figure.text(EDGE / width, centre, "accuracy (share right)", **along)


def _draw_together(content: Reliability, width: float) -> Figure:
    """Draw all units together, and beside it each unit's mean confidence and accuracy."""
    answers = content.units["n"].sum()
    lines = [
        f"{len(content.units)} units (by {content.facts['by']}), {answers:,.0f} answers. Left: dot, all answers of a "
        f"bin; line, the middle 80 % of the units with {LEAST} answers or more there (white: their median); diamond, "
        "all answers; bars, share of the answers. Right: each unit, below the diagonal if overconfident.",
        *(f"{_capital(note)}." for note in content.notes),
    ]
    head = head_of(width, "Accuracy against stated confidence, all units together", lines)
    left, between, foot, above = 0.46, 0.42, 0.38, 0.14
    side = min((width - left - between - 0.1) / 2, 2.8)
    tall = side * (TOP + GAP + STRIP) / 1.06
    figure = new_figure(width, head.height + above + tall + foot)
    axes = axes_at(figure, left, foot, side, tall)
    tidy(axes)
    _panel(axes, content.pooled, int(str(content.facts["n_bins"])))
    _spread(axes, content.pooled)
    means = [(content.units[name] * content.units["n"]).sum() / answers for name in ("confidence", "accuracy")]
    _mean(axes, *means, size=6)
    below = tall * (GAP + STRIP - 0.03) / (TOP + GAP + STRIP)
    right = axes_at(figure, left + side + between, foot + below, side, tall - below)
    tidy(right)
    _each(right, content.units)
    for one, label in ((axes, "stated confidence (as a probability)"), (right, "mean confidence of a unit")):
        one.set_xlabel(label, fontsize=TEXT, color=INK, labelpad=3)
    axes.set_ylabel("accuracy (share right)", fontsize=TEXT, color=INK, labelpad=3)
    words_above(figure, head)
    return figure


def _spread(axes: Axes, pooled: pd.DataFrame) -> None:
    """Draw the units' spread behind the dots of all answers; the median parts the line."""
    from matplotlib.collections import LineCollection

    told = pooled[pooled["n_units"] > 1]
    lines = [[(x, a), (x, b)] for x, a, b in zip(told["confidence"], told["low"], told["high"], strict=True)]
    axes.add_collection(LineCollection(lines, colors=BLUE, alpha=0.35, linewidths=4, zorder=2), autolim=False)
    axes.plot(told["confidence"], told["middle"], "_", color="white", markersize=4, markeredgewidth=1, zorder=3)
    marks = {"marker": "o", "linestyle": "none", "markersize": 3.6, "clip_on": False, "zorder": 4}
    axes.plot(
        pooled["confidence"], pooled["accuracy"], color=BLUE, markeredgecolor="white", markeredgewidth=0.4, **marks
    )


def _each(axes: Axes, units: pd.DataFrame) -> None:
    axes.plot([0, 1], [0, 1], color=GRAY, linewidth=0.6, linestyle=(0, (4, 3)), zorder=1)
    size = max(1.6, 3.4 - math.log10(len(units)) / 2)
    marks = {"marker": "o", "linestyle": "none", "markersize": size, "color": BLUE, "alpha": 0.55, "zorder": 3}
    axes.plot(units["confidence"], units["accuracy"], markeredgewidth=0, clip_on=False, **marks)
    axes.set_xlim(-0.03, 1.03)
    axes.set_ylim(-0.03, TOP)
    axes.set_xticks([0, 0.5, 1], ["0", ".5", "1"])
    axes.set_yticks([0, 0.5, 1], ["0", ".5", "1"])
    axes.spines["left"].set_bounds(0, 1)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
