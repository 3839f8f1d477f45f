"""Standard errors by simulation: how often the interval of ±1.96 standard errors holds the truth.

With true coverage near 0.95 the number of hits in N cells is binomial. The two-step maximum likelihood is
asymptotic, so that a true coverage in [0.93, 0.97] is allowed for; a test alarms falsely in at most 1e-4
of runs: bounds are the binomial quantiles at 5e-5 (N, 0.93) and 1 - 5e-5 (N, 0.97). Seeds are fixed.
"""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from hmeta.infer.mle import fit_mle
from tests.infer.test_mle import Table, table_of
from tests.oracle import binary, mafc

pytestmark = pytest.mark.slow

N = 600


def check_coverage(estimate, error, truth: float) -> None:
    usable = np.isfinite(estimate) & np.isfinite(error)
    n = int(usable.sum())
    assert n > 0.98 * len(estimate)
    hits = int((np.abs(estimate - truth) < 1.959964 * error)[usable].sum())
    assert stats.binom.ppf(5e-5, n, 0.93) <= hits <= stats.binom.ppf(1 - 5e-5, n, 0.97), hits / n


BINARY = [
    ("normal", "absolute", 0.3),
    ("normal", "relative", 0.3),
    ("normal", "absolute", 0.0),
    ("logistic", "absolute", 0.2),
]


@pytest.mark.parametrize(("noise", "placement", "c"), BINARY)
def test_binary_intervals_hold_the_truth(noise, placement, c):
    """500 trials a stimulus, d = 1.5, M = 0.8; d, meta_d and M each."""
    setting = binary.Setting(1.5, c, 1.2, noise=noise, placement=placement)
    rng = np.random.default_rng(17)
    steps = (0.4, 0.8, 1.3)
    counts = np.stack(binary.simulate_many(setting, (steps, steps), (500, 500), N, rng), axis=1)
    frame = fit_mle(table_of(list(counts)), noise=noise, meta_c=placement)
    for name, truth in (("d", 1.5), ("meta_d", 1.2), ("M", 0.8)):
        check_coverage(frame[name], frame[f"se_{name}"], truth)


@pytest.mark.parametrize("noise", ["gumbel", "normal"])
def test_mafc_intervals_hold_the_truth(noise):
    """1,000 answers among 4 alternatives, d = 2, M = 0.8."""
    rng = np.random.default_rng(19)
    edges = (0.5, 1.0, 1.8, 2.7)
    type1, type2 = (mafc.Setting(mu, mu, 4, noise) for mu in (2.0, 1.6))
    chance = [float(mafc.outcome_probability(type1, code)) for code in (0, 1)]
    bounds = (0.0, *edges, np.inf)
    p = np.concatenate(
        [
            [w * float(mafc.rating_probability(type2, code, lo, hi)) for lo, hi in itertools.pairwise(bounds)]
            for code, w in enumerate(chance)
        ]
    )
    assert p.sum() == pytest.approx(1.0, abs=1e-12)
    counts = rng.multinomial(1000, p / p.sum(), size=N)
    cell, place = np.nonzero(counts)
    parts = (cell, place // 5, (place % 5).astype(float), counts[cell, place].astype(float))
    frame = fit_mle(Table("mafc", pd.DataFrame({"model": np.arange(N), "n_options": 4}), *parts), noise=noise)
    for name, truth in (("d", 2.0), ("meta_d", 1.6), ("M", 0.8)):
        check_coverage(frame[name], frame[f"se_{name}"], truth)
