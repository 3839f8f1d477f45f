"""Any outside file → the one trial table → counts, saying what it found.

The verbs are imported on first use, so that importing the room costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hmeta.core.files import read_dataset as read
    from hmeta.trials.count_table import CountTable
    from hmeta.trials.counts import counts_dataset, to_counts
    from hmeta.trials.import_options import ImportOptions, ScaleDeclaration
    from hmeta.trials.importing import import_table
    from hmeta.trials.tables import estimates_dataset, frame_of, trials_dataset
    from hmeta.trials.validation import Validated, validate

__all__ = [
    "CountTable",
    "ImportOptions",
    "ScaleDeclaration",
    "Validated",
    "counts_dataset",
    "estimates_dataset",
    "frame_of",
    "import_table",
    "read",
    "to_counts",
    "trials_dataset",
    "validate",
]

_PLACES = {
    "CountTable": "hmeta.trials.count_table:CountTable",
    "ImportOptions": "hmeta.trials.import_options:ImportOptions",
    "ScaleDeclaration": "hmeta.trials.import_options:ScaleDeclaration",
    "Validated": "hmeta.trials.validation:Validated",
    "counts_dataset": "hmeta.trials.counts:counts_dataset",
    "estimates_dataset": "hmeta.trials.tables:estimates_dataset",
    "frame_of": "hmeta.trials.tables:frame_of",
    "import_table": "hmeta.trials.importing:import_table",
    "read": "hmeta.core.files:read_dataset",
    "to_counts": "hmeta.trials.counts:to_counts",
    "trials_dataset": "hmeta.trials.tables:trials_dataset",
    "validate": "hmeta.trials.validation:validate",
}


def __getattr__(name: str) -> Any:
    """Import a public name on first use (PEP 562)."""
    if name not in _PLACES:
        raise AttributeError(f"module 'hmeta.trials' has no attribute {name!r}")
    module, _, attribute = _PLACES[name].partition(":")
    return getattr(import_module(module), attribute)
