"""A parameter against how many levels the confidence scale has."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hmeta.core.errors import DataError
from hmeta.infer.fitted import Fitted, default_unit, find_factor, level_labels, read_fit
from hmeta.infer.intervals import NAMES, check_interval, describe_draws
from hmeta.infer.parameter_words import words_of
from hmeta.report.card import Card, Options, Words
from hmeta.report.facet_words import count
from hmeta.report.inputs import FitInput
from hmeta.report.interval_rows import inches_of
from hmeta.report.scale_levels import levels_of_scales
from hmeta.report.spread_labels import spread
from hmeta.report.style import (
    BLUE,
    GRAY,
    GREEN,
    INK,
    LIGHT,
    ORANGE,
    PURPLE,
    SKY,
    SMALL,
    TEXT,
    TINY,
    WARNING_INCHES,
    YELLOW,
    Head,
    axes_at,
    head_of,
    letters_in,
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
    "a parameter against the number of levels of the confidence scale, on average, by unit and by data set",
    reads="fit",
    options=("by", "parameter", "interval", "kind"),
)

SCALE, DATASET = "scale", "dataset"
MOST_UNITS, MOST_SETS = 60, 8
"""Up to this many units have lines of their own, and data sets coloured ones."""

LINES = (
    (BLUE, "-"),
    (GREEN, "-"),
    (PURPLE, "-"),
    (SKY, "-"),
    (YELLOW, "-"),
    (BLUE, "--"),
    (GREEN, "--"),
    (PURPLE, "--"),
)
UNIT = "#BDBDBD"
LEFT, BELOW, RIGHT = 0.5, 0.68, 0.12
TICK_INCHES = 0.36
"""Ticks that are nearer to one another share their words."""

BESIDE = 0.09
"""Of a doubling: how far scales of equally many levels stand apart."""


@dataclass(frozen=True)
class Granularity:
    """What is drawn.

    Attributes
    ----------
    parameter : str
    scales : DataFrame
        One row a scale, by its number of levels (infinite for a continuous one): scale, levels, n_cells, n_answers,
        median, sd, lower, upper of the average over the observed cells.
    units, sets : DataFrame
        name, scale, median of the average over the cells of a unit, and of a data set, on a scale; empty where there
        are too many or one.
    n_units : int
    unit_word, set_word : str
        Factors.
    balanced : bool
        Whether the same combinations of the other factors were observed on every scale.
    parallel : bool
        Whether the model lets the scales differ in one way only, the same for every unit and data set.
    """

    parameter: str
    scales: pd.DataFrame
    units: pd.DataFrame
    sets: pd.DataFrame
    n_units: int
    unit_word: str
    set_word: str
    balanced: bool
    parallel: bool
    interval: float
    kind: str
    noise: str
    converged: bool


def read(source: FitInput, options: Options) -> Granularity:
    """Return a parameter by scale.

    Raises
    ------
    DataError
        Where the fit has no factor of scales, or its scales do not differ in their number of levels.
    """
    check_interval(options.interval, options.kind)
    fitted = read_fit(source.tree, options.parameter)
    column = find_factor(fitted, SCALE)
    names = sorted(level_labels(fitted.factors[column].unique()))
    levels = levels_of_scales(fitted, names)
    if len(set(levels.values())) < 2:
        raise DataError(
            "the scales of the fit do not differ in their number of levels",
            where=source.file,
            received=", ".join(f"{name}: {n:g}" for name, n in levels.items()),
            allowed="two or more scales, of different numbers of levels",
        )
    of_cell = np.array(level_labels(fitted.factors[column]))
    order = sorted(names, key=lambda name: (levels[name], name))
    rows = [_row(fitted, name, levels[name], of_cell == name, options) for name in order]
    unit = find_factor(fitted, options.by) if options.by is not None else _unit(fitted, column)
    data = _set(fitted, column, unit)
    n_units = fitted.factors[unit].nunique() if unit else 1
    return Granularity(
        parameter=fitted.parameter,
        scales=pd.DataFrame(rows),
        units=_lines(fitted, unit if n_units <= MOST_UNITS else None, of_cell, order),
        sets=_lines(fitted, data, of_cell, order),
        n_units=n_units,
        unit_word=unit or "",
        set_word=data or "",
        balanced=_balanced(fitted, column, of_cell),
        parallel=_parallel(fitted, column),
        interval=options.interval,
        kind=options.kind,
        noise=fitted.noise if fitted.parameter == "M" else "",
        converged=fitted.converged,
    )


def draw(content: Granularity, width: float) -> Figure:
    """Return the figure: averages with intervals on a doubling axis, lines of units behind, of data sets named."""
    head = _head(content, width)
    names = list(dict.fromkeys(content.sets["name"])) if len(content.sets) else []
    short = shorten(names, letters_in(min(0.28 * width, 1.3)))
    right = RIGHT + (max(map(len, short)) / letters_in(1.0) + 0.1 if short else 0.0)
    foot = BELOW + (0.0 if content.converged else WARNING_INCHES)
    across = min(width - LEFT - right, 6.4)
    tall = min(max(0.62 * across, 1.9), 2.6)
    figure = new_figure(width, head.height + 0.1 + tall + foot)
    axes = axes_at(figure, LEFT, foot, across, tall)
    tidy(axes)
    places = _places(content.scales)
    _limits(axes, content, places)
    _background(axes, content, places)
    _averages(axes, content, places)
    _name_sets(axes, content, names, short, places)
    _under(axes, content, places)
    words = words_of(content.parameter)
    axes.set_ylabel(words.title.split(" (")[0], fontsize=TEXT, color=INK, labelpad=3)
    words_above(figure, head, converged=content.converged)
    return figure


def describe(content: Granularity) -> Words:
    """Return the caption and the alternative text."""
    rows, words = content.scales, words_of(content.parameter)
    noise = f" ({content.noise})" if content.noise else ""
    answers = int(rows["n_answers"].sum())
    caption = [
        f"{words.title.split(' (')[0]}{noise} by the number of levels of the confidence scale. Diamonds: posterior "
        f"median of the average over observed cells, each with the same weight, with {100 * content.interval:g} % "
        f"{NAMES[content.kind]} intervals (n = {answers:,} answers of "
        f"{count(content.n_units, content.unit_word or 'unit')})."
    ]
    if len(content.units):
        caption.append(f"Thin grey lines: the posterior medians of each {content.unit_word}.")
    if len(content.sets):
        caption.append(f"Coloured lines: those of each {content.set_word}.")
    if content.parallel and (len(content.units) or len(content.sets)):
        caption.append(
            f"All lines rise and fall alike because the formula of {content.parameter} has no effect of the scale that "
            "differs between them."
        )
    if not content.balanced:
        caption.append("Not every combination was observed on every scale, so that averages are over different cells.")
    if np.isinf(rows["levels"]).any():
        caption.append("A continuous scale (∞) stands at the right end, off the axis.")
    parts = [
        f"{r['median']:.2f} ({r['lower']:.2f} to {r['upper']:.2f}) on {r['scale']}" for r in rows.to_dict("records")
    ]
    alt = f"{content.parameter} against the number of levels of {len(rows)} scales: {', '.join(parts)}."
    return Words(" ".join(caption), alt)


def _row(fitted: Fitted, name: str, levels: float, mine: NDArray[np.bool_], options: Options) -> dict[str, object]:
    drawn = describe_draws(fitted.flat[mine].mean(axis=0), options.interval, options.kind)
    facts = {
        "scale": name,
        "levels": levels,
        "n_cells": int(mine.sum()),
        "n_answers": int(fitted.n_answers[mine].sum()),
    }
    return {**facts, **{key: float(value) for key, value in drawn.items()}}


def _unit(fitted: Fitted, column: str) -> str | None:
    unit = default_unit(fitted)
    return None if unit == column else unit


def _set(fitted: Fitted, column: str, unit: str | None) -> str | None:
    """Return the factor of data sets, if there are a few."""
    found = fitted.factor_name(DATASET)
    if found is None or found in (column, unit):
        return None
    return found if 2 <= fitted.factors[found].nunique() <= MOST_SETS else None


def _lines(fitted: Fitted, factor: str | None, of_cell: NDArray[np.str_], order: Sequence[str]) -> pd.DataFrame:
    """Return the median of the average over the cells of each level of a factor on each scale."""
    rows = []
    if factor is not None and fitted.factors[factor].nunique() > 1:
        labels = np.array(level_labels(fitted.factors[factor]))
        for name in sorted(set(labels)):
            for scale in order:
                mine = (labels == name) & (of_cell == scale)
                if mine.any():
                    rows.append(
                        {"name": name, "scale": scale, "median": float(np.median(fitted.flat[mine].mean(axis=0)))}
                    )
    return pd.DataFrame(rows, columns=["name", "scale", "median"])


def _balanced(fitted: Fitted, column: str, of_cell: NDArray[np.str_]) -> bool:
    others = [name for name in fitted.names if name != column]
    keys = list(map(tuple, fitted.factors[others].to_numpy()))
    seen = [{key for key, scale in zip(keys, of_cell, strict=True) if scale == one} for one in dict.fromkeys(of_cell)]
    return all(one == seen[0] for one in seen)


def _parallel(fitted: Fitted, column: str) -> bool:
    """Say whether no group term of the parameter involves the scale, so that lines cannot differ in shape."""
    groups = fitted.terms.get("groups")
    if groups is None or not _balanced(fitted, column, np.array(level_labels(fitted.factors[column]))):
        return False
    return all(column not in g["factors"] and g["coefficients"] == ["Intercept"] for g in groups)


def _places(scales: pd.DataFrame) -> dict[str, float]:
    """Return where each scale stands on the axis of doublings; a continuous one a doubling and a half further."""
    levels = scales["levels"].to_numpy(dtype=np.float64)
    finite = levels[np.isfinite(levels)]
    x = np.log2(np.where(np.isfinite(levels), levels, finite.max() * 2**1.5))
    out: dict[str, float] = {}
    for value in np.unique(x):
        same = np.flatnonzero(x == value)
        for i, row in enumerate(same):
            out[str(scales["scale"].iloc[row])] = float(value + BESIDE * (i - (len(same) - 1) / 2))
    return out


def _limits(axes: Axes, content: Granularity, places: dict[str, float]) -> None:
    x = np.array(list(places.values()))
    margin = 0.09 * np.ptp(x)
    axes.set_xlim(x.min() - margin, x.max() + margin)
    parts = [content.scales["lower"], content.scales["upper"], content.units["median"], content.sets["median"]]
    values = pd.concat(parts).to_numpy(dtype=np.float64)
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    spread = max(high - low, 0.02)
    mark = words_of(content.parameter).mark
    if mark is not None and low - spread / 3 < mark < high + spread / 3:
        low, high = min(low, mark), max(high, mark)
    axes.set_ylim(low - 0.06 * spread, high + 0.08 * spread)


def _background(axes: Axes, content: Granularity, places: dict[str, float]) -> None:
    from matplotlib.collections import LineCollection

    axes.grid(axis="y", color=LIGHT, linewidth=0.5, zorder=-1)
    words, (low, high) = words_of(content.parameter), axes.get_ylim()
    if words.mark is not None and low < words.mark < high:
        axes.axhline(words.mark, color=INK, linewidth=0.7, linestyle=(0, (4, 3)), zorder=1)
        at = {"transform": axes.get_yaxis_transform(), "fontsize": TINY, "ha": "left", "va": "bottom", "color": INK}
        axes.text(0.01, words.mark, words.mark_text, **at)
    lines = [np.column_stack(points) for _, points in _paths(content.units, places)]
    axes.add_collection(LineCollection(lines, colors=UNIT, linewidths=0.5, zorder=2), autolim=False)
    for i, (_, (x, y)) in enumerate(_paths(content.sets, places)):
        color, style = LINES[i]
        axes.plot(x, y, color=color, linestyle=style, linewidth=1.0, marker="o", markersize=2.2, zorder=3)


def _paths(frame: pd.DataFrame, places: dict[str, float]) -> Iterator[tuple[str, tuple[Floats, Floats]]]:
    for name, rows in frame.groupby("name", sort=False):
        x = np.array([places[scale] for scale in rows["scale"]])
        yield str(name), (x, rows["median"].to_numpy(dtype=np.float64))


def _averages(axes: Axes, content: Granularity, places: dict[str, float]) -> None:
    rows = content.scales
    x = np.array([places[scale] for scale in rows["scale"]])
    finite = np.isfinite(rows["levels"].to_numpy(dtype=np.float64))
    axes.plot(x[finite], rows["median"][finite], color=ORANGE, linewidth=1.4, zorder=4)
    axes.vlines(x, rows["lower"], rows["upper"], color=ORANGE, linewidth=1.6, zorder=5)
    axes.plot(
        x, rows["median"], "D", color=ORANGE, markersize=4.2, markeredgecolor="white", markeredgewidth=0.5, zorder=6
    )


def _name_sets(axes: Axes, content: Granularity, names: list[str], short: list[str], places: dict[str, float]) -> None:
    """Write the name of each data set right of its line, none nearer to another than a line of text."""
    ends = {name: (x[-1], y[-1]) for name, (x, y) in _paths(content.sets, places)}
    low, high = axes.get_ylim()
    step = 0.105 / inches_of(axes)[1] * (high - low)
    order = sorted(names, key=lambda name: ends[name][1])
    y = spread([ends[name][1] for name in order], step, low, high)
    for name, place in zip(order, y, strict=True):
        i = names.index(name)
        at = {"transform": axes.get_yaxis_transform(), "fontsize": SMALL, "va": "center", "ha": "left"}
        axes.text(1 + 0.05 / inches_of(axes)[0], place, short[i], color=LINES[i][0], **at)


def _under(axes: Axes, content: Granularity, places: dict[str, float]) -> None:
    """Write under the axis how many levels, which scale and how many answers."""
    rows = content.scales.set_index("scale")
    axes.set_xticks(sorted(set(places.values())), [])
    across, tall = inches_of(axes)
    low, high = axes.get_xlim()
    groups: list[list[str]] = []
    for name in sorted(places, key=lambda one: places[one]):
        near = groups and (places[name] - places[groups[-1][-1]]) / (high - low) * across < TICK_INCHES
        groups[-1:] = [[*groups[-1], name]] if near else [*groups[-1:], [name]]
    for group in groups:
        x = float(np.mean([places[name] for name in group]))
        numbers = dict.fromkeys("∞" if math.isinf(n) else f"{n:,.0f}" for n in rows.loc[group, "levels"])
        texts = (", ".join(numbers), ", ".join(group), _span(rows.loc[group, "n_answers"]))
        for i, (text, size) in enumerate(zip(texts, (SMALL, TINY, TINY), strict=True)):
            at = {"transform": axes.get_xaxis_transform(), "fontsize": size, "ha": "center", "va": "top"}
            axes.text(x, -(0.05 + 0.11 * i) / tall, text, color=INK if i == 0 else GRAY, **at)
    for i, (text, size) in enumerate(zip(("levels", "scale", "answers"), (SMALL, TINY, TINY), strict=True)):
        at = {"transform": axes.transAxes, "fontsize": size, "ha": "right", "va": "top"}
        axes.text(-0.03 / across, -(0.05 + 0.11 * i) / tall, text, color=INK if i == 0 else GRAY, **at)
    axes.set_xlabel("levels of the confidence scale (logarithmic)", fontsize=TEXT, color=INK, labelpad=26)


def _span(answers: pd.Series) -> str:
    """Return how many answers scales have that share their words."""
    low, high = int(answers.min()), int(answers.max())
    if len(answers) == 1:
        return f"{low:,}"
    return f"{low:,} each" if low == high else f"{low:,} to {high:,}"


def _head(content: Granularity, width: float) -> Head:
    lines = [f"Diamond: average over observed cells, {100 * content.interval:g} % interval."]
    if len(content.units):
        lines[0] += f" Grey: each {content.unit_word}."
    if len(content.sets):
        lines[0] += f" Coloured: each {content.set_word}."
    if content.n_units > MOST_UNITS:
        lines.append(f"{content.n_units} {content.unit_word}s without lines of their own.")
    if content.noise:
        lines.append(f"{content.noise}.")
    return head_of(width, f"{words_of(content.parameter).heading} by granularity of confidence", lines)
