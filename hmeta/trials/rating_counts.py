"""Counts of ratings as two arrays for each participant, in the order [S1 high … S1 low, S2 low … S2 high].

`nR_S1` counts the trials with stimulus S1 and `nR_S2` those with S2. The first half of each array counts the
responses "S1" from the surest to the least sure, the second half the responses "S2" from the least sure to
the surest. With K rating levels an array has 2K numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from hmeta.core.errors import DataError
from hmeta.trials.counts import counts_dataset
from hmeta.trials.import_options import ImportOptions
from hmeta.trials.rows import FACTORS

NAMES = ("nR_S1", "nR_S2")


def rating_counts(nr_s1: Sequence[Any], nr_s2: Sequence[Any], *, padded: bool = False, where: str = "") -> pd.DataFrame:
    """Return one participant's two arrays as a table of counts.

    Parameters
    ----------
    nr_s1, nr_s2 : sequence of numbers
        Arrays of length 2K, in the order of this module; lists will do.
    padded : bool
        Whether something was added to each count, so that they may be fractions.
    where : str
        What to call the source in a refusal.

    Returns
    -------
    DataFrame
        Columns stimulus, response, confidence (1 to K) and count, 4K rows; zeros are kept.

    Raises
    ------
    DataError
        Names the array and the position of a number that is negative, not finite, or a fraction that was
        not declared; and lengths that are odd, differ, or leave fewer than two rating levels.

    Examples
    --------
    >>> table = rating_counts([3, 2, 1, 0], [0, 1, 2, 3])
    >>> table[(table.stimulus == 0) & (table.response == 0)]["confidence"].tolist()
    [2, 1]
    """
    arrays = [
        _checked(values, name, padded=padded, where=where) for name, values in zip(NAMES, (nr_s1, nr_s2), strict=True)
    ]
    _check_lengths(arrays, where)
    n_levels = len(arrays[0]) // 2
    confidence = np.concatenate([np.arange(n_levels, 0, -1), np.arange(1, n_levels + 1)])
    response = np.repeat([0, 1], n_levels)
    return pd.DataFrame(
        {
            "stimulus": np.repeat([0, 1], 2 * n_levels),
            "response": np.tile(response, 2),
            "confidence": np.tile(confidence, 2),
            "count": np.concatenate(arrays),
        }
    )


Arrays = tuple[Sequence[Any], Sequence[Any]]
"""nR_S1 and nR_S2 of one participant."""


@dataclass(frozen=True)
class Unit:
    """Whose the arrays are, and under which levels of further factors they were counted."""

    name: str
    factors: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        return ", ".join((self.name, *(f"{factor} {level}" for factor, level in self.factors)))


def collect(pairs: Iterable[tuple[Unit, Arrays]], *, where: str) -> dict[Unit, Arrays]:
    """Return the arrays by unit, refusing a unit that comes twice."""
    found: dict[Unit, Arrays] = {}
    for unit, arrays in pairs:
        if unit in found:
            raise DataError(
                "a participant occurs twice",
                where=where,
                received=str(unit),
                allowed="one pair of arrays for each participant, or for each participant and condition",
                mend="give each its own name, or tell the pairs apart by a column or key called "
                + ", ".join(FACTORS[2:]),
            )
        found[unit] = arrays
    return found


def rating_counts_dataset(units: Mapping[Unit, Arrays], options: ImportOptions, *, where: str) -> xr.Dataset:
    """Return the arrays of several participants as a dataset of layout `counts`.

    Parameters
    ----------
    units : mapping
        Participant, with the levels of further factors, to (nR_S1, nR_S2).
    options : ImportOptions
        ``padded``, title, source and license; with one constant ``model`` the units are models.
    where : str
        The file, for messages.

    Raises
    ------
    DataError
        As `rating_counts`; and where participants have different numbers of rating levels.
    """
    if not units:
        raise DataError("the file holds no participant", where=where, allowed="nR_S1 and nR_S2 for each")
    tables = []
    for unit, (first, second) in units.items():
        place = where if len(units) == 1 else f"{where}, participant {unit}"
        table = rating_counts(first, second, padded=options.padded, where=place)
        tables.append(table.assign(participant=unit.name, **dict(unit.factors)))
    _check_same_levels(tables, where)
    frame = pd.concat(tables, ignore_index=True)
    constants = dict(options.constants)
    if "model" in constants and len(units) == 1:
        frame = frame.drop(columns="participant")
    n_levels = int(frame["confidence"].max())
    scale = pd.DataFrame(
        {
            "scale_id": [f"1-{n_levels}"],
            "scale_lower": [1.0],
            "scale_upper": [float(n_levels)],
            "scale_step": [1.0],
        }
    )
    return counts_dataset(
        frame.assign(**constants),
        task="binary",
        scales=scale,
        padded=options.padded,
        title=options.title,
        source=options.source or where,
        license=options.license,
    )


def _checked(values: Sequence[Any], name: str, *, padded: bool, where: str) -> NDArray[np.float64]:
    place = f"{where}, array {name}" if where else f"array {name}"
    try:
        array = np.asarray([float(value) for value in np.ravel(np.asarray(values, dtype=object))])
    except (TypeError, ValueError) as error:
        raise DataError("an array of counts holds something else", where=place, received=str(error)) from error
    problems = (
        (~np.isfinite(array), "a count is not a finite number", "finite numbers"),
        (array < 0, "a count is negative", "counts of 0 or more"),
        ((array != np.round(array)) & (not padded), "a count is not a whole number", "whole numbers; fractions only "
         "where something was added to each count and --padded says so"),
    )  # fmt: skip
    for bad, what, allowed in problems:
        if bad.any():
            position = int(np.flatnonzero(bad)[0])
            raise DataError(
                f"{what} at position {position + 1} of {name}",
                where=place,
                received=f"{array[position]:g}",
                allowed=allowed,
            )
    return array


def _check_lengths(arrays: list[NDArray[np.float64]], where: str) -> None:
    sizes = [len(array) for array in arrays]
    received = f"nR_S1 has {sizes[0]} numbers, nR_S2 has {sizes[1]}"
    if sizes[0] != sizes[1]:
        shorter = NAMES[int(sizes[0] > sizes[1])]
        raise DataError(
            f"the arrays nR_S1 and nR_S2 differ in length: {shorter} ends at position {min(sizes)}",
            where=where or None,
            received=received,
            allowed="the same even length, twice the number of rating levels",
        )
    if sizes[0] % 2 or not sizes[0]:
        raise DataError(
            f"the length of nR_S1 and nR_S2 is odd: position {sizes[0]} has no partner" if sizes[0] else "no counts",
            where=where or None,
            received=received,
            allowed="an even length, twice the number of rating levels",
            mend="order each array as S1 high … S1 low, S2 low … S2 high",
        )
    if sizes[0] < 4:
        raise DataError(
            "at least two rating levels are needed",
            where=where or None,
            received=f"{received}: one level",
            allowed="arrays of 4 numbers or more",
        )


def _check_same_levels(tables: list[pd.DataFrame], where: str) -> None:
    sizes = {str(table["participant"].iloc[0]): int(table["confidence"].max()) for table in tables}
    if len(set(sizes.values())) > 1:
        first, *others = sizes.items()
        odd = next(entry for entry in others if entry[1] != first[1])
        raise DataError(
            "participants have different numbers of rating levels",
            where=where,
            received=f"{first[0]}: {first[1]}, {odd[0]}: {odd[1]}",
            allowed="one number of levels for the whole study; an unused level is a count of 0",
        )
