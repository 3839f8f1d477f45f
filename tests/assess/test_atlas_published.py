"""AUROC2 of 33 models × 6 domains with bootstrap intervals, against the figures that the source published."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from hmeta.assess.compute import compute_metrics
from hmeta.assess.table import Resampling
from hmeta.core.files import read_dataset
from hmeta.core.share import share

SHARED = Path(os.environ.get("HMETA_SHARED", Path(__file__).resolve().parents[2].parent / "shared")) / "data" / "llm"

pytestmark = pytest.mark.skipif(not SHARED.is_dir(), reason="the shared data folder is not beside the repository")

DOMAINS = {
    "Applied": "applied_professional",
    "Factual": "factual_recall",
    "Formal": "formal_reasoning",
    "Human.": "humanities",
    "Science": "natural_science",
    "Social": "social_moral",
}


@pytest.fixture(scope="module")
def both():
    published = pd.read_csv(SHARED / "atlas_bootstrap_cis.csv")
    names = pd.read_csv(SHARED / "atlas_models.csv").set_index("short_name")["model"]
    published = published.assign(model=published["model"].map(names), domain=published["domain"].map(DOMAINS))
    plan = Resampling(size=2000, kind="percentile")
    data = read_dataset(share("data", "mmlu_atlas.nc"))
    ours = compute_metrics(data, ["auroc2", "accuracy"], by=["domain"], resampling=plan).frame
    accuracy = ours[ours["metric"] == "accuracy"][["model", "domain", "estimate"]].rename(
        columns={"estimate": "accuracy"}
    )
    merged = published.rename(columns={"n": "n_published"}).merge(ours[ours["metric"] == "auroc2"]).merge(accuracy)
    assert len(merged) == len(published) == 198
    return merged.assign(wrong=merged["n"] * (1 - merged["accuracy"]))


def test_all_198_values_agree_to_the_published_digits(both):
    assert (both["n"] == both["n_published"]).all()
    assert np.abs(both["estimate"] - both["auroc"]).max() < 5.1e-5


def test_intervals_agree_within_bootstrap_error(both):
    # An end of a 95 % interval from B resamples of a normal statistic has a standard error of 2.7 s.e./sqrt(B); with at
    # least 1,000 on their side and 2,000 on ours 0.1 s.e. of the estimate. The mean over 198 must vanish, and the
    # largest stay within six of those; cells of fewer than ten wrong answers have lumpy tails and get a wider bound.
    few = both["wrong"] < 9.5
    assert few.sum() < 50
    for ours, theirs in (("lower", "ci_lo"), ("upper", "ci_hi")):
        z = (both[ours] - both[theirs]) / both["standard_error"]
        assert abs(z.mean()) < 0.05
        assert z[~few].abs().max() < 0.6
        assert z[few].abs().max() < 1.5
