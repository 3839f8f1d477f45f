"""The quantities that a fit reports beside its parameters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from hmeta.spec.likelihoods import FAMILIES, View


def views_of(likelihood: str, parameters: Iterable[str]) -> dict[str, View]:
    """Return the views of a likelihood whose parameter the model has."""
    known = set(parameters)
    return {name: view for name, view in FAMILIES[likelihood].views.items() if view.of in known}


def with_meta_d(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters at cells with meta_d = M·d, where there are M and d."""
    if not {"M", "d"} <= set(parameters):
        return dict(parameters)
    return {**parameters, "meta_d": parameters["M"] * parameters["d"]}
