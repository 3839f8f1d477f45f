"""From a foreign file to a dataset: the importer is found by the file, the rest is declared."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import xarray as xr

from hmeta.core.errors import DataError
from hmeta.core.files import check_input
from hmeta.core.registry import did_you_mean, modules_in
from hmeta.trials import importers
from hmeta.trials.declarations import declare
from hmeta.trials.import_options import ImportOptions

HEAD_BYTES = 65536


def import_table(
    path: str | Path, options: ImportOptions | None = None, *, importer: str | None = None, **declared: Any
) -> xr.Dataset:
    """Read a foreign file as a dataset of layout `trials`, `counts` or `estimates`.

    Parameters
    ----------
    path : str or Path
        The file.
    options : ImportOptions, optional
        What the user declares about it.
    importer : str, optional
        The name of the importer; by default the one whose file this is.
    **declared
        Declarations by the names of `ImportOptions`, in place of those of `options`; a scale may be text
        (``"0-100"``) or a pair, ``columns`` and the like are dicts, and lists will do for tuples.

    Returns
    -------
    xarray.Dataset
        With the attribute ``import_notes``, a JSON list of what was done.

    Raises
    ------
    DataError
        Where the file cannot be read, or no importer knows it.

    Examples
    --------
    >>> import_table("answers.csv", scale="0-100", task="mafc", n_options=4)  # doctest: +SKIP
    """
    path = Path(path)
    chosen = (options or ImportOptions()).overridden_by(declare(**declared))
    module = choose_importer(path, importer)
    return module.read(path, chosen)


def choose_importer(path: Path, name: str | None = None) -> ModuleType:
    """Return the importer of a file: by name, or the highest-ranking one that recognises it."""
    found = modules_in(importers)
    head = _head(path)
    if name is not None:
        if name not in found:
            raise DataError("unknown importer", received=name, allowed=list(found), mend=did_you_mean(name, found))
        return found[name]
    fitting = [module for module in found.values() if module.matches(path, head)]
    if not fitting:
        raise DataError(
            "no importer recognises this file",
            where=str(path),
            received=f"a file that starts with {head[:16]!r}",
            allowed="; ".join(f"{name}: {module.SUMMARY}" for name, module in found.items()),
            mend="name one with --importer, or convert the file to CSV",
        )
    return max(fitting, key=lambda module: getattr(module, "RANK", 0))


def _head(path: Path) -> bytes:
    check_input(path)
    try:
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES)
    except OSError as error:
        raise DataError("the file cannot be read", where=str(path), received=error.strerror) from error
    if not head:
        raise DataError("the file is empty", where=str(path))
    if head.startswith(b"\x89HDF") and path.suffix.lower() == ".nc":
        raise DataError(
            "this is a results file already", where=str(path), mend="use it as it is: hmeta validate or fit"
        )
    return head
