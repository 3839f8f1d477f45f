"""Hierarchical meta-d′: how well confidence tells right answers from wrong ones.

Every public verb is imported on first use, so that ``import hmeta`` costs nothing and touches no device.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hmeta.assess.average import average
    from hmeta.assess.compare import compare_conditions
    from hmeta.assess.compute import compute_metrics
    from hmeta.assess.curves import compute_curve
    from hmeta.assess.derive import derive_geometric_mean, derive_p_true, derive_resampled
    from hmeta.assess.screen import screen
    from hmeta.calibrate.recalibrate import apply_maps, recalibrate
    from hmeta.infer.compare import compare_fits
    from hmeta.infer.contrast import contrast
    from hmeta.infer.diagnose import diagnose
    from hmeta.infer.fit import fit
    from hmeta.infer.mle import fit_counts, fit_mle
    from hmeta.infer.summary import summarize
    from hmeta.report.write import write_report
    from hmeta.spec import load_model, plan
    from hmeta.study.simulate import simulate
    from hmeta.trials import import_table, read, to_counts, validate

__version__ = "0.1.0"

__all__ = [
    "__version__",
    "apply_maps",
    "average",
    "compare_conditions",
    "compare_fits",
    "compute_curve",
    "compute_metrics",
    "contrast",
    "derive_geometric_mean",
    "derive_p_true",
    "derive_resampled",
    "diagnose",
    "fit",
    "fit_counts",
    "fit_mle",
    "import_table",
    "load_model",
    "plan",
    "read",
    "recalibrate",
    "screen",
    "simulate",
    "summarize",
    "to_counts",
    "validate",
    "write_report",
]

VERBS = {
    "apply_maps": "hmeta.calibrate.recalibrate:apply_maps",
    "average": "hmeta.assess.average:average",
    "compare_conditions": "hmeta.assess.compare:compare_conditions",
    "compare_fits": "hmeta.infer.compare:compare_fits",
    "compute_curve": "hmeta.assess.curves:compute_curve",
    "compute_metrics": "hmeta.assess.compute:compute_metrics",
    "contrast": "hmeta.infer.contrast:contrast",
    "derive_geometric_mean": "hmeta.assess.derive:derive_geometric_mean",
    "derive_p_true": "hmeta.assess.derive:derive_p_true",
    "derive_resampled": "hmeta.assess.derive:derive_resampled",
    "diagnose": "hmeta.infer.diagnose:diagnose",
    "fit": "hmeta.infer.fit:fit",
    "fit_counts": "hmeta.infer.mle:fit_counts",
    "fit_mle": "hmeta.infer.mle:fit_mle",
    "import_table": "hmeta.trials:import_table",
    "load_model": "hmeta.spec:load_model",
    "plan": "hmeta.spec:plan",
    "read": "hmeta.trials:read",
    "recalibrate": "hmeta.calibrate.recalibrate:recalibrate",
    "screen": "hmeta.assess.screen:screen",
    "simulate": "hmeta.study.simulate:simulate",
    "summarize": "hmeta.infer.summary:summarize",
    "to_counts": "hmeta.trials:to_counts",
    "validate": "hmeta.trials:validate",
    "write_report": "hmeta.report.write:write_report",
}
"""Where each public verb lives, as ``module:attribute``."""


def __getattr__(name: str) -> Any:
    """Import a public verb on first use (PEP 562)."""
    if name not in VERBS:
        raise AttributeError(f"module 'hmeta' has no attribute {name!r}")
    module, _, attribute = VERBS[name].partition(":")
    return getattr(import_module(module), attribute)


def __dir__() -> list[str]:
    """List the public verbs, also those not imported yet."""
    return sorted(__all__)
