"""Type-1 measures against closed forms and the fit that reports them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from hmeta.metrics.catalogue import measures
from hmeta.metrics.sensitivity import c, d, zroc_slope
from tests.metrics.rating_rows import O5, S1, S2, rows_of


def test_d_and_c_are_those_of_the_rates():
    rows = rows_of(*O5)
    hit, alarm = 128 / 146, 16 / 186
    z = stats.norm.ppf([hit, alarm])
    assert d(*rows.rating[:2], weights=rows.count) == pytest.approx(z[0] - z[1], abs=1e-12)
    assert c(rows.stimulus, rows.response, weights=rows.count) == pytest.approx(-0.5 * z.sum(), abs=1e-12)


def test_d_among_four_is_logit_and_log_under_gumbel_noise():
    found = d([0, 1], [4, 4], weights=[60, 40])
    assert found == pytest.approx(np.log(0.4 / 0.6) + np.log(3.0), abs=1e-14)
    assert d([0, 1], [4, 4], weights=[75, 25]) == pytest.approx(0.0, abs=1e-14)
    assert d([0, 1], [4, 4], weights=[75, 25], noise="normal") == pytest.approx(0.0, abs=1e-8)


def test_zroc_slope_of_unequal_variances():
    """Evidence N(0, 1) and N(1.5, 1.25²), expected counts: slope 0.8 to 1e-4."""
    cuts = np.array([-np.inf, -0.6, 0.1, 0.7, 1.2, 2.0, np.inf])
    counts = [1e6 * np.diff(stats.norm.cdf(cuts, m, s)) for m, s in ((0.0, 1.0), (1.5, 1.25))]
    rows = rows_of(*counts)
    assert zroc_slope(rows.stimulus, rows.response, rows.confidence, weights=rows.count) == pytest.approx(0.8, abs=1e-4)


def test_replicates_with_an_empty_outcome_are_undefined_alone():
    rows = rows_of(S1, S2)
    weights = np.stack([rows.count, np.where((rows.stimulus == 0) & (rows.response == 1), 0.0, rows.count)])
    found = d(*rows.rating[:2], weights=weights)
    assert np.isfinite(found[0])
    assert np.isnan(found[1])
    columns = {"outcome": rows.rating[0], "n_options": rows.rating[1]}
    assert measures()["d"].why_undefined(columns, weights[1]) == "d infinite: no S2 response to S1"
