"""Every section of a report: one file each, with ORDER, TITLE, NEEDS and build.

`build(material)` returns the blocks, none where the inputs do not support the section; NEEDS then tells the reader
what would.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache
from typing import Protocol, cast

from hmeta.core.registry import modules_in
from hmeta.report.material import Material
from hmeta.report.page import Block


class Builder(Protocol):
    """What the file of a section holds."""

    ORDER: int
    TITLE: str
    NEEDS: str

    def build(self, material: Material) -> Sequence[Block]:
        """Return the blocks of the section."""
        ...


@cache
def builders() -> dict[str, Builder]:
    """Return the sections by name, in the order of the page."""
    found = {name: cast(Builder, module) for name, module in modules_in(sys.modules[__name__]).items()}
    return dict(sorted(found.items(), key=lambda item: item[1].ORDER))
