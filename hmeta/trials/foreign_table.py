"""A foreign table on its way to the one trial table."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from hmeta.trials.import_options import ImportOptions
from hmeta.trials.labels import as_labels
from hmeta.trials.recognition import Recognised


@dataclass
class ForeignTable:
    """The foreign table on its way: raw columns, what they are, the columns made so far, what was said."""

    raw: pd.DataFrame
    found: Recognised
    options: ImportOptions
    where: str
    out: dict[str, Any] = field(default_factory=dict)
    labels: dict[str, dict[str, int]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    used: set[str] = field(default_factory=set)

    def take(self, role: str) -> pd.Series | None:
        """Return the column of a role, under its own name, or None; mark it as used."""
        source = self.found.columns.get(role)
        if source is None:
            return None
        if source in self.raw.columns:
            self.used.add(source)
            return self.raw[source].rename(source)
        texts = [as_labels(self.raw[part]) for part in source.split("+")]
        joined = pd.Series(["/".join(row) for row in zip(*(t.fillna("") for t in texts), strict=True)], self.raw.index)
        return joined.mask(pd.concat(texts, axis=1).isna().any(axis=1)).rename(source)
