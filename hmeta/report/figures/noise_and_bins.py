"""How much M depends on the assumed noise and on how finely confidence was rated, unit by unit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hmeta.core.errors import DataError
from hmeta.infer.ml_sensitivity import UNBINNED
from hmeta.infer.parameter_words import words_of
from hmeta.report.card import Card, Options, Words
from hmeta.report.facet_words import count
from hmeta.report.inputs import FitInput
from hmeta.report.interval_rows import inches_of, minus
from hmeta.report.style import (
    BLUE,
    GRAY,
    INK,
    LIGHT,
    ORANGE,
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

CARD = Card("maximum-likelihood M of each unit under other noises, and with coarser ratings", reads="fit")

NOT_BINNED = "not binned"
NOISE, BINS = "noise", "bins"
HEADINGS = {NOISE: "noise assumed", BINS: "confidence binned"}
FAR = 4.0
"""Beyond the quartiles by so many times their distance, an estimate is off the axis: its ratio is unstable."""

LEFT, BELOW, ABOVE, BETWEEN = 0.5, 0.62, 0.22, 0.3
TALL, NARROWEST_STEP, WIDEST_STEP = 2.3, 0.44, 0.95
INSET = 0.35
"""Of a step: room beside the outer variants."""


class _Panel(NamedTuple):
    """Axes in inches from the lower left, and what they show."""

    kind: str
    left: float
    bottom: float
    width: float


@dataclass(frozen=True)
class Sensitivity:
    """What is drawn.

    Attributes
    ----------
    table : DataFrame
        The estimates (`hmeta.infer.ml_sensitivity.ml_sensitivity`).
    lines : DataFrame
        kind (noise, bins), unit, variant, M: units with an estimate under every variant of a kind; a unit that uses no
        more levels than bins keeps its estimate.
    medians : DataFrame
        kind, variant, median (over the units of `lines`), n_units, n_binned, difference: median over units of the
        difference from the first variant.
    limits : (low, high)
        Of the axis of M; `n_beyond` units leave it.
    """

    table: pd.DataFrame
    lines: pd.DataFrame
    medians: pd.DataFrame
    limits: tuple[float, float]
    n_beyond: int
    n_units: int
    unit_word: str
    notes: tuple[str, ...]
    converged: bool

    @property
    def kinds(self) -> list[str]:
        """The panels that there are."""
        return list(dict.fromkeys(self.medians["kind"]))


def read(source: FitInput, options: Options) -> Sensitivity:
    """Return M under each noise and binning.

    Raises
    ------
    DataError
        For a fit whose headline is not M, one without counts, and one where nothing can be estimated.
    """
    del options
    return from_table(source.ml_estimates.result(), converged=source.converged)


def from_table(table: pd.DataFrame, *, converged: bool) -> Sensitivity:
    """Return what is drawn of a table of estimates.

    Raises
    ------
    DataError
        Where no unit has estimates to compare.
    """
    named = table.assign(label=_labels(table))
    parts = [_lines(named, kind) for kind in (NOISE, BINS)]
    lines = pd.concat(parts, ignore_index=True)
    if not len(lines):
        raise DataError(
            "no unit has estimates of M under several noises or binnings",
            received=", ".join(f"{n} {status}" for status, n in table["status"].value_counts().items()),
            mend="units need right and wrong answers, and more than two confidence levels; see hmeta fit --method mle",
        )
    limits, beyond = _limits(lines)
    return Sensitivity(
        table=table,
        lines=lines,
        medians=_medians(lines, named),
        limits=limits,
        n_beyond=beyond,
        n_units=int(named["label"].nunique()),
        unit_word=str(table.attrs.get("by") or "unit"),
        notes=tuple(table.attrs.get("notes", ())),
        converged=converged,
    )


def draw(content: Sensitivity, width: float) -> Figure:
    """Return the figure: a panel for noises and one for bins, a line a unit and the median over units."""
    head = _head(content, width)
    ends = _named_units(content)
    short = shorten([name for name, _ in ends], letters_in(min(0.26 * width, 1.4), TINY))
    right = 0.14 + max((len(name) for name in short), default=0) / letters_in(1.0, 1.1 * TINY)
    below = BELOW + (0.0 if content.converged else WARNING_INCHES)
    panels, height = _layout(content, width - LEFT - right, below)
    figure = new_figure(width, height + head.height + ABOVE)
    every = [axes_at(figure, panel.left, panel.bottom, panel.width, TALL) for panel in panels]
    for panel, axes in zip(panels, every, strict=True):
        tidy(axes)
        beside = panel.left > LEFT
        axes.tick_params(labelleft=not beside)
        _panel(axes, content, panel.kind)
        if not beside:
            axes.set_ylabel("M by maximum likelihood", fontsize=TEXT, color=INK, labelpad=3)
    _name_ends(every[-1], [y for _, y in ends], short)
    words_above(figure, head, converged=content.converged)
    return figure


def describe(content: Sensitivity) -> Words:
    """Return the caption and the alternative text."""
    medians, counts = content.medians, content.medians.groupby("kind", sort=False)["n_units"].first()
    drawn = ", ".join(f"{n} under every {'noise' if kind == NOISE else 'binning'}" for kind, n in counts.items())
    caption = [
        f"{words_of('M').title} by maximum likelihood: a line joins the estimates of one {content.unit_word} "
        f"(with criteria of its own); orange, the median over them. Drawn are those with estimates: {drawn}, of "
        f"n = {content.n_units}."
    ]
    if BINS in content.kinds:
        caption.append("One that uses no more levels than there are bins keeps its estimate.")
    if content.n_beyond:
        caption.append(f"Off the axis: {count(content.n_beyond, 'line')}, since a ratio to a d near 0 is unstable.")
    caption += [f"{note[:1].upper()}{note[1:]}." for note in content.notes]
    parts = [
        minus(f"{row['variant']} {row['median']:.2f}") + (f" ({row['n_binned']} binned)" if row["kind"] == BINS else "")
        for row in medians.to_dict("records")
    ]
    alt = f"Median over {content.unit_word}s of M under each noise and binning: {', '.join(parts)}."
    return Words(" ".join(caption), alt)


def _labels(table: pd.DataFrame) -> list[str]:
    """Return the name of each unit, with its part where it has several."""
    return [f"{u} · {p}" if p else str(u) for u, p in zip(table["unit"], table["part"], strict=True)]


def _noise_word(noise: str) -> str:
    return noise.replace("gumbel", "Gumbel").replace("_", " ")


def _bins_word(bins: int) -> str:
    return "as rated" if bins == UNBINNED else f"{bins} bins"


def _lines(named: pd.DataFrame, kind: str) -> pd.DataFrame:
    """Return the estimates of units that have one under every variant of a kind, the fit's own variant first."""
    own = named[named["own"]].set_index("label")["M"]
    if kind == NOISE:
        rows = named[named["bins"] == UNBINNED].assign(variant=lambda t: t["noise"].map(_noise_word))
        order = [*rows.loc[rows["own"], "variant"].unique(), *rows.loc[~rows["own"], "variant"].unique()]
        M = rows["M"]
    else:
        # a binning that merges nothing, in any unit, says nothing
        mine = named[named["noise"] == named.loc[named["own"], "noise"].iloc[0]]
        used = {b for b, status in zip(mine["bins"], mine["status"], strict=True) if status != NOT_BINNED}
        rows = mine[mine["bins"].isin(used)].assign(variant=lambda t: t["bins"].map(_bins_word))
        order = [_bins_word(b) for b in (UNBINNED, *sorted(used - {UNBINNED}, reverse=True))]
        M = rows["M"].where(rows["status"] != NOT_BINNED, rows["label"].map(own))
    table = rows.assign(M=M).pivot(index="label", columns="variant", values="M")[order]
    whole = table[np.isfinite(table.to_numpy(dtype=np.float64)).all(axis=1)]
    if len(order) < 2 or not len(whole):
        return pd.DataFrame(columns=["kind", "unit", "variant", "M"])
    long = whole.rename_axis(index="unit").reset_index().melt(id_vars="unit", var_name="variant", value_name="M")
    return long.assign(kind=kind)[["kind", "unit", "variant", "M"]]


