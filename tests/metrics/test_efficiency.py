"""meta-d′ for many replicates, metacognitive noise, and the threshold measures."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from hmeta.core.errors import DataError
from hmeta.infer.mle import fit_counts
from hmeta.metrics.catalogue import measures, read_request
from hmeta.metrics.efficiency import (
    THRESHOLD_WEAKNESS,
    M,
    M_threshold,
    meta_d,
    meta_d_threshold,
    meta_noise,
    meta_uncertainty,
)
from tests.metrics.rating_rows import O7, S1, S2, mafc_rows, rows_of
from tests.oracle import meta_noise as oracle


@pytest.mark.parametrize("meta_c", ["absolute", "relative"])
def test_meta_d_and_m_are_those_of_fit_counts(meta_c):
    """To 1e-10, for the table and for replicates of it in one call."""
    rows = rows_of(S1, S2)
    n = int(rows.count.sum())
    weights = np.random.default_rng(1).multinomial(n, rows.count / n, size=(2, 3)).astype(float)
    values = meta_d(*rows.rating, weights=weights, meta_c=meta_c), M(*rows.rating, weights=weights, meta_c=meta_c)
    for index in np.ndindex(2, 3):
        fit = fit_counts(*weights[index].reshape(2, -1), meta_c=meta_c)
        assert [v[index] for v in values] == pytest.approx([fit.meta_d, fit.M], abs=1e-10, nan_ok=True)


def test_reasons_are_those_of_the_fit():
    """Every reason, one by one: value NaN exactly where the fit gives one."""
    pairs = (
        ([0, 0, 5, 1], [0, 0, 0, 6]),
        ([40, 0, 0, 10], [10, 0, 0, 40]),
        ([30, 20, 0, 0], [0, 0, 20, 30]),
        ([30, 20, 3, 2], [0, 0, 20, 30]),
        ([20, 0, 10, 0], [0, 10, 0, 20]),
    )
    for pair in pairs:
        rows, fit = rows_of(*pair), fit_counts(*pair)
        columns = dict(zip(("outcome", "n_options", "confidence"), rows.rating, strict=True))
        value, reason = M(*rows.rating, weights=rows.count), measures()["M"].why_undefined(columns, rows.count)
        assert bool(np.isnan(value)) == bool(reason) == bool(np.isnan(fit.M))
        if reason:
            assert reason == fit.reason


def test_m_of_alternatives():
    """Expected counts of four alternatives with d = 1.6 and M = 0.5 under Gumbel noise give M back (1e-7)."""
    m, strength, t = 4, 0.8, np.array([0.0, 0.5, 1.2, 2.0, 60.0])
    accuracy = np.exp(1.6) / (np.exp(1.6) + m - 1)
    right = -np.diff(1.0 / (np.exp(strength) + (m - 1) * np.exp(t)))
    wrong = -np.diff(1.0 / (1.0 + np.exp(t) * (np.exp(strength) + m - 2)))
    rows, count = mafc_rows(1e4 * (1 - accuracy) * wrong / wrong.sum(), 1e4 * accuracy * right / right.sum(), m)
    assert M(*rows, weights=count) == pytest.approx(0.5, abs=1e-7)


@pytest.mark.parametrize("noise", [0.4, 1.7])
def test_noise_is_given_back_from_expected_counts(noise):
    """Counts by the slow definition; 1e-4 of the noise, and meta-uncertainty is √(exp(noise²) - 1)."""
    edges = (0.0, 0.5, 1.0, 1.8, np.inf)
    table = [[oracle.joint(1.5, 0.2, noise, 2 * s + r, *e) for r, e in _order(edges)] for s in (0, 1)]
    rows = rows_of(*(1e4 * np.array(table)))
    args = (rows.stimulus, rows.response, rows.confidence)
    assert meta_noise(*args, weights=rows.count) == pytest.approx(noise, rel=1e-4)
    assert meta_uncertainty(*args, weights=rows.count) == pytest.approx(np.sqrt(np.expm1(noise**2)), rel=1e-3)


def _order(edges):
    spans = list(pairwise(edges))
    return [(0, span) for span in spans[::-1]] + [(1, span) for span in spans]


def test_noise_of_an_ideal_and_of_a_useless_observer():
    """M above 1 needs no noise: 0. Confidence unrelated to correctness: no finite maximum."""
    rows = rows_of([60, 10, 5, 2], [2, 5, 10, 60])
    good = rows_of([40, 30, 15, 2], [2, 15, 30, 40])
    useless = rows_of([40, 40, 10, 10], [10, 10, 40, 40])
    assert M(*good.rating, weights=good.count) > 1.0
    assert meta_noise(good.stimulus, good.response, good.confidence, weights=good.count) == 0.0
    assert rows.count.sum() > 0
    args = (useless.stimulus, useless.response, useless.confidence)
    assert np.isnan(meta_noise(*args, weights=useless.count))
    columns = dict(zip(("stimulus", "response", "confidence"), args, strict=True))
    assert measures()["meta_noise"].why_undefined(columns, useless.count).startswith("no finite maximum")


def test_noise_grows_as_m_falls():
    rows = rows_of(O7, O7[::-1])
    found = meta_noise(rows.stimulus, rows.response, rows.confidence, weights=rows.count)
    assert M(*rows.rating, weights=rows.count) == pytest.approx(0.2943, abs=2e-3)
    assert found == pytest.approx(2.970, abs=5e-3)


def test_threshold_by_hand():
    """0.5 added to each cell: H2 = 30.5/41 and F2 = 5.5/21; confidence of 0.9 itself is not above 0.9."""
    probability, correct, w = [0.95, 0.9, 1.0, 0.5], [1, 1, 0, 0], [30, 10, 5, 15]
    by_hand = stats.norm.ppf(30.5 / 41) - stats.norm.ppf(5.5 / 21)
    assert meta_d_threshold(probability, correct, weights=w) == pytest.approx(by_hand, abs=1e-12)
    assert M_threshold(probability, correct, weights=w, d=1.25) == pytest.approx(by_hand / 1.25, abs=1e-12)
    assert meta_d_threshold(probability, correct, weights=w, threshold=0.97) < 0.0


def test_threshold_needs_a_d_of_the_users_choosing():
    with pytest.raises(DataError, match="M_threshold needs d"):
        read_request("M_threshold(threshold=0.9)")
    with pytest.raises(DataError, match="no meaning"):
        M_threshold([0.95, 0.5], [1, 0], d=0.0)
    assert "neither meta-d′ nor M" in THRESHOLD_WEAKNESS


def test_threshold_moves_with_the_use_of_the_scale():
    """The weakness, shown: the same order of confidence squeezed below the cut leaves only the 0.5s."""
    correct, w = [1, 1, 0, 0], [60, 20, 5, 15]
    wide = float(meta_d_threshold([0.95, 0.5, 0.95, 0.5], correct, weights=w))
    squeezed = float(meta_d_threshold([0.85, 0.5, 0.85, 0.5], correct, weights=w))
    assert wide > 1.0
    assert squeezed == pytest.approx(stats.norm.ppf(0.5 / 81) - stats.norm.ppf(0.5 / 21), abs=1e-12)
