"""A small real study with awkward names, fitted too briefly to converge, and its report."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import hmeta
from hmeta.assess.compute import compute_metrics
from hmeta.assess.rendering import to_dataset
from hmeta.assess.table import Resampling
from hmeta.core.files import write_dataset, write_tree
from hmeta.report.page import Page
from hmeta.report.write import write_report
from hmeta.trials.tables import trials_dataset

LONG = "a-vendor-with-a-very-long-name/model-70b-instruct-preview-with-more-words@20261130"
NAMES = ("L_a%T&eX {#1} $x$ ~^\\", "naïve/β-模型 <b>&amp;</b>", LONG, "ant")
SCALES = {"0-5": 5, "0-100": 100}


def study() -> xr.Dataset:
    """Return answers of four models to 60 four-choice questions under two scales."""
    rng = np.random.default_rng(3)
    rows = []
    for m, model in enumerate(NAMES):
        for scale, top in SCALES.items():
            right = rng.random(60) < 0.55 + 0.1 * m
            evidence = rng.normal(0.9 * right, 1.0)
            share = np.clip(np.round((evidence + 1.5) / 4 * min(top, 10)), 0, min(top, 10)) / min(top, 10)
            rows.append(
                pd.DataFrame(
                    {
                        "model": model,
                        "scale": scale,
                        "item": [f"q{i}" for i in range(60)],
                        "correct": right.astype(int),
                        "n_options": 4,
                        "confidence": np.round(share * top),
                    }
                )
            )
    scales = pd.DataFrame(
        {
            "scale_id": list(SCALES),
            "scale_lower": 0.0,
            "scale_upper": list(map(float, SCALES.values())),
            "scale_step": 1.0,
        }
    )
    return trials_dataset(pd.concat(rows, ignore_index=True), task="mafc", scales=scales)


@dataclass(frozen=True)
class Reported:
    """A report, and the files that it was made from."""

    folder: Path
    page: Page
    fit: Path
    results: Path


@pytest.fixture(scope="session")
def reported(tmp_path_factory: pytest.TempPathFactory) -> Reported:
    """Return the report of a fit that has not converged, its results file and a table of measures."""
    folder = tmp_path_factory.mktemp("report")
    results, fit, metrics = (folder / name for name in ("study.nc", "fit.nc", "metrics.nc"))
    write_dataset(study(), results)
    write_tree(hmeta.fit(results, chains=2, warmup=40, draws=40), fit)
    table = compute_metrics(study(), ["auroc2", "ece"], resampling=Resampling(size=200))
    write_dataset(to_dataset(table, source="study.nc"), metrics)
    page = write_report([fit, results, metrics], folder / "out", title="Awkward & <short> 模型 50 %")
    return Reported(folder / "out", page, fit, results)
