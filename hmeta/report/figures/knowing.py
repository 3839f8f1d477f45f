"""Does it know that it knows, against does it know: efficiency over sensitivity, or AUROC2 over accuracy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hmeta.core.errors import DataError
from hmeta.infer.evidence import unit_rows, why_uninformative
from hmeta.infer.fitted import Fitted, default_unit, find_factor, level_labels, read_fit
from hmeta.infer.intervals import NAMES, Kind, check_interval, describe_draws
from hmeta.infer.parameter_words import words_of
from hmeta.report.card import Card, Options, Words
from hmeta.report.facet_names import without_folder
from hmeta.report.facet_words import count, letter_inches, noise_words
from hmeta.report.inputs import FitInput
from hmeta.report.label_room import Box, Free, Room
from hmeta.report.style import (
    BLUE,
    GRAY,
    INK,
    LIGHT,
    SMALL,
    TEXT,
    TINY,
    WARNING_INCHES,
    Head,
    axes_at,
    head_of,
    new_figure,
    shorten,
    tidy,
    words_above,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]

CARD = Card(
    "does it know against does it know that it knows: efficiency over sensitivity, unit by unit",
    reads="fit",
    options=("by", "interval", "kind"),
)

PAIRS = (("d", "M"), ("accuracy", "auroc2"))
"""What a fit is read for: how well it knows, and how well it knows that it knows."""

X_WORDS = {"d": "type-1 sensitivity d′", "accuracy": "accuracy (share of right answers)"}
Y_WORDS = {"M": "metacognitive efficiency M = meta-d′ / d′", "auroc2": "AUROC2 of the fitted curve"}

MOST_NAMED, MOST_EXTREMES = 15, 12
MOST_CROSSES = 60
"""With more units the lines of intervals would hide the dots: they become lighter."""
MOST_LETTERS = 26
PLACES = 9
"""Places along the reference line that are tried for what it means."""
LEAD_INCHES, CLEAR = 0.08, 1.6
"""Words farther from their dot, or not much nearer to it than to another, have a line to it."""
TALLEST_AXES = 3.6
LEFT, RIGHT, FOOT = 0.5, 0.1, 0.42


@dataclass(frozen=True)
class Knowing:
    """What is drawn.

    Attributes
    ----------
    units : DataFrame
        One row a unit: n_answers, x and y (medians), x_lower, x_upper, y_lower, y_upper, uninformative.
    x, y : str
        The parameters.
    rho : tuple of float
        Median and interval, over posterior draws, of Spearman's rank correlation over the units whose own data say
        something on y; NaN for fewer than three.
    n_ranked : int
        How many those are.
    """

    units: pd.DataFrame
    x: str
    y: str
    rho: tuple[float, float, float]
    n_ranked: int
    by: str
    interval: float
    kind: Kind
    noise: str
    converged: bool


def read(source: FitInput, options: Options) -> Knowing:
    """Return sensitivity and efficiency of the units of a fit, of an open task accuracy and AUROC2.

    Raises
    ------
    DataError
        Where the fit has no such factor, or not both quantities.
    """
    check_interval(options.interval, options.kind)
    found = [(x, y) for x, y in PAIRS if source.holds(x) and source.holds(y)]
    if not found:
        raise DataError(
            "the fit does not hold both how well units know and how well they know that they know",
            where=source.file,
            allowed=[f"{x} and {y}" for x, y in PAIRS],
            mend="fit it with a model of hmeta: hmeta fit RESULTS -o fit.nc",
        )
    (x, y), fitted = found[0], source.headline
    by = default_unit(fitted) if options.by is None else find_factor(fitted, options.by)
    names, cells_of = _units(fitted, by)
    units = pd.DataFrame({"unit": names, "n_answers": [int(fitted.n_answers[cells].sum()) for cells in cells_of]})
    draws = {}
    for axis, parameter in (("x", x), ("y", y)):
        flat = read_fit(source.tree, parameter).flat
        draws[axis] = np.stack([flat[cells].mean(axis=0) for cells in cells_of])
        told = describe_draws(draws[axis], options.interval, options.kind)
        units[axis], units[f"{axis}_lower"], units[f"{axis}_upper"] = told["median"], told["lower"], told["upper"]
    units["uninformative"] = [_uninformative(fitted, cells) for cells in cells_of]
    ranked = ~units["uninformative"].to_numpy()
    told = describe_draws(rank_correlations(draws["x"][ranked], draws["y"][ranked]), options.interval, options.kind)
    rho = (float(told["median"]), float(told["lower"]), float(told["upper"]))
    facts = (by or "", options.interval, options.kind, fitted.noise, fitted.converged)
    return Knowing(units, x, y, rho, int(ranked.sum()), *facts)


def rank_correlations(x: Floats, y: Floats) -> Floats:
    """Return Spearman's rank correlation of each draw, (unit, draw) twice -> (draw,); NaN below three units."""
    n = len(x)
    if n < 3:
        return np.full(x.shape[1], np.nan)
    from scipy.stats import rankdata

    a, b = (rankdata(v, axis=0) - (n + 1) / 2 for v in (x, y))
    scale = np.sqrt((a**2).sum(axis=0) * (b**2).sum(axis=0))
    return np.divide((a * b).sum(axis=0), scale, out=np.full(x.shape[1], np.nan), where=scale > 0)


