"""Where each unit's confidence criteria lie on the evidence axis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hmeta.core.errors import DataError
from hmeta.infer.intervals import NAMES, Kind, check_interval, describe_draws
from hmeta.infer.labels import labelled_posterior
from hmeta.report.card import Card, Options, Words
from hmeta.report.facet_names import without_folder
from hmeta.report.facet_words import count, first_that_fits, letter_inches, noise_words
from hmeta.report.inputs import FitInput
from hmeta.report.observed import evenly_spaced
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
    "the evidence that each unit needs for each confidence: criteria with intervals",
    reads="fit",
    options=("interval", "kind"),
)

MOST_GROUPS = 80
"""More groups than this cannot be read in rows."""

ROW_INCHES, LOW_ROW_INCHES, MOST_LABELLED = 0.215, 0.14, 48
"""Rows have room for the confidences above their dots up to `MOST_LABELLED` groups."""

FOOT_INCHES, NAMES_SHARE = 0.42, 0.32
WITHIN = 0.99
"""Share of the ends of intervals that the axis holds; what lies outside is marked by arrows."""

AXES = {
    "mafc": ("evidence: gap between the best and the second-best alternative", "evidence: gap of the best two"),
    "binary": ("evidence: distance from the criterion of the answer", "evidence from the answer's criterion"),
    "open": ("confidence variable (wrong answers: mean 0, sd 1)", "confidence variable"),
}
"""What the axis measures, in long and in short."""

ARROWS = {"binary": ("◂ answer R = 0", "answer R = 1 ▸")}
SIDES_WORDS = (
    "Each of the two answers has criteria of its own, at distances from meta_c: those of answer R = 0 lie left of 0, "
    "those of R = 1 right."
)
SIDES = {"S0": -1.0, "S1": 1.0}


@dataclass(frozen=True)
class Criteria:
    """What is drawn.

    Attributes
    ----------
    criteria : DataFrame
        One row a criterion: group, side ("" where answers share them, else S0 or S1, the answer given), confidence
        (ratings of at least this much lie beyond it), median, lower, upper (for answers S0 negative).
    shown : tuple of str
        The groups that have rows, those that need most evidence for their highest rating first.
    n_groups : int
        Groups that have criteria: those that use a single confidence have none.
    """

    criteria: pd.DataFrame
    shown: tuple[str, ...]
    n_groups: int
    task: str
    interval: float
    kind: Kind
    noise: str
    converged: bool

    @property
    def labelled(self) -> bool:
        """Whether rows have room for confidences above the dots."""
        return len(self.shown) <= MOST_LABELLED


def read(source: FitInput, options: Options) -> Criteria:
    """Return the criteria of a fit.

    Raises
    ------
    DataError
        Where the fit has no criteria.
    """
    check_interval(options.interval, options.kind)
    posterior = labelled_posterior(source.tree)
    if "criterion_outcomes" not in posterior.coords or not posterior.sizes.get("criterion"):
        raise DataError(
            "the fit has no confidence criteria",
            where=source.file,
            mend="fit data with more than one confidence level: hmeta fit RESULTS -o fit.nc",
        )
    draws = posterior["criteria"].transpose("criterion", "chain", "draw").values
    fitted = source.headline
    sides = [_side(str(outcomes)) for outcomes in posterior["criterion_outcomes"].values]
    sign = np.array([SIDES.get(side, 1.0) for side in sides])
    flat = sign[:, None] * np.asarray(draws, dtype=np.float64).reshape(len(sides), -1)
    found = describe_draws(flat, options.interval, options.kind)
    frame = pd.DataFrame(
        {
            "group": [str(g) or "all answers" for g in posterior["criterion_group"].values],
            "side": sides,
            "confidence": posterior["criterion_level"].values.astype(float),
            **{name: found[name] for name in ("median", "lower", "upper")},
        }
    )
    order = _order(frame)
    shown = tuple(order[i] for i in evenly_spaced(len(order), MOST_GROUPS))
    task = str(fitted.attributes.get("task", "mafc"))
    return Criteria(frame, shown, len(order), task, options.interval, options.kind, fitted.noise, fitted.converged)


def draw(content: Criteria, width: float) -> Figure:
    """Return the figure: a row a group of criteria."""
    n = len(content.shown)
    labelled = content.labelled
    row = ROW_INCHES if labelled else LOW_ROW_INCHES
    head = _head(content, width, labelled=labelled)
    foot = FOOT_INCHES + (0.0 if content.converged else WARNING_INCHES)
    above = 0.16 if content.task in ARROWS else 0.05
    figure = new_figure(width, head.height + above + row * (n + 0.3) + foot)
    names = shorten(without_folder(content.shown), letters_in(NAMES_SHARE * width))
    left = max(map(len, names)) * letter_inches(TEXT) + 0.1
    axes = axes_at(figure, left, foot, width - left - 0.12, row * (n + 0.3))
    rows = content.criteria[content.criteria["group"].isin(content.shown)]
    height = {group: float(n - 1 - i) for i, group in enumerate(content.shown)}
    y = np.array([height[group] for group in rows["group"]])
    _frame(axes, content, names)
    axes.set_xlim(*_limits(rows))
    _marks(axes, rows, y)
    if labelled:
        _confidences(axes, rows, y, inches=width - left - 0.12)
    _words(axes, content, left, width, row * (n + 0.3))
    words_above(figure, head, converged=content.converged)
    return figure


def describe(content: Criteria) -> Words:
    """Return the caption and the alternative text."""
    n, rows = len(content.criteria), content.criteria
    interval = f"{100 * content.interval:g} % {NAMES[content.kind]} interval"
    sides = f" {SIDES_WORDS}" if content.task == "binary" else ""
    written = " (written above it where there is room, of close ones the highest)" if content.labelled else ""
    noise = f" ({noise_words(content.noise)})" if content.noise else ""
    caption = (
        f"Confidence criteria{noise}: posterior median and {interval} of each; evidence beyond a dot is rated with the "
        f"confidence of that criterion{written}, or more.{sides} "
        "Groups by the evidence for their highest rating, the most first. "
        f"n = {count(content.n_groups, 'group')}, {n:,} criteria; only confidences that a group uses have criteria."
        f"{_selection(content)}"
    )
    top, low = content.shown[0], content.shown[-1]
    alt = (
        f"Criteria of {count(content.n_groups, 'group')} on the evidence axis, medians from {rows['median'].min():.2f} "
        f"to {rows['median'].max():.2f}; most evidence for the highest rating: {top} ({_highest(rows, top):.2f}), "
        f"least: {low} ({_highest(rows, low):.2f})."
    )
    return Words(caption, alt)


def _side(outcomes: str) -> str:
    """Return the answer that criteria belong to: "S0R1+S1R1" are those of answers S1; "" where both share them."""
    answers = {part[-1] for part in outcomes.split("+") if len(part) == 4 and part[2] == "R"}
    return f"S{answers.pop()}" if len(answers) == 1 else ""


def _outward(rows: pd.DataFrame) -> pd.Series:
    """Return medians as more evidence is needed for them."""
    return rows["median"] * rows["side"].map(SIDES).fillna(1.0)


def _order(frame: pd.DataFrame) -> list[str]:
    """Return the groups, those that need most evidence for their highest rating first."""
    highest = _outward(frame).groupby(frame["group"], sort=False).max()
    return [str(g) for g in highest.sort_values(ascending=False, kind="stable").index]


def _highest(rows: pd.DataFrame, group: str) -> float:
    return float(_outward(rows[rows["group"] == group]).max())


def _limits(rows: pd.DataFrame) -> tuple[float, float]:
    """Return limits that hold every median and all but the most extreme ends of intervals."""
    low = min(rows["median"].min(), np.quantile(rows["lower"], 1 - WITHIN))
    high = max(rows["median"].max(), np.quantile(rows["upper"], WITHIN))
    if (rows["side"] != "").any():
        high = max(-low, high)
        low = -high
    elif low >= 0:
        low = 0.0
    margin = 0.03 * (high - low or 1.0)
    return float(low - margin), float(high + margin)


def _frame(axes: Axes, content: Criteria, names: list[str]) -> None:
    n = len(content.shown)
    tidy(axes)
    axes.spines["left"].set_visible(False)
    axes.set_ylim(-0.65, n - 0.35)
    axes.set_yticks(np.arange(n)[::-1], names, fontsize=TEXT, color=INK)
    axes.tick_params(axis="y", length=0, pad=3)
    axes.hlines(np.arange(n), 0, 1, transform=axes.get_yaxis_transform(), color=LIGHT, linewidth=0.5, zorder=0)
    if content.task != "open":
        axes.axvline(0, color=GRAY, linewidth=0.7, zorder=1)


def _marks(axes: Axes, rows: pd.DataFrame, y: Floats) -> None:
    """Draw medians and intervals, each as one path, and arrows where an interval leaves the axis."""
    low, high = axes.get_xlim()
    gap = np.full(len(rows), np.nan)
    lower, upper = rows["lower"].to_numpy(), rows["upper"].to_numpy()
    x = np.column_stack([np.clip(lower, low, high), np.clip(upper, low, high), gap]).ravel()
    axes.plot(x, np.column_stack([y, y, gap]).ravel(), color=BLUE, linewidth=0.8, alpha=0.55, zorder=3)
    axes.plot(
        rows["median"], y, "o", color=BLUE, markersize=2.6, markeredgecolor="white", markeredgewidth=0.25, zorder=4
    )
    for out, edge, marker in ((upper > high, high, ">"), (lower < low, low, "<")):
        axes.plot(np.full(int(out.sum()), edge), y[out], marker, color=BLUE, markersize=2.4, clip_on=False, zorder=5)


def _confidences(axes: Axes, rows: pd.DataFrame, y: Floats, *, inches: float) -> None:
    """Write the confidence above each dot where there is room, those of the highest ratings first."""
    low, high = axes.get_xlim()
    for row in np.unique(y):
        mine = rows[y == row]
        taken: list[tuple[float, float]] = []
        for at in np.argsort(-mine["confidence"].to_numpy(), kind="stable"):
            median, text = float(mine["median"].iloc[at]), f"{mine['confidence'].iloc[at]:g}"
            centre = (median - low) / (high - low) * inches
            half = len(text) * letter_inches(TINY) / 2 + 0.02
            if all(centre + half < a or centre - half > b for a, b in taken):
                taken.append((centre - half, centre + half))
                axes.text(median, row + 0.18, text, fontsize=TINY, color=INK, ha="center", va="bottom", zorder=6)


def _words(axes: Axes, content: Criteria, left: float, width: float, height: float) -> None:
    """Write what the axis measures, in words that fit, and above it which answers lie where."""
    words = AXES.get(content.task, ("evidence",))
    noise = [f"{words[0]} ({noise_words(content.noise)})"] if content.noise and content.task == "mafc" else []
    room = 2 * min((left + width - 0.12) / 2, width - (left + width - 0.12) / 2) - 0.1
    axes.set_xlabel(first_that_fits([*noise, *words], room), fontsize=TEXT, color=INK, labelpad=3)
    for text, x, align in zip(ARROWS.get(content.task, ()), (0.49, 0.51), ("right", "left"), strict=False):
        style = {"transform": axes.transAxes, "fontsize": SMALL, "color": INK, "ha": align, "va": "bottom"}
        axes.text(x, 1 + 0.02 / height, text, **style)


def _selection(content: Criteria) -> str:
    n, shown = content.n_groups, len(content.shown)
    return "" if n == shown else f" Shown are {shown:,} of {n:,} groups, evenly spaced by that rank."


def _head(content: Criteria, width: float, *, labelled: bool) -> Head:
    mass = f"{100 * content.interval:g} %"
    lines = [f"Dot: median of a criterion, line: {mass} interval. Sorted by the outermost criterion."]
    if labelled:
        lines[0] += " Numbers: the confidence that starts there; where dots are too close, the highest."
    if _selection(content):
        lines.append(f"{len(content.shown):,} of {content.n_groups:,} groups, evenly spaced by rank.")
    return head_of(width, "Confidence criteria", lines)
