"""Different things in one column: sources of confidence, strata of difficulty."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from hmeta.trials.rules import caution
from hmeta.trials.study import Study

STRATA = ("difficulty", "stratum", "condition", "domain", "subject", "track", "session", "task")
LARGE_GAP = 0.25
LEAST_ANSWERS = 50
MOST_STRATA = 20


@caution
def signals_mixed(study: Study) -> Iterable[str]:
    """Say where confidence comes from several sources."""
    if "signal" in study.rows:
        seen = sorted(map(str, study.rows["signal"].dropna().unique()))
        if len(seen) > 1:
            yield (
                f"confidence comes from several sources ({', '.join(seen)}); "
                "keep signal as a factor, or fit one source at a time"
            )


@caution
def difficulty_mixed(study: Study) -> Iterable[str]:
    """Say where accuracy varies strongly by stratum, since pooling over strata inflates M."""
    count = study.rows["count"].to_numpy(dtype=np.float64)
    for name in STRATA:
        if name not in study.rows:
            continue
        parts = study.rows[[name]].assign(n=count, right=count * study.correct).groupby(name)[["n", "right"]].sum()
        parts = parts[parts["n"] >= LEAST_ANSWERS]
        accuracy = parts["right"] / parts["n"]
        if 1 < len(parts) <= MOST_STRATA and accuracy.max() - accuracy.min() > LARGE_GAP:
            low, high = (f"{one:.2f} for {at}" for at, one in accuracy.sort_values().iloc[[0, -1]].items())
            yield (
                f"accuracy varies strongly by {name} ({low} to {high}); "
                f"M pooled over it is inflated, so keep {name} as a factor"
            )
