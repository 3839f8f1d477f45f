"""Has the fit converged? R-hat against effective sample size, ranks by chain, and energies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hmeta.infer.diagnose import CONSTANT, MAX_R_HAT, MIN_E_BFMI, MIN_ESS, OK, Diagnosis
from hmeta.report.card import Card, Options, Words
from hmeta.report.facet_words import count, letter_inches
from hmeta.report.inputs import FitInput
from hmeta.report.interval_rows import inches_of
from hmeta.report.rank_plot import BAND, Ranks, rank_curves
from hmeta.report.style import (
    BLUE,
    GRAY,
    INK,
    LIGHT,
    RED,
    SERIES,
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

CARD = Card("whether the chains agree and mix: R-hat, effective sample sizes, ranks by chain, energies", reads="fit")

SMALLEST_EXCESS, LARGEST_EXCESS = 1e-4, 10.0
"""Between them R-hat - 1 is drawn; what lies beyond is drawn at the end."""

NAMED, LONGEST_NAME = 3, 34
GRID_INCHES = 0.012
"""Points that are nearer than this to one another cannot be told apart, and are drawn once."""

LEFT, BELOW, ABOVE, RIGHT = 0.6, 0.42, 0.2, 0.2
WIDE_FIGURE = 5.5
MOST_CHAINS_NAMED = 6


class _Place(NamedTuple):
    """Where a panel stands, in inches from the lower left corner."""

    left: float
    bottom: float
    width: float
    height: float


@dataclass(frozen=True)
class Convergence:
    """What is drawn.

    Attributes
    ----------
    found : Diagnosis
        Its table holds every point.
    ranks : Ranks or None
        Of the observed average of `parameter`; None where they are not defined.
    parameter : str
    """

    found: Diagnosis
    ranks: Ranks | None
    parameter: str

    @property
    def points(self) -> pd.DataFrame:
        """The quantities that have an R-hat and a bulk ESS: quantity, r_hat, ess_bulk, bad."""
        table = self.found.table
        known = table[table["r_hat"].notna() & table["ess_bulk"].notna()]
        return known.assign(bad=~known["status"].isin([OK, CONSTANT]))

    @property
    def n_bad(self) -> int:
        """How many quantities are beyond a limit, or cannot be judged."""
        return int((~self.found.table["status"].isin([OK, CONSTANT])).sum())


def read(source: FitInput, options: Options) -> Convergence:
    """Return the diagnosis of a fit and the ranks of its headline."""
    del options
    fitted = source.headline
    return Convergence(source.diagnosis, rank_curves(fitted.draws.mean(axis=0)), fitted.parameter)


def draw(content: Convergence, width: float) -> Figure:
    """Return the figure: three panels side by side, or in two rows where the figure is narrow."""
    found, head = content.found, _head(content, width)
    below = BELOW + (0.0 if found.converged else WARNING_INCHES)
    places, height = _layout(width, below, head.height)
    figure = new_figure(width, height)
    panels = [axes_at(figure, *place) for place in places]
    for axes in panels:
        tidy(axes)
    _scatter(panels[0], content)
    _ranks(panels[1], content)
    _energies(panels[2], found)
    words_above(figure, head, converged=found.converged)
    return figure


def describe(content: Convergence) -> Words:
    """Return the caption and the alternative text."""
    found, n = content.found, len(content.found.table)
    constant = int((found.table["status"] == CONSTANT).sum())
    caption = [
        f"Every quantity: rank-normalised R-hat and bulk effective sample size of {n:,} quantities "
        f"({found.n_chains} chains × {found.n_draws:,} draws); dashed, the limits ({MAX_R_HAT:g} and {MIN_ESS:g}). "
        f"R-hat − 1 is on a logarithmic axis, values below {SMALLEST_EXCESS:g} at its lower end. Red: beyond a limit "
        "of R-hat, bulk or tail ESS."
    ]
    if constant:
        caption.append(f"{constant:,} constant quantities are not drawn.")
    if content.ranks is not None:
        caption.append(
            f"Ranks by chain, of the observed average of {content.parameter}: the share of each chain's draws up to a "
            f"rank among all draws, minus that rank's share; band: all chains lie in it with probability {BAND:g} if "
            f"they agree ({content.ranks.kept:,} draws a chain after thinning)."
        )
    caption.append(f"E-BFMI: of each chain; dashed, the limit {MIN_E_BFMI:g}.")
    return Words(" ".join(caption), _alt(content))


def _alt(content: Convergence) -> str:
    found, points = content.found, content.points
    parts = ["The fit has converged." if found.converged else f"The fit has not converged: {'; '.join(found.reasons)}."]
    if len(points):
        worst, least = points.nlargest(1, "r_hat").iloc[0], points.nsmallest(1, "ess_bulk").iloc[0]
        parts.append(
            f"Of {len(points):,} quantities the largest R-hat is {worst['r_hat']:.4f} ({worst['quantity']}), the "
            f"smallest bulk ESS {least['ess_bulk']:,.0f} ({least['quantity']}); {content.n_bad:,} are beyond a limit."
        )
    if content.ranks is not None:
        outside = (np.abs(content.ranks.difference) > content.ranks.half_width + 1e-12)[:, :-1].any(axis=1)
        parts.append(f"Rank curves of {int(outside.sum())} of {len(outside)} chains leave the band.")
    if found.n_divergent is not None:
        parts.append(f"{found.n_divergent:,} divergent draws.")
    if found.e_bfmi:
        parts.append(f"Smallest E-BFMI {min(found.e_bfmi):.2f}.")
    return " ".join(parts)


def _layout(width: float, below: float, head: float) -> tuple[list[_Place], float]:
    """Return the places of the three panels and the height of the figure."""
    top = head + ABOVE
    if width >= WIDE_FIGURE:
        tall, energies = 2.2, 0.85
        room = width - 3 * LEFT - RIGHT - energies - 0.3
        scatter = 0.54 * room
        second = LEFT + scatter + 0.15 + LEFT
        places = [
            _Place(LEFT, below, scatter, tall),
            _Place(second, below, room - scatter, tall),
            _Place(width - RIGHT - energies, below, energies, tall),
        ]
        return places, below + tall + top
    tall, low, energies = 2.0, 1.35, 0.62
    upper = below + low + ABOVE + BELOW
    places = [
        _Place(LEFT, upper, width - LEFT - RIGHT, tall),
        _Place(LEFT, below, width - 2 * LEFT - 2 * RIGHT - energies, low),
        _Place(width - RIGHT - energies, below, energies, low),
    ]
    return places, upper + tall + top


def _scatter(axes: Axes, content: Convergence) -> None:
    points = content.points
    axes.set_title("every quantity", fontsize=SMALL, loc="left", pad=4, color=INK)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("bulk effective sample size", fontsize=TEXT, color=INK, labelpad=2)
    axes.set_ylabel("R-hat", fontsize=TEXT, color=INK, labelpad=2)
    if not len(points):
        axes.text(0.5, 0.5, "none can be judged", transform=axes.transAxes, fontsize=SMALL, ha="center", color=GRAY)
        return
    x = np.maximum(points["ess_bulk"].to_numpy(dtype=np.float64), 1.0)
    y = np.clip(points["r_hat"].to_numpy(dtype=np.float64) - 1.0, SMALLEST_EXCESS, LARGEST_EXCESS)
    low, high = min(float(x.min()), MIN_ESS / 2), max(float(x.max()), 2 * MIN_ESS)
    axes.set_xlim(low / 1.25, high * 1.25)
    bad = points["bad"].to_numpy()
    _set_heights(axes, float(y.max()), min(int(bad.sum()), NAMED))
    # the lowest tick stands for everything up to it; the caption says so
    ticks = [v for v in (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0) if v <= axes.get_ylim()[1]]
    axes.set_yticks(ticks, ["1.0001", *(f"{1 + v:g}" for v in ticks[1:])])
    axes.minorticks_off()
    thousands = [v for v in (1, 3, 10, 30, 100, 300, 1000, 3000, 10000, 30000) if low / 1.25 <= v <= high * 1.25]
    axes.set_xticks(thousands, [f"{v:,}" for v in thousands])
    axes.axhline(MAX_R_HAT - 1, color=INK, linewidth=0.6, linestyle=(0, (4, 3)), zorder=1)
    axes.axvline(MIN_ESS, color=INK, linewidth=0.6, linestyle=(0, (4, 3)), zorder=1)
    keep = _distinct(axes, x, y, bad)
    axes.scatter(x[keep], y[keep], s=4, c=np.where(bad[keep], RED, BLUE), alpha=0.55, linewidths=0, zorder=3)
    _name_worst(axes, points["quantity"].to_numpy()[bad], x[bad], y[bad])


def _set_heights(axes: Axes, highest: float, named: int) -> None:
    """Set the limits of R-hat - 1, with room above the highest for the names of the worst."""
    low = np.log(SMALLEST_EXCESS / 1.3)
    high = np.log(max(highest * 1.3, 0.022))
    room = (0.1 * named + 0.08) / inches_of(axes)[1] if named else 0.0
    axes.set_ylim(np.exp(low), np.exp(low + (high - low) / (1 - room)))


def _distinct(axes: Axes, x: Floats, y: Floats, bad: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return one point of those that cannot be told apart; ones beyond a limit last, so that they lie on top."""
    across, tall = inches_of(axes)
    (left, right), (low, high) = np.log(axes.get_xlim()), np.log(axes.get_ylim())
    cells = np.column_stack(
        [
            ((np.log(x) - left) / (right - left) * across / GRID_INCHES).astype(np.int64),
            ((np.log(y) - low) / (high - low) * tall / GRID_INCHES).astype(np.int64),
            bad.astype(np.int64),
        ]
    )
    first = np.unique(cells, axis=0, return_index=True)[1]
    return first[np.argsort(bad[first], kind="stable")]


