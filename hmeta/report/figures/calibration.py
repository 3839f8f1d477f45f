"""What post-hoc calibration does: ECE and Brier score before and after, with what the base rate alone would give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from hmeta.calibrate.comparison import MEASURES
from hmeta.calibrate.recalibrate import recalibrate
from hmeta.report.answering_units import JOIN, counted
from hmeta.report.card import Card, Options, Words
from hmeta.report.inputs import ResultsInput
from hmeta.report.style import (
    BLUE,
    GRAY,
    INK,
    LIGHT,
    ORANGE,
    SMALL,
    TEXT,
    Head,
    axes_at,
    head_of,
    letters_in,
    new_figure,
    shorten,
    words_above,
)
from hmeta.report.ticks import ticks_between
from hmeta.trials.scales import is_rating, span
from hmeta.trials.tables import scale_frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CARD = Card("ECE and Brier score of each unit before and after cross-fitted post-hoc calibration", reads="results")

METHOD = "beta"
MOST_ROWS = 40
"""Of more units, those are shown whose ECE changes most."""

ROW_INCHES, FOOT_INCHES, BETWEEN, RIGHT = 0.148, 0.38, 0.14, 0.12
NAMES_SHARE = 0.36


@dataclass(frozen=True)
class Recalibration:
    """What is drawn.

    Attributes
    ----------
    units : DataFrame
        unit, n, accuracy, ece_before, ece_after, brier_before, brier_after, brier_base (of always stating the share of
        right answers), change (of the ECE), reason (why there is no map, else ""); in the order of `ece_before`, the
        largest first. All units, also those that are not shown.
    by : str
    judged : str
        On which answers, in words.
    cautions, notes : tuple of str
    """

    units: pd.DataFrame
    by: str
    judged: str
    cautions: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def shown(self) -> pd.DataFrame:
        """The units drawn: all of them, or the `MOST_ROWS` that change most, in the order of `units`."""
        if len(self.units) <= MOST_ROWS:
            return self.units
        order = self.units["change"].abs().fillna(-1.0).sort_values(ascending=False, kind="stable")
        return self.units.loc[sorted(order.index[:MOST_ROWS])]

    @property
    def mapped(self) -> pd.DataFrame:
        """Units that have a map."""
        return self.units[self.units["reason"] == ""]


def read(source: ResultsInput, options: Options) -> Recalibration:
    """Calibrate a results file with cross-fitting, and return the measures before and after.

    Raises
    ------
    DataError
        Where no scale is declared, the confidence is calibrated already, or no unit can have a map.
    """
    del options
    done = recalibrate(source.dataset, method=METHOD)
    both = done.comparison
    keys = [str(c) for c in both.columns[: list(both.columns).index("when")]]
    telling = [key for key in keys if both[key].nunique() > 1] or keys
    names = both[telling].astype(str).agg(JOIN.join, axis=1) if telling else pd.Series(source.name, index=both.index)
    frame = both.assign(unit=names)
    before, after = (frame[frame["when"] == when].set_index("unit") for when in ("before", "after"))
    units = before[["n", "accuracy", "reason"]].assign(
        ece_before=before["ece"],
        ece_after=after["ece"],
        brier_before=before["brier"],
        brier_after=after["brier"],
        brier_base=before["brier_uncertainty"],
    )
    units["change"] = units["ece_after"] - units["ece_before"]
    units = units.sort_values("ece_before", ascending=False, kind="stable").reset_index()
    notes = [note for note in done.notes if not note.startswith(("no map", "AUROC2"))]
    notes += _ratings(source)
    return Recalibration(units, ", ".join(telling) or "file", done.judged, done.cautions, tuple(notes))


def draw(content: Recalibration, width: float) -> Figure:
    """Return the figure: a row a unit, ECE on the left, Brier score on the right."""
    shown, head = content.shown, _head(content, width)
    labels = shorten(list(map(str, shown["unit"])), letters_in(NAMES_SHARE * width))
    names = max(map(len, labels)) / letters_in(1.0) + 0.1
    rows = ROW_INCHES * len(shown)
    figure = new_figure(width, head.height + rows + FOOT_INCHES)
    side = (width - names - BETWEEN - RIGHT) / 2
    heights = np.arange(len(shown))[::-1]
    for number, (name, title) in enumerate(
        (("ece", f"ECE ({MEASURES['ece']['bins']} bins)"), ("brier", "Brier score"))
    ):
        axes = axes_at(figure, names + number * (side + BETWEEN), FOOT_INCHES, side, rows)
        _dumbbells(axes, shown, heights, name)
        _tidy(axes, title)
        axes.set_yticks(heights, labels if number == 0 else [], fontsize=TEXT)
        for tick, reason in zip(axes.get_yticklabels(), shown["reason"], strict=False):
            tick.set_color(GRAY if reason else INK)
    words_above(figure, head)
    return figure


def describe(content: Recalibration) -> Words:
    """Return the caption with every caution, and the alternative text."""
    units, mapped = content.units, content.mapped
    n = units["n"].sum()
    caption = [
        f"ECE and Brier score of {counted(len(units))} (by {content.by}), {n:,.0f} answers, before (hollow) and after "
        f"(filled) post-hoc calibration by the method {METHOD}, judged {content.judged}; both would be 0 at best. "
        "Tick: the Brier score of always stating the unit's share of right answers; a filled dot there says no more. "
        "Orange: larger after than before."
    ]
    if len(units) > MOST_ROWS:
        caption.append(f"Shown: the {MOST_ROWS} units whose ECE changes most.")
    lacking = units[units["reason"] != ""]
    if len(lacking):
        reasons = lacking.groupby("reason")["unit"].size().sort_values(ascending=False, kind="stable")
        told = "; ".join(f"{reason} ({count})" for reason, count in reasons.items())
        caption.append(f"Grey: no map for {counted(len(lacking))}: {told}.")
    caption += [f"Caution: {text}." for text in content.cautions]
    caption += [f"{note[:1].upper()}{note[1:]}." for note in content.notes]
    lower = {name: int((mapped[f"{name}_after"] < mapped[f"{name}_before"]).sum()) for name in ("ece", "brier")}
    useless = int((mapped["brier_after"] >= mapped["brier_base"]).sum())
    medians = [mapped[name].median() for name in ("ece_before", "ece_after")]
    alt = (
        f"Calibration of {counted(len(units))}, {n:,.0f} answers: the median ECE goes from {medians[0]:.3f} to "
        f"{medians[1]:.3f}; ECE falls for {lower['ece']} and the Brier score for {lower['brier']} of {len(mapped)} "
        f"with a map; {useless} of them are then no better than stating their share of right answers."
    )
    return Words(" ".join(caption), alt)


def _ratings(source: ResultsInput) -> list[str]:
    """Say where ratings are read as probabilities before they are calibrated."""
    scales = scale_frame(source.dataset)
    if scales is None or not is_rating(scales).any():
        return []
    return [f"before: the ratings {span(scales[is_rating(scales)])} are read as equally spaced from 0 to 1"]


def _head(content: Recalibration, width: float) -> Head:
    shown = content.shown
    lines = ["Hollow: as stated; filled: after calibration, on held-out answers; tick: always stating the share right."]
    if any((shown[f"{name}_after"] > shown[f"{name}_before"]).any() for name in ("ece", "brier")):
        lines.append("Orange: larger after than before.")
    if len(content.units) > MOST_ROWS:
        lines.append(f"The {MOST_ROWS} of {len(content.units)} units whose ECE changes most.")
    if (shown["reason"] != "").any():
        lines.append("Grey: no map could be fitted.")
    return head_of(width, f"Calibration error before and after a {METHOD} map, by {content.by}", lines)


def _dumbbells(axes: Axes, shown: pd.DataFrame, heights: np.ndarray, name: str) -> None:
    """Draw a line from before to after in the colour of its direction, and the base rate's tick."""
    from matplotlib.collections import LineCollection

    before, after = shown[f"{name}_before"].to_numpy(), shown[f"{name}_after"].to_numpy()
    mapped = (shown["reason"] == "").to_numpy()
    worse = mapped & (after > before)
    for which, color in ((mapped & ~worse, BLUE), (worse, ORANGE)):
        ends = zip(before[which], after[which], heights[which], strict=True)
        lines = [[(a, y), (b, y)] for a, b, y in ends]
        axes.add_collection(LineCollection(lines, colors=color, linewidths=1.0, alpha=0.6, zorder=2), autolim=False)
        axes.plot(
            after[which], heights[which], "o", color=color, markersize=3.4, markeredgewidth=0, zorder=4, clip_on=False
        )
        _hollow(axes, before[which], heights[which], color)
    _hollow(axes, before[~mapped], heights[~mapped], GRAY)
    if name == "brier":
        axes.plot(shown["brier_base"], heights, "|", color=INK, markersize=6, markeredgewidth=0.9, zorder=5)
    drawn = np.r_[before, after, shown["brier_base"].to_numpy() if name == "brier" else []]
    axes.set_xlim(0, 1.06 * float(np.nanmax(np.r_[drawn, 0.02])))
    axes.set_ylim(-0.7, len(shown) - 0.3)


def _hollow(axes: Axes, x: np.ndarray, y: np.ndarray, color: str) -> None:
    face = {"markerfacecolor": "white", "markeredgecolor": color, "markeredgewidth": 0.8}
    axes.plot(x, y, "o", markersize=4.2, zorder=3, clip_on=False, **face)


def _tidy(axes: Axes, title: str) -> None:
    for side in ("left", "right", "top"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(GRAY)
    axes.set_xticks(ticks_between(*axes.get_xlim(), 4))
    axes.tick_params(axis="x", labelsize=SMALL, color=GRAY, labelcolor=INK, width=0.6, length=2.5, pad=2)
    axes.tick_params(axis="y", length=0, pad=3)
    axes.grid(axis="x", color=LIGHT, linewidth=0.5, zorder=-1)
    axes.set_axisbelow(True)
    axes.set_xlabel(title, fontsize=TEXT, color=INK, labelpad=3)
