"""Runs a plan, diagnoses it, writes the fit and answers estimands.

Verbs are imported on first use, so that reading a fit does not load the samplers.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hmeta.infer.contrast import contrast
    from hmeta.infer.diagnose import diagnose
    from hmeta.infer.fit import fit
    from hmeta.infer.mle import fit_counts, fit_mle
    from hmeta.infer.options import SamplerOptions
    from hmeta.infer.summary import summarize

__all__ = ["SamplerOptions", "contrast", "diagnose", "fit", "fit_counts", "fit_mle", "summarize"]

VERBS = {
    "SamplerOptions": "hmeta.infer.options",
    "contrast": "hmeta.infer.contrast",
    "diagnose": "hmeta.infer.diagnose",
    "fit": "hmeta.infer.fit",
    "fit_counts": "hmeta.infer.mle",
    "fit_mle": "hmeta.infer.mle",
    "summarize": "hmeta.infer.summary",
}


def __getattr__(name: str) -> Any:
    """Import a verb on first use (PEP 562)."""
    if name not in VERBS:
        raise AttributeError(f"module 'hmeta.infer' has no attribute {name!r}")
    return getattr(import_module(VERBS[name]), name)
