"""How to sample, and how to say how far it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hmeta.core.errors import HmetaError

MOST_SEED = 2**63 - 1
"""What the file of a fit can hold."""


@dataclass(frozen=True)
class SamplerOptions:
    """Arguments of a sampling run; recorded in the result.

    Attributes
    ----------
    chains, warmup, draws : int
        Chains, and iterations of each before and after adaptation ends.
    seed : int
    target_accept : float
        Acceptance probability that the step size is tuned to. At 0.8 about half of small simulated studies had
        a divergence or two where a standard deviation comes near 0.
    max_tree_depth : int
        A draw takes at most ``2**max_tree_depth - 1`` leapfrog steps.
    """

    chains: int = 4
    warmup: int = 1000
    draws: int = 1000
    seed: int = 0
    target_accept: float = 0.9
    max_tree_depth: int = 10

    def __post_init__(self) -> None:
        for name, least in (("chains", 1), ("warmup", 10), ("draws", 4), ("seed", 0), ("max_tree_depth", 1)):
            value = getattr(self, name)
            if value < least:
                raise HmetaError(f"{name} is too small", received=str(value), allowed=f"{least} or more")
        if self.seed > MOST_SEED:
            raise HmetaError("seed is too large", received=str(self.seed), allowed=f"0 to {MOST_SEED}")
        if not 0.0 < self.target_accept < 1.0:
            raise HmetaError(
                "target_accept is not a probability", received=str(self.target_accept), allowed="between 0 and 1"
            )


@dataclass(frozen=True)
class Progress:
    """How far a fit is.

    Attributes
    ----------
    stage : str
        "finding the mode", "compiling", "warm-up", "sampling", "finishing".
    chain_done : tuple of int
        Iterations that each chain has done, warm-up included.
    total : int
        Iterations of each chain.
    divergences : int
        After warm-up, all chains.
    n_steps : float
        Leapfrog steps a draw, lately.
    elapsed_s : float
    message : str
    """

    stage: str
    chain_done: tuple[int, ...] = ()
    total: int = 0
    divergences: int = 0
    n_steps: float = 0.0
    elapsed_s: float = 0.0
    message: str = ""


Report = Callable[[Progress], None]


def silent(progress: Progress) -> None:
    """Ignore a progress report."""
    del progress