def draw(content: Knowing, width: float) -> Figure:
    """Return the figure: a dot a unit, with the intervals as a cross."""
    head = _head(content, width)
    foot = FOOT + (0.0 if content.converged else WARNING_INCHES)
    across = width - LEFT - RIGHT
    height = min(0.85 * across, TALLEST_AXES)
    figure = new_figure(width, head.height + 0.05 + height + foot)
    axes = axes_at(figure, LEFT, foot, across, height)
    tidy(axes)
    units = content.units
    axes.set_xlim(*_limits(units, "x", None))
    axes.set_ylim(*_limits(units, "y", words_of(content.y).mark))
    _crosses(axes, units)
    _beyond(axes, units)
    room = Room(across, height)
    free = _free(axes, units, room)
    _mark(axes, content, room, free)
    _label(axes, content, room, free)
    noise = f" ({noise_words(content.noise)})" if content.noise and width > 4 else ""
    axes.set_xlabel(X_WORDS[content.x] + noise, fontsize=TEXT, color=INK, labelpad=3)
    axes.set_ylabel(Y_WORDS[content.y], fontsize=TEXT, color=INK, labelpad=3)
    words_above(figure, head, converged=content.converged)
    return figure


def describe(content: Knowing) -> Words:
    """Return the caption and the alternative text."""
    units, n = content.units, len(content.units)
    interval = f"{100 * content.interval:g} % {NAMES[content.kind]} interval"
    noise = f" ({noise_words(content.noise)})" if content.noise else ""
    caption = [
        f"{words_of(content.y).heading} against {X_WORDS[content.x]}{noise}: posterior median (dot) and {interval} "
        f"(lines) of each {content.by or 'unit'}, averaged over its cells. {_rho(content)}",
    ]
    words = words_of(content.y)
    if words.mark is not None:
        caption.append(f"Dashed: {_symbol(content.y)} = {words.mark:g}, {words.mark_text}.")
    if units["uninformative"].any():
        caption.append(
            f"Grey, hollow: the unit's own data cannot identify {_symbol(content.y)}; left out of the correlation."
        )
    if _leaves(content):
        caption.append("Triangles at the edge: intervals that go on beyond the axes.")
    caption.append(f"n = {count(n, 'unit')}, {int(units['n_answers'].sum()):,} answers.")
    first, last = (units.loc[units["y"].sort_values(kind="stable").index[k]] for k in (0, -1))
    alt = (
        f"Scatter plot of {_symbol(content.y)} against {content.x}, {count(n, 'unit')}: {content.x} from "
        f"{units['x'].min():.2f} to {units['x'].max():.2f}, {_symbol(content.y)} from {first['y']:.2f} "
        f"({first['unit']}) to {last['y']:.2f} ({last['unit']}). {_rho(content)}"
    )
    return Words(" ".join(caption), alt)


def _units(fitted: Fitted, by: str | None) -> tuple[list[str], list[NDArray[np.intp]]]:
    """Return the units' names and cells."""
    if by is None:
        return ["all answers"], [np.arange(len(fitted.factors))]
    levels = sorted(fitted.factors[by].unique())
    return level_labels(levels), [np.flatnonzero(fitted.factors[by] == level) for level in levels]


def _uninformative(fitted: Fitted, cells: NDArray[np.intp]) -> bool:
    """Say whether a unit's own ratings say nothing about how well it knows that it knows."""
    if fitted.observed is None:
        return False
    task = str(fitted.attributes.get("task", "mafc"))
    return bool(why_uninformative(unit_rows(fitted.observed, cells), task))


def _rho(content: Knowing) -> str:
    middle, lower, upper = content.rho
    if not np.isfinite(middle):
        return "No rank correlation: " + ("fewer than three units." if content.n_ranked < 3 else "ranks do not vary.")
    words = (
        f"Rank correlation over {content.n_ranked} units (Spearman's ρ of posterior draws): {middle:.2f}, "
        f"{100 * content.interval:g} % interval {lower:.2f} to {upper:.2f}."
    )
    return words.replace(" -", " −")


def _symbol(parameter: str) -> str:
    return {"auroc2": "AUROC2"}.get(parameter, parameter)


