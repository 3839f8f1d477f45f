"""Draws at the cells that a reader wants: averages by answers, worked out by hand, and names."""

import numpy as np
import pandas as pd
import pytest

from hmeta.infer import reporting
from hmeta.infer.reporting import Reporting, cell_labels, dimension_word
from hmeta.spec import parse_model, plan
from tests.spec.example_data import mafc

BY_ITEM = """
schema = "1"
[likelihood]
name = "mafc"
[parameters.d]
formula = "1 + (1 | item)"
[parameters.M]
formula = "1 + length + (1 + length | model)"
[parameters.criteria]
formula = "1 | model"
"""

ANSWERS = {("a", "i1"): 1, ("a", "i2"): 3, ("a", "i3"): 2, ("b", "i1"): 5, ("b", "i2"): 1}


@pytest.fixture
def by_item():
    """Two models; model a answers items once, three times and twice; model b leaves one item out."""
    levels = [10, 50, 90, 70, 30]
    rows = [
        (model, item, 2.0 if model == "a" else 6.0, k % 2, levels[k])
        for (model, item), n in ANSWERS.items()
        for k in range(n)
    ]
    return plan(parse_model(BY_ITEM, "m.toml"), mafc(rows, ["model", "item", "length"]))


def test_cells_stand_as_they_are_while_they_are_few(by_item):
    found = Reporting(by_item)
    assert found.columns == ["item", "length", "model", "n_options"] or set(found.columns) == set(by_item.cells)
    assert found.of_cell.tolist() == list(range(5))
    assert found.n_answers.sum() == 12
    cells = found.cells.reset_index(drop=True)
    counted = {(r.model, r.item): n for r, n in zip(cells.itertuples(), found.n_answers, strict=True)}
    assert counted == ANSWERS


def test_many_cells_are_averaged_by_answers(by_item, monkeypatch):
    """d of model a is (1·d1 + 3·d2 + 2·d3) / 6, of model b (5·d1 + 1·d2) / 6."""
    monkeypatch.setattr(reporting, "MAX_CELLS", 2)
    found = Reporting(by_item)
    assert set(found.columns) == {"model", "length", "n_options"}
    assert found.cells["model"].tolist() == ["a", "b"]
    assert found.n_answers.tolist() == [6.0, 6.0]
    items = by_item.parameters["d"].units["item"].tolist()
    assert items == ["i1", "i2", "i3"]
    hand = np.array([[1, 3, 2], [5, 1, 0]]) / 6
    assert found.average("d").toarray() == pytest.approx(hand, abs=1e-15)
    draws = {"d": np.arange(12.0).reshape(2, 2, 3), "M": np.ones((2, 2, 2)), "edges": np.zeros((2, 2, 2, 5))}
    reduced = found.reduce(draws)
    assert reduced["d"] == pytest.approx(draws["d"] @ hand.T, abs=1e-14)
    assert reduced["M"] == pytest.approx(np.ones((2, 2, 2)), abs=1e-15)
    assert reduced["edges"] is draws["edges"]


def test_designs_name_their_columns(by_item):
    found = Reporting(by_item).design("M")
    labels, matrix = found["common"]
    assert labels == ["Intercept", "length"]
    model = Reporting(by_item).cells["model"].to_numpy()
    expected = np.column_stack([np.ones(5), np.where(model == "a", 2.0, 6.0)])
    assert np.asarray(matrix) == pytest.approx(expected, abs=1e-14)
    labels, matrix = found["model"]
    assert labels == ["Intercept", "length"]
    assert np.asarray(matrix) == pytest.approx(expected, abs=1e-14)
    assert set(Reporting(by_item).design("d")) == {"common"}  # an intercept a level needs no design


@pytest.mark.parametrize(
    ("factor", "word"),
    [
        ("model", "llm"),
        ("participant", "participant_level"),
        ("domain", "domain_level"),
        ("model:domain", "llm_domain"),
        ("my factor", "my_factor_level"),
    ],
)
def test_dimensions_never_have_the_name_of_a_factor(factor, word):
    assert dimension_word(factor) == word


def test_labels_join_factors_and_leave_the_number_of_options_out():
    cells = pd.DataFrame({"model": ["a", "b"], "n_options": [4, 5], "domain": ["x", "y"]})
    assert cell_labels(cells) == ["a | x", "b | y"]
    assert cell_labels(cells[["n_options"]]) == ["all", "all"]
