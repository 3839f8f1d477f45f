"""Where the shipped folders are: models, data, report templates."""

from __future__ import annotations

from pathlib import Path

from hmeta.core.errors import HmetaError

PACKAGE = Path(__file__).resolve().parents[1]


def share(*parts: str) -> Path:
    """Return the path of a shipped file or folder, in a wheel and in an editable checkout alike.

    Parameters
    ----------
    *parts : str
        Path parts, for example ``"models", "mafc_pooled.toml"``.

    Raises
    ------
    HmetaError
        Where the installation lacks it.
    """
    for root in (PACKAGE / "_share", PACKAGE.parent):
        path = root.joinpath(*parts)
        if path.exists():
            return path
    raise HmetaError(f"this installation lacks {'/'.join(parts)}", mend="install hmeta again")
