"""A specification written as TOML, in the one shape that `parse_model` reads."""

from __future__ import annotations

import json

from hmeta.spec.model_file import ModelSpec, ParameterSpec
from hmeta.spec.plan import Prior


def render_model(spec: ModelSpec) -> str:
    """Return the model file of a specification; `parse_model` reads it back to an equal one."""
    lines = [f"schema = {_quote(spec.schema)}", f"summary = {_quote(spec.summary)}", "", "[likelihood]"]
    lines += [f"name = {_quote(spec.likelihood)}"]
    lines += [f"{key} = {_quote(value)}" for key, value in spec.options.items()]
    for name, parameter in spec.parameters.items():
        lines += _parameter(name, parameter, ("link",))
    lines += _parameter("criteria", spec.criteria, ("pooling",))
    if spec.priors:
        lines += ["", "[priors]"]
        lines += [f"{_quote(name)} = {_prior(prior)}" for name, prior in spec.priors.items()]
    return "\n".join(lines) + "\n"


def _parameter(name: str, parameter: ParameterSpec, keys: tuple[str, ...]) -> list[str]:
    lines = ["", f"[parameters.{name}]"]
    return lines + [f"{key} = {_quote(getattr(parameter, key))}" for key in (*keys, "formula")]


def _prior(prior: Prior) -> str:
    arguments = [f"{key} = {float(value)!r}" for key, value in prior.arguments.items()]
    return "{ " + ", ".join([f"family = {_quote(prior.family)}", *arguments]) + " }"


def _quote(text: str) -> str:
    """Quote a text; TOML's basic strings take JSON's escapes, and want U+007F escaped too."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
