"""The forest plot: every unit's median with intervals, sorted, and the average over all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmeta.infer.intervals import NAMES
from hmeta.infer.parameter_words import Words as ParameterWords
from hmeta.infer.parameter_words import words_of
from hmeta.infer.summary import LEVEL, NEW, OVERALL, summarize
from hmeta.report.card import Card, Options, Words
from hmeta.report.facet_words import noise_words
from hmeta.report.inputs import FitInput
from hmeta.report.interval_rows import inches_of
from hmeta.report.style import (
    BLUE,
    GRAY,
    INK,
    LIGHT,
    ORANGE,
    RED,
    SMALL,
    TEXT,
    TINY,
    WARNING_INCHES,
    Head,
    axes_at,
    head_of,
    letters_in,
    new_figure,
    shorten,
    words_above,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CARD = Card(
    "each unit's median and intervals, sorted, with the observed average and the prediction for a new unit",
    reads="fit",
    options=("by", "parameter", "interval", "kind"),
)

INNER = 0.5
"""Mass of the thick interval."""

ROW_INCHES = 0.148
ABOVE_INCHES, FOOT_INCHES = 0.2, 0.42
NUMBERS_INCHES = 0.82
NAMES_SHARE = 0.36
"""Most of the width that names may take."""

ROOM_FOR_WORDS = 1.6
"""Inches of axes that have room for what the reference line means."""

MARKED_ROWS = 8
"""A figure of this many rows has room for a mark across it."""
WATERMARK = {"fontsize": 26, "color": RED, "alpha": 0.12, "ha": "center", "va": "center", "rotation": 20, "zorder": 10}
MOST_NAMED = 80
"""Beyond this many rows names cannot be read; rows become thin and the table has the names."""
MOST_INCHES, THINNEST_ROW, GAP_ROWS = 5.5, 0.012, 0.6


@dataclass(frozen=True)
class Forest:
    """What is drawn: units sorted by median, and the rows below them."""

    units: pd.DataFrame  # level, n_answers, median, lower, upper, inner_lower, inner_upper, uninformative
    rest: pd.DataFrame  # the same for the observed average and the new unit
    facts: dict[str, object]

    @property
    def words(self) -> ParameterWords:
        """What a reader is told of the parameter."""
        return words_of(str(self.facts["parameter"]))

    @property
    def interval(self) -> str:
        """The outer interval in words: "94 % equal-tailed interval"."""
        mass = self.facts["interval"]
        return f"{100 * float(str(mass)):g} % {NAMES[str(self.facts['kind'])]} interval"


def read(source: FitInput, options: Options) -> Forest:
    """Return what a forest plot of a fit shows.

    Raises
    ------
    DataError
        Where the fit has no such parameter or factor.
    """
    chosen = {"by": options.by, "parameter": options.parameter, "kind": options.kind}
    outer = summarize(source.tree, **chosen, interval=options.interval)
    inner = summarize(source.tree, **chosen, interval=min(INNER, options.interval / 2))
    rows = outer.assign(
        inner_lower=inner["lower"],
        inner_upper=inner["upper"],
        uninformative=outer["flags"].str.contains("uninformative", regex=False),
    )
    units = rows[rows["kind"] == LEVEL].sort_values("median", kind="stable")
    rest = rows[rows["kind"].isin([OVERALL, NEW])]
    if not len(units):
        units, rest = rest[rest["kind"] == OVERALL], rest[rest["kind"] == NEW]
    return Forest(units, rest, {str(k): v for k, v in outer.attrs.items()})


def draw(content: Forest, width: float) -> Figure:
    """Return the figure: a named row a unit, or, beyond `MOST_NAMED` units, thin rows without names."""
    named = len(content.units) <= MOST_NAMED
    head = _head(content, width, named)
    row = ROW_INCHES if named else max(MOST_INCHES / len(content.units), THINNEST_ROW)
    below = len(content.rest) + GAP_ROWS if len(content.rest) else 0
    foot = FOOT_INCHES + (0.0 if content.facts["converged"] else WARNING_INCHES)
    rows_height = row * len(content.units) + ROW_INCHES * (below + 0.5)
    figure = new_figure(width, head.height + ABOVE_INCHES + rows_height + foot)
    labels = _labels(content, width, named)
    names = max(len(label) for label in labels) / letters_in(1.0) + 0.08
    axes = axes_at(figure, names, foot, width - names - NUMBERS_INCHES, rows_height)
    heights = _heights(content, row, below)
    axes.set_xlim(*_limits(content))
    axes.set_ylim(-0.6 * ROW_INCHES, rows_height - 0.6 * ROW_INCHES)
    _band(axes, content)
    rows = [*content.units[::-1].to_dict("records"), *content.rest.to_dict("records")]
    for y, one in zip(heights, rows, strict=True):
        crowded = not named and one["kind"] == LEVEL
        _row(axes, y, one, thick=_thin(row) if crowded else 3.0, dark=crowded)
    _label(axes, heights, rows, labels, named=named)
    _heads(axes, heights, named=named, n_rest=len(content.rest))
    _mark(axes, content)
    words_above(figure, head, converged=bool(content.facts["converged"]))
    return figure


def describe(content: Forest) -> Words:
    """Return the caption and the alternative text."""
    units, by = content.units, content.facts["by"]
    noise = f" ({noise_words(str(content.facts['noise']))})" if content.facts["noise"] else ""
    caption = [
        f"{content.words.title}{noise}: posterior median, 50 % (thick) and {content.interval} (thin) of each row."
    ]
    if (content.rest["kind"] == OVERALL).any():
        caption.append("Band: the average over everything observed, each cell with the same weight.")
    if (content.rest["kind"] == NEW).any():
        caption.append("Hollow square: the prediction for a unit that was not observed.")
    if units["uninformative"].any():
        caption.append(f"Grey, hollow: the unit's own data cannot identify {content.facts['parameter']}.")
    first, last = units.iloc[0], units.iloc[-1]
    alt = (
        f"Forest plot of {content.facts['parameter']}" + (f" by {by}" if by else "") + f", {len(units):,} rows, "
        f"from {first['median']:.2f} ({first['level']}) to {last['median']:.2f} ({last['level']})."
    )
    return Words(" ".join(caption), alt)


def _heights(content: Forest, row: float, below: float) -> list[float]:
    """Return the height of each row in inches above the lowest, units first, the largest on top."""
    n = len(content.units)
    units = [ROW_INCHES * below + row * i for i in range(n - 1, -1, -1)]
    return [*units, *(ROW_INCHES * i for i in range(len(content.rest) - 1, -1, -1))]


def _labels(content: Forest, width: float, named: bool) -> list[str]:
    """Return the names of the rows, largest unit first, the middle of long ones left out where they stay distinct."""
    units = [str(text) for text in content.units["level"][::-1]] if named else []
    return shorten([*units, *map(str, content.rest["level"])], letters_in(NAMES_SHARE * width)) or [""]


def _thin(row: float) -> float:
    """Return the points of a thick line in a row of some inches: white shows between rows."""
    return min(1.2, max(0.55 * 72 * row, 0.3))


def _row(axes: Axes, y: float, row: dict, *, thick: float, dark: bool = False) -> None:
    """Draw the intervals and the median of a row; `dark`: a dark dot, which thin lines close by do not hide."""
    color = GRAY if row["uninformative"] else BLUE if row["kind"] == LEVEL else ORANGE
    marker = {LEVEL: "o", OVERALL: "D"}.get(row["kind"], "s")
    line: Any = {"color": color, "solid_capstyle": "butt"}
    axes.plot([row["lower"], row["upper"]], [y, y], linewidth=thick / 3, zorder=3, **line)
    axes.plot([row["inner_lower"], row["inner_upper"]], [y, y], linewidth=thick, zorder=4, **line)
    hollow = bool(row["uninformative"]) or row["kind"] == NEW
    if dark:
        face = "white" if hollow else INK
        edge = {"markeredgecolor": color if hollow else INK, "markeredgewidth": 0.3 if hollow else 0.0}
        axes.plot(row["median"], y, "o", markersize=1.4, markerfacecolor=face, zorder=5, **edge)
        return
    axes.plot(
        row["median"],
        y,
        marker=marker,
        markersize=1.4 * thick**0.9,
        color=color,
        markerfacecolor="white" if hollow else color,
        markeredgecolor=color if hollow else "white",
        markeredgewidth=0.8 if hollow else 0.25 * thick**0.5,
        zorder=5,
    )


def _band(axes: Axes, content: Forest) -> None:
    """Draw the observed average behind the units, and the line that a quantity is read against."""
    overall = content.rest[content.rest["kind"] == OVERALL]
    if len(overall):
        row = overall.iloc[0]
        axes.axvspan(row["lower"], row["upper"], color=ORANGE, alpha=0.13, linewidth=0, zorder=0)
        axes.axvline(row["median"], color=ORANGE, linewidth=0.7, zorder=1)
    mark = content.words.mark
    if mark is not None:
        axes.axvline(mark, color=INK, linewidth=0.7, linestyle=(0, (4, 3)), zorder=1)
    if axes.get_xlim()[0] < 0:
        axes.axvline(0, color=GRAY, linewidth=0.5, zorder=1)


def _label(axes: Axes, heights: list[float], rows: list[dict], labels: list[str], *, named: bool) -> None:
    shown = [i for i, row in enumerate(rows) if named or row["kind"] != LEVEL]
    axes.set_yticks([heights[i] for i in shown], labels if shown else [], fontsize=TEXT)
    for tick, i in zip(axes.get_yticklabels(), shown, strict=True):
        tick.set_color(GRAY if rows[i]["uninformative"] else INK if rows[i]["kind"] == LEVEL else ORANGE)
    at_edge = axes.get_yaxis_transform()
    for i in shown:
        text = {"transform": at_edge, "fontsize": TEXT, "va": "center_baseline", "ha": "right", "color": INK}
        axes.text(_column(axes, 0.36), heights[i], f"{rows[i]['median']:.2f}", **text)
        if rows[i]["n_cells"]:
            axes.text(_column(axes, 0.8), heights[i], f"{rows[i]['n_answers']:,}", **text)
    axes.tick_params(axis="y", length=0, pad=3)
    axes.tick_params(axis="x", labelsize=SMALL, color=GRAY, labelcolor=INK, width=0.6, length=2.5, pad=2)
    for side in ("left", "right", "top"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(GRAY)
    axes.grid(axis="x", color=LIGHT, linewidth=0.5, zorder=-1)
    axes.set_axisbelow(True)


def _column(axes: Axes, inches: float) -> float:
    """Return where a column of numbers ends, as a share of the axes: some inches right of them."""
    return 1 + inches / inches_of(axes)[0]


def _heads(axes: Axes, heights: list[float], *, named: bool, n_rest: int) -> None:
    """Write the heads of the columns of numbers above the first row that has numbers."""
    if not named and not n_rest:
        return
    height = inches_of(axes)[1]
    low = 1 + 0.03 / height if named else (heights[-n_rest] + 1.15 * ROW_INCHES) / height
    above = {"transform": axes.transAxes, "fontsize": SMALL, "va": "bottom", "ha": "right", "color": INK}
    axes.text(_column(axes, 0.36), low, "median", **above)
    axes.text(_column(axes, 0.8), low, "answers", **above)


def _head(content: Forest, width: float, named: bool) -> Head:
    facts = content.facts
    band = "; band: observed average" if (content.rest["kind"] == OVERALL).any() else ""
    mass = 100 * float(str(facts["interval"]))
    many = "" if named else f"{len(content.units):,} units, sorted. "
    lines = [f"{many}Dot: median; thick line: 50 %, thin line: {mass:g} % interval{band}."]
    if content.units["uninformative"].any():
        lines.append(f"Grey: the unit's own data cannot identify {facts['parameter']}.")
    return head_of(width, content.words.heading + (f" by {facts['by']}" if facts["by"] else ""), lines)


def _mark(axes: Axes, content: Forest) -> None:
    """Write the heads of columns, what the reference line means, and what is measured."""
    facts, words = content.facts, content.words
    across, height = inches_of(axes)
    if not facts["converged"] and len(content.units) >= MARKED_ROWS:
        axes.text(0.5, 0.5, "not converged", transform=axes.transAxes, **WATERMARK)
    if words.mark is not None and across > ROOM_FOR_WORDS:
        at = (words.mark, 1 + 0.03 / height)
        axes.text(*at, words.mark_text, transform=axes.get_xaxis_transform(), fontsize=TINY, ha="center", va="bottom")
    noise = f", {noise_words(str(facts['noise']))}" if facts["noise"] else ""
    axes.set_xlabel(words.title.split(" (")[0] + noise, fontsize=TEXT, color=INK, labelpad=3)


def _limits(content: Forest) -> tuple[float, float]:
    rows = pd.concat([content.units, content.rest]) if len(content.rest) else content.units
    ends = np.array([rows["lower"].min(), rows["upper"].max()], dtype=float)
    if not np.isfinite(ends).all():
        return -0.5, 1.5
    mark = content.words.mark
    if mark is not None:
        ends = np.array([min(ends[0], mark - 0.05), max(ends[1], mark + 0.05)])
    margin = 0.04 * (ends[1] - ends[0])
    return float(ends[0] - margin), float(ends[1] + margin)
