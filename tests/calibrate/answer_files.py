"""Small results files for the tests of calibration."""

from __future__ import annotations

import numpy as np
import pandas as pd
import xarray as xr

from hmeta.trials.tables import trials_dataset

LEVELS = np.array([50, 60, 70, 80, 90, 95, 100])


def percent(name: str = "0-100", *, reverse: int = 0) -> pd.DataFrame:
    """Return the scale 0 to 100 in steps of 1."""
    ends = {"scale_lower": 0.0, "scale_upper": 100.0, "scale_step": 1.0, "scale_reversed": reverse}
    return pd.DataFrame([{"scale_id": name, **ends}])


def answers(n_items: int = 150, models: tuple[str, ...] = ("a", "b"), seed: int = 0, **columns: object) -> pd.DataFrame:
    """Return overconfident answers of each model to each item; surer ones are more often right."""
    rng = np.random.default_rng(seed)
    parts = []
    for model in models:
        confidence = rng.choice(LEVELS, n_items)
        right = rng.random(n_items) < 0.15 + 0.6 * confidence / 100
        items = [f"q{i}" for i in range(n_items)]
        parts.append(pd.DataFrame({"model": model, "item": items, "correct": right * 1, "confidence": confidence}))
    return pd.concat(parts, ignore_index=True).assign(**columns)


def results(frame: pd.DataFrame | None = None, *, scales: pd.DataFrame | None = None, task: str = "open") -> xr.Dataset:
    """Return answers as a results file on the scale 0 to 100."""
    table = answers() if frame is None else frame
    return trials_dataset(
        table, task=task, scales=percent() if scales is None else scales, title="made up", source="made up"
    )
