"""A table in memory, wide or long, to the results layout; every table importer ends here."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import xarray as xr

from hmeta.trials.assemble import assemble
from hmeta.trials.import_options import ImportOptions
from hmeta.trials.wide import find_endings, make_long


def from_table(
    frame: pd.DataFrame, options: ImportOptions, *, path: str | Path, notes: tuple[str, ...] = ()
) -> xr.Dataset:
    """Return a foreign table as a dataset.

    Parameters
    ----------
    frame : DataFrame
        Columns as they stand in the file. It is not modified.
    options : ImportOptions
        What the user declared.
    path : str or Path
        The file, for messages and for the attribute `source`.
    notes : tuple of str
        What the reader of the file has to say.

    Raises
    ------
    DataError
        As `assemble` and `make_long`.
    """
    where, said = Path(path).name, list(notes)
    endings = find_endings([str(name) for name in frame.columns], options)
    if endings is not None:
        frame = make_long(frame, endings, said, where=where)
    return assemble(frame, options, where=where, notes=said)
