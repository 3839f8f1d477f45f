"""Names above facets."""

from __future__ import annotations

from hmeta.report.facet_names import broken_names, facet_names, not_too_tall
from hmeta.report.facet_words import noise_words
from hmeta.report.style import SMALL, TALLEST, TINY, Grid


def test_short_names_stay_on_one_line():
    assert broken_names(["ant", "bee"], 8) == (["ant", "bee"], 1)


def test_names_are_broken_where_their_parts_meet():
    names, lines = broken_names(["google/gemini-2.5-pro", "GeminiAdvancedWeb"], 15)
    assert lines == 2
    assert names == ["google/gemini-\n2.5-pro", "GeminiAdvanced\nWeb"]


def test_long_names_lose_their_folder_then_letters_and_stay_distinct():
    assert broken_names(["anthropic/claude-haiku-4-5@20251001"], 14)[0] == ["claude-haiku-\n4-5@20251001"]
    names, _ = broken_names([f"v/{'x' * 40}{i}{'y' * 40}" for i in range(30)], 12)
    assert len(set(names)) == 30
    assert max(len(line) for name in names for line in name.split("\n")) <= 14


def test_models_of_one_vendor_are_told_apart_on_two_lines():
    models = [f"anthropic/claude-{name}-4-5@20251101" for name in ("opus", "sonnet", "haiku")]
    names = facet_names(models, 0.9)
    assert (names.size, names.lines) == (TINY, 2)
    assert names.extra > 0
    joined = [text.replace("\n", "") for text in names.texts]
    assert joined == [model.removeprefix("anthropic/") for model in models]


def test_short_names_take_one_line_and_keep_a_folder_that_tells_them_apart():
    assert facet_names(["a/x", "b/x"], 2.0) == (["a/x", "b/x"], SMALL, 1)
    assert facet_names(["a/x", "b/y"], 2.0).texts == ["x", "y"]


def test_a_grid_that_is_too_tall_becomes_as_tall_as_may_be():
    grid = Grid(20, 3, 0.9, 1.0, 0.4, 0.1, 1.0, 0.5, 0.1, 0.3)
    assert TALLEST - 0.1 < not_too_tall(grid).height <= TALLEST
    assert not_too_tall(grid._replace(rows=5)).cell_height == 1.0


def test_only_gumbel_keeps_its_capital():
    assert noise_words("Normal noise, m = 4") == "normal noise, m = 4"
    assert noise_words("Gumbel noise") == "Gumbel noise"
