"""Differences of the levels of a factor from a baseline: among what was observed, and for a new unit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from hmeta.core.errors import DataError
from hmeta.infer.contrast import contrast
from hmeta.infer.contrast_tables import NEW, OBSERVED, Contrasts
from hmeta.infer.fitted import default_unit
from hmeta.infer.intervals import NAMES
from hmeta.infer.parameter_words import words_of
from hmeta.report.card import Card, Options, Words
from hmeta.report.inputs import FitInput, factors_of
from hmeta.report.interval_rows import (
    ROW,
    Numbers,
    inches_of,
    minus,
    name_rows,
    rows_figure,
    share_text,
    signed,
    write_numbers,
)
from hmeta.report.observed import evenly_spaced
from hmeta.report.scale_levels import natural_order
from hmeta.report.style import BLUE, GRAY, INK, SMALL, TEXT, YELLOW, Head, head_of, letters_in

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CARD = Card(
    "differences between the levels of a factor and a baseline, observed and for a new unit, with probabilities",
    reads="fit",
    options=("by", "baseline", "parameter", "interval", "kind", "rope"),
)

MOST_LEVELS = 50
"""More rows than this cannot be read."""

CLEAR = 0.97
"""From this probability the alternative text counts a direction as known."""

APART = 0.118
"""Inches between the two differences of one level."""

GAP = 0.2
ROPE_ALPHA = 0.16
NUMBERS = (("median", 0.38), ("P of\ndirection", 0.88), ("P in\nROPE", 1.32))
NUMBERS_INCHES = 1.38
HEADS_INCHES = 0.28


@dataclass(frozen=True)
class Content:
    """What is drawn.

    Attributes
    ----------
    found : Contrasts
        All differences and levels.
    shown : DataFrame
        The rows of `found.contrasts` that are drawn, from the top.
    unit : str
        Who answered, for "a new model".
    noise : str
        What M depends on.
    """

    found: Contrasts
    shown: pd.DataFrame
    unit: str
    noise: str

    @property
    def has_new(self) -> bool:
        """Whether there are predictions for a new unit."""
        return bool((self.shown["estimand"] == NEW).any())

    @property
    def n_levels(self) -> int:
        """How many levels are compared with the baseline."""
        return int(self.found.contrasts["level"].nunique())


def read(source: FitInput, options: Options) -> Content:
    """Return the differences from a baseline; by default of the first factor, beside who answered, that they differ by.

    Raises
    ------
    DataError
        Where nothing can be compared, or the fit has no such factor, level or parameter.
    """
    found = _first_possible(source, options)
    fitted = source.headline
    order = _order(found)
    shown = found.contrasts[found.contrasts["level"].isin(order)]
    rank = {level: i for i, level in enumerate(order)}
    place = [2 * rank[v] + (e == NEW) for v, e in zip(shown["level"], shown["estimand"], strict=True)]
    shown = shown.iloc[np.argsort(place, kind="stable")].reset_index(drop=True)
    return Content(found, shown, _new_unit(found), fitted.noise if found.parameter == "M" else "")


def draw(content: Content, width: float) -> Figure:
    """Return the figure: of each level the observed difference (filled) above that for a new unit (hollow)."""
    found, rows = content.found, content.shown
    heights = _heights(rows)
    levels = list(dict.fromkeys(rows["level"]))
    head = _head(content, width)
    figure, axes, labels = rows_figure(
        width, head, levels, heights[0], numbers=NUMBERS_INCHES, converged=found.converged, above=HEADS_INCHES
    )
    _limits(axes, content)
    _region(axes, content)
    for y, row in zip(heights, rows.to_dict("records"), strict=True):
        _mark(axes, y, row)
    middles = [
        float(np.mean([y for y, v in zip(heights, rows["level"], strict=True) if v == level])) for level in levels
    ]
    name_rows(axes, middles, labels)
    write_numbers(axes, heights, _numbers(rows))
    name = _name(found)
    measured = f"difference in {name} from {found.baseline}"
    fits = len(measured) < letters_in(inches_of(axes)[0] + 0.8, 1.08 * TEXT)
    axes.set_xlabel(
        measured if fits else f"difference in {name} from the baseline", fontsize=TEXT, color=INK, labelpad=3
    )
    return figure


def describe(content: Content) -> Words:
    """Return the caption and the alternative text."""
    found, rows = content.found, content.shown
    n = found.contrasts.loc[found.contrasts["estimand"] == OBSERVED, "n"]
    mass = f"{100 * found.interval:g} % {NAMES[found.kind]} interval"
    noise = f" ({content.noise})" if content.noise else ""
    span = f"{n.min():,}" if n.min() == n.max() else f"{n.min():,} to {n.max():,}"
    answers = int(found.levels["n_answers"].sum())
    name = words_of(found.parameter).title if noise else _name(found)
    caption = [
        f"Difference in {name}{noise} between each level of {found.by} and {found.baseline}: posterior "
        f"median and {mass}. Filled: the average over the combinations of the other factors observed under "
        f"both levels (n = {span}; {answers:,} answers under all levels)."
    ]
    if content.has_new:
        caption.append(f"Hollow: the prediction for a {content.unit} that was not observed.")
    caption.append("P of direction: posterior probability that the difference has the sign of its median.")
    if found.rope is not None:
        caption.append(minus(f"P in ROPE: that it lies in the band, from {found.rope[0]:g} to {found.rope[1]:g}."))
    if content.n_levels > len(set(rows["level"])):
        caption.append(
            f"Shown are {rows['level'].nunique()} of {content.n_levels} levels, evenly spaced by rank of difference."
        )
    return Words(" ".join(caption), _alt(content))


def _alt(content: Content) -> str:
    found = content.found
    observed = found.contrasts[found.contrasts["estimand"] == OBSERVED].sort_values("median")
    ends = [
        minus(f"{row['median']:.2f} ({row['level']}, interval {row['lower']:.2f} to {row['upper']:.2f})")
        for row in (observed.iloc[0], observed.iloc[-1])
    ]
    sure = int((observed["p_direction"] >= CLEAR).sum())
    if len(observed) == 1:
        p = share_text(float(observed["p_direction"].iloc[0]))
        return f"Difference in {found.parameter} of {found.by} from {found.baseline}: {ends[0]}; P of direction {p}."
    return (
        f"Differences in {found.parameter} of {len(observed)} levels of {found.by} from {found.baseline}, observed "
        f"ones from {ends[0]} to {ends[1]}; the direction of {sure} has a probability of at least {CLEAR:g}."
    )


def _first_possible(source: FitInput, options: Options) -> Contrasts:
    """Return the contrasts by the factor that was asked for, or by the first that the parameter can differ by."""
    beside = factors_of(source)
    candidates = [options.by] if options.by is not None else beside
    if not candidates:
        unit = default_unit(source.headline)
        raise DataError(
            "the fit has no factor of two or more levels beside who answered",
            where=source.file,
            mend=f"compare the levels of {unit} themselves: --by {unit}" if unit else "fit data with several cells",
        )
    refused: list[DataError] = []
    for by in candidates:
        try:
            return contrast(
                source.tree,
                by,
                baseline=options.baseline,
                parameter=options.parameter,
                rope=options.rope,
                interval=options.interval,
                kind=options.kind,
            )
        except DataError as error:
            refused.append(error)
    raise refused[0]


def _order(found: Contrasts) -> list[str]:
    """Return the levels from the top: scales by how many levels they have, numbers as such, others by difference."""
    observed = found.contrasts[found.contrasts["estimand"] == OBSERVED]
    levels = [str(level) for level in observed["level"]]
    by_difference = [levels[i] for i in np.argsort(-observed["median"].to_numpy(), kind="stable")]
    if len(levels) > MOST_LEVELS:
        return [by_difference[i] for i in evenly_spaced(len(levels), MOST_LEVELS)]
    return natural_order(levels) or by_difference


def _new_unit(found: Contrasts) -> str:
    """Return what "a new model" of the predictions is called."""
    of = found.contrasts.loc[found.contrasts["estimand"] == NEW, "of"]
    return str(of.iloc[0]).split(",")[0].removeprefix("a new ") if len(of) else "unit"


def _name(found: Contrasts) -> str:
    """Return what the parameter is called, without its definition: M, AUROC2 of the fitted curve."""
    return words_of(found.parameter).title.split(" = ")[0].split(" (")[0]


def _heights(rows: pd.DataFrame) -> list[float]:
    """Return the height of each row, from the top; the two of a level stand together."""
    y, out = 0.0, []
    levels = list(rows["level"])
    for i in range(len(rows) - 1, -1, -1):
        out.append(y)
        y += APART if i and levels[i - 1] == levels[i] else GAP if len(rows) > rows["level"].nunique() else ROW
    return out[::-1]


def _mark(axes: Axes, y: float, row: dict) -> None:
    hollow = row["estimand"] == NEW
    axes.plot([row["lower"], row["upper"]], [y, y], color=BLUE, linewidth=0.8 if hollow else 1.6, zorder=3)
    face = "white" if hollow else BLUE
    marker = {"marker": "s" if hollow else "o", "markersize": 3.4 if hollow else 4.0, "markeredgewidth": 0.8}
    axes.plot(row["median"], y, color=BLUE, markerfacecolor=face, markeredgecolor=BLUE, zorder=4, **marker)


def _region(axes: Axes, content: Content) -> None:
    """Draw the line at 0 and the region of practical equivalence."""
    axes.axvline(0, color=INK, linewidth=0.7, zorder=1)
    rope = content.found.rope
    if rope is not None:
        axes.axvspan(*rope, color=YELLOW, alpha=ROPE_ALPHA, linewidth=0, zorder=0)
        above = {"fontsize": SMALL, "color": GRAY, "ha": "center", "va": "baseline"}
        at = (sum(rope) / 2, 1 + 0.06 / inches_of(axes)[1])
        axes.text(*at, "ROPE", transform=axes.get_xaxis_transform(), **above)


def _numbers(rows: pd.DataFrame) -> list[Numbers]:
    texts = [
        [signed(x) for x in rows["median"]],
        [share_text(p) for p in rows["p_direction"]],
        [share_text(p) for p in rows["p_rope"]] if "p_rope" in rows else [],
    ]
    return [Numbers(head, end, t) for (head, end), t in zip(NUMBERS, texts, strict=True) if t]


def _limits(axes: Axes, content: Content) -> None:
    rows, rope = content.shown, content.found.rope or (0.0, 0.0)
    ends = np.array([rows["lower"].min(), rows["upper"].max()], dtype=float)
    ends = np.array([min(np.nanmin([ends[0], 0.0]), rope[0]), max(np.nanmax([ends[1], 0.0]), rope[1])])
    margin = 0.05 * max(ends[1] - ends[0], 1e-6)
    axes.set_xlim(ends[0] - margin, ends[1] + margin)


def _head(content: Content, width: float) -> Head:
    found = content.found
    new = f" Square, hollow: a new {content.unit}." if content.has_new else ""
    lines = [f"Dot: average over what was observed, {100 * found.interval:g} % interval.{new}"]
    if found.rope is not None:
        lines.append(minus(f"Band: region of practical equivalence (ROPE), {found.rope[0]:g} to {found.rope[1]:g}."))
    if content.noise:
        lines.append(f"{words_of(found.parameter).title}, {content.noise}.")
    shown = content.shown["level"].nunique()
    if content.n_levels > shown:
        lines.append(f"{shown} of {content.n_levels} levels, evenly spaced by rank.")
    return head_of(width, f"Difference in {_name(found)} from {found.by} {found.baseline}", lines)