def _limits(units: pd.DataFrame, axis: str, mark: float | None) -> tuple[float, float]:
    """Return limits that hold every median, nearly all ends of intervals, and the reference line."""
    many = len(units) > MOST_CROSSES
    low, high = units[f"{axis}_lower"], units[f"{axis}_upper"]
    ends = [
        min(units[axis].min(), np.quantile(low, 0.02) if many else low.min()),
        max(units[axis].max(), np.quantile(high, 0.98) if many else high.max()),
    ]
    if mark is not None:
        ends = [min(ends[0], mark), max(ends[1], mark)]
    if not np.isfinite(ends).all():
        return 0.0, 1.0
    margin = 0.05 * (ends[1] - ends[0] or 1.0)
    return float(ends[0] - margin), float(ends[1] + margin)


def _leaves(content: Knowing) -> bool:
    """Say whether intervals leave the axes."""
    units, mark = content.units, words_of(content.y).mark
    limits = {"x": _limits(units, "x", None), "y": _limits(units, "y", mark)}
    return any(
        bool((units[f"{axis}_lower"] < low).any() or (units[f"{axis}_upper"] > high).any())
        for axis, (low, high) in limits.items()
    )


def _mark(axes: Axes, content: Knowing, room: Room, free: Free) -> None:
    """Draw the line that y is read against, and say what it means where there is room beside it."""
    words, height = words_of(content.y), TINY / 72
    if axes.get_ylim()[0] < 0:
        axes.axhline(0, color=LIGHT, linewidth=0.6, zorder=0)
    if words.mark is None:
        return
    axes.axhline(words.mark, color=INK, linewidth=0.7, linestyle=(0, (4, 3)), zorder=1)
    text = f"{words.mark_text} ({_symbol(content.y)} = {words.mark:g})" if room.width > 3 else words.mark_text
    line, long = float(room.y(axes, np.array(words.mark))), len(text) * letter_inches(TINY)
    ends = np.linspace(room.width - long, 0.04, PLACES)
    boxes = [(x, y, x + long, y + height) for x in ends for y in (line + 0.02, line - 0.02 - height)]
    box = free.first(boxes, room)
    free.take((0.0, line - 0.01, room.width, line + 0.01))
    if box is None:
        return
    free.take(box)
    style = {"transform": axes.transAxes, "fontsize": TINY, "color": INK, "va": "center"}
    axes.text(box[0] / room.width, (box[1] + box[3]) / 2 / room.height, text, zorder=6, **style)


def _crosses(axes: Axes, units: pd.DataFrame) -> None:
    """Draw intervals as one path and medians as one set of dots, those without information in grey."""
    faint = len(units) > MOST_CROSSES
    for mine, color in ((units["uninformative"], GRAY), (~units["uninformative"], BLUE)):
        rows = units[mine]
        gap = np.full(len(rows), np.nan)
        x = np.column_stack([rows["x_lower"], rows["x_upper"], gap, rows["x"], rows["x"], gap]).ravel()
        y = np.column_stack([rows["y"], rows["y"], gap, rows["y_lower"], rows["y_upper"], gap]).ravel()
        axes.plot(x, y, color=color, linewidth=0.5, alpha=0.25 if faint else 0.5, zorder=2)
        face = "white" if color == GRAY else color
        edge = {"markeredgecolor": color if color == GRAY else "white", "markeredgewidth": 0.5}
        axes.plot(rows["x"], rows["y"], "o", markersize=3.4, markerfacecolor=face, zorder=4, **edge)


def _label(axes: Axes, content: Knowing, room: Room, free: Free) -> None:
    """Name units beside their dots where there is room: all of a few, of many the extremes."""
    units = content.units
    most = min(MOST_LETTERS, int(room.width / letter_inches(SMALL) / 3))
    texts = shorten(without_folder([str(unit) for unit in units["unit"]]), most)
    size = SMALL if len(units) <= MOST_NAMED else TINY + 0.5
    x, y = room.x(axes, units["x"].to_numpy()), room.y(axes, units["y"].to_numpy())
    named = 0
    for i in _priority(units):
        if named == (MOST_NAMED if len(units) <= MOST_NAMED else MOST_EXTREMES):
            return
        beside = _beside(float(x[i]), float(y[i]), len(texts[i]) * letter_inches(size), size / 72 * 1.1)
        box = free.first(beside, room)
        if box is None:
            continue
        free.take(box)
        named += 1
        _lead(axes, box, (float(x[i]), float(y[i])), np.column_stack([x, y]), room)
        align = "right" if box[2] < x[i] else "left" if box[0] > x[i] else "center"
        across = {"left": box[0], "center": (box[0] + box[2]) / 2, "right": box[2]}[align] / room.width
        style = {"transform": axes.transAxes, "fontsize": size, "color": INK, "va": "center", "ha": align}
        axes.text(across, (box[1] + box[3]) / 2 / room.height, texts[i], zorder=6, **style)


