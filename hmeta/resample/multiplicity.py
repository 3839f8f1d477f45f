"""p-values corrected for how many were looked at."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hmeta.core.errors import DataError
from hmeta.core.registry import did_you_mean

Correction = Literal["holm", "bonferroni", "bh", "none"]

METHODS = {"holm": "holm", "bonferroni": "bonferroni", "bh": "fdr_bh"}
"""Our names, and those of statsmodels."""


def correct_p_values(p: NDArray[np.float64], method: str = "holm") -> NDArray[np.float64]:
    """Return corrected p-values: Holm (1979), Bonferroni, or Benjamini & Hochberg (1995).

    Parameters
    ----------
    p : (test,)
        NaN for tests that could not be made; they do not count as tests.
    method : {"holm", "bonferroni", "bh", "none"}

    Examples
    --------
    >>> correct_p_values(np.array([0.01, 0.04, np.nan]), "holm").tolist()
    [0.02, 0.04, nan]
    """
    check_correction(method)
    if method == "none":
        return p.copy()
    from statsmodels.stats.multitest import multipletests

    out = np.full(len(p), np.nan)
    made = ~np.isnan(p)
    if made.any():
        out[made] = multipletests(p[made], method=METHODS[method])[1]
    return out


def check_correction(method: str) -> None:
    """Refuse an unknown correction."""
    allowed = (*METHODS, "none")
    if method not in allowed:
        raise DataError(
            "unknown correction", received=repr(method), allowed=allowed, mend=did_you_mean(method, allowed)
        )
