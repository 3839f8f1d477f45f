"""Calibration, selection and scale use of 33 language models against other programs, on the shared data."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from hmeta.metrics.calibration import ece
from hmeta.metrics.proper import brier, brier_reliability, brier_resolution, brier_uncertainty
from hmeta.metrics.scale_use import entropy, round_share, top1_share, top1_value, utilisation
from hmeta.metrics.selective import aurc, missing_confidence_rate

SHARED = Path(os.environ.get("HMETA_SHARED", Path(__file__).resolve().parents[2].parent / "shared"))
LLM = SHARED / "data" / "llm"
pytestmark = pytest.mark.skipif(not LLM.is_dir(), reason="the shared data folder is not beside the repository")


@pytest.fixture(scope="module")
def atlas() -> dict[str, pd.DataFrame]:
    return {str(name): rows for name, rows in pd.read_parquet(LLM / "atlas_mmlu_confidence.parquet").groupby("model")}


def test_brier_is_that_of_scikit_learn_and_the_sum_of_its_parts(atlas):
    metrics = pytest.importorskip("sklearn.metrics")
    for rows in atlas.values():
        p, correct = rows["confidence"].to_numpy() / 100, rows["is_correct"].to_numpy(float)
        assert brier(p, correct) == pytest.approx(metrics.brier_score_loss(correct, p, pos_label=1), abs=1e-12)
        parts = brier_reliability(p, correct) - brier_resolution(p, correct) + brier_uncertainty(correct)
        assert brier(p, correct) == pytest.approx(parts, abs=1e-12)


@pytest.mark.parametrize("edges", ["left", "right"])
@pytest.mark.parametrize("bins", [5, 10, 20])
def test_ece_of_whole_percentages_is_that_of_pandas_intervals(atlas, edges, bins):
    limits = np.linspace(0, 100, bins + 1)  # whole numbers: no rounding at the edges
    limits[-1 if edges == "left" else 0] += 1 if edges == "left" else -1
    for rows in atlas.values():
        kept = rows.assign(bin=pd.cut(rows["confidence"], limits, right=edges == "right", labels=False))
        by_bin = kept.groupby("bin")
        gap = (by_bin["confidence"].mean() / 100 - by_bin["is_correct"].mean()).abs()
        expected = (gap * by_bin.size()).sum() / len(rows)
        found = ece(rows["confidence"] / 100, rows["is_correct"], bins=bins, edges=edges)
        assert found == pytest.approx(expected, abs=1e-12)


def test_area_under_risk_coverage_lies_within_random_orders(atlas):
    rng = np.random.default_rng(7)
    rows = next(iter(atlas.values()))
    confidence, wrong = rows["confidence"].to_numpy(float), 1 - rows["is_correct"].to_numpy(float)
    orders = (np.lexsort((rng.random(len(wrong)), -confidence)) for _ in range(400))
    areas = [np.mean(np.cumsum(wrong[order]) / np.arange(1, len(wrong) + 1)) for order in orders]
    # 4.5 standard errors: false alarm rate 7e-6
    assert abs(aurc(confidence, 1 - wrong) - np.mean(areas)) < 4.5 * np.std(areas) / 20


def test_scale_use_is_that_of_pandas(atlas):
    for rows in atlas.values():
        c = rows["confidence"].to_numpy(float)
        low, high = np.zeros(len(c)), np.full(len(c), 100.0)
        counts = rows["confidence"].value_counts()
        assert top1_share(c) == pytest.approx(counts.max() / len(c), abs=1e-12)
        assert top1_value(c) == counts[counts == counts.max()].index.max()
        assert round_share(c, low, high) == pytest.approx((rows["confidence"] % 5 == 0).mean(), abs=1e-12)
        q05, q95 = rows["confidence"].quantile([0.05, 0.95])
        assert utilisation(c, low, high) == pytest.approx((q95 - q05) / 100, abs=1e-12)
        share = counts / len(c)
        assert entropy(c) == pytest.approx(-(share * np.log2(share)).sum(), abs=1e-12)


def test_missing_confidences_are_counted_among_answers():
    rows = pd.read_parquet(LLM / "gastro_confidence_0_10.parquet")
    assert rows["confidence"].isna().sum() == 1926
    answered = rows["is_correct"].notna()
    expected = (rows["confidence"].isna() & answered).sum() / answered.sum()
    found = missing_confidence_rate(rows["confidence"].to_numpy(float), answered.to_numpy(float))
    assert found == pytest.approx(expected, abs=1e-12)


def test_round_share_survives_confidences_in_single_precision():
    rows = pd.read_parquet(LLM / "deductive_coding_confidence.parquet")
    c = rows["confidence"].to_numpy()
    assert c.dtype == np.float32
    expected = (np.rint(c * 100) % 5 == 0).mean()
    found = round_share(c, np.zeros(len(c)), np.ones(len(c)), step=5)
    assert found == pytest.approx(expected, abs=1e-12)
