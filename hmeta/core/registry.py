"""Folder listings in place of hand-made lists, and the nearest valid word."""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from collections.abc import Iterable
from types import ModuleType


def nearest(word: str, allowed: Iterable[str]) -> str | None:
    """Return the allowed word most like `word` whatever their case, or None where none is close.

    Examples
    --------
    >>> nearest("scal", ["scale", "model"])
    'scale'
    >>> nearest("ECE", ["mce", "ece"])
    'ece'
    """
    words = list(allowed)
    found = difflib.get_close_matches(word.lower(), [known.lower() for known in words], n=1, cutoff=0.5)
    same = [known for known in words if known.lower() in found]
    return max(same, key=lambda known: difflib.SequenceMatcher(None, word, known).ratio(), default=None)


def did_you_mean(word: str, allowed: Iterable[str]) -> str | None:
    """Return a sentence that names the nearest allowed word, or None."""
    found = nearest(word, allowed)
    return f'Did you mean "{found}"?' if found else None


def names_in(package: ModuleType) -> list[str]:
    """Return the names of the public modules of a package's folder, sorted."""
    return sorted(m.name for m in pkgutil.iter_modules(package.__path__) if not m.name.startswith("_"))


def modules_in(package: ModuleType) -> dict[str, ModuleType]:
    """Import every public module of a package's folder, by name."""
    return {name: importlib.import_module(f"{package.__name__}.{name}") for name in names_in(package)}
