"""Small results files for the tests of this room."""

import numpy as np
import pandas as pd

from hmeta.trials.tables import trials_dataset

SCALE = pd.DataFrame({"scale_id": ["0-100"], "scale_lower": [0.0], "scale_upper": [100.0], "scale_step": [1.0]})


def answers(n_items=60, models=("a", "b"), conditions=("x", "y"), seed=1):
    """Answers of models to the same items under every condition, confidence 0-100."""
    rng = np.random.default_rng(seed)
    grid = pd.MultiIndex.from_product([models, conditions, range(n_items)], names=["model", "condition", "item"])
    frame = grid.to_frame(index=False)
    frame["correct"] = (rng.random(len(frame)) < 0.7).astype(int)
    sharper = np.where(frame["condition"] == conditions[0], 0.5, 1.5)
    raw = rng.normal(size=len(frame)) + sharper * (frame["correct"] - 0.5)
    frame["confidence"] = np.clip(np.round(60 + 15 * raw, -1), 0, 100)
    frame["domain"] = np.where(frame["item"] % 2 == 0, "even", "odd")
    return frame


def file_of(frame, task="open"):
    """Return the table as a results file on the scale 0-100."""
    return trials_dataset(frame, task=task, scales=SCALE)
