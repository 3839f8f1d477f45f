"""The population terms of a parameter: coefficients, standard deviations, correlations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from hmeta.infer.fitted import level_labels, read_fit
from hmeta.infer.intervals import MASS, Kind, check_interval, describe_draws, share_of
from hmeta.infer.mixing import measure_mixing

Floats = NDArray[np.float64]


def summarize_terms(
    tree: xr.DataTree, *, parameter: str | None = None, interval: float = MASS, kind: Kind = "eti"
) -> pd.DataFrame:
    """Summarise the population terms of a parameter: coefficients, standard deviations and correlations.

    Returns
    -------
    DataFrame
        `term`, `median`, `sd`, `lower`, `upper`, `p_below_zero`, `r_hat`, `ess_bulk`, `ess_tail`; on the scale of
        the link. Empty for a parameter without terms; auroc2 and accuracy have those of d_a and logit_accuracy.
    """
    check_interval(interval, kind)
    fitted = read_fit(tree, parameter)
    posterior = tree["posterior"].to_dataset()
    names: list[str] = []
    blocks: list[Floats] = []
    for variable in _term_variables(fitted.terms):
        block = posterior[variable].transpose(..., "chain", "draw")
        dims = [str(d) for d in block.dims[:-2]]
        keep = np.ones(block.shape[:-2], dtype=bool)
        if len(dims) == 2:
            keep = np.tril(keep, -1)  # a correlation matrix is its lower triangle
        labels = [level_labels(block[d].values) for d in dims]
        for at in np.argwhere(keep):
            names.append(_term_label(variable, [label[i] for label, i in zip(labels, at, strict=True)]))
            blocks.append(np.asarray(block.values[tuple(at)], dtype=np.float64))
    if not blocks:
        return pd.DataFrame()
    draws = np.stack(blocks)
    flat = draws.reshape(len(draws), -1)
    spread = describe_draws(flat, interval, kind)
    frame = pd.DataFrame({"term": names, **spread, "p_below_zero": share_of(flat < 0, flat)})
    frame = frame.assign(**measure_mixing(draws)._asdict())
    link = fitted.from_json("terms", {})[fitted.predictor]["link"]
    frame.attrs.update(parameter=fitted.predictor, link=link, interval=interval, kind=kind)
    return frame


def _term_variables(terms: dict[str, Any]) -> list[str]:
    if not terms:
        return []
    spread = [g[key] for g in terms["groups"] for key in ("sd", "cor") if g.get(key)]
    return [*(term["variable"] for term in terms["common"]), *spread]


def _term_label(variable: str, levels: list[str]) -> str:
    kept = [level for level in levels if level]
    return f"{variable}[{', '.join(kept)}]" if kept else variable
