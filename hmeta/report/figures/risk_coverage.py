"""Risk–coverage curves: the error rate among the answers accepted, surest first, unit by unit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from hmeta.report.answering_units import counted, curve_by_unit, values_by_unit
from hmeta.report.card import Card, Options, Words
from hmeta.report.inputs import ResultsInput
from hmeta.report.style import (
    BLUE,
    GRAY,
    INK,
    LIGHT,
    ORANGE,
    SERIES,
    TEXT,
    TINY,
    Head,
    axes_at,
    head_of,
    letters_in,
    new_figure,
    shorten,
    tidy,
    words_above,
)
from hmeta.report.ticks import ticks_between

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CARD = Card(
    "error rate among the answers accepted against their share, surest first, and the area under it, for each unit",
    reads="results",
    options=("by",),
)

FEW = 6
"""Up to this many units each has a colour and a name; of more, the `NAMED` best and worst."""
NAMED = 3

SETTLED = 20
"""Answers accepted from which on a curve is drawn in full colour; with fewer it jumps by chance."""

STEP = 0.02
"""Longest step of coverage inside a level at which the curve is drawn."""

LABEL_INCHES, NAME_LINE = 1.3, 0.1
SIDE, STACKED_BELOW = 2.75, 5.0
"""Inches of a panel's side at most; width of a figure below which its panels stand above each other."""


@dataclass(frozen=True)
class RiskCoverage:
    """What is drawn.

    Attributes
    ----------
    points : DataFrame
        unit, threshold, coverage, risk, n_accepted; answers of equal confidence are one point.
    units : DataFrame
        unit, n, risk (with every answer accepted), aurc, excess_aurc; sorted by `aurc`, the best first.
    facts : dict
        by, and what was put together.
    without, notes : tuple of str
    """

    points: pd.DataFrame
    units: pd.DataFrame
    facts: dict[str, str]
    without: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def few(self) -> bool:
        """Whether every unit has a colour and a name of its own."""
        return len(self.units) <= FEW


def read(source: ResultsInput, options: Options) -> RiskCoverage:
    """Return the curves of a results file with the areas under them.

    Raises
    ------
    DataError
        For an unknown factor, and where no unit has answers.
    """
    curve = curve_by_unit(source, "risk_coverage", options.by)
    areas = values_by_unit(source, ["aurc", "excess_aurc"], options.by).frame
    wide = areas.pivot_table(index="unit", columns="metric", values="estimate", sort=False)
    last = curve.frame.groupby("unit", sort=False).tail(1).set_index("unit")
    units = last[["n_accepted", "risk"]].rename(columns={"n_accepted": "n"}).join(wide[["aurc", "excess_aurc"]])
    units = units.sort_values("aurc", kind="stable").reset_index()
    return RiskCoverage(curve.frame, units, {"by": curve.by, "pooled": curve.pooled}, curve.without, curve.notes)


def draw(content: RiskCoverage, width: float) -> Figure:
    """Return the curves of all units in one panel, and each unit's area against its error rate in another."""
    head = _head(content, width)
    left, foot, right, gap = 0.46, 0.38, 0.1, 0.55
    stacked = width < STACKED_BELOW
    side = (width - left - LABEL_INCHES - right) if stacked else (width - 2 * left - LABEL_INCHES - right) / 2
    side = min(side, SIDE)
    height = head.height + 0.08 + side + foot + (side + gap if stacked else 0)
    figure = new_figure(width, height)
    top = height - head.height - 0.08 - side
    curves = axes_at(figure, left, top, side, side)
    areas = axes_at(
        figure, left if stacked else left + side + LABEL_INCHES + left - 0.06, foot if stacked else top, side, side
    )
    _draw_curves(curves, content)
    _draw_areas(areas, content)
    words_above(figure, head)
    return figure


def describe(content: RiskCoverage) -> Words:
    """Return the caption and the alternative text."""
    units, n = content.units, content.units["n"].sum()
    caption = [
        f"Risk (share wrong) among the answers accepted, the surest first, of {counted(len(units))} (by "
        f"{content.facts['by']}), {n:,.0f} answers. Inside a level of equal confidence the line is the mean over all "
        f"orders of its answers; it is pale left of the first threshold, and where fewer than {SETTLED} answers are "
        "accepted. Dots at the right end: every answer accepted."
    ]
    if not content.few:
        caption.append(f"Named: the {NAMED} units of lowest (blue) and of highest (orange) AURC.")
    caption.append(
        "AURC: mean of the risk over the surest 1 … n answers. It is the error rate itself (dashed) where confidence "
        "says nothing, and cannot be lower than the solid line, every right answer surer than every wrong one."
    )
    if content.facts["pooled"]:
        caption.append(f"Answers of {content.facts['pooled']} are put together.")
    if content.without:
        more = f" and {len(content.without) - 5} more" if len(content.without) > 5 else ""
        caption.append(f"Not shown: {'; '.join(content.without[:5])}{more}.")
    best, worst = units.iloc[0], units.iloc[-1]
    gains = int((units["aurc"] < units["risk"]).sum())
    ends = [f"{one['aurc']:.3f} ({one['unit']}, risk {one['risk']:.3f} with all answers)" for one in (best, worst)]
    alt = (
        f"Risk–coverage curves of {counted(len(units))}, {n:,.0f} answers: AURC from {ends[0]} to {ends[1]}; it is "
        f"below the error rate for {gains} of {len(units)}."
    )
    return Words(" ".join(caption), alt)