def _name_worst(axes: Axes, names: NDArray[np.object_], x: Floats, y: Floats) -> None:
    """Mark those that are furthest beyond a limit by a number, and name them at the top of the panel."""
    order = np.argsort(-np.maximum(y / (MAX_R_HAT - 1), MIN_ESS / x), kind="stable")[:NAMED]
    across, tall = inches_of(axes)
    most = min(LONGEST_NAME, int((across - 0.2) / letter_inches(TINY)))
    words = {"fontsize": TINY, "color": RED, "zorder": 4}
    for i, (row, name) in enumerate(zip(order, shorten([str(names[r]) for r in order], most), strict=True)):
        number = i + 1
        at = {"transform": axes.transAxes, "ha": "right", "va": "center"}
        axes.text(1.0, 1 - (0.06 + 0.1 * i) / tall, f"{number}  {name}", **at, **words)
        place = {"xytext": (2.5, 0.5), "textcoords": "offset points", "va": "bottom", "ha": "left"}
        axes.annotate(str(number), (x[row], y[row]), **place, **words)


def _ranks(axes: Axes, content: Convergence) -> None:
    axes.set_title(f"ranks by chain: {content.parameter}", fontsize=SMALL, loc="left", pad=4, color=INK)
    axes.set_xlabel("share of all draws", fontsize=TEXT, color=INK, labelpad=2)
    axes.set_ylabel("ECDF difference", fontsize=TEXT, color=INK, labelpad=2)
    axes.set_xlim(0, 1)
    axes.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
    ranks = content.ranks
    if ranks is None:
        axes.set_yticks([])
        reason = "one chain" if content.found.n_chains < 2 else "not defined"
        axes.text(0.5, 0.5, reason, transform=axes.transAxes, fontsize=SMALL, ha="center", color=GRAY)
        return
    share = np.concatenate([[0.0], ranks.share])
    half = np.concatenate([[0.0], ranks.half_width])
    axes.fill_between(share, -half, half, color=LIGHT, linewidth=0, zorder=1)
    axes.axhline(0, color=GRAY, linewidth=0.5, zorder=2)
    many = len(ranks.difference) > MOST_CHAINS_NAMED
    for i, difference in enumerate(ranks.difference):
        color = BLUE if many else SERIES[i]
        axes.plot(share, [0.0, *difference], color=color, linewidth=0.5 if many else 0.9, zorder=3)
    top = 1.25 * max(float(half.max()), float(np.abs(ranks.difference).max()))
    axes.set_ylim(-top, top)
    if not many:
        _name_chains(axes, len(ranks.difference))


