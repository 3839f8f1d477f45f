"""Intervals: known by hand, and the same whatever a library's defaults are."""

from __future__ import annotations

import numpy as np
import pytest
from arviz_stats.base import array_stats

from hmeta.core.errors import HmetaError
from hmeta.infer.intervals import interval_ends


def test_equal_tails_by_hand():
    lower, upper = interval_ends(np.arange(101.0), 0.9)
    assert (lower, upper) == pytest.approx((5.0, 95.0))


def test_narrowest_by_hand():
    # Half of these eleven values lie between 0 and 0.5; the narrowest span of six.
    draws = np.array([0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 2.0, 4.0, 6.0, 8.0, 10.0])
    lower, upper = interval_ends(np.random.default_rng(0).permutation(draws), 0.5, "hdi")
    assert (lower, upper) == pytest.approx((0.0, 0.5))


@pytest.mark.parametrize("mass", [0.5, 0.89, 0.94])
def test_both_kinds_are_those_of_arviz(mass: float):
    draws = np.random.default_rng(3).gamma(2.0, size=(3, 777))
    for kind, reference in (("eti", array_stats.eti), ("hdi", array_stats.hdi)):
        found = np.stack(interval_ends(draws, mass, kind), axis=-1)  # type: ignore[arg-type]
        np.testing.assert_allclose(found, [reference(row, mass) for row in draws], rtol=1e-12)


def test_draws_that_are_not_finite_have_no_interval():
    lower, upper = interval_ends(np.array([[1.0, np.nan, 2.0], [1.0, 2.0, 3.0]]), 0.5)
    assert np.isnan([lower[0], upper[0]]).all()
    assert np.isfinite([lower[1], upper[1]]).all()


@pytest.mark.parametrize(
    ("mass", "kind", "message"), [(94, "eti", "write 0.94"), (0, "eti", "share"), (0.9, "hpd", "hdi")]
)
def test_refusals(mass: float, kind: str, message: str):
    with pytest.raises(HmetaError, match=message):
        interval_ends(np.arange(5.0), mass, kind)  # type: ignore[arg-type]
