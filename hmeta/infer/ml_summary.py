"""What estimates of M under several noises and binnings add up to: means, orders, and which noise fits better."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hmeta.infer.ml_sensitivity import UNBINNED

Floats = NDArray[np.float64]

SAME_FIT = 0.05
"""Difference of log likelihoods below which two noises fit alike."""


def summarize_ml(frame: pd.DataFrame) -> pd.DataFrame:
    """Summarise `ml_sensitivity` over units, one row a variant.

    Returns
    -------
    DataFrame
        `noise`, `bins` (0: as rated), `own`; `n_defined`, units with an M; `n_units`, units with an M in every variant
        that any unit has an M in. Over these `n_units`: `mean_M` and `median_M` (a few units with few answers can carry
        a mean far off), `mean_change` from the fit's own variant, `spearman`, the rank correlation with it, and
        `largest_rank_change`. Over the `n_compared` units that every noise could be fitted to as rated: `n_preferred`,
        how many have the highest log likelihood under this noise by 0.05 or more, and `g2` with `g2_df`, summed; NaN
        for binned variants, whose likelihoods are of other data.
    """
    wide = frame.pivot(index=["unit", "part"], columns=["noise", "bins"], values="M")
    variants = frame[["noise", "bins", "own"]].drop_duplicates().reset_index(drop=True)
    some = wide.columns[wide.notna().any()]
    whole = wide[some].dropna()
    own = variants[variants["own"]].iloc[0]
    at = (own["noise"], own["bins"])
    reference = whole[at] if at in whole else pd.Series(np.nan, index=whole.index)
    rows = [_order(whole, reference, (v.noise, v.bins)) for v in variants.itertuples()]
    counted = variants.assign(
        n_defined=[int(wide[(v.noise, v.bins)].notna().sum()) for v in variants.itertuples()], n_units=len(whole)
    )
    table = pd.concat([counted, pd.DataFrame(rows)], axis=1)
    return table.merge(_fits(frame), on=["noise", "bins"], how="left")


def _order(whole: pd.DataFrame, reference: pd.Series, at: tuple[Any, Any]) -> dict[str, float]:
    """Return the mean of a variant, and how its order of the units differs from the reference."""
    if at not in whole or not len(whole):
        return dict.fromkeys(("mean_M", "median_M", "mean_change", "spearman", "largest_rank_change"), np.nan)
    M = whole[at]
    moved = float((M.rank() - reference.rank()).abs().max())
    varies = len(M) > 1 and M.nunique() > 1 and reference.nunique() > 1
    spearman = float(M.rank().corr(reference.rank())) if varies else np.nan
    return {
        "mean_M": float(M.mean()),
        "median_M": float(M.median()),
        "mean_change": float((M - reference).mean()),
        "spearman": spearman,
        "largest_rank_change": moved,
    }


def _fits(frame: pd.DataFrame) -> pd.DataFrame:
    """Compare how well each noise fits the ratings as they are."""
    rated = frame[frame["bins"] == UNBINNED]
    wide = rated.pivot(index=["unit", "part"], columns="noise", values="log_likelihood").dropna()
    kept = rated.set_index(["unit", "part"]).loc[wide.index] if len(wide) else rated.iloc[:0]
    sums = kept.groupby("noise")[["g2", "g2_df"]].sum().reindex(wide.columns)
    values = wide.to_numpy(dtype=np.float64)
    best = [_best(row, list(wide.columns)) for row in values] if values.shape[1] > 1 else []
    preferred = [float(best.count(noise)) if values.shape[1] > 1 else np.nan for noise in wide.columns]
    return pd.DataFrame(
        {
            "noise": wide.columns,
            "bins": UNBINNED,
            "n_compared": len(wide),
            "n_preferred": preferred,
            "g2": sums["g2"].to_numpy(),
            "g2_df": sums["g2_df"].to_numpy(),
        }
    )


def _best(row: Floats, noises: list[str]) -> str:
    """Return the noise that fits best by a margin, or an empty text."""
    order = np.argsort(row)
    return noises[order[-1]] if row[order[-1]] - row[order[-2]] >= SAME_FIT else ""