def _name_chains(axes: Axes, n: int) -> None:
    across, tall = inches_of(axes)
    axes.text(0.02, 1 - 0.03 / tall, "chain", transform=axes.transAxes, fontsize=TINY, va="top", color=INK)
    for i in range(n):
        at = {"transform": axes.transAxes, "fontsize": TINY, "va": "top", "color": SERIES[i], "fontweight": "bold"}
        axes.text(0.02 + (0.27 + 0.1 * i) / across, 1 - 0.03 / tall, str(i + 1), **at)


def _energies(axes: Axes, found: Diagnosis) -> None:
    axes.set_title("E-BFMI", fontsize=SMALL, loc="left", pad=4, color=INK)
    axes.set_xlabel("chain", fontsize=TEXT, color=INK, labelpad=2)
    values = np.array(found.e_bfmi, dtype=np.float64)
    known = np.isfinite(values)
    if not known.any():
        axes.set_xticks([])
        axes.set_yticks([])
        axes.text(
            0.5, 0.5, "no\nenergies", transform=axes.transAxes, fontsize=SMALL, ha="center", va="center", color=GRAY
        )
        return
    chain = np.arange(1, len(values) + 1)
    axes.set_xlim(0.4, len(values) + 0.6)
    axes.set_ylim(0, max(1.2, 1.1 * float(values[known].max())))
    axes.set_xticks(_chain_ticks(len(values)))
    axes.axhline(MIN_E_BFMI, color=INK, linewidth=0.6, linestyle=(0, (4, 3)), zorder=1)
    colors = [BLUE if value > MIN_E_BFMI else RED for value in values[known]]
    axes.scatter(chain[known], values[known], s=12, c=colors, linewidths=0, zorder=3)


def _chain_ticks(n: int) -> Sequence[int]:
    return range(1, n + 1) if n <= 4 else sorted({1, (n + 1) // 2, n})


def _head(content: Convergence, width: float) -> Head:
    found = content.found
    divergent = "unknown" if found.n_divergent is None else f"{found.n_divergent:,}"
    lines = [
        f"{found.n_chains} chains × {found.n_draws:,} draws, {len(found.table):,} quantities, {divergent} divergent "
        f"draws. Dashed: limits; red: {content.n_bad:,} quantities beyond one.",
        *(f"• {reason}" for reason in found.reasons[:3]),
    ]
    if len(found.reasons) > 3:
        lines.append(f"and {count(len(found.reasons) - 3, 'more reason')}")
    return head_of(width, "Convergence of the chains", lines)
