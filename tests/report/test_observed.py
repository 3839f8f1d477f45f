"""Observed and replicated ratings by unit."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score, roc_curve

from hmeta.core.errors import DataError
from hmeta.report.observed import auroc2, evenly_spaced, observed_by_unit, shares_above
from tests.report.figures.replicated_fit import binary_fit, by_scale_fit, units_fit


def test_area_and_curve_are_those_of_scikit_learn():
    counts = np.array([[7.0, 0, 4, 2], [3, 5, 0, 12]])
    correct = np.repeat([0, 1], counts.sum(axis=1).astype(int))
    confidence = np.concatenate([np.repeat(np.arange(4), row.astype(int)) for row in counts])
    assert float(auroc2(counts)) == pytest.approx(roc_auc_score(correct, confidence), abs=1e-12)
    wrong, right = shares_above(counts)
    theirs = roc_curve(correct, confidence, drop_intermediate=False)
    np.testing.assert_allclose([wrong, right], theirs[:2], atol=1e-12)


def test_area_is_undefined_without_wrong_answers():
    assert np.isnan(auroc2(np.array([[0.0, 0], [3, 4]])))


def test_both_responses_of_a_binary_task_are_added():
    found = observed_by_unit(binary_fit())
    assert [one.label for one in found.units] == ["p1", "p2"]
    # right: S0R0 + S1R1, wrong: S0R1 + S1R0
    np.testing.assert_array_equal(found.units[0].observed, [[7, 3, 1], [8, 8, 10]])
    np.testing.assert_array_equal(found.units[1].observed, [[7, 3, 1], [8, 8, 9]])
    np.testing.assert_array_equal(found.units[1].replicated, np.tile(found.units[1].observed, (8, 1, 1)))


def test_cells_of_a_level_are_added():
    found = observed_by_unit(units_fit(3), "n_options")
    parts = observed_by_unit(units_fit(3), "model").units
    assert found.by == "n_options"
    assert len(parts) == 3
    np.testing.assert_array_equal(found.units[0].observed, sum(one.observed for one in parts))
    np.testing.assert_array_equal(found.units[0].replicated, sum(one.replicated for one in parts))


def test_scales_are_never_mixed():
    found = observed_by_unit(by_scale_fit()).units
    assert [one.label for one in found] == ["ant · 0-100", "ant · 1-5", "bee · 0-100"]
    assert [one.levels.tolist() for one in found] == [[0, 50, 100], [1, 3, 5], [0, 50, 100]]


def test_refusals():
    source = units_fit(2)
    with pytest.raises(DataError, match='"domain" is not a factor'):
        observed_by_unit(source, "domain")
    del source.tree["posterior_predictive"]
    with pytest.raises(DataError, match="holds no replicated ratings"):
        observed_by_unit(source)
    other = units_fit(2)
    del other.tree["observed_data"]
    with pytest.raises(DataError, match="holds no observed counts"):
        observed_by_unit(other)


def test_places_are_evenly_spaced_with_both_ends():
    places = evenly_spaced(175)
    assert len(places) == len(set(places)) == 56
    assert (places[0], places[-1]) == (0, 174)
    assert set(np.diff(places)) <= {3, 4}
