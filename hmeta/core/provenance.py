"""What made a file: versions of the libraries that matter."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

LIBRARIES = ("hmeta", "jax", "numpyro", "pymc", "arviz", "xarray", "numpy", "scipy", "pandas", "formulae")


def versions() -> dict[str, str]:
    """Return the version of Python and of each installed library that shapes a result."""
    found = {"python": platform.python_version()}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
