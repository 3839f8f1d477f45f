"""A table of measures as a figure: a row a cell, a panel a measure, dots with their intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from hmeta.assess.cells import ALL, MEAN
from hmeta.core.errors import DataError
from hmeta.metrics.catalogue import measures, read_call
from hmeta.report.answering_units import JOIN, counted
from hmeta.report.card import Card, Options, Words
from hmeta.report.inputs import MetricsInput
from hmeta.report.style import (
    BLUE,
    EDGE,
    GRAY,
    INK,
    LIGHT,
    ORANGE,
    TALLEST,
    TINY,
    Head,
    axes_at,
    head_of,
    letters_in,
    new_figure,
    shorten,
    words_above,
)
from hmeta.report.ticks import ticks_between

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CARD = Card("every measure of a table with its intervals, a row a cell, sorted by the first measure", reads="metrics")

MOST_PANELS = 8
MOST_NAMED = 80
"""Beyond this many rows names cannot be read; rows become thin and the table has the names."""

ROW_INCHES, NARROWEST, BETWEEN = 0.125, 0.72, 0.16
MOST_INCHES, THINNEST_ROW = 5.5, 0.012

BULK, FAR = (0.05, 0.95), 2.0
"""An axis ends at most this many times the distance of these quantiles beyond them; what lies further is a triangle."""

TITLE_LINE, FOOT_INCHES, BAND_GAP = 0.1, 0.2, 0.16
NAMES_SHARE = 0.3
ARROWS = {"higher": "↑ better", "lower": "↓ better", "none": ""}


class Panel(NamedTuple):
    """A measure and what its axis says."""

    name: str
    title: str
    unit: str
    better: str
    neutral: float | None


@dataclass(frozen=True)
class MeasureFigure:
    """What is drawn.

    Attributes
    ----------
    rows : DataFrame
        One row a cell and measure shown: cell, average (over levels, or of all together), metric, estimate, lower,
        upper, n, reason.
    cells : DataFrame
        cell, average; in the order of the rows of the figure from the top.
    panels : tuple of Panel
    facts : dict
        by, level and resamples of the intervals, left_out (measures beyond `MOST_PANELS`).
    notes : tuple of str
    """

    rows: pd.DataFrame
    cells: pd.DataFrame
    panels: tuple[Panel, ...]
    facts: dict[str, object]
    notes: tuple[str, ...] = ()

    @property
    def left_out(self) -> list[str]:
        """Measures that have no panel."""
        return str(self.facts["left_out"]).split("; ") if self.facts["left_out"] else []

    @property
    def beyond(self) -> list[str]:
        """Measures of which an estimate lies beyond its axis."""
        found = []
        for panel in self.panels:
            low, high = _limits(self.of(panel), panel)
            estimate = self.of(panel)["estimate"].to_numpy(dtype=float)
            found += [panel.title] if ((estimate < low) | (estimate > high)).any() else []
        return found

    def of(self, panel: Panel) -> pd.DataFrame:
        """Return the rows of a measure in the order of `cells`."""
        mine = self.rows[self.rows["metric"] == panel.name].set_index("cell")
        return mine.reindex(self.cells["cell"]).reset_index()


def read(source: MetricsInput, options: Options) -> MeasureFigure:
    """Return what the figure of a table of measures shows.

    Raises
    ------
    DataError
        For a table without a single value.
    """
    del options
    frame = source.frame
    if not len(frame) or not np.isfinite(frame["estimate"]).any():
        raise DataError(
            "the table holds no value",
            where=source.file,
            received="; ".join(sorted(set(frame["reason"]) - {""})) or "no rows",
        )
    cell, by = _cells(frame, source)
    averages = frame[list(source.factors)].isin([ALL, MEAN]).any(axis=1)
    averages &= not averages.all()
    names = [str(name) for name in dict.fromkeys(frame["metric"])]
    panels = tuple(_panel(name, source.content.get("metrics", {}).get(name, {})) for name in names[:MOST_PANELS])
    kept = frame["metric"].isin([panel.name for panel in panels])
    columns = ["metric", "estimate", "lower", "upper", "n", "reason"]
    rows = (
        frame[columns].assign(cell=cell, average=averages)[kept][["cell", "average", *columns]].reset_index(drop=True)
    )
    plan = source.content.get("resampling", {})
    facts = {"by": by, "level": plan.get("level", 0.95), "resamples": plan.get("size", 0)}
    notes = tuple(map(str, source.content.get("notes", ())))
    left_out = "; ".join(names[MOST_PANELS:])
    return MeasureFigure(rows, _ordered(rows, panels[0]), panels, {**facts, "left_out": left_out}, notes)


def draw(content: MeasureFigure, width: float) -> Figure:
    """Return the figure: panels side by side, in several bands where the width is short of them."""
    named = len(content.cells) <= MOST_NAMED
    if named and _layout(content, width, named=True).height > TALLEST:
        named = False
    plan = _layout(content, width, named=named)
    figure = new_figure(width, plan.height)
    top = plan.height - plan.head.height
    for band in range(plan.bands):
        panels = content.panels[band * plan.columns : (band + 1) * plan.columns]
        titles = [_title_lines(panel, plan.side) for panel in panels]
        top -= TITLE_LINE * max(map(len, titles)) + 0.05
        for place, (panel, title) in enumerate(zip(panels, titles, strict=True)):
            left = plan.names + place * (plan.side + BETWEEN)
            axes = axes_at(figure, left, top - plan.rows_inches, plan.side, plan.rows_inches)
            _dots(axes, content.of(panel), panel, thick=plan.row >= 0.08)
            _name_rows(axes, content, plan.labels if place == 0 and named else [])
            _write_title(axes, title, plan.rows_inches)
        top -= plan.rows_inches + FOOT_INCHES + BAND_GAP
    words_above(figure, plan.head)
    return figure


def describe(content: MeasureFigure) -> Words:
    """Return the caption and the alternative text."""
    first, n_cells = content.panels[0], len(content.cells)
    n = content.rows.groupby("cell")["n"].max()
    span = f"{n.min():,.0f}" if n.min() == n.max() else f"{n.min():,.0f} to {n.max():,.0f}"
    caption = [
        f"{counted(n_cells, 'cell')} (by {content.facts['by']}) with n = {span} answers each, sorted by {first.title}."
    ]
    if content.facts["resamples"]:
        level = 100 * float(str(content.facts["level"]))
        caption.append(f"Lines: {level:g} % bootstrap intervals, {int(str(content.facts['resamples'])):,} resamples.")
    if any(panel.neutral is not None for panel in content.panels):
        caption.append("Dashed: the value without metacognition, or of perfect calibration.")
    if content.cells["average"].any():
        caption.append("Orange: all levels of a factor together, or the mean over them.")
    undefined = content.rows[content.rows["estimate"].isna()]
    if len(undefined):
        reasons = undefined.groupby("reason")["cell"].size().sort_values(ascending=False, kind="stable")
        told = "; ".join(f"{reason or 'no reason given'} ({count})" for reason, count in reasons.items())
        caption.append(f"–: undefined: {told}.")
    if content.beyond:
        caption.append(f"Triangle: infinite, or far from all others: {', '.join(content.beyond)}.")
    if content.left_out:
        caption.append(f"The first {MOST_PANELS} measures are shown; in the table only: {', '.join(content.left_out)}.")
    caption += [f"{note[:1].upper()}{note[1:]}." for note in content.notes]
    return Words(" ".join(caption), _alternative(content))


def _alternative(content: MeasureFigure) -> str:
    told = []
    for panel in content.panels:
        mine = content.of(panel)
        finite = mine[np.isfinite(mine["estimate"]) & ~mine["average"].fillna(False).astype(bool)]
        if len(finite):
            low, high = (finite.iloc[int(i)] for i in (finite["estimate"].argmin(), finite["estimate"].argmax()))
            told.append(
                f"{panel.title} from {low['estimate']:.3g} ({low['cell']}) to {high['estimate']:.3g} ({high['cell']})"
            )
    size = f"{counted(len(content.cells), 'cell')} by {counted(len(content.panels), 'measure')}"
    return f"{size}: {'; '.join(told) or 'averages only'}."


def _cells(frame: pd.DataFrame, source: MetricsInput) -> tuple[pd.Series, str]:
    """Return a name for the cell of each row, and what the factors in it are called together."""
    telling = [name for name in source.factors if frame[name].nunique() > 1] or list(source.factors[:1])
    if not telling:
        return pd.Series(source.name, index=frame.index), "file"
    return frame[telling].astype(str).agg(JOIN.join, axis=1), ", ".join(telling)


def _panel(name: str, told: dict) -> Panel:
    """Return a measure as the table describes it, and as its card does where the package knows it."""
    word, options = read_call(name)
    card = measures().get(word)
    title = name if options or card is None else card.label
    better, unit = str(told.get("better", "none")), str(told.get("unit", ""))
    return Panel(name, title, unit if unit != "1" else "", better, None if card is None else card.neutral)


def _ordered(rows: pd.DataFrame, first: Panel) -> pd.DataFrame:
    """Return the cells, the best by the first measure on top; the largest where none is better; undefined ones last."""
    mine = rows[rows["metric"] == first.name].drop_duplicates("cell")
    ordered = mine.sort_values("estimate", ascending=first.better == "lower", na_position="last", kind="stable")
    return ordered[["cell", "average"]].reset_index(drop=True)


class _Plan(NamedTuple):
    head: Head
    labels: list[str]
    names: float
    side: float
    columns: int
    bands: int
    row: float
    rows_inches: float
    height: float


def _layout(content: MeasureFigure, width: float, *, named: bool) -> _Plan:
    """Return where everything stands, in inches."""
    n, n_panels = len(content.cells), len(content.panels)
    labels = shorten(list(map(str, content.cells["cell"])), letters_in(NAMES_SHARE * width, TINY)) if named else []
    names = max(map(len, labels)) / letters_in(1.0, TINY) + 0.12 if named else 0.2
    room = width - names - 0.12
    most = max(1, min(n_panels, int((room + BETWEEN) / (NARROWEST + BETWEEN))))
    bands = math.ceil(n_panels / most)
    columns = math.ceil(n_panels / bands)
    side = min((room - BETWEEN * (columns - 1)) / columns, 2.6)
    row = ROW_INCHES if named else max(MOST_INCHES / n, THINNEST_ROW)
    rows_inches = row * n + 0.06
    head = head_of(width, _heading(content), _lines(content, named))
    titles = sum(
        TITLE_LINE * max(len(_title_lines(panel, side)) for panel in content.panels[i : i + columns]) + 0.05
        for i in range(0, n_panels, columns)
    )
    height = head.height + titles + bands * (rows_inches + FOOT_INCHES) + (bands - 1) * BAND_GAP + EDGE
    return _Plan(head, labels, names, side, columns, bands, row, rows_inches, height)


def _heading(content: MeasureFigure) -> str:
    n = len(content.panels)
    return f"{'Measures' if n > 1 else content.panels[0].title} by {content.facts['by']}"


def _lines(content: MeasureFigure, named: bool) -> list[str]:
    first, facts = content.panels[0], content.facts
    order = "best on top" if first.better != "none" else "largest on top"
    mass = f"; lines: {100 * float(str(facts['level'])):g} % bootstrap intervals" if facts["resamples"] else ""
    lines = [f"{counted(len(content.cells), 'row')}, sorted by {first.title} ({order}){mass}."]
    if not named:
        lines.append("Too many rows for names: the table has them.")
    marks = (
        ["dashed: no metacognition, or perfect calibration"]
        if any(p.neutral is not None for p in content.panels)
        else []
    )
    marks += ["orange: levels together"] if content.cells["average"].any() else []
    marks += ["–: undefined"] if content.rows["estimate"].isna().any() else []
    marks += ["triangle: beyond the axis"] if content.beyond else []
    if marks:
        lines.append(f"{'; '.join(marks)}.".capitalize() if marks[0][0].isalpha() else f"{'; '.join(marks)}.")
    if content.left_out:
        lines.append(f"The first {MOST_PANELS} of {MOST_PANELS + len(content.left_out)} measures.")
    return lines


def _title_lines(panel: Panel, side: float) -> list[tuple[str, bool]]:
    """Return the name of a measure (bold), its unit and its direction, broken to the width of its panel."""
    room = max(letters_in(side + 0.6 * BETWEEN, TINY), 5)
    name = wrap(panel.title, room, break_long_words=True)
    unit = wrap(f"({panel.unit})", room) if panel.unit else []
    arrow = [ARROWS[panel.better]] if ARROWS.get(panel.better) else []
    return [*((line, True) for line in name), *((line, False) for line in (*unit, *arrow))]


def _write_title(axes: Axes, lines: Sequence[tuple[str, bool]], inches: float) -> None:
    for i, (text, bold) in enumerate(reversed(lines)):
        y = 1 + (0.03 + TITLE_LINE * i) / inches
        weight = "bold" if bold else "normal"
        look = {"fontsize": TINY, "color": INK, "va": "baseline", "ha": "left", "fontweight": weight}
        axes.text(0, y, text, transform=axes.transAxes, **look)


def _dots(axes: Axes, rows: pd.DataFrame, panel: Panel, *, thick: bool) -> None:
    from matplotlib.collections import LineCollection

    n = len(rows)
    heights = np.arange(n, dtype=float)[::-1]
    estimate, average = rows["estimate"].to_numpy(dtype=float), rows["average"].fillna(False).to_numpy(dtype=bool)
    low, high = _limits(rows, panel)
    axes.set_xlim(low, high)
    axes.set_ylim(-0.7, n - 0.3)
    if panel.neutral is not None:
        axes.axvline(panel.neutral, color=INK, linewidth=0.6, linestyle=(0, (4, 3)), zorder=1, clip_on=False)
    size = 3.2 if thick else 1.8
    for which, color in ((~average, BLUE), (average, ORANGE)):
        mine = which & np.isfinite(estimate)
        ends = zip(rows["lower"].to_numpy()[mine], rows["upper"].to_numpy()[mine], heights[mine], strict=True)
        seen = [(max(a, low), min(b, high), y) for a, b, y in ends if a < high and b > low]  # never for NaN
        lines = [[(a, y), (b, y)] for a, b, y in seen]
        width = 0.8 if thick else 0.4
        axes.add_collection(LineCollection(lines, colors=color, linewidths=width, alpha=0.75, zorder=2), autolim=False)
        look = {"linestyle": "none", "color": color, "markersize": size, "markeredgewidth": 0, "zorder": 3}
        inside = which & (estimate >= low) & (estimate <= high)
        axes.plot(estimate[inside], heights[inside], marker="o", **look)
        for beyond, edge, marker in ((estimate > high, high, ">"), (estimate < low, low, "<")):
            there = heights[which & beyond]
            axes.plot(np.full(len(there), edge), there, marker=marker, clip_on=False, **look)
    _dashes(axes, heights[np.isnan(estimate)], thick=thick)
    _tidy(axes)


def _dashes(axes: Axes, heights: np.ndarray, *, thick: bool) -> None:
    """Write a dash in the middle of the rows of undefined values."""
    if thick:
        for y in heights:
            axes.text(
                0.5, y, "–", transform=axes.get_yaxis_transform(), color=GRAY, fontsize=TINY, ha="center", va="center"
            )
    else:
        middle = np.full(len(heights), 0.5)
        axes.plot(
            middle, heights, "_", transform=axes.get_yaxis_transform(), color=GRAY, markersize=4, markeredgewidth=0.4
        )


def _limits(rows: pd.DataFrame, panel: Panel) -> tuple[float, float]:
    """Return the ends of an axis: all estimates and intervals, but for few that lie far from all others."""
    values = rows[["estimate", "lower", "upper"]].to_numpy(dtype=float).ravel()
    values = values[np.isfinite(values)]
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    if len(values):
        bulk = np.quantile(values, BULK)
        reach = FAR * (bulk[1] - bulk[0])
        if reach > 0:
            low, high = max(low, float(bulk[0] - reach)), min(high, float(bulk[1] + reach))
    if panel.neutral is not None:
        low, high = min(low, panel.neutral), max(high, panel.neutral)
    margin = 0.05 * (high - low) or 0.05 * max(abs(low), 1.0)
    return low - margin, high + margin


def _tidy(axes: Axes) -> None:
    for side in ("left", "right", "top"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(GRAY)
    axes.spines["bottom"].set_linewidth(0.6)
    ticks = ticks_between(*axes.get_xlim(), 3)
    axes.set_xticks(ticks, [f"{x:.4g}".replace("-", "−") for x in ticks])
    axes.tick_params(axis="x", labelsize=TINY, color=GRAY, labelcolor=INK, width=0.6, length=2, pad=1.5)
    axes.tick_params(axis="y", length=0, pad=3)
    axes.grid(axis="x", color=LIGHT, linewidth=0.5, zorder=-1)
    axes.set_axisbelow(True)


def _name_rows(axes: Axes, content: MeasureFigure, labels: Sequence[str]) -> None:
    """Name the rows at the left of a band; a name is grey where the first measure is undefined."""
    n = len(content.cells)
    axes.set_yticks(np.arange(n)[::-1] if labels else [], labels if labels else [], fontsize=TINY)
    undefined = content.of(content.panels[0])["estimate"].isna()
    for tick, average, lacking in zip(axes.get_yticklabels(), content.cells["average"], undefined, strict=False):
        tick.set_color(GRAY if lacking else ORANGE if average else INK)