def expected_path(points: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Return coverage and risk along a whole curve, inside levels of equal confidence as well.

    Among k answers of a level with error rate e, taken in random order after a answers with E errors, the expected
    risk is (E + k·e)/(a + k): constant over the first level, a hyperbola over every other.

    Parameters
    ----------
    points : DataFrame
        coverage, risk and n_accepted of one unit, surest first.
    """
    accepted = np.r_[0.0, points["n_accepted"].to_numpy()]
    wrong = np.r_[0.0, points["risk"].to_numpy() * points["n_accepted"].to_numpy()]
    total = accepted[-1]
    taken, errors = [min(1.0, accepted[1])], [wrong[1] / accepted[1] * min(1.0, accepted[1])]
    for before, after, e0, e1 in zip(accepted[:-1], accepted[1:], wrong[:-1], wrong[1:], strict=True):
        steps = 1 if before == 0 else max(1, int(np.ceil((after - before) / total / STEP)))
        inside = np.linspace(0, 1, steps + 1)[1:]
        taken += list(before + inside * (after - before))
        errors += list(e0 + inside * (e1 - e0))
    n = np.array(taken)
    return n / total, np.array(errors) / n


def best_area(risk: np.ndarray) -> np.ndarray:
    """Return the AURC of very many answers of which the wrong ones come last, r + (1 − r)·log(1 − r), ``(point,)``.

    Geifman, Uziel & El-Yaniv (2019), eq. 1. With few answers it is a little larger.
    """
    right = 1 - risk
    return risk + right * np.log(np.where(right > 0, right, 1.0))


def _head(content: RiskCoverage, width: float) -> Head:
    lines = [
        "Left: error rate among the answers accepted. Right: the area under each curve against the error rate of all."
    ]
    if width < STACKED_BELOW:
        lines = ["Top: error rate among the answers accepted. Bottom: the area under each curve against all errors."]
    if not content.few:
        lines.append(f"{len(content.units):,} units; named: the {NAMED} of lowest (blue) and of highest (orange) area.")
    return head_of(width, f"Risk and coverage by {content.facts['by']}", lines)


def _looks(content: RiskCoverage) -> list[tuple[str, float, bool]]:
    """Return colour, line width and whether it is named, for each unit from the best."""
    n = len(content.units)
    if content.few:
        return [(SERIES[i], 1.1, True) for i in range(n)]
    plain = (GRAY, 0.5 if n <= 60 else 0.3, False)
    return [(BLUE, 1.0, True) if i < NAMED else (ORANGE, 1.0, True) if i >= n - NAMED else plain for i in range(n)]


def _draw_curves(axes: Axes, content: RiskCoverage) -> None:
    from matplotlib.collections import LineCollection

    by_unit = dict(iter(content.points.groupby("unit", sort=False)))
    paths = [(expected_path(by_unit[unit]), by_unit[unit]["n_accepted"].iloc[-1]) for unit in content.units["unit"]]
    looks = _looks(content)
    for named in (False, True):
        mine = [(path, n, look) for (path, n), look in zip(paths, looks, strict=True) if look[2] is named]
        settled = [np.column_stack(path)[path[0] * n >= SETTLED - 1e-9] for path, n, _ in mine]
        jumpy = [np.column_stack(path)[: _first_settled(path[0] * n) + 1] for path, n, _ in mine]
        style = {"colors": [look[0] for *_, look in mine], "linewidths": [look[1] for *_, look in mine]}
        order = 4 if named else 2
        axes.add_collection(LineCollection(jumpy, alpha=0.3, zorder=order, **style), autolim=False)
        axes.add_collection(
            LineCollection(settled, alpha=1.0 if named else 0.55, zorder=order + 1, **style), autolim=False
        )
    _set_curve_axes(axes, [path for path, _ in paths])
    _name_ends(axes, content, looks)


def _first_settled(accepted: np.ndarray) -> int:
    return int(np.argmax(accepted >= SETTLED - 1e-9)) if (accepted >= SETTLED - 1e-9).any() else len(accepted) - 1


def _set_curve_axes(axes: Axes, paths: Sequence[tuple[np.ndarray, np.ndarray]]) -> None:
    """Set limits by what is not chance: the coverage from 10 % on, and all points."""
    tidy(axes)
    highest = max(float(risk[coverage >= min(0.1, coverage[-1])].max()) for coverage, risk in paths)
    axes.set_xlim(0, 1)
    axes.set_ylim(0, min(1.0, max(1.06 * highest, 0.02)))
    axes.set_yticks(ticks_between(*axes.get_ylim(), 7))
    axes.grid(axis="y", color=LIGHT, linewidth=0.5, zorder=-1)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", ".25", ".5", ".75", "1"])
    axes.set_xlabel("coverage (share of answers accepted)", fontsize=TEXT, color=INK, labelpad=3)
    axes.set_ylabel("risk (share wrong among them)", fontsize=TEXT, color=INK, labelpad=3)


def _name_ends(axes: Axes, content: RiskCoverage, looks: Sequence[tuple[str, float, bool]]) -> None:
    """Mark the risk of all answers, and name the units there, apart enough to be read."""
    risks = content.units["risk"].to_numpy()
    plain = [i for i, look in enumerate(looks) if not look[2]]
    shown = [i for i, look in enumerate(looks) if look[2]]
    dots = {"marker": "o", "linestyle": "none", "clip_on": False, "markeredgewidth": 0}
    axes.plot(np.ones(len(plain)), risks[plain], markersize=1.8, color=GRAY, alpha=0.7, zorder=5, **dots)
    lower, upper = axes.get_ylim()
    figure = axes.get_figure(root=True)
    assert figure is not None
    line = NAME_LINE * (upper - lower) / (axes.get_position().height * figure.get_size_inches()[1])
    places = apart(risks[shown], 2 * line, lower + line, upper - 0.5 * line)
    names = shorten([str(content.units["unit"].iloc[i]) for i in shown], letters_in(LABEL_INCHES - 0.25, TINY))
    for i, y, name in zip(shown, places, names, strict=True):
        color = looks[i][0]
        axes.plot([1], [risks[i]], markersize=3, color=color, zorder=6, **dots)
        axes.plot([1.005, 1.045], [risks[i], y], color=color, linewidth=0.4, clip_on=False, zorder=5)
        text = f"{name}\nAURC {content.units['aurc'].iloc[i]:.3f}"
        axes.text(1.06, y, text, fontsize=TINY, color=color, va="center", ha="left", linespacing=1.1, clip_on=False)


def apart(wanted: np.ndarray, gap: float, low: float, high: float) -> np.ndarray:
    """Return places near those wanted, in their order, at least `gap` apart where `low` to `high` has room.

    Examples
    --------
    >>> apart(np.array([0.5, 0.5, 0.0]), 0.1, 0.0, 1.0).tolist()
    [0.45, 0.55, 0.0]
    """
    n = len(wanted)
    gap = min(gap, (high - low) / max(n - 1, 1))
    order = np.argsort(wanted, kind="stable")
    blocks: list[list[float]] = []  # sum of wanted places less the offsets in the block, and number
    for x in np.clip(wanted[order], low, high):
        blocks.append([float(x), 1])
        while len(blocks) > 1 and _start(blocks[-2], gap, low, high) + blocks[-2][1] * gap > _start(
            blocks[-1], gap, low, high
        ):
            total, count = blocks.pop()
            blocks[-1] = [blocks[-1][0] + total - count * blocks[-1][1] * gap, blocks[-1][1] + count]
    placed = [_start(block, gap, low, high) + gap * k for block in blocks for k in range(int(block[1]))]
    out = np.empty(n)
    out[order] = placed
    return out


def _start(block: list[float], gap: float, low: float, high: float) -> float:
    """Return where the first of a block of names stands: as near as can be to where all of them want to."""
    total, count = block
    return float(np.clip(total / count, low, max(low, high - gap * (count - 1))))


def _draw_areas(axes: Axes, content: RiskCoverage) -> None:
    tidy(axes)
    risks, areas = content.units["risk"].to_numpy(), content.units["aurc"].to_numpy()
    limit = min(1.0, max(1.08 * risks.max(), 1.08 * areas.max(), 0.02))
    grid = np.linspace(0, limit, 60)
    axes.plot([0, limit], [0, limit], color=GRAY, linewidth=0.7, linestyle=(0, (4, 3)), zorder=1)
    axes.plot(grid, best_area(grid), color=GRAY, linewidth=0.7, zorder=1)
    at = {"fontsize": TINY, "color": INK, "zorder": 6}
    axes.text(
        0.03, 0.97, "dashed: confidence says nothing\nsolid: perfect order", transform=axes.transAxes, va="top", **at
    )
    looks = _looks(content)
    size = 3.2 if len(content.units) <= 60 else 2.2
    for color in dict.fromkeys(look[0] for look in looks):
        mine = [i for i, look in enumerate(looks) if look[0] == color]
        mark = {"marker": "o", "linestyle": "none", "markeredgewidth": 0, "zorder": 3 if color == GRAY else 4}
        axes.plot(risks[mine], areas[mine], color=color, markersize=size, alpha=0.85, clip_on=False, **mark)
    axes.set_xlim(0, limit)
    axes.set_ylim(0, limit)
    axes.set_xticks(ticks_between(0, limit, 6))
    axes.set_yticks(ticks_between(0, limit, 6))
    axes.set_xlabel("risk with every answer accepted", fontsize=TEXT, color=INK, labelpad=3)
    axes.set_ylabel("AURC (mean risk over coverage)", fontsize=TEXT, color=INK, labelpad=3)
