"""How far leave-one-out cross-validation can be trusted: the Pareto k of each cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hmeta.infer.leave_out import LARGEST_K, Loo, leave_one_out
from hmeta.report.card import Card, Options, Words
from hmeta.report.facet_words import letter_inches
from hmeta.report.inputs import FitInput
from hmeta.report.interval_rows import inches_of, minus
from hmeta.report.style import (
    BLUE,
    GRAY,
    INK,
    RED,
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

CARD = Card("how far leave-one-out cross-validation can be trusted: the Pareto k of each cell", reads="fit")

MOST_NAMED = 6
LINE = 0.105
LEFT, BELOW, RIGHT = 0.46, 0.42, 0.12
MOST_POINTS = 600
"""More cells than this are drawn as one line."""


@dataclass(frozen=True)
class LeftOut:
    """What is drawn: the pointwise table, largest Pareto k first, and the totals."""

    loo: Loo
    converged: bool

    @property
    def k(self) -> Floats:
        """Pareto k of the cells, the largest first; undefined ones stand as infinite."""
        values = self.loo.pointwise["pareto_k"].to_numpy(dtype=np.float64)
        return -np.sort(-np.where(np.isnan(values), np.inf, values))


def read(source: FitInput, options: Options) -> LeftOut:
    """Return the leave-one-out diagnostics of a fit.

    Raises
    ------
    DataError
        Where the fit holds no log likelihoods.
    """
    del options
    loo = leave_one_out(source.tree)
    by_k = loo.pointwise.sort_values("pareto_k", ascending=False, na_position="first", kind="stable")
    return LeftOut(Loo(loo.elpd, loo.se, loo.p, by_k.reset_index(drop=True)), source.converged)


def draw(content: LeftOut, width: float) -> Figure:
    """Return the figure: Pareto k by rank, with the limit, and the names of the worst cells."""
    head = _head(content, width)
    named = min(content.loo.n_bad, MOST_NAMED)
    below = BELOW + (0.0 if content.converged else WARNING_INCHES)
    across = min(width - LEFT - RIGHT, 5.2)
    tall = min(max(0.6 * across, 1.7), 2.4)
    figure = new_figure(width, head.height + 0.1 + tall + below)
    axes = axes_at(figure, LEFT, below, across, tall)
    tidy(axes)
    _points(axes, content, named)
    _names(axes, content, named)
    words_above(figure, head, converged=content.converged)
    return figure


def describe(content: LeftOut) -> Words:
    """Return the caption and the alternative text."""
    loo, n = content.loo, len(content.loo.pointwise)
    caption = (
        f"Pareto k of leave-one-out cross-validation by importance sampling, one dot a cell (all of its answers are "
        f"left out together; n = {n:,} cells), sorted. Beyond {LARGEST_K:g} (dashed) the estimate of a cell is "
        f"unreliable: {loo.n_bad:,} of {n:,} cells. Expected log predictive density "
        f"{minus(f'{loo.elpd:,.0f}')} (standard error "
        f"{loo.se:,.0f}), effective number of parameters {loo.p:,.0f}."
    )
    if loo.n_bad:
        caption += (
            " Cells with an effect of their own in the model have little but their own answers to rest on, so that a "
            "large k is common for them and does not mean that the model is wrong."
        )
    finite = content.k[np.isfinite(content.k)]
    alt = f"Pareto k of {n:,} cells: {loo.n_bad:,} beyond {LARGEST_K:g}; elpd {minus(f'{loo.elpd:,.0f}')}."
    if len(finite):
        worst = loo.pointwise["cell"].iloc[len(content.k) - len(finite)]
        alt += f" Largest k {finite[0]:.2f} ({worst}), median {np.median(finite):.2f}."
    return Words(caption, alt)


def _points(axes: Axes, content: LeftOut, named: int) -> None:
    k = content.k
    rank = np.arange(1, len(k) + 1)
    finite = k[np.isfinite(k)]
    top = max(float(finite.max(initial=0.0)), 1.0)
    low = min(float(finite.min(initial=0.0)), 0.0)
    y = np.minimum(k, top)
    bad = ~(k <= LARGEST_K)
    axes.set_xlim(0.5 - 0.02 * len(k), len(k) + 0.5 + 0.02 * len(k))
    tall = inches_of(axes)[1]
    # room for names above the limit
    span = top - low
    room = max((LINE * (named + 1) + 0.1) / tall - 0.75 * (top - LARGEST_K) / span, 0.0) if named else 0.0
    axes.set_ylim(low - 0.06 * span, top + span * (0.08 + 1.3 * room))
    axes.axhline(LARGEST_K, color=INK, linewidth=0.7, linestyle=(0, (4, 3)), zorder=1)
    if low < 0:
        axes.axhline(0, color=GRAY, linewidth=0.5, zorder=1)
    if len(k) > MOST_POINTS:
        axes.plot(rank, y, color=BLUE, linewidth=1.2, zorder=3)
        axes.plot(rank[bad], y[bad], color=RED, linewidth=1.6, zorder=4)
    else:
        axes.plot(rank[~bad], y[~bad], "o", color=BLUE, markersize=2.4, markeredgewidth=0, zorder=3)
        axes.plot(rank[bad], y[bad], "o", color=RED, markersize=2.6, markeredgewidth=0, zorder=4)
    at = {"transform": axes.get_yaxis_transform(), "fontsize": TINY, "ha": "left", "va": "bottom", "color": INK}
    if not bad.any():
        axes.text(0.01, LARGEST_K, "unreliable above", **at)
    axes.set_xlabel("cells, sorted by Pareto k", fontsize=TEXT, color=INK, labelpad=2)
    axes.set_ylabel("Pareto k", fontsize=TEXT, color=INK, labelpad=3)


def _names(axes: Axes, content: LeftOut, named: int) -> None:
    """List the worst cells at the upper right, where the sorted dots leave room."""
    if not named:
        return
    across, tall = inches_of(axes)
    rows = content.loo.pointwise.head(named)
    short = shorten(list(rows["cell"].astype(str)), int((0.72 * across - 0.8) / letter_inches(TINY)))
    style = {"transform": axes.transAxes, "va": "top", "fontsize": TINY}
    more = content.loo.n_bad - named
    heads = ("worst cells" + (f" (and {more:,} more)" if more else ""), "answers", "k")
    texts = [heads] + [
        (name, "–" if np.isnan(n) else f"{n:,.0f}", "–" if np.isnan(k) else f"{k:.2f}")
        for name, n, k in zip(short, rows["n_answers"], rows["pareto_k"], strict=True)
    ]
    for i, line in enumerate(texts):
        for text, inches in zip(line, (0.75, 0.3, 0.0), strict=True):
            color = GRAY if i == 0 else RED if inches > 0.5 else INK
            axes.text(1 - inches / across, 1 - (LINE * i + 0.01) / tall, text, ha="right", color=color, **style)


def _head(content: LeftOut, width: float) -> Head:
    loo, n = content.loo, len(content.loo.pointwise)
    lines = [
        f"{loo.n_bad:,} of {n:,} cells beyond {LARGEST_K:g}, where the estimate is unreliable. "
        + minus(f"elpd {loo.elpd:,.0f} (se {loo.se:,.0f})"),
    ]
    return head_of(width, "Can leave-one-out be trusted?", lines)
