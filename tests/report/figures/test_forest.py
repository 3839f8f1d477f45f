"""The forest plot: what it shows, and the files it makes."""

from __future__ import annotations

import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from hmeta.core.errors import HmetaError, OutputError
from hmeta.core.files import write_tree
from hmeta.report.card import Options
from hmeta.report.figure_file import save_figure
from hmeta.report.figures.forest import MOST_NAMED, describe, draw, read
from hmeta.report.inputs import as_input
from hmeta.report.plot import plot
from hmeta.report.style import width_of
from tests.infer.synthetic_fit import by_scale_fit, fit_tree, noise
from tests.report.figures.inside import outside

MAGIC = {".png": b"\x89PNG", ".pdf": b"%PDF", ".svg": b"<?xml"}


def units_fit(n: int, *, converged: int = 1, name: str = "unit {}") -> xr.DataTree:
    """Return n units; the first has used one confidence level only."""
    M = np.linspace(0.4, 1.2, n) + 0.05 * noise(1, n)
    counts = [row for i in range(n) for row in ((i, 0, 1.0, 20.0), (i, 1, 1.0 if i == 0 else 2.0, 50.0))]
    names = {"model": [name.format(i) for i in range(n)], "n_options": [4] * n}
    return fit_tree(M, names, counts=counts, attributes={"converged": converged})


def forest(tree: xr.DataTree, *, path: Path, width: str = "page") -> None:
    """Draw the forest of a fit."""
    content = read(as_input(tree, "fit"), Options())
    save_figure(lambda: draw(content, width_of(width)), path)


def words(path: Path) -> list[str]:
    """Return the texts of an SVG figure."""
    return re.findall(r"<text[^>]*>([^<]*)</text>", path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("suffix", MAGIC)
def test_each_kind_of_file(suffix: str, tmp_path: Path):
    target = tmp_path / f"forest{suffix}"
    forest(by_scale_fit(), path=target)
    assert target.read_bytes().startswith(MAGIC[suffix])
    assert list(tmp_path.iterdir()) == [target]


def test_the_figure_says_what_it_shows(tmp_path: Path):
    forest(by_scale_fit(), path=tmp_path / "f.svg")
    found = words(tmp_path / "f.svg")
    assert "Metacognitive efficiency by model" in found
    assert "M = meta-d′ / d′, Gumbel noise, m = 4" in found
    assert {"ant", "bee", "cat", "average of all 3", "new model"} <= set(found)
    assert {"0.45", "0.65", "0.85"} <= set(found)  # medians
    assert {"400", "1,200"} <= set(found)  # answers
    assert any("94 % interval" in text for text in found)
    assert not any("CONVERGED" in text for text in found)


def test_a_fit_that_has_not_converged_says_so_in_red(tmp_path: Path):
    forest(units_fit(9, converged=0), path=tmp_path / "f.svg")
    text = (tmp_path / "f.svg").read_text(encoding="utf-8")
    (warning,) = [tag for tag in re.findall(r"<text[^>]*>[^<]*</text>", text) if "NOT CONVERGED" in tag]
    assert "fill: #b00020" in warning.lower()


def test_units_are_sorted_and_those_without_information_marked():
    drawn = read(as_input(units_fit(5), "fit"), Options())
    assert drawn.units["level"].tolist() == [f"unit {i}" for i in range(5)]
    assert drawn.units["uninformative"].tolist() == [True, False, False, False, False]
    medians = drawn.units["median"].tolist()
    assert all(a < b for a, b in pairwise(medians))
    inside = drawn.units
    assert (inside["lower"] < inside["inner_lower"]).all()
    assert (inside["inner_upper"] < inside["upper"]).all()


@pytest.mark.parametrize("n", [1, 3, 60])
def test_few_and_many_units_with_long_names(n: int, tmp_path: Path):
    name = "a-vendor-with-a-long-name/" + "x" * 60 + "{}-and-what-comes-after-the-number"
    forest(units_fit(n, name=name), path=tmp_path / "f.svg")
    shown = [text for text in words(tmp_path / "f.svg") if text.startswith(("a-vendor", "all answers"))]
    assert len(set(shown)) == n


def test_the_same_fit_is_the_same_file(tmp_path: Path):
    for name in ("a.png", "b.png"):
        forest(by_scale_fit(), path=tmp_path / name)
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


@pytest.mark.parametrize(
    ("name", "message"),
    [("f.pgn", 'Did you mean ".png"'), ("f", "call it f.png"), ("there.png", "exists already"), ("no/f.png", "folder")],
)
def test_refusals_write_nothing(name: str, message: str, tmp_path: Path):
    write_tree(by_scale_fit(), tmp_path / "fit.nc")
    (tmp_path / "there.png").write_text("mine")
    with pytest.raises(OutputError, match=message):
        plot("forest", [tmp_path / "fit.nc"], tmp_path / name)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["fit.nc", "there.png"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"name": "forst"}, 'Did you mean "forest"'),
        ({"width": "wide"}, "unknown width"),
        ({"bins": 5}, "has no option bins"),
        ({"by": "modle"}, 'Did you mean "model"'),
        ({"name": "reliability"}, "drawn from a results file"),
    ],
)
def test_a_figure_refuses_what_it_does_not_know(words: dict, message: str, tmp_path: Path):
    write_tree(by_scale_fit(), tmp_path / "fit.nc")
    chosen = {"name": "forest", **words}
    with pytest.raises(HmetaError, match=message):
        plot(chosen.pop("name"), [tmp_path / "fit.nc"], tmp_path / "f.png", **chosen)


def test_many_units_become_thin_rows_without_names(tmp_path: Path):
    n = MOST_NAMED + 20
    forest(units_fit(n), path=tmp_path / "f.svg")
    found = words(tmp_path / "f.svg")
    assert not any(text.startswith("unit ") for text in found)
    assert any(text.startswith(f"{n} units, sorted") for text in found)
    assert {f"average of all {n}"} <= set(found)


@pytest.mark.parametrize("width", ["column", "half", "page"])
def test_words_stay_inside_the_figure(width: str):
    name = "a-vendor-with-a-long-name/model-{}-instruct-preview"
    figure = draw(read(as_input(units_fit(33, name=name, converged=0), "fit"), Options()), width_of(width))
    assert outside(figure) == []


def test_the_caption_says_what_marks_mean():
    caption, alt = describe(read(as_input(units_fit(5), "fit"), Options()))
    assert "94 % equal-tailed interval" in caption
    assert "cannot identify M" in caption
    assert "5 rows" in alt
    assert "unit 4" in alt


@pytest.mark.parametrize("module", ["hmeta.infer.summary", "hmeta.infer.contrast", "hmeta.infer.diagnose"])
def test_reading_a_fit_loads_no_sampler(module: str):
    code = f"import sys, {module}; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {"jax", "numpyro", "pymc", "matplotlib", "scipy"}.isdisjoint(run.stdout.split())
