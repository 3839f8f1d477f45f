"""Every figure: one file each, which holds CARD, read, draw and describe (`hmeta.report.card`)."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import cast

from hmeta.core.errors import DataError
from hmeta.core.registry import did_you_mean, names_in
from hmeta.report.card import Drawing


def figure_names() -> list[str]:
    """Return the names of all figures."""
    return names_in(sys.modules[__name__])


def drawing_of(name: str) -> Drawing:
    """Return a figure by its name; only its own file is loaded.

    Raises
    ------
    DataError
        Where there is none of that name.
    """
    known = figure_names()
    if name not in known:
        raise DataError("there is no such figure", received=f'"{name}"', allowed=known, mend=did_you_mean(name, known))
    return cast(Drawing, import_module(f"{__name__}.{name}"))
