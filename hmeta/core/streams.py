"""Random streams by name, from one user seed."""

from __future__ import annotations

import zlib

import numpy as np


def stream(seed: int, name: str) -> int:
    """Return a 32-bit seed for one named purpose.

    Streams of different names are independent, so that adding one never moves the draws of another.

    Parameters
    ----------
    seed : int
        The seed the user gave, 0 or more.
    name : str
        What the randomness is for, for example ``"warm start"``.

    Returns
    -------
    int
        An integer in [0, 2**32).

    Examples
    --------
    >>> stream(1, "nuts") == stream(1, "nuts"), stream(1, "nuts") == stream(1, "predictive")
    (True, False)
    """
    sequence = np.random.SeedSequence([seed, zlib.crc32(name.encode())])
    return int(sequence.generate_state(1)[0])
