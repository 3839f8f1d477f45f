"""Model files and data to plans: TOML to `ModelSpec`, with data to `ModelPlan`."""

from hmeta.spec.choose import Choice, choose_model
from hmeta.spec.model_file import (
    ModelSpec,
    ParameterSpec,
    load_model,
    parse_model,
    shipped_models,
    with_formulas,
)
from hmeta.spec.plan import CommonTerm, CriteriaPlan, GroupTerm, ModelPlan, ParameterPlan, Prior, RowTable
from hmeta.spec.planning import plan as plan
from hmeta.spec.toml_text import render_model

__all__ = [
    "Choice",
    "CommonTerm",
    "CriteriaPlan",
    "GroupTerm",
    "ModelPlan",
    "ModelSpec",
    "ParameterPlan",
    "ParameterSpec",
    "Prior",
    "RowTable",
    "choose_model",
    "load_model",
    "parse_model",
    "plan",
    "render_model",
    "shipped_models",
    "with_formulas",
]
