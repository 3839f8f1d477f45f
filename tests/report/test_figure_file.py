"""Figures as files: words stay whole, coordinates are short, PDF and PNG hold the same words."""

from __future__ import annotations

import re

import numpy as np
import pytest
from matplotlib.figure import Figure

from hmeta.report.figure_file import convert, make_figure, to_svg

WORDS = ("R-hat 1.0012", "ECE 0.0289", "0.123456 < 1")


def drawn() -> Figure:
    figure = Figure(figsize=(3, 2))
    axes = figure.add_axes((0.2, 0.2, 0.7, 0.7))
    axes.plot(np.linspace(0, 1, 20), np.random.default_rng(0).random(20))
    axes.set_yticks([0.001, 0.01234], ["1.001", "1.01234"])
    for i, text in enumerate(WORDS):
        figure.text(0.3, 0.5 + 0.1 * i, text)
    return figure


def test_numbers_in_words_keep_their_digits():
    svg = to_svg(make_figure(drawn)).decode()
    shown = [text.replace("&lt;", "<") for text in re.findall(r"<text[^>]*>([^<]*)</text>", svg)]
    assert {*WORDS, "1.001", "1.01234"} <= set(shown)
    coordinates = re.findall(r'd="([^"]*)"', svg)
    assert len(coordinates) > 3
    assert not re.search(r"\d\.\d{3}", " ".join(coordinates))


@pytest.mark.parametrize(("suffix", "magic"), [(".svg", b"<?xml"), (".pdf", b"%PDF"), (".png", b"\x89PNG")])
def test_the_same_figure_is_the_same_file(suffix: str, magic: bytes):
    made = [convert(to_svg(make_figure(drawn)), suffix) for _ in range(2)]
    assert made[0].startswith(magic)
    assert made[0] == made[1]