def _medians(lines: pd.DataFrame, named: pd.DataFrame) -> pd.DataFrame:
    out = []
    for kind, rows in lines.groupby("kind", sort=False):
        table = rows.pivot(index="unit", columns="variant", values="M")[list(rows["variant"].unique())]
        first = table.iloc[:, 0]
        for variant in table:
            binned = named[named["label"].isin(table.index) & (named["status"] != NOT_BINNED) & named["bins"].gt(0)]
            out.append(
                {
                    "kind": kind,
                    "variant": variant,
                    "median": float(table[variant].median()),
                    "difference": float((table[variant] - first).median()),
                    "n_units": len(table),
                    "n_binned": int((binned["bins"].map(_bins_word) == variant).sum()),
                }
            )
    return pd.DataFrame(out)


def _limits(lines: pd.DataFrame) -> tuple[tuple[float, float], int]:
    """Return the ends of the axis, and how many units leave it."""
    values = lines["M"].to_numpy(dtype=np.float64)
    first, third = np.quantile(values, [0.25, 0.75])
    reach = FAR * max(third - first, 0.05)
    low, high = max(values.min(), first - reach), min(values.max(), third + reach)
    margin = 0.05 * max(high - low, 0.05)
    beyond = lines.loc[(values < low) | (values > high), "unit"].nunique()
    return (float(low - margin), float(high + margin)), int(beyond)