def _lead(axes: Axes, box: Box, dot: tuple[float, float], dots: Floats, room: Room) -> None:
    """Draw a thin line from the words to their dot, unless no other dot is nearly as close to them."""
    centre = ((box[0] + box[2]) / 2, (box[1] + box[3]) / 2)
    ends = np.array([np.clip(dot[0], box[0], box[2]), np.clip(dot[1], box[1], box[3])])
    gaps = np.hypot(*(dots - np.clip(dots, box[:2], box[2:])).T)
    own = float(np.hypot(*(np.array(dot) - ends)))
    others = gaps[np.hypot(*(dots - np.array(dot)).T) > 1e-9]
    if own < LEAD_INCHES and (not len(others) or others.min() > max(CLEAR * own, LEAD_INCHES)):
        return
    if dot[1] < box[1] or dot[1] > box[3]:  # from the nearest letter, half way into the height of the line
        ends[1] += 0.15 * (centre[1] - ends[1])
    line = np.array([ends, dot]) / np.array(room)
    axes.plot(*line.T, transform=axes.transAxes, color=INK, linewidth=0.4, zorder=3.5)


def _beyond(axes: Axes, units: pd.DataFrame) -> None:
    """Draw small triangles at the edge where intervals leave the axes."""
    for axis, ends, markers in (("x", axes.get_xlim(), "<>"), ("y", axes.get_ylim(), "v^")):
        other = "y" if axis == "x" else "x"
        for end, marker, edge, sign in zip(("lower", "upper"), markers, ends, (-1, 1), strict=True):
            out = units[sign * (units[f"{axis}_{end}"] - edge) > 0]
            at = {axis: np.full(len(out), edge), other: out[other].to_numpy()}
            axes.plot(at["x"], at["y"], marker, color=BLUE, markersize=2.4, markeredgewidth=0, clip_on=False, zorder=5)


def _priority(units: pd.DataFrame) -> list[int]:
    """Return the units to be named, the most extreme first: all of a few, of many those far from the middle."""
    z = np.column_stack([_distance(units["x"].to_numpy()), _distance(units["y"].to_numpy())])
    far = np.argsort(-np.hypot(z[:, 0], z[:, 1]), kind="stable")
    if len(units) <= MOST_NAMED:
        return [int(i) for i in far]
    ends = [int(k) for name in ("y", "x") for k in (units[name].to_numpy().argmax(), units[name].to_numpy().argmin())]
    return list(dict.fromkeys([*ends, *(int(i) for i in far)]))[: 2 * MOST_EXTREMES]


def _distance(values: Floats) -> Floats:
    """Return distances from the median in units of the median distance."""
    away = np.abs(values - np.median(values))
    return away / (np.median(away) or 1.0)


def _beside(x: float, y: float, width: float, height: float) -> list[Box]:
    """Return boxes beside a dot, in inches: at the corners of its cross, then right, left, above and below."""
    near, off = 0.03, 0.05
    lefts = {1: x + near, -1: x - near - width}
    lows = {1: y + 0.02, -1: y - 0.02 - height}
    boxes = [(lefts[a], lows[b]) for a, b in ((1, 1), (-1, 1), (1, -1), (-1, -1))]
    boxes += [(x + off, y - height / 2), (x - off - width, y - height / 2)]
    boxes += [(x - width / 2, y + off), (x - width / 2, y - off - height)]
    return [(left, low, left + width, low + height) for left, low in boxes]


def _free(axes: Axes, units: pd.DataFrame, room: Room) -> Free:
    """Return what the dots and their lines leave free."""
    x, x0, x1 = (room.x(axes, units[name].to_numpy()) for name in ("x", "x_lower", "x_upper"))
    y, y0, y1 = (room.y(axes, units[name].to_numpy()) for name in ("y", "y_lower", "y_upper"))
    dots = np.column_stack([x - 0.025, y - 0.025, x + 0.025, y + 0.025])
    across, up = np.column_stack([x0, y - 0.005, x1, y + 0.005]), np.column_stack([x - 0.005, y0, x + 0.005, y1])
    return Free(dots, np.concatenate([across, up]))


def _head(content: Knowing, width: float) -> Head:
    lines = [f"Dot: posterior median; lines: {100 * content.interval:g} % intervals. {_rho(content)}"]
    if len(content.units) > MOST_NAMED:
        lines.append(f"{count(len(content.units), 'unit')}; the extreme ones are named.")
    if _leaves(content):
        lines.append("Triangles: intervals that go on beyond the axes.")
    if content.units["uninformative"].any():
        lines.append(f"Grey: the unit's own data cannot identify {_symbol(content.y)}.")
    by = f", by {content.by}" if content.by else ""
    return head_of(width, f"Does it know, and does it know that it knows{by}", lines)
