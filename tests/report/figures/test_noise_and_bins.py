"""The figure of noises and bins: which estimates are joined, medians by hand, refusals, words inside."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest

from hmeta.core.errors import DataError
from hmeta.report.card import Options
from hmeta.report.figure_file import make_figure
from hmeta.report.figures.noise_and_bins import BINS, NOISE, describe, draw, from_table, read
from hmeta.report.inputs import FitInput
from hmeta.report.style import width_of
from tests.infer.synthetic_fit import fit_tree, noise
from tests.report.figures.inside import outside

VARIANTS = [("gumbel", 0), ("gumbel", 3), ("gumbel", 5), ("gumbel", 10), ("normal", 0)]
STEP = {("gumbel", 0): 0.0, ("gumbel", 3): -0.05, ("gumbel", 5): -0.02, ("gumbel", 10): -0.01, ("normal", 0): -0.2}


def estimates(n: int, *, name: str = "unit {}", part: str = "") -> pd.DataFrame:
    """Return n units from 0.4 to 1, each variant off by its step; no unit has more than ten levels."""
    rows = []
    for i, (kind, bins) in product(range(n), VARIANTS):
        M = 0.4 + 0.6 * i / max(n - 1, 1) + STEP[kind, bins]
        binned = bins != 10
        rows.append(
            {
                "unit": name.format(i),
                "part": part,
                "noise": kind,
                "bins": bins,
                "own": (kind, bins) == ("gumbel", 0),
                "M": M if binned else np.nan,
                "status": "ok" if binned else "not binned",
            }
        )
    frame = pd.DataFrame(rows)
    frame.attrs.update(by="model", noise="gumbel", notes=("pooled",))
    return frame


def test_medians_are_those_of_the_units_with_every_estimate():
    table = estimates(5)
    table.loc[(table["unit"] == "unit 4") & (table["noise"] == "normal"), "M"] = np.nan
    content = from_table(table, converged=True)
    rows = content.medians.set_index(["kind", "variant"])
    assert rows.index.tolist() == [
        (NOISE, "Gumbel"), (NOISE, "normal"), (BINS, "as rated"), (BINS, "5 bins"), (BINS, "3 bins")
    ]  # fmt: skip
    assert rows["n_units"].tolist() == [4, 4, 5, 5, 5]
    # noises: the units at 0.4, 0.55, 0.7, 0.85; bins: also the one at 1
    assert rows["median"].tolist() == pytest.approx([0.625, 0.425, 0.7, 0.68, 0.65])
    assert rows["difference"].tolist() == pytest.approx([0, -0.2, 0, -0.02, -0.05])
    assert rows["n_binned"].tolist() == [0, 0, 0, 5, 5]


def test_a_unit_with_no_more_levels_than_bins_keeps_its_estimate():
    table = estimates(3)
    coarse = (table["unit"] == "unit 0") & (table["bins"] == 5)
    table.loc[coarse, ["M", "status"]] = [np.nan, "not binned"]
    content = from_table(table, converged=True)
    line = content.lines.query("kind == 'bins' and unit == 'unit 0'").set_index("variant")["M"]
    assert line.to_dict() == pytest.approx({"as rated": 0.4, "5 bins": 0.4, "3 bins": 0.35})
    assert content.medians.set_index("variant").loc["5 bins", "n_binned"] == 2


def test_unstable_ratios_leave_the_axis_and_are_counted():
    table = estimates(20)
    table.loc[table["unit"] == "unit 7", "M"] *= 1000
    content = from_table(table, converged=True)
    assert content.n_beyond == 1
    assert content.limits[1] < 4
    assert "Off the axis: 1 line" in describe(content).caption


def test_refusals():
    table = estimates(2).assign(M=np.nan, status="undefined")
    with pytest.raises(DataError, match="no unit has estimates"):
        from_table(table, converged=True)
    tree = fit_tree(noise(1, 2), {"model": ["a", "b"]}, attributes={"headline": "d"})
    with pytest.raises(DataError, match="M is the headline"):
        read(FitInput("fit", "fit.nc", tree), Options())


@pytest.mark.parametrize("width", ["column", "half", "page"])
@pytest.mark.parametrize("n", [1, 3, 50])
def test_words_lie_inside(n: int, width: str):
    table = estimates(n, name="a-vendor-with-a-long-name/model-{}-preview", part="0-100")
    content = from_table(table, converged=False)
    assert not outside(make_figure(lambda: draw(content, width_of(width))))
    assert f"n = {n}" in describe(content).caption
    assert "Gumbel" in describe(content).alt
