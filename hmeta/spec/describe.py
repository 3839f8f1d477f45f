"""A model file in words: what the command line shows of a model that comes with hmeta."""

from __future__ import annotations

from typing import Any

from hmeta.spec.likelihoods import FAMILIES
from hmeta.spec.model_file import ModelSpec
from hmeta.spec.plan import Prior
from hmeta.spec.priors import CRITERIA_DEFAULTS, DEFAULTS


def describe_model(name: str, spec: ModelSpec) -> dict[str, Any]:
    """Return what is said about a model as plain values; priors are those of the file, else the defaults."""
    family = FAMILIES[spec.likelihood]
    formulas = {key: f"{one.formula}, link {one.link}" for key, one in spec.parameters.items()}
    options = "".join(f", {key} {value}" for key, value in spec.options.items())
    return {
        "name": name,
        "summary": spec.summary,
        "tasks": [family.task],
        "likelihood": f"{spec.likelihood}{options}",
        "reports": family.headline,
        "parameters": {**formulas, "criteria": f"{spec.criteria.formula}, pooling {spec.criteria.pooling}"},
        "priors": _priors(spec),
    }


def _priors(spec: ModelSpec) -> dict[str, str]:
    """Return the priors by parameter; which of them apply depends on the terms that the data give."""
    found = {}
    for name, one in spec.parameters.items():
        default = DEFAULTS[spec.likelihood, name, one.link]
        words = f"level {_words(default.level)}, contrasts and slopes {_words(default.contrast)}"
        if "|" in one.formula:
            words += f", spread between groups {_words(default.sd)}, correlations {_words(default.cor)}"
        found[name] = words
    gaps = "criteria.mean" if spec.criteria.pooling == "partial" else "criteria"
    found["criteria"] = f"log gaps between criteria {_words(CRITERIA_DEFAULTS[gaps])}"
    if spec.criteria.pooling == "partial":
        found["criteria"] += f", spread {_words(CRITERIA_DEFAULTS['criteria.sd'])}"
    if FAMILIES[spec.likelihood].lowest < 0:
        found["criteria"] += f", anchor {_words(CRITERIA_DEFAULTS['criteria.anchor'])}"
    return found | {name: f"{_words(prior)}, set by the model" for name, prior in spec.priors.items()}


def _words(prior: Prior) -> str:
    arguments = ", ".join(f"{value:g}" for value in prior.arguments.values())
    return f"{prior.family}({arguments})"
