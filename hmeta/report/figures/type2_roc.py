"""The type-2 ROC of each unit, observed, with the band of those that the fit replicates."""

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
from hmeta.report.facet_words import count, name_axes, say_empty
from hmeta.report.inputs import FitInput
from hmeta.report.observed import Ratings, auroc2, evenly_spaced, observed_by_unit, shares_above
from hmeta.report.style import (
    BLUE,
    GRAY,
    INK,
    ORANGE,
    SKY,
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

Floats = NDArray[np.float64]

CARD = Card(
    "each unit's type-2 ROC with the band that the fit predicts: right against wrong answers by confidence",
    reads="fit",
    options=("by", "interval"),
)

GRID = np.linspace(0.0, 1.0, 51) ** 1.5
"""Shares of wrong answers at which replicated curves are read off, denser where curves are steep."""

LOW = 0.45
"""Below this AUROC2 the curve lies where the numbers of a facet would stand."""

X = ("share of wrong answers at or above each level", "share of wrong answers", "wrong answers")
Y = ("share of right answers at or above each level", "share of right answers", "right answers")


@dataclass(frozen=True)
class Roc:
    """What is drawn: of every unit AUROC2, the points of its curve and the band of the replicated curves.

    Attributes
    ----------
    units : DataFrame
        One row a unit, the largest AUROC2 first: n_right, n_wrong, auroc2_observed, auroc2_replicated (median), lower,
        upper, p (share of replicated AUROC2 above the observed one, ties half), n_points, n_inside, why (not defined).
    points : DataFrame
        unit, confidence, wrong, right, inside: the shares at or above a used level; `inside` is missing for (1, 1) and
        below the top of a vertical run.
    bands : DataFrame
        unit, wrong, lower, median, upper.
    shown : tuple of str
        The units that have facets.
    """

    units: pd.DataFrame
    points: pd.DataFrame
    bands: pd.DataFrame
    shown: tuple[str, ...]
    by: str
    interval: float
    n_replicates: int
    converged: bool


def read(source: FitInput, options: Options) -> Roc:
    """Return observed and replicated type-2 ROCs of a fit.

    Raises
    ------
    DataError
        Where the fit has no such factor, or no observed or replicated ratings.
    """
    check_interval(options.interval, "eti")
    found = observed_by_unit(source, options.by)
    rows, points, bands = [], [], []
    for one in found.units:
        area, curve, band = _unit(one, options.interval)
        rows.append(area)
        points.append(curve)
        bands.append(band)
    units = pd.DataFrame(rows).sort_values("auroc2_observed", ascending=False, kind="stable", ignore_index=True)
    shown = tuple(units["unit"].iloc[evenly_spaced(len(units))])
    facts = (found.by, options.interval, found.n_replicates, found.converged)
    return Roc(units, pd.concat(points, ignore_index=True), pd.concat(bands, ignore_index=True), shown, *facts)


def draw(content: Roc, width: float) -> Figure:
    """Return the figure: a square facet a unit."""
    head, n = _head(content, width), len(content.shown)
    shape: dict[str, Any] = {"head": head, "converged": content.converged, "narrowest": 0.8}
    names = facet_names(content.shown, layout_facets(n, width, between=(0.12, 0.22), **shape).cell_width)
    grid = not_too_tall(layout_facets(n, width, between=(0.12, 0.22 + names.extra), **shape))
    figure = new_figure(width, grid.height)
    rows = content.units.set_index("unit").to_dict("index")
    points, bands = (dict(list(frame.groupby("unit"))) for frame in (content.points, content.bands))
    for i, axes in facets(figure, grid, n):
        unit = content.shown[i]
        name_above(axes, names.texts[i], names.size)
        _frame(axes)
        if rows[unit]["why"]:
            say_empty(axes, str(rows[unit]["why"]))
        else:
            _curves(axes, points[unit], bands[unit])
        _numbers(axes, rows[unit], grid)
    name_axes(figure, grid, X, Y, converged=content.converged)
    words_above(figure, head, converged=content.converged)
    return figure


def describe(content: Roc) -> Words:
    """Return the caption and the alternative text."""
    mass, units = f"{100 * content.interval:g} %", content.units
    known = units[units["why"] == ""]
    answers = int(units["n_right"].sum()), int(units["n_wrong"].sum())
    caption = [
        f"Type-2 ROC by {content.by}: " if content.by else "Type-2 ROC: ",
        "dots, the observed shares of right and of wrong answers at or above each used confidence level, ",
        "a unit's cells and responses taken together; "
        f"band, pointwise {mass} interval of {content.n_replicates:,} replicated curves (ratings drawn from the "
        "posterior given the observed right and wrong answers, read off at given shares of wrong answers). ",
        "Of dots at the same share of wrong answers only the highest is judged, and the corner (1, 1) never. ",
        "AUROC2 is the area under the dots; where it lies outside the replicated interval it is orange. ",
        f"n = {answers[0]:,} right and {answers[1]:,} wrong answers of {count(len(units), 'unit')}.",
        _selection(content),
    ]
    if not len(known):
        return Words("".join(caption), "Type-2 ROC: no unit has both right and wrong answers.")
    inside = known["auroc2_observed"].between(known["lower"], known["upper"])
    first, last = known.iloc[0], known.iloc[-1]
    alt = (
        f"Type-2 ROC curves of {count(len(known), 'unit')}; observed AUROC2 from {last['auroc2_observed']:.2f} "
        f"({last['unit']}) to {first['auroc2_observed']:.2f} ({first['unit']}); inside the replicated {mass} interval "
        f"for {int(inside.sum()):,} of {len(known):,} units; {int(known['n_inside'].sum()):,} of "
        f"{int(known['n_points'].sum()):,} observed points in the bands."
    )
    return Words("".join(caption), alt)


def _unit(one: Ratings, mass: float) -> tuple[dict[str, object], pd.DataFrame, pd.DataFrame]:
    """Return the row, the points and the band of one unit."""
    row: dict[str, object] = {"unit": one.label, "n_right": one.n_right, "n_wrong": one.n_wrong}
    if one.lacks:
        missing = dict.fromkeys(("auroc2_observed", "auroc2_replicated", "lower", "upper", "p"), np.nan)
        return {**row, **missing, "n_points": 0, "n_inside": 0, "why": one.lacks}, pd.DataFrame(), pd.DataFrame()
    observed, replicated = float(auroc2(one.observed)), auroc2(one.replicated)
    lower, upper = interval_ends(replicated, mass)
    curves = shares_above(one.replicated)
    points = _points(one, curves, mass)
    row |= {
        "auroc2_observed": observed,
        "auroc2_replicated": float(np.median(replicated)),
        "lower": float(lower),
        "upper": float(upper),
        "p": float((replicated > observed).mean() + (replicated == observed).mean() / 2),
        "n_points": int(points["inside"].notna().sum()),
        "n_inside": int((points["inside"] == 1).sum()),
        "why": "",
    }
    at = _read_off(curves, GRID)
    lower, upper = interval_ends(at.T, mass)
    band = pd.DataFrame(
        {"unit": one.label, "wrong": GRID, "lower": lower, "median": np.median(at, axis=0), "upper": upper}
    )
    return row, points, band


def _points(one: Ratings, curves: tuple[Floats, Floats], mass: float) -> pd.DataFrame:
    """Return the observed points, and whether each lies in the interval of the replicated curves there."""
    used = one.observed.sum(axis=0) > 0
    wrong, right = (share[1:] for share in shares_above(one.observed[:, used]))
    lower, upper = interval_ends(_read_off(curves, wrong).T, mass)
    inside = ((right >= lower) & (right <= upper)).astype(float)
    # a curve that rises straight up is one reading at that share of wrong answers: its top
    inside[np.append(np.diff(wrong) == 0, False) | (right == 1) & (wrong == 1)] = np.nan
    levels = one.levels[used][::-1]
    return pd.DataFrame({"unit": one.label, "confidence": levels, "wrong": wrong, "right": right, "inside": inside})


def _read_off(curves: tuple[Floats, Floats], at: Floats) -> Floats:
    """Return the curves' heights, (draw, at), along straight lines between their points; at a rise its top."""
    return np.array([np.interp(at, wrong, right) for wrong, right in zip(*curves, strict=True)])


def _selection(content: Roc) -> str:
    n, shown = len(content.units), len(content.shown)
    return "" if n == shown else f" Shown are {shown} of {n} units, evenly spaced by the rank of AUROC2."


def _head(content: Roc, width: float) -> Head:
    mass = f"{100 * content.interval:g} %"
    lines = [
        f"Dots: observed, from the highest level down; band: {mass} of {content.n_replicates:,} curves replicated by "
        "the fit. n: right / wrong answers; in: dots in the band. Orange: AUROC2 outside the replicated interval.",
    ]
    if _selection(content):
        lines.append(_selection(content).strip())
    return head_of(width, "Type-2 ROC" + (f" by {content.by}" if content.by else ""), lines)


def _frame(axes: Axes) -> None:
    axes.set_xlim(-0.02, 1.02)
    axes.set_ylim(-0.02, 1.02)
    axes.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
    axes.set_yticks([0, 0.5, 1], ["0", "0.5", "1"])
    axes.plot([0, 1], [0, 1], color=GRAY, linewidth=0.5, linestyle=(0, (4, 3)), zorder=1)


def _curves(axes: Axes, points: pd.DataFrame, band: pd.DataFrame) -> None:
    axes.fill_between(band["wrong"], band["lower"], band["upper"], color=SKY, alpha=0.45, linewidth=0, zorder=2)
    axes.plot(band["wrong"], band["median"], color=BLUE, linewidth=0.7, zorder=3)
    wrong, right = (np.append(0.0, points[name]) for name in ("wrong", "right"))
    axes.plot(wrong, right, color=INK, linewidth=0.6, zorder=4)
    axes.plot(wrong[1:-1], right[1:-1], "o", color=INK, markersize=2.0, markeredgewidth=0, zorder=5)


def _numbers(axes: Axes, row: dict[Hashable, Any], grid: Grid) -> None:
    """Write AUROC2, n and the share of points in the band where the curve is not: below it, or above."""
    defined = row["why"] == ""
    outside = defined and not row["lower"] <= row["auroc2_observed"] <= row["upper"]
    texts = [(f"n {row['n_right']:,} / {row['n_wrong']:,}", INK)]
    if defined:
        texts = [
            (f"in {row['n_inside']} of {row['n_points']}", INK),
            (f"AUROC2 {row['auroc2_observed']:.2f}", ORANGE if outside else INK),
            *texts,
        ]
    above = defined and row["auroc2_observed"] < LOW
    step = 0.085 / grid.cell_height
    for i, (text, color) in enumerate(texts[::-1] if above else texts):
        y = 0.97 - step * (i + 1) if above else 0.03 + step * (len(texts) - 1 - i)
        style = {"transform": axes.transAxes, "fontsize": TINY, "color": color, "va": "bottom"}
        axes.text(0.03 if above else 0.98, y, text, ha="left" if above else "right", **style)
