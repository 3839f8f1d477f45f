"""A foreign table of published estimates to the layout `estimates`."""

from __future__ import annotations

import json

import pandas as pd
import xarray as xr

from hmeta.trials.further_columns import as_factor
from hmeta.trials.import_options import ImportOptions
from hmeta.trials.recognition import missing_role, recognise
from hmeta.trials.tables import estimates_dataset

Z_975 = 1.959963984540054
"""The 97.5 % point of the standard normal distribution."""


def assemble_estimates(raw: pd.DataFrame, options: ImportOptions, *, where: str) -> xr.Dataset:
    """Return a table of estimates with their standard errors, or with the ends of 95 % intervals.

    Raises
    ------
    DataError
        Where neither a standard error nor both ends of an interval are mapped.
    """
    recognise(list(raw.columns), options.columns, options.constants)
    mapped = dict(options.columns)
    columns = {role: raw[source] for role, source in mapped.items() if role not in ("lower", "upper")}
    notes = []
    if "standard_error" not in mapped:
        if not {"lower", "upper"} <= set(mapped):
            raise missing_role(
                "standard_error", list(raw.columns), where=where, more="or --column lower=NAME --column upper=NAME"
            )
        low, high = (pd.to_numeric(raw[mapped[end]], errors="coerce").astype(float) for end in ("lower", "upper"))
        columns["standard_error"] = (high - low) / (2 * Z_975)
        notes.append("standard_error taken as the width of the interval over 3.92, as if it were a 95 % interval")
    rest = {name: as_factor(raw[name]) for name in raw.columns if name not in mapped.values()}
    frame = pd.DataFrame(columns | rest).rename(columns={"row": "row_number"})
    dataset = estimates_dataset(frame, title=options.title, source=options.source or where, license=options.license)
    return dataset.assign_attrs(import_notes=json.dumps(notes), import_columns=json.dumps(mapped), import_labels="{}")
