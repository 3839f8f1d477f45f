"""What a sampler hands over."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Run:
    """Draws and statistics of one sampling run, whichever backend made them.

    Attributes
    ----------
    draws : dict of (chain, draw, ...) arrays
        Constrained sites and deterministic quantities, by NumPyro's names.
    stats : dict of (chain, draw) arrays
        diverging, n_steps, acceptance_rate, energy, lp, tree_depth, step_size.
    centring : dict of str to float
    chain_method : str
        How chains shared the device: "threads", "vectorised", or the backend's own.
    compile_time_s : float
        Finding the mode and compiling.
    sampling_time_s : float
        After warm-up, or warm-up included where the backend does not tell them apart.
    warmup_time_s : float
        NaN where the backend does not tell.
    """

    draws: dict[str, np.ndarray]
    stats: dict[str, np.ndarray]
    centring: dict[str, float]
    chain_method: str
    compile_time_s: float
    sampling_time_s: float
    warmup_time_s: float = float("nan")
