"""What was assumed and what the data added: each prior beside the posterior of the same number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from hmeta.core.errors import DataError
from hmeta.infer.intervals import MASS
from hmeta.infer.prior_table import prior_table
from hmeta.report.card import Card, Options, Words
from hmeta.report.facet_words import count
from hmeta.report.inputs import FitInput
from hmeta.report.interval_rows import (
    NAMES_SHARE,
    NARROWEST,
    ROW,
    WIDE,
    Numbers,
    minus,
    name_rows,
    write_numbers,
)
from hmeta.report.style import (
    BLUE,
    GRAY,
    INK,
    LIGHT,
    ORANGE,
    SMALL,
    TEXT,
    WARNING_INCHES,
    Head,
    axes_at,
    head_of,
    letters_in,
    new_figure,
    shorten,
    words_above,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CARD = Card("what the priors assumed and what the data added, for every prior of the fit", reads="fit")

SPREAD = "standard deviation of effects on "
PRIOR, PRIOR_EDGE = LIGHT, GRAY
"""Colours that a dark page turns dark (`hmeta.report.html_page.DARK`), so that the posterior stays seen."""
BETWEEN, ABOVE, FOOT = 0.36, 0.22, 0.4
COLUMN_GAP = 0.12
LEARNED_INCHES = 0.52
WIDE_FIGURE = 4.5
"""Inches from which there is room for the words of the priors."""


@dataclass(frozen=True)
class Priors:
    """What is drawn.

    Attributes
    ----------
    rows : DataFrame
        The columns of `hmeta.infer.prior_table.prior_table`, with `panel` (the scale of the shared axis), `name` and
        `beyond` (the posterior median lies outside the central 94 % of the prior).
    """

    rows: pd.DataFrame
    converged: bool

    @property
    def panels(self) -> list[str]:
        """The axes, from the top."""
        return list(dict.fromkeys(self.rows["panel"]))


def read(source: FitInput, options: Options) -> Priors:
    """Return the priors of a fit beside their posteriors.

    Raises
    ------
    DataError
        Where the fit holds no specification.
    """
    del options
    table = prior_table(source.tree)
    if not len(table):
        raise DataError("the fit has no priors", where=source.file, mend="fit it again: hmeta fit RESULTS -o fit.nc")
    inside = table["posterior_median"].between(table["prior_lower"], table["prior_upper"])
    rows = table.assign(
        panel=[str(on).removeprefix(SPREAD) for on in table["on"]],
        name=[_name(str(prior), str(level)) for prior, level in zip(table["prior"], table["level"], strict=True)],
        beyond=~inside & table["posterior_median"].notna(),
    )
    rank = {panel: i for i, panel in enumerate(dict.fromkeys(rows["panel"]))}
    rows = rows.sort_values("panel", key=lambda column: column.map(rank), kind="stable", ignore_index=True)
    return Priors(rows, source.converged)


def draw(content: Priors, width: float) -> Figure:
    """Return the figure: one axis a parameter, the prior grey and wide behind the posterior."""
    head, rows = _head(content, width), content.rows
    texts = max(len(str(text)) for text in rows["distribution"]) / letters_in(1.0, WIDE * SMALL)
    texts = texts if width >= WIDE_FIGURE else 0.0
    numbers = COLUMN_GAP + texts + LEARNED_INCHES
    room = max(min(NAMES_SHARE * width, width - numbers - NARROWEST), 0.6)
    labels = shorten(list(rows["name"]), letters_in(room, WIDE * TEXT))
    names = max(map(len, labels)) / letters_in(1.0, WIDE * TEXT) + 0.1
    tall = {panel: ROW * ((rows["panel"] == panel).sum() + 0.2) for panel in content.panels}
    foot = FOOT + (0.0 if content.converged else WARNING_INCHES)
    height = head.height + ABOVE + sum(tall.values()) + (BETWEEN + 0.06) * (len(tall) - 1) + foot
    figure = new_figure(width, height)
    top = height - head.height - ABOVE
    for i, panel in enumerate(content.panels):
        axes = axes_at(figure, names, top - tall[panel], width - names - numbers, tall[panel])
        mine = np.flatnonzero(rows["panel"] == panel)
        _panel(axes, rows.iloc[mine], [labels[row] for row in mine], panel, (texts, i == 0))
        top -= tall[panel] + BETWEEN + 0.06
    words_above(figure, head, converged=content.converged)
    return figure


def describe(content: Priors) -> Words:
    """Return the caption and the alternative text."""
    rows = content.rows
    beyond = rows[rows["beyond"]]
    known = rows[rows["shrinkage"].notna()]
    caption = [
        f"Priors (grey) and posteriors (dot, line) of {count(len(rows), 'number')}: medians and central "
        f"{100 * MASS:g} % intervals, on the scale on which each prior is stated; one axis a parameter.",
        "Learned: 1 − (posterior sd / prior sd)², near 1 where the data decide and near 0 where the prior does.",
    ]
    if len(beyond):
        caption.append("Orange: the posterior median lies outside the central interval of the prior.")
    alt = f"Priors beside posteriors of {count(len(rows), 'number')}."
    if len(known):
        least = known.nsmallest(1, "shrinkage").iloc[0]
        alt += (
            f" Least learned: {least['prior']} {least['level']}".rstrip()
            + minus(f" ({least['shrinkage']:.2f}); ")
            + f"{int((known['shrinkage'] > 0.9).sum())} of {len(known)} above 0.9. "
        )
    names = ", ".join(f"{prior} {level}".strip() for prior, level in zip(beyond["prior"], beyond["level"], strict=True))
    alt += f" Outside their priors: {names or 'none'}."
    return Words(" ".join(caption), " ".join(alt.split()))


def _name(prior: str, level: str) -> str:
    """Return the name of a row: the term without the parameter, which the axis names, and the level.

    Examples
    --------
    >>> _name("M.sd.participant", "condition[fine]"), _name("M.Intercept", ""), _name("criteria", "median of 9")
    ('sd participant, condition[fine]', 'Intercept', 'criteria, median of 9')
    """
    term = (prior.partition(".")[2] or prior).replace(".", " ")
    return f"{term}, {level}" if level else term


def _panel(axes: Axes, rows: pd.DataFrame, labels: list[str], panel: str, column: tuple[float, bool]) -> None:
    """Draw the rows of one axis; `column`: inches for the words of the priors, and whether heads stand above."""
    heights = [ROW * i for i in range(len(rows) - 1, -1, -1)]
    axes.set_ylim(-0.6 * ROW, heights[0] + 0.6 * ROW)
    for y, row in zip(heights, rows.to_dict("records"), strict=True):
        _mark(axes, y, row)
    ends = rows[["prior_lower", "prior_upper", "posterior_lower", "posterior_upper"]].to_numpy(dtype=np.float64)
    low, high = float(np.nanmin(ends)), float(np.nanmax(ends))
    margin = 0.04 * max(high - low, 1e-6)
    axes.set_xlim(low - margin, high + margin)
    if low < 0 < high:
        axes.axvline(0, color=GRAY, linewidth=0.5, zorder=1)
    name_rows(axes, heights, labels)
    axes.set_xlabel(_first_line(panel), fontsize=TEXT, color=INK, labelpad=2)
    inches, first = column
    learned = [minus(f"{x:.2f}") if np.isfinite(x) else "–" for x in rows["shrinkage"]]
    columns = [Numbers("learned" if first else "", COLUMN_GAP + inches + LEARNED_INCHES - 0.06, learned)]
    if inches:
        words = [str(text) for text in rows["distribution"]]
        columns.append(Numbers("prior" if first else "", COLUMN_GAP + inches, words))
    write_numbers(axes, heights, columns)


def _first_line(panel: str) -> str:
    """Return what an axis measures, without what its symbols mean."""
    return panel.split(", with")[0].replace(" - ", " − ")


def _mark(axes: Axes, y: float, row: dict) -> None:
    ends = [row["prior_lower"], row["prior_upper"]]
    axes.plot(ends, [y, y], color=PRIOR_EDGE, linewidth=4.8, solid_capstyle="butt", zorder=2)
    axes.plot(ends, [y, y], color=PRIOR, linewidth=3.9, solid_capstyle="butt", zorder=2.1)
    axes.plot(row["prior_median"], y, "|", color=GRAY, markersize=4.0, markeredgewidth=1.0, zorder=2.5)
    if np.isfinite(row["posterior_median"]):
        color = ORANGE if row["beyond"] else BLUE
        ends = [row["posterior_lower"], row["posterior_upper"]]
        axes.plot(ends, [y, y], color=color, linewidth=1.5, solid_capstyle="butt", zorder=3)
        axes.plot(row["posterior_median"], y, "o", color=color, markersize=3.4, markeredgewidth=0, zorder=4)


def _head(content: Priors, width: float) -> Head:
    orange = " Orange: outside the prior's interval." if content.rows["beyond"].any() else ""
    lines = [
        f"Grey: prior, tick at its median; dot: posterior. Central {100 * MASS:g} % intervals.{orange}",
        "Learned: 1 − (posterior sd / prior sd)².",
    ]
    return head_of(width, "Priors and posteriors", lines)
