"""What a table of measures is, and how its intervals are made."""

from __future__ import annotations

from dataclasses import dataclass, field

import pandas as pd

from hmeta.assess.answers import AnswerTable
from hmeta.core.errors import DataError
from hmeta.core.registry import did_you_mean
from hmeta.metrics.catalogue import Request
from hmeta.resample.intervals import KINDS

RESAMPLES = 10_000
LEVEL = 0.95


@dataclass(frozen=True)
class Resampling:
    """How intervals are made.

    Attributes
    ----------
    size : int
        Replicates; 0 for none.
    level : float
    kind : {"bca", "percentile"}
    cluster, strata : str or None
        Columns: what is drawn whole, and within what.
    seed : int
    null : int
        Permutations of confidence over the answers, for the value that chance gives; 0 for none.
    """

    size: int = RESAMPLES
    level: float = LEVEL
    kind: str = "bca"
    cluster: str | None = None
    strata: str | None = None
    seed: int = 0
    null: int = 0

    def check(self, table: AnswerTable) -> None:
        """Refuse impossible numbers, unknown kinds, and columns that the file does not have."""
        if self.size < 0 or 0 < self.size < 100:
            raise DataError("too few resamples", received=str(self.size), allowed="0 for none, or 100 and more")
        if self.null < 0 or 0 < self.null < 100:
            raise DataError("too few permutations", received=str(self.null), allowed="0 for none, or 100 and more")
        check_level(self.level)
        check_seed(self.seed)
        if self.kind not in KINDS:
            mend = did_you_mean(self.kind, KINDS)
            raise DataError("unknown kind of interval", received=repr(self.kind), allowed=KINDS, mend=mend)
        for option, name in (("cluster", self.cluster), ("strata", self.strata)):
            if name is not None and name not in table.factors:
                mend = did_you_mean(name, table.factors) or (
                    "counts keep no items; resample from the answers themselves" if name == "item" else None
                )
                raise DataError(
                    f'column "{name}" is not in the data', where=f"--{option}", allowed=list(table.factors), mend=mend
                )


def check_level(level: float) -> None:
    """Refuse a level that is no share."""
    if not 0 < level < 1:
        mend = f"write {level / 100:g}" if 1 < level < 100 else None
        raise DataError("the level of an interval is a share", received=f"{level:g}", allowed="as 0.95", mend=mend)


def check_seed(seed: int) -> None:
    """Refuse a negative seed."""
    if seed < 0:
        raise DataError("a seed is 0 or more", received=str(seed))


@dataclass(frozen=True)
class MetricTable:
    """Measures by cell.

    Attributes
    ----------
    frame : DataFrame
        One row a cell and measure: the factors, `metric`, `estimate`, `lower`, `upper`, `standard_error`, `bias` (mean
        of the replicates − estimate), `n` (answers it rests on), `n_excluded` (answers asked for that validation
        excluded), `n_undefined` (replicates without a value) and `reason` (why there is no estimate).
    factors : tuple of str
    requests : tuple of Request
    resampling : Resampling
    notes : tuple of str
        What to know before a number is read.
    validation : str
        The validation report as text.
    screen : tuple of str
        What the validity screen found, where measures of efficiency are in the table.
    """

    frame: pd.DataFrame
    factors: tuple[str, ...]
    requests: tuple[Request, ...]
    resampling: Resampling
    notes: tuple[str, ...] = field(default=())
    validation: str = ""
    screen: tuple[str, ...] = ()
