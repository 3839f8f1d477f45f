"""The forest plot: every unit's median with intervals, sorted, and the average over all of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import xarray as xr

from hmeta.core.errors import OutputError
from hmeta.core.files import check_output
from hmeta.infer.intervals import MASS, NAMES, Kind
from hmeta.infer.parameter_words import Words, words_of
from hmeta.infer.summary import LEVEL, NEW, OVERALL, summarize
from hmeta.report.figure_file import check_suffix as check_suffix
from hmeta.report.figure_file import save_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INNER = 0.5
"""Mass of the thick interval."""

BLUE, ORANGE, GRAY, INK, RED = "#0072B2", "#D55E00", "#9A9A9A", "#222222", "#B00020"
"""Distinct for colour-blind readers (Okabe & Ito), and in print."""

ROW_INCHES, PLOT_INCHES, LETTER_INCHES, NUMBERS_INCHES = 0.185, 4.3, 0.068, 1.45
HEAD_INCHES, FOOT_INCHES, WARNING_INCHES = 0.92, 0.56, 0.22
MARKED_ROWS = 8
"""A figure of this many rows has room for a mark across it."""
WATERMARK = {"fontsize": 26, "color": RED, "alpha": 0.12, "ha": "center", "va": "center", "rotation": 20, "zorder": 10}
MAX_ROWS, MAX_LETTERS = 400, 60


@dataclass(frozen=True)
class Forest:
    """What is drawn: units sorted by median, and the rows below them."""

    units: pd.DataFrame  # level, n_answers, median, lower, upper, inner_lower, inner_upper, uninformative
    rest: pd.DataFrame  # the same for the observed average and the new unit
    facts: dict[str, object]


def forest(
    tree: xr.DataTree,
    *,
    path: str | Path,
    by: str | None = None,
    parameter: str | None = None,
    interval: float = MASS,
    kind: Kind = "eti",
    overwrite: bool = False,
) -> None:
    """Draw each unit's median with a thick 50 % and a thin outer interval, sorted, and save the figure.

    Units whose data cannot identify M are grey, the band is the average over everything observed, and a fit that
    has not converged says so in red.

    Parameters
    ----------
    tree : DataTree
        A fit.
    path : str or Path
        Where the figure goes; ``.png``, ``.pdf`` or ``.svg``.
    by : str, optional
        One row a level of this factor; by default who answered.
    parameter : str, optional
        Default: the fit's headline, M or auroc2.
    interval : float
        Mass of the thin intervals.
    kind : {"eti", "hdi"}
    overwrite : bool
        Replace an existing file.

    Raises
    ------
    DataError
        Where the fit has no such parameter or factor.
    OutputError
        For another kind of file, an existing one, or too many rows to be read.
    """
    check_suffix(path)
    check_output(path, overwrite=overwrite)
    drawn = read_forest(tree, by=by, parameter=parameter, interval=interval, kind=kind)
    if len(drawn.units) > MAX_ROWS:
        raise OutputError(
            f"a forest of {len(drawn.units)} rows cannot be read",
            where=str(path),
            allowed=f"at most {MAX_ROWS} rows",
            mend="choose a factor with fewer levels with --by",
        )
    save_figure(lambda: _draw(drawn), path)


def read_forest(tree: xr.DataTree, *, by: str | None, parameter: str | None, interval: float, kind: Kind) -> Forest:
    """Return what a forest plot of a fit shows."""
    outer = summarize(tree, by=by, parameter=parameter, interval=interval, kind=kind)
    inner = summarize(tree, by=by, parameter=parameter, interval=min(INNER, interval / 2), kind=kind)
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


def _draw(drawn: Forest) -> object:
    from matplotlib.figure import Figure

    rows = [*_labels(drawn.units), *_labels(drawn.rest)]
    n = len(rows) + (1 if len(drawn.rest) else 0)
    names = LETTER_INCHES * max(len(label) for label in rows)
    foot = FOOT_INCHES + (0.0 if drawn.facts["converged"] else WARNING_INCHES)
    width, height = names + PLOT_INCHES + NUMBERS_INCHES, HEAD_INCHES + foot + ROW_INCHES * max(n, 4)
    figure = Figure(figsize=(width, height), dpi=200)
    left, bottom, top = (names + 0.25) / width, foot / height, 1 - HEAD_INCHES / height
    axes = figure.add_axes((left, bottom, PLOT_INCHES / width, top - bottom))
    low, high = _limits(drawn)
    axes.set_xlim(low, high)
    axes.set_ylim(-0.7, n - 0.3)
    heights = [*range(n - 1, n - 1 - len(drawn.units), -1)][::-1]
    _band(axes, drawn)
    for y, row in zip(heights, drawn.units.to_dict("records"), strict=True):
        _row(axes, y, row, GRAY if row["uninformative"] else BLUE, "o")
    below = list(range(len(drawn.rest) - 1, -1, -1))
    for y, row in zip(below, drawn.rest.to_dict("records"), strict=True):
        _row(axes, y, row, ORANGE, "D" if row["kind"] == OVERALL else "s")
    _label(axes, [*heights, *below], drawn)
    _words(axes, drawn, n, height)
    return figure


def _row(axes: Axes, y: float, row: dict, color: str, marker: str) -> None:
    axes.plot([row["lower"], row["upper"]], [y, y], color=color, linewidth=1.0, solid_capstyle="butt", zorder=3)
    axes.plot(
        [row["inner_lower"], row["inner_upper"]], [y, y], color=color, linewidth=3.2, solid_capstyle="butt", zorder=4
    )
    hollow = bool(row["uninformative"]) or row["kind"] == NEW
    axes.plot(
        row["median"],
        y,
        marker=marker,
        markersize=4.6,
        color=color,
        markerfacecolor="white" if hollow else color,
        markeredgecolor=color if hollow else "white",
        markeredgewidth=0.9 if hollow else 0.6,
        zorder=5,
    )


def _band(axes: Axes, drawn: Forest) -> None:
    """Draw the observed average behind the units, and the line that a quantity is read against."""
    overall = drawn.rest[drawn.rest["kind"] == OVERALL]
    if len(overall):
        row = overall.iloc[0]
        axes.axvspan(row["lower"], row["upper"], color=ORANGE, alpha=0.13, linewidth=0, zorder=0)
        axes.axvline(row["median"], color=ORANGE, linewidth=0.8, zorder=1)
    mark = _words_of(drawn).mark
    if mark is not None:
        axes.axvline(mark, color=INK, linewidth=0.8, linestyle=(0, (4, 3)), zorder=1)
    if axes.get_xlim()[0] < 0:
        axes.axvline(0, color=GRAY, linewidth=0.6, zorder=1)


def _label(axes: Axes, heights: list[int], drawn: Forest) -> None:
    axes.set_yticks(heights, [*_labels(drawn.units), *_labels(drawn.rest)], fontsize=8)
    rows = [*drawn.units.to_dict("records"), *drawn.rest.to_dict("records")]
    for i, (tick, row) in enumerate(zip(axes.get_yticklabels(), rows, strict=True)):
        tick.set_color(GRAY if row["uninformative"] else INK if i < len(drawn.units) else ORANGE)
    at_edge = axes.get_yaxis_transform()
    for y, row in zip(heights, rows, strict=True):
        text = f"{row['median']:.2f}"
        axes.text(1.02, y, text, transform=at_edge, fontsize=8, va="center_baseline", color=INK)
        if row["n_cells"]:
            count = f"{row['n_answers']:,}"
            axes.text(1.25, y, count, transform=at_edge, fontsize=8, va="center_baseline", ha="right", color=INK)
    axes.tick_params(axis="y", length=0, pad=4)
    axes.tick_params(axis="x", labelsize=8, color=GRAY)
    for side in ("left", "right", "top"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(GRAY)
    axes.grid(axis="x", color="#E6E6E6", linewidth=0.6, zorder=-1)
    axes.set_axisbelow(True)


def _words(axes: Axes, drawn: Forest, n: int, height: float) -> None:
    """Write heading, legend, column heads and, in red, that a fit has not converged."""
    facts, words = drawn.facts, _words_of(drawn)
    figure = axes.get_figure()
    assert figure is not None
    heading = words.heading + (f" by {facts['by']}" if facts["by"] else "")
    figure.text(0.012, 1 - 0.2 / height, heading, fontsize=11, fontweight="bold", va="top", color=INK)
    band = "; band: observed average" if (drawn.rest["kind"] == OVERALL).any() else ""
    mass = f"{100 * _number(facts['interval']):g} %"
    legend = [f"Dot: median; thick line: 50 %, thin line: {mass} {NAMES[str(facts['kind'])]} interval{band}."]
    if drawn.units["uninformative"].any():
        legend.append(f"Grey: the unit's own data cannot identify {facts['parameter']}.")
    figure.text(0.012, 1 - 0.42 / height, "\n".join(legend), fontsize=7.5, va="top", color=INK, linespacing=1.4)
    if not facts["converged"]:
        warning = "NOT CONVERGED: do not read numbers off this figure"
        figure.text(0.012, 0.06 / height, warning, fontsize=9, va="bottom", color=RED, fontweight="bold")
    if not facts["converged"] and n >= MARKED_ROWS:
        axes.text(0.5, 0.5, "not converged", transform=axes.transAxes, **WATERMARK)
    above = 1 + 0.03 / (axes.get_position().height * height)
    for x, side, text in ((1.02, "left", "median"), (1.25, "right", "answers")):
        axes.text(x, above, text, transform=axes.transAxes, fontsize=7.5, va="bottom", ha=side, color=INK)
    if words.mark is not None:
        axes.text(words.mark, n - 0.25, words.mark_text, fontsize=7, ha="center", va="bottom", color=INK)
    noise = f", {facts['noise']}" if facts["noise"] else ""
    axes.set_xlabel(words.title + noise, fontsize=9, color=INK)


def _limits(drawn: Forest) -> tuple[float, float]:
    rows = pd.concat([drawn.units, drawn.rest]) if len(drawn.rest) else drawn.units
    ends = np.array([rows["lower"].min(), rows["upper"].max()], dtype=float)
    if not np.isfinite(ends).all():
        return -0.5, 1.5
    mark = _words_of(drawn).mark
    if mark is not None:
        ends = np.array([min(ends[0], mark - 0.05), max(ends[1], mark + 0.05)])
    margin = 0.04 * (ends[1] - ends[0])
    return float(ends[0] - margin), float(ends[1] + margin)


def _words_of(drawn: Forest) -> Words:
    return words_of(str(drawn.facts["parameter"]))


def _labels(rows: pd.DataFrame) -> list[str]:
    """Return the names of the rows, the middle of very long ones left out where they stay distinct."""
    half = MAX_LETTERS // 2 - 1
    whole = [str(text) for text in rows["level"]]
    short = [text if len(text) <= MAX_LETTERS else f"{text[:half]} … {text[-half:]}" for text in whole]
    return short if len(set(short)) == len(whole) else whole


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else math.nan
