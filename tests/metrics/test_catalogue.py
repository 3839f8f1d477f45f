"""How a user asks for a measure, and what is refused with which hint."""

from __future__ import annotations

import numpy as np
import pytest

from hmeta.core.errors import DataError
from hmeta.metrics.catalogue import curves, look_up, measures, read_call, read_request
from hmeta.metrics.judges import PROBABILITY_ASKED


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("ECE", 'Did you mean "ece"'),
        ("Auroc2", 'Did you mean "auroc2"'),
        ("ece(Bins=5)", 'Did you mean "bins"'),
        ("ece(mass=Equal_Mass)", 'Did you mean "equal_mass"'),
        ("aurocc", "that hmeta list metrics shows"),
        ("ece(bins=5,bins=6)", "bins is given twice"),
    ],
)
def test_mistakes_are_refused_with_the_nearest_word(text, hint):
    with pytest.raises(DataError, match=hint):
        read_request(text)


def test_curves_are_looked_up_where_they_are_listed():
    with pytest.raises(DataError, match=f"the {len(curves())} that hmeta list curves shows"):
        look_up("nothing", curves(), "curve")


def test_options_once_each_are_read():
    assert read_call("ece(bins=5, mass=equal_mass)") == ("ece", {"bins": 5, "mass": "equal_mass"})


@pytest.mark.parametrize(
    ("columns", "where"),
    [
        ((["a"], [1]), "probability"),
        (([0.5], ["right"]), "correct"),
        (([object()], [1]), "probability"),
        (([[0.5], [0.5, 0.5]], [1]), "probability"),
    ],
)
def test_columns_that_are_no_numbers_are_refused(columns, where):
    with pytest.raises(DataError, match=f"{where}: these are not all numbers"):
        measures()["ece"](*columns)


def test_weights_that_are_no_numbers_are_refused():
    with pytest.raises(DataError, match="not all numbers"):
        measures()["ece"]([0.5], [1], weights=["x"])
    assert np.isfinite(measures()["ece"]([0.5], [1], weights=[2]))


def test_everything_that_reads_p_says_what_p_asks_of_the_scale():
    reads = [card for card in (*measures().values(), *curves().values()) if "p_positive" in card.columns]
    assert len(reads) >= 6
    for card in reads:
        assert card.caution == PROBABILITY_ASKED, card.name
        assert "half scales" in " ".join(card.definition.split()), card.name
    assert "0 to 1" in PROBABILITY_ASKED
    assert "ratings" in PROBABILITY_ASKED
