"""Coverage of bootstrap intervals: data sets from a known table of confidence × correctness."""

import numpy as np
import pytest
from scipy import stats

from hmeta.metrics.catalogue import measures
from hmeta.resample.design import design
from hmeta.resample.intervals import bca, percentile

pytestmark = pytest.mark.slow

LEVEL = np.array([0.3, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.99])
SHARE = np.array([2, 3, 4, 8, 8, 15, 20, 20, 15, 5]) / 100
CONFIDENCE, CORRECT = np.tile(LEVEL, 2), np.repeat([0.0, 1.0], 10)
N_DATA, N_RESAMPLES = 200, 1000


def coverage(name: str, accuracy: np.ndarray, n: int) -> dict[str, float]:
    """Return the share of data sets whose interval holds the value of the table they were drawn from."""
    p = np.concatenate([SHARE * (1 - accuracy), SHARE * accuracy])
    compute = measures()[name].compute
    truth = float(compute(CONFIDENCE, CORRECT, weights=p))
    rng = np.random.default_rng(1)
    hits = {"bca": 0, "percentile": 0}
    for _ in range(N_DATA):
        counts = rng.multinomial(n, p / p.sum()).astype(float)
        built = design(np.arange(20), counts, 20)
        replicates = compute(CONFIDENCE, CORRECT, weights=np.concatenate(list(built.replicates(rng, N_RESAMPLES))))
        estimate = float(compute(CONFIDENCE, CORRECT, weights=counts))
        ((without, multiplicity),) = built.jackknife(rng)
        left_out = compute(CONFIDENCE, CORRECT, weights=without)
        found = {
            "bca": bca(replicates, estimate, 0.95, left_out, multiplicity),
            "percentile": percentile(replicates, estimate, 0.95),
        }
        for kind, interval in found.items():
            hits[kind] += interval.lower <= truth <= interval.upper
    return {kind: count / N_DATA for kind, count in hits.items()}


@pytest.mark.parametrize("n", [250, 1500])
def test_intervals_of_auroc2_hold_the_truth_as_often_as_they_say(n):
    # Binomial(200, 0.95): outside these bounds once in 10,000 runs.
    low, high = stats.binom.ppf([5e-5, 1 - 5e-5], N_DATA, 0.95) / N_DATA
    found = coverage("auroc2", LEVEL, n)
    assert low <= found["bca"] <= high
    assert low <= found["percentile"] <= high


@pytest.mark.parametrize(("name", "n"), [("meta_i", 250), ("meta_i", 1500), ("brier_resolution", 1500)])
def test_bca_corrects_what_percentiles_miss_in_biased_measures(name, n):
    # Not exact in finite samples: 0.88 is what second-order intervals may lose here; percentiles lose far more at 250.
    found = coverage(name, LEVEL, n)
    assert found["bca"] > 0.86
    if n == 250:
        assert found["percentile"] < 0.8


def test_intervals_of_the_ece_of_an_overconfident_rater():
    found = coverage("ece", 0.3 + 0.5 * LEVEL, 250)
    assert found["bca"] > 0.88
