"""Cases A, B, E and F and the oracle table for measures of discrimination, efficiency and information."""

from __future__ import annotations

import numpy as np
import pytest

from hmeta.metrics.catalogue import measures
from hmeta.metrics.discrimination import auroc2
from hmeta.metrics.information import h_correct, meta_i, meta_i2r
from hmeta.metrics.performance import accuracy
from hmeta.metrics.sensitivity import d
from tests.metrics.rating_rows import O5, O7, O9, S1, S2, rows_of

NAMES = ("d", "meta_d", "M", "auroc2_ratio", "gamma_ratio", "phi_difference", "meta_noise", "meta_uncertainty")


def look(pair, name: str) -> tuple[float, str]:
    """Return the value of a measure and the reason where there is none."""
    rows, card = rows_of(*pair), measures()[name]
    columns = dict(zip(card.columns, rows.columns(card.columns), strict=True))
    return float(card(*columns.values(), weights=rows.count)), card.why_undefined(columns, rows.count)


@pytest.mark.parametrize(
    ("pair", "expected"),
    [
        ((S1, S2), 0.7097),
        (([5, 15, 20, 20], [20, 20, 15, 5]), 0.3750),
        (O5, 0.8077),
        ((O7, O7[::-1]), 0.5671),
        ((O9, O9[::-1]), 0.7174),
        (([40, 0, 0, 10], [10, 0, 0, 40]), 0.5),
        (([0, 0, 5, 1], [0, 0, 0, 6]), 0.9167),
    ],
)
def test_oracle_table_auroc2(pair, expected):
    assert look(pair, "auroc2")[0] == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize(
    ("pair", "expected"),
    [((S1, S2), (1.5041, 1.4662, 0.9748)), (O5, (2.5244, 2.3517, 0.9316)), ((O7, O7[::-1]), (1.4975, 0.4407, 0.2943))],
)
def test_oracle_table_m(pair, expected):
    found = [look(pair, name)[0] for name in ("d", "meta_d", "M")]
    assert found == pytest.approx(expected, abs=2e-3)


@pytest.mark.parametrize("name", NAMES)
def test_BUG_01_no_s1_responses(name):
    value, reason = look(([0, 0, 5, 1], [0, 0, 0, 6]), name)
    assert np.isnan(value)
    assert reason == "no S1 responses"


@pytest.mark.parametrize("name", [n for n in NAMES if n != "d"])
def test_BUG_02_one_confidence_level(name):
    value, reason = look(([40, 0, 0, 10], [10, 0, 0, 40]), name)
    assert np.isnan(value)
    assert reason == "one confidence level used"


def test_BUG_02_what_remains():
    pair = ([40, 0, 0, 10], [10, 0, 0, 40])
    assert look(pair, "d")[0] == pytest.approx(1.6832, abs=5e-5)
    assert look(pair, "auroc2") == (0.5, "")
    assert look(pair, "meta_i")[0] == pytest.approx(0.0, abs=1e-14)
    assert np.isnan(look(pair, "meta_d_threshold")[0])


@pytest.mark.parametrize("name", [*NAMES, "auroc2", "gamma", "phi", "delta_conf", "meta_i", "meta_i1r", "meta_i2r"])
def test_BUG_06_perfect_accuracy(name):
    value, reason = look(([30, 20, 0, 0], [0, 0, 20, 30]), name)
    assert np.isnan(value)
    assert reason == "no wrong answers"


def test_BUG_06_accuracy_and_entropy_remain():
    rows = rows_of([30, 20, 0, 0], [0, 0, 20, 30])
    assert accuracy(rows.correct, weights=rows.count) == 1.0
    assert h_correct(rows.correct, weights=rows.count) == 0.0


def test_BUG_12_swapped_labels_show_in_d_and_auroc2():
    swapped = (S2, S1)
    found = [look(swapped, name)[0] for name in ("d", "meta_d", "auroc2")]
    assert found == pytest.approx([-1.5041, -1.4662, 0.2903], abs=2e-3)
    assert look(swapped, "M")[0] == pytest.approx(look((S1, S2), "M")[0], abs=1e-8)


def test_BUG_46_d_of_choices():
    """0.80 of two: 1.683 as yes/no, 1.190 as two alternatives; 0.40 of four is 0.522, above chance."""
    binary = d([0, 1, 2, 3], [0, 0, 0, 0], weights=[80, 20, 20, 80])
    two = d([0, 1], [2, 2], weights=[20, 80], noise="normal")
    four = d([0, 1], [4, 4], weights=[60, 40], noise="normal")
    assert [float(x) for x in (binary, two, four)] == pytest.approx([1.683, 1.190, 0.522], abs=5e-4)


@pytest.mark.parametrize("name", [*NAMES, "meta_d_difference", "meta_i1r", "c"])
def test_BUG_48_no_efficiency_without_a_type_1_table(name):
    assert "open" not in measures()[name].tasks


@pytest.mark.parametrize("name", ["auroc2", "gamma", "phi", "delta_conf", "meta_i", "meta_i2r", "type2_d_a"])
def test_BUG_48_what_an_open_task_has(name):
    assert "open" in measures()[name].tasks


def test_BUG_49_only_correctness_and_confidence():
    conf, correct, n = [100, 100, 90, 90], [1, 0, 1, 0], [18, 2, 9, 11]
    found = [
        float(x)
        for x in (
            accuracy(correct, weights=n),
            auroc2(conf, correct, weights=n),
            meta_i(conf, correct, weights=n),
            h_correct(correct, weights=n),
            meta_i2r(conf, correct, weights=n),
        )
    ]
    assert found == pytest.approx([0.675, 0.7564, 0.1789, 0.9097, 0.1966], abs=5e-5)
