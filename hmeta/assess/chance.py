"""What a measure gives by chance: confidence dealt out at random over the answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from hmeta.assess.distinct import Floats, distinct
from hmeta.resample.permutation import shuffle_outcomes

CONFIDENCE = frozenset({"confidence", "probability"})


def can_shuffle(names: Sequence[str]) -> bool:
    """Return whether columns relate confidence to correctness and hold nothing else."""
    return "correct" in names and bool(CONFIDENCE & set(names)) and set(names) <= {"correct", *CONFIDENCE}


def shuffled(
    rng: np.random.Generator, columns: dict[str, Floats], counts: Floats, size: int
) -> Iterator[tuple[tuple[Floats, ...], Floats]]:
    """Draw tables of confidence × correctness with the margins of the data.

    Parameters
    ----------
    columns : dict of (row,) arrays
        Columns of a measure that `can_shuffle`.
    counts : (row,)
    size : int

    Yields
    ------
    columns : tuple of (new row,) arrays
        In the order of `columns`: every level once with wrong and once with right answers.
    weights : (replicate, new row)
    """
    right = columns["correct"] == 1
    levels = distinct({name: values for name, values in columns.items() if name in CONFIDENCE})
    n = levels.n_rows
    wrong_counts, right_counts = (
        np.bincount(levels.row[side], weights=counts[side], minlength=n).astype(np.int64) for side in (~right, right)
    )
    outcome = np.repeat([0.0, 1.0], n)
    crossed = tuple(outcome if name == "correct" else np.tile(levels.columns[name], 2) for name in columns)
    for pair in shuffle_outcomes(rng, wrong_counts, right_counts, size):
        yield crossed, np.concatenate(pair, axis=-1)