def _layout(content: Sensitivity, room: float, below: float) -> tuple[list[_Panel], float]:
    """Return panels side by side, or one above the other where their columns would be too narrow; and the height."""
    n = {kind: int((content.medians["kind"] == kind).sum()) for kind in content.kinds}
    steps = {kind: size - 1 + 2 * INSET for kind, size in n.items()}
    step = (room - BETWEEN * (len(n) - 1)) / sum(steps.values())
    panels = []
    if step >= NARROWEST_STEP or len(n) == 1:
        left = LEFT
        for kind in n:
            panels.append(_Panel(kind, left, below, min(step, WIDEST_STEP) * steps[kind]))
            left += panels[-1].width + BETWEEN
        return panels, below + TALL
    bottom = below
    for kind in reversed(list(n)):
        panels.append(_Panel(kind, LEFT, bottom, min(room / steps[kind], WIDEST_STEP) * steps[kind]))
        bottom += TALL + BELOW + ABOVE
    return panels[::-1], bottom - BELOW - ABOVE


def _panel(axes: Axes, content: Sensitivity, kind: str) -> None:
    from matplotlib.collections import LineCollection

    rows = content.medians[content.medians["kind"] == kind]
    lines = content.lines[content.lines["kind"] == kind]
    table = lines.pivot(index="unit", columns="variant", values="M")[list(rows["variant"])].to_numpy(dtype=np.float64)
    x = np.arange(len(rows), dtype=np.float64)
    axes.set_xlim(-INSET, len(rows) - 1 + INSET)
    axes.set_ylim(*content.limits)
    axes.set_title(HEADINGS[kind], fontsize=SMALL, loc="left", pad=4, color=INK)
    axes.grid(axis="y", color=LIGHT, linewidth=0.5, zorder=-1)
    if content.limits[0] < 1 < content.limits[1]:
        axes.axhline(1, color=INK, linewidth=0.6, linestyle=(0, (4, 3)), zorder=1)
    faint = float(np.clip(12 / len(table), 0.15, 0.6))
    paths = [np.column_stack([x, row]) for row in table]
    axes.add_collection(LineCollection(paths, colors=BLUE, linewidths=0.6, alpha=faint, zorder=2), autolim=False)
    axes.plot(
        np.tile(x, len(table)),
        table.ravel(),
        "o",
        color=BLUE,
        markersize=1.8,
        markeredgewidth=0,
        alpha=min(1, 1.5 * faint),
    )
    axes.plot(
        x,
        rows["median"],
        color=ORANGE,
        linewidth=1.5,
        marker="D",
        markersize=4.2,
        markeredgecolor="white",
        markeredgewidth=0.5,
        zorder=5,
    )
    _under(axes, rows, kind)


def _under(axes: Axes, rows: pd.DataFrame, kind: str) -> None:
    """Write under each variant its name and its median."""
    axes.set_xticks(range(len(rows)), [])
    across, tall = inches_of(axes)
    names = [str(v).replace(" ", "\n", 1) if kind == NOISE else str(v) for v in rows["variant"]]
    narrow = across / len(rows) < 0.6
    for x, (name, row) in enumerate(zip(names, rows.to_dict("records"), strict=True)):
        shown = name if narrow else name.replace("\n", " ")
        at = {"transform": axes.get_xaxis_transform(), "ha": "center", "va": "top", "linespacing": 1.0}
        # names of one line share their baseline, which the top of a name without tall letters would not give
        place = {**at, "va": "top" if "\n" in shown else "baseline"}
        axes.text(x, -(0.05 if "\n" in shown else 0.13) / tall, shown, fontsize=SMALL, color=INK, **place)
        axes.text(x, -0.28 / tall, minus(f"{row['median']:.2f}"), fontsize=SMALL, color=ORANGE, **at)
    n = rows["n_units"].iloc[0]
    axes.text(0, -0.42 / tall, f"n = {n:,}", transform=axes.transAxes, fontsize=TINY, color=GRAY, ha="left", va="top")


def _named_units(content: Sensitivity) -> list[tuple[str, float]]:
    """Return the units that end lowest and highest in the last panel, among those on the axis."""
    rows = content.lines[content.lines["kind"] == content.kinds[-1]]
    ends = rows[rows["variant"] == rows["variant"].iloc[-1]]
    ends = ends[ends["M"].between(*content.limits)].sort_values("M")
    picked = ends.iloc[[0, -1]] if len(ends) > 2 else ends
    return [(str(unit), float(M)) for unit, M in zip(picked["unit"], picked["M"], strict=True)]


def _name_ends(axes: Axes, heights: Sequence[float], names: Sequence[str]) -> None:
    right = axes.get_xlim()[1]
    for y, name in zip(heights, names, strict=True):
        axes.annotate(
            name,
            (right, y),
            xytext=(1, 0),
            textcoords="offset points",
            fontsize=TINY,
            color=BLUE,
            ha="left",
            va="center",
            annotation_clip=False,
        )


def _head(content: Sensitivity, width: float) -> Head:
    lines = [f"Lines: each {content.unit_word}; orange: their median. The fit's own variant stands first."]
    if content.n_beyond:
        lines.append(f"Off the axis: {count(content.n_beyond, 'line')}, since a ratio to a d near 0 is unstable.")
    return head_of(width, "M under other noises and coarser ratings", lines)
