"""Several studies side by side, what they say together, and what one more study would find."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmeta.core.errors import DataError
from hmeta.infer.compare import compare_fits
from hmeta.infer.compare_tables import ALL, Comparison
from hmeta.infer.intervals import NAMES
from hmeta.infer.parameter_words import words_of
from hmeta.infer.pooling import Estimate
from hmeta.report.card import Card, Options, Words
from hmeta.report.inputs import FitInput
from hmeta.report.interval_rows import ROW, Numbers, inches_of, minus, name_rows, rows_figure, write_numbers
from hmeta.report.scale_levels import natural_order
from hmeta.report.style import BLUE, GRAY, INK, ORANGE, RED, SMALL, TEXT, TINY, Head, head_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CARD = Card(
    "several fits side by side, their average, and the prediction for one more study",
    reads="fits",
    options=("by", "parameter", "baseline", "interval", "kind", "rope", "tau_scale"),
)

STUDY, MEAN, NEW, LEVEL = "study", "mean", "new study", "level"
NAMES_OF = {MEAN: "mean of studies", NEW: "new study"}
COLUMNS = (("median", 0.38), ("units", 0.74), ("answers", 1.2))
NUMBERS_INCHES = 1.26
MOST_TOLD = 10
"""More studies than this are not read out one by one."""

DIAMOND = 0.045
"""Half the height in inches."""

ROOM_FOR_WORDS = 1.6


@dataclass(frozen=True)
class Studies:
    """What is drawn.

    Attributes
    ----------
    found : Comparison
        Studies, differences and pooling.
    rows : DataFrame
        From the top: row (level, study, mean, new study), label, level, median, lower, upper, shrunken, n_units,
        n_answers, converged; `shrunken` is the median of the study's true value given all studies.
    """

    found: Comparison
    rows: pd.DataFrame


def read(source: Sequence[FitInput], options: Options) -> Studies:
    """Return fits side by side.

    Raises
    ------
    DataError
        For fewer than two fits, and fits that do not estimate the same quantity.
    """
    if len(source) < 2:
        raise DataError("a comparison needs two or more fits", received=str(len(source)), mend="name several fits")
    found = compare_fits(
        {fit.name: fit.tree for fit in source},
        parameter=options.parameter,
        by=options.by,
        baseline=options.baseline,
        rope=options.rope,
        interval=options.interval,
        kind=options.kind,
        tau_scale=options.tau_scale,
    )
    return from_comparison(found)


def from_comparison(found: Comparison) -> Studies:
    """Return what is drawn of a comparison."""
    return Studies(found, pd.DataFrame(_rows(found)))


def draw(content: Studies, width: float) -> Figure:
    """Return the figure: studies by level, below them their mean and the prediction for a new study."""
    found, rows = content.found, content.rows
    heights = _heights(rows)
    figure, axes, labels = rows_figure(
        width,
        _head(content, width),
        list(rows["label"]),
        heights[0],
        numbers=NUMBERS_INCHES,
        converged=found.converged,
    )
    _limits(axes, content)
    _reference(axes, found)
    for y, row in zip(heights, rows.to_dict("records"), strict=True):
        _mark(axes, y, row)
    named = [i for i in range(len(rows)) if rows["row"].iloc[i] != LEVEL]
    colors = [_color_of_name(row) for row in rows.iloc[named].to_dict("records")]
    name_rows(axes, [heights[i] for i in named], [labels[i] for i in named], colors=colors)
    write_numbers(axes, [heights[i] for i in named], _numbers(rows.iloc[named]))
    axes.set_xlabel(_measured(found), fontsize=TEXT, color=INK, labelpad=3)
    return figure


def describe(content: Studies) -> Words:
    """Return the caption and the alternative text."""
    found, table = content.found, content.found.table
    noise = ", ".join(dict.fromkeys(str(text) for text in table["noise"] if text)) if found.parameter == "M" else ""
    n = table["study"].nunique()
    caption = [
        f"{words_of(found.parameter).title.split(' (')[0]}{f' ({noise})' if noise else ''} in {n} studies"
        f"{f', by {found.by}' if found.by else ''}: dot, the average over each study's observed cells, with "
        f"{100 * found.interval:g} % {NAMES[found.kind]} interval (n = {int(table['n_answers'].sum()):,} answers)."
    ]
    if found.pooled:
        caption.append(
            "Diamond: the mean of studies like these (random effects); hollow square: the prediction for one more "
            "study. Grey ticks: each study's true value given all studies (median)."
        )
        spreads = [f"{_at(level)}{_told(one.spread)}" for level, one in found.pooled.items()]
        caption.append(f"Standard deviation between studies: {'; '.join(spreads)}.")
    if not found.converged:
        names = table.loc[~table["converged"], "study"].unique()
        caption.append(f"Not converged: {', '.join(names)} (names in red).")
    rows = content.rows[content.rows["row"] != LEVEL]
    if found.by or n > MOST_TOLD:
        rows = rows[rows["row"] != STUDY]
    parts = [
        f"{row['label']}{f' at {row["level"]}' if found.by else ''} "
        + _told(Estimate(row["median"], np.nan, row["lower"], row["upper"]))
        for row in rows.to_dict("records")
    ]
    return Words(" ".join(caption), f"{n} studies of {found.parameter}: {'; '.join(parts)}.")


def _told(one: Estimate) -> str:
    """Return an estimate in words: "0.65 (0.41 to 0.90)"."""
    return minus(f"{one.median:.2f} ({one.lower:.2f} to {one.upper:.2f})")


def _at(level: str) -> str:
    return "" if level == ALL else f"{level} "


def _rows(found: Comparison) -> list[dict[str, Any]]:
    shrunken = found.shrunken_table()
    known = {(r["level"], r["study"]): r["median"] for r in shrunken.to_dict("records")} if len(shrunken) else {}
    blank: dict[str, Any] = {"shrunken": np.nan, "n_units": None, "n_answers": None, "converged": True}
    numbers = dict.fromkeys(("median", "lower", "upper"), np.nan)
    out: list[dict[str, Any]] = []
    levels = [str(level) for level in found.table["level"].unique()]
    for level in natural_order(levels) or levels:
        rows = found.table[found.table["level"] == level]
        if found.by is not None:
            out.append({"row": LEVEL, "label": "", "level": level, **numbers, **blank})
        for row in rows.to_dict("records"):
            facts = {name: row[name] for name in ("median", "lower", "upper", "n_answers", "converged")}
            units = None if pd.isna(row["n_units"]) else int(row["n_units"])
            own = {"shrunken": known.get((level, row["study"]), np.nan), "n_units": units}
            out.append({"row": STUDY, "label": row["study"], "level": level, **facts, **own})
        if level in found.pooled:
            pooled = found.pooled[level]
            for kind, one in ((MEAN, pooled.mean), (NEW, pooled.new)):
                facts = {"median": one.median, "lower": one.lower, "upper": one.upper}
                out.append({"row": kind, "label": NAMES_OF[kind], "level": level, **facts, **blank})
    return out


def _heights(rows: pd.DataFrame) -> list[float]:
    """Return the height of each row, from the top, with a little room before means and between levels."""
    kinds, y, out = list(rows["row"]), 0.0, []
    for i in range(len(kinds) - 1, -1, -1):
        out.append(y)
        apart = kinds[i] == LEVEL or (kinds[i] == MEAN and i > 0)
        y += ROW * (1.45 if apart else 1.0)
    return out[::-1]


def _mark(axes: Axes, y: float, row: dict) -> None:
    ends = [row["lower"], row["upper"]]
    if row["row"] == LEVEL:
        at = {"transform": axes.get_yaxis_transform(), "ha": "left", "va": "center_baseline"}
        axes.text(0.0, y, str(row["level"]), fontsize=SMALL, fontweight="bold", color=INK, **at)
    elif row["row"] == MEAN:
        x = [ends[0], row["median"], ends[1], row["median"]]
        axes.fill(x, [y, y + DIAMOND, y, y - DIAMOND], color=ORANGE, linewidth=0, zorder=3)
    elif row["row"] == NEW:
        axes.plot(ends, [y, y], color=ORANGE, linewidth=1.0, zorder=3)
        face = {"markerfacecolor": "white", "markeredgecolor": ORANGE, "markeredgewidth": 0.9}
        axes.plot(row["median"], y, "s", markersize=4.0, zorder=4, **face)
    else:
        axes.plot(ends, [y, y], color=BLUE, linewidth=1.4, zorder=3)
        face = BLUE if row["converged"] else "white"
        axes.plot(
            row["median"], y, "o", color=BLUE, markerfacecolor=face, markeredgewidth=0.8, markersize=4.0, zorder=5
        )
        if np.isfinite(row["shrunken"]):
            low = y - 0.055
            axes.plot([row["shrunken"]] * 2, [low - 0.02, low + 0.03], color=GRAY, linewidth=1.2, zorder=4)


def _color_of_name(row: dict) -> str:
    if row["row"] != STUDY:
        return ORANGE
    return INK if row["converged"] else RED


def _numbers(rows: pd.DataFrame) -> list[Numbers]:
    texts = (
        [minus(f"{x:.2f}") for x in rows["median"]],
        ["" if pd.isna(n) else f"{int(n):,}" for n in rows["n_units"]],
        ["" if pd.isna(n) else f"{int(n):,}" for n in rows["n_answers"]],
    )
    return [Numbers(head, end, text) for (head, end), text in zip(COLUMNS, texts, strict=True)]


def _reference(axes: Axes, found: Comparison) -> None:
    """Draw the line that the quantity is read against, and 0."""
    words = words_of(found.parameter)
    low, high = axes.get_xlim()
    if low < 0 < high:
        axes.axvline(0, color=GRAY, linewidth=0.5, zorder=1)
    if words.mark is not None and low < words.mark < high:
        axes.axvline(words.mark, color=INK, linewidth=0.7, linestyle=(0, (4, 3)), zorder=1)
        across, tall = inches_of(axes)
        share = (words.mark - low) / (high - low)
        if across > ROOM_FOR_WORDS:
            align = "right" if share > 0.6 else "left" if share < 0.4 else "center"
            at = {"transform": axes.get_xaxis_transform(), "fontsize": TINY, "ha": align, "va": "baseline"}
            axes.text(words.mark, 1 + 0.06 / tall, words.mark_text, color=INK, **at)


def _limits(axes: Axes, content: Studies) -> None:
    rows = content.rows
    low, high = float(rows["lower"].min()), float(rows["upper"].max())
    mark = words_of(content.found.parameter).mark
    spread = max(high - low, 0.02)
    if mark is not None and low - spread < mark < high + spread:
        low, high = min(low, mark), max(high, mark)
    margin = 0.05 * max(high - low, 0.02)
    axes.set_xlim(low - margin, high + margin)


def _measured(found: Comparison) -> str:
    noise = list(dict.fromkeys(str(text) for text in found.table["noise"] if text))
    beside = f", {noise[0]}" if found.parameter == "M" and len(noise) == 1 else ""
    return words_of(found.parameter).title.split(" (")[0] + beside


def _head(content: Studies, width: float) -> Head:
    found = content.found
    lines = [f"Dot: average over a study's observed cells, {100 * found.interval:g} % interval."]
    if found.pooled:
        lines.append("Diamond: mean of studies; square: prediction for one more; grey tick: study, shrunken.")
    heading = f"{words_of(found.parameter).heading} by study"
    return head_of(width, heading + (f" and {found.by}" if found.by else ""), lines)
