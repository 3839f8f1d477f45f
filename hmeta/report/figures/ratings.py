"""How often each unit gives each confidence, right answers up and wrong ones down, against what the fit replicates."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hmeta.infer.intervals import check_interval, interval_ends
from hmeta.report.card import Card, Options, Words
from hmeta.report.facet_names import facet_names, name_above, not_too_tall
from hmeta.report.facet_words import count, first_that_fits, letter_inches, name_axes
from hmeta.report.inputs import FitInput
from hmeta.report.observed import Ratings, auroc2, evenly_spaced, observed_by_unit
from hmeta.report.style import (
    BLUE,
    GRAY,
    INK,
    ORANGE,
    TEXT,
    TINY,
    Grid,
    Head,
    facets,
    head_of,
    layout_facets,
    new_figure,
    words_above,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.path import Path

Floats = NDArray[np.float64]

CARD = Card(
    "how often each unit gives each confidence, for right and wrong answers, against what the fit predicts",
    reads="fit",
    options=("by", "interval"),
)

MOST_PLACES = 21
"""Scales of more distinct levels are drawn by value and on a root scale, so that small shares can be seen."""

OUTCOMES = ("wrong", "right")
BAR = "#C4C4C4"
TICKS = (1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01)
TICK_INCHES = 0.13
"""Room between rows for the labels of ticks, where scales differ and each facet has its own."""
WORDS_INCHES = 0.11
"""Room above and below the bars for how many answers they are of."""


@dataclass(frozen=True)
class Histograms:
    """What is drawn: a bar a unit, outcome and confidence, and how the fit covers them.

    Attributes
    ----------
    units : DataFrame
        One row a unit, the largest observed AUROC2 first: scale, n_right, n_wrong, auroc2_observed, n_bars, n_inside.
    bars : DataFrame
        unit, outcome, confidence, n, observed, predicted (median), lower, upper: shares of the unit's answers of that
        outcome; inside.
    shown : tuple of str
        The units that have facets.
    """

    units: pd.DataFrame
    bars: pd.DataFrame
    shown: tuple[str, ...]
    by: str
    interval: float
    n_replicates: int
    converged: bool

    @property
    def coverage(self) -> float:
        """The share of the bars whose observed share lies in its interval."""
        return float(self.bars["inside"].mean())


def read(source: FitInput, options: Options) -> Histograms:
    """Return observed and replicated ratings of a fit.

    Raises
    ------
    DataError
        Where the fit has no such factor, or no observed or replicated ratings.
    """
    check_interval(options.interval, "eti")
    found = observed_by_unit(source, options.by)
    bars = pd.concat([_bars(one, options.interval) for one in found.units], ignore_index=True)
    inside = bars.groupby("unit")["inside"]
    units = pd.DataFrame(
        [(one.label, one.scale, one.n_right, one.n_wrong, float(auroc2(one.observed))) for one in found.units],
        columns=["unit", "scale", "n_right", "n_wrong", "auroc2_observed"],
    )
    units["n_bars"] = units["unit"].map(inside.size()).astype(int)
    units["n_inside"] = units["unit"].map(inside.sum()).astype(int)
    units = units.sort_values("auroc2_observed", ascending=False, kind="stable", ignore_index=True)
    shown = tuple(units["unit"].iloc[evenly_spaced(len(units))])
    return Histograms(units, bars, shown, found.by, options.interval, found.n_replicates, found.converged)


def draw(content: Histograms, width: float) -> Figure:
    """Return the figure: a facet a unit, right answers up and wrong ones down."""
    bars = content.bars[content.bars["unit"].isin(content.shown)]
    places = _places(content, bars)
    root = any(len(levels) > MOST_PLACES for levels in places.values())
    head, n = _head(content, width, root=root), len(content.shown)
    shape: dict[str, Any] = {"head": head, "converged": content.converged, "aspect": 0.8}
    shape |= {"narrowest": 0.8 if width < 6 else 0.98}
    grid = layout_facets(n, width, between=(0.14, 0.22), **shape)
    names = facet_names(content.shown, grid.cell_width)
    ticks = TICK_INCHES if len(places) > 1 and grid.rows > 1 else 0.0
    grid = layout_facets(n, width, between=(0.14, 0.22 + names.extra + ticks), **shape)
    grid = not_too_tall(grid._replace(top=grid.top - ticks))
    figure = new_figure(width, grid.height)
    rows, each = content.units.set_index("unit").to_dict("index"), dict(list(bars.groupby("unit")))
    highest = float(_height(bars[["observed", "upper"]].to_numpy(), root=root).max(initial=0.0)) or 1.0
    for i, axes in facets(figure, grid, n):
        unit = content.shown[i]
        levels = places[str(rows[unit]["scale"])]
        name_above(axes, names.texts[i], names.size)
        _frame(axes, grid, levels, highest, root=root)
        if len(places) > 1:
            axes.tick_params(labelbottom=True)
        _histogram(axes, each[unit], levels, root=root)
        _numbers(axes, rows[unit], grid)
    longer, shorter = "share of wrong (down) and of right (up) answers", "share of answers"
    scale = ", root scale" if root else ""
    wordings = (longer + scale, shorter + scale, "share")
    name_axes(figure, grid, ("confidence",), wordings, converged=content.converged)
    words_above(figure, head, converged=content.converged)
    return figure


def describe(content: Histograms) -> Words:
    """Return the caption and the alternative text."""
    mass, units = f"{100 * content.interval:g} %", content.units
    n_right, n_wrong = int(units["n_right"].sum()), int(units["n_wrong"].sum())
    caption = (
        f"Confidence ratings{f' by {content.by}' if content.by else ''}: bars, observed shares of the right (up) and "
        "of the wrong answers (down) that received each confidence, a unit's cells and responses taken together; "
        f"dots and lines, median and {mass} interval of {content.n_replicates:,} data sets replicated from the "
        "posterior given the observed right and wrong answers; orange where the interval does not hold the observed "
        f"share. Units by AUROC2, the largest first. n = {n_right:,} right and {n_wrong:,} wrong answers; "
        f"{_covered(content)}.{_selection(content)}"
    )
    worst = content.units.assign(share=units["n_inside"] / units["n_bars"]).sort_values("share", kind="stable").iloc[0]
    alt = (
        f"Mirrored histograms of confidence for {count(len(units), 'unit')}; {_covered(content)}; "
        f"fewest for {worst['unit']} ({worst['n_inside']} of {worst['n_bars']})."
    )
    if worst["share"] == 1:
        alt = alt.split("; fewest")[0] + "."
    return Words(caption, alt)


def _bars(one: Ratings, mass: float) -> pd.DataFrame:
    """Return the bars of one unit: shares of its wrong, then of its right answers."""
    parts = []
    for k, n in enumerate((one.n_wrong, one.n_right)):
        if not n:
            continue
        replicated = one.replicated[:, k].T / n  # (level, draw)
        lower, upper = interval_ends(replicated, mass)
        part = {
            "unit": one.label,
            "outcome": OUTCOMES[k],
            "confidence": one.levels,
            "n": one.observed[k],
            "observed": one.observed[k] / n,
            "predicted": np.median(replicated, axis=-1),
            "lower": lower,
            "upper": upper,
        }
        parts.append(pd.DataFrame(part))
    bars = pd.concat(parts, ignore_index=True)
    close = 1e-12  # a share is counted once as n / N and once as a quantile of such
    return bars.assign(inside=bars["observed"].between(bars["lower"] - close, bars["upper"] + close))


def _places(content: Histograms, bars: pd.DataFrame) -> dict[str, Floats]:
    """Return the levels of each scale, ascending."""
    scale = bars["unit"].map(content.units.set_index("unit")["scale"])
    return {str(s): np.unique(part) for s, part in bars["confidence"].groupby(scale)}


def _at(confidence: Floats, levels: Floats) -> Floats:
    """Return where confidences stand: in rank order on a short scale, else at their values."""
    if len(levels) > MOST_PLACES:
        return np.asarray(confidence, dtype=np.float64)
    return np.searchsorted(levels, confidence).astype(np.float64)


def _height(share: Floats, *, root: bool) -> Floats:
    return np.sqrt(share) if root else share


def _frame(axes: Axes, grid: Grid, levels: Floats, highest: float, *, root: bool) -> None:
    ends = _at(levels[[0, -1]], levels)
    margin = 0.02 * (ends[1] - ends[0]) if len(levels) > MOST_PLACES else 0.6
    axes.set_xlim(ends[0] - margin, ends[1] + margin)
    shown = _ticks(levels)
    axes.set_xticks(_at(shown, levels), [f"{v:g}" for v in shown])
    room = WORDS_INCHES / (grid.cell_height / 2 - WORDS_INCHES)
    axes.set_ylim(-highest * (1 + room), highest * (1 + room))
    fit = [s for s in TICKS if _height(np.array(s), root=root) <= highest] or [highest]
    shares = sorted(fit[:1] + [s for s in fit if s == fit[0] / (5 if root else 2)])
    heights = [float(_height(np.array(s), root=root)) for s in shares]
    axes.set_yticks(
        [-h for h in reversed(heights)] + [0.0, *heights],
        [*map("{:g}".format, reversed(shares)), "0"] + [f"{s:g}" for s in shares],
    )
    axes.axhline(0, color=GRAY, linewidth=0.5, zorder=3)


def _ticks(levels: Floats) -> Floats:
    """Return the levels that are written on the axis: as many as fit, both ends among them."""
    if len(levels) > MOST_PLACES:
        return np.array([levels[0], (levels[0] + levels[-1]) / 2, levels[-1]])
    step = 1 if len(levels) <= 7 else 2 if len(levels) <= 11 else 5
    return levels[::-1][::step][::-1]


def _histogram(axes: Axes, bars: pd.DataFrame, levels: Floats, *, root: bool) -> None:
    """Draw observed bars, and the replicated median and interval at their ends: one path each."""
    from matplotlib.patches import PathPatch

    wide = len(levels) > MOST_PLACES
    at = _at(bars["confidence"].to_numpy(), levels)
    up = np.where(bars["outcome"] == "right", 1.0, -1.0)
    top, middle, lower, upper = (
        up * _height(bars[name].to_numpy(), root=root) for name in ("observed", "predicted", "lower", "upper")
    )
    half = 0.5 * float(np.diff(levels).min()) if wide else 0.4
    axes.add_patch(PathPatch(_boxes(at, top, half), facecolor=GRAY if wide else BAR, linewidth=0, zorder=1))
    inside, gap = bars["inside"].to_numpy(dtype=bool), np.full(len(bars), np.nan)
    size = 1.4 if wide or len(levels) > 7 else 2.2
    for mine, color in ((inside, BLUE), (~inside, ORANGE)):
        x, y = np.column_stack([at, at, gap])[mine].ravel(), np.column_stack([lower, upper, gap])[mine].ravel()
        axes.plot(x, y, color=color, linewidth=0.7, solid_capstyle="butt", zorder=4)
        axes.plot(at[mine], middle[mine], "o", color=color, markersize=size, markeredgewidth=0, zorder=5)


def _boxes(at: Floats, top: Floats, half: float) -> Path:
    """Return boxes from 0 to `top` as one path."""
    from matplotlib.path import Path

    at, top = at[top != 0], top[top != 0]
    zero = np.zeros_like(at)
    x = np.column_stack([at - half, at - half, at + half, at + half, at - half])
    y = np.column_stack([zero, top, top, zero, zero])
    codes = [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY] * len(at)
    return Path(np.column_stack([x.ravel(), y.ravel()]), codes)


def _numbers(axes: Axes, row: dict[Hashable, Any], grid: Grid) -> None:
    """Write above and below the bars how many answers they are of, and how many bars lie in their intervals."""
    style = {"transform": axes.transAxes, "fontsize": TINY, "color": INK}
    axes.text(0.02, 1.0, f"{row['n_right']:,} right", ha="left", va="top", **style)
    wrong, inside, of = f"{row['n_wrong']:,} wrong", row["n_inside"], row["n_bars"]
    axes.text(0.02, 0.015, wrong, ha="left", va="bottom", **style)
    room = (0.97 * grid.cell_width - (len(wrong) + 1) * letter_inches(TINY)) * TEXT / TINY
    wordings = (f"in {inside} of {of}", f"in {inside}/{of}", f"{inside}/{of}")
    axes.text(0.99, 0.015, first_that_fits(wordings, room), ha="right", va="bottom", **style)


def _covered(content: Histograms) -> str:
    n = len(content.bars)
    inside = int(content.bars["inside"].sum())
    return (
        f"{inside:,} of {n:,} observed shares ({100 * content.coverage:.3g} %) lie in their "
        f"{100 * content.interval:g} % intervals"
    )


def _selection(content: Histograms) -> str:
    n, shown = len(content.units), len(content.shown)
    return "" if n == shown else f" Shown are {shown} of {n} units, evenly spaced by the rank of AUROC2."


def _head(content: Histograms, width: float, *, root: bool) -> Head:
    lines = [
        "Bars: observed, up for right and down for wrong answers; dot and line: median and "
        f"{100 * content.interval:g} % interval of {content.n_replicates:,} replicated data sets, orange where it "
        f"misses the bar's end. In: {_covered(content)}."
        + (" Root scale, so that rare ratings are seen." if root else "")
    ]
    if _selection(content):
        lines.append(_selection(content).strip())
    return head_of(width, "Confidence of right and wrong answers" + (f" by {content.by}" if content.by else ""), lines)
