"""Where and how exactly numbers are computed: device, float64, compiled programs on disk."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import jax
import platformdirs

from hmeta.core.errors import DeviceError

if TYPE_CHECKING:
    from jaxlib._jax import Device

DEVICES = ("cpu", "gpu")


def find_device(name: str) -> Device:
    """Return the device of a name.

    Raises
    ------
    DeviceError
        For an unknown name, or a GPU that JAX cannot see.
    """
    if name not in DEVICES:
        raise DeviceError("unknown device", received=name, allowed=DEVICES)
    try:
        return jax.devices(name)[0]
    except RuntimeError as error:
        raise DeviceError(
            "JAX sees no GPU",
            received=f"--device {name}",
            allowed="cpu",
            mend='install the CUDA build with pip install "hmeta[cuda12]" (or cuda13) on a machine with an NVIDIA '
            "GPU and driver, or leave --device out",
        ) from error


@contextmanager
def computing(device: Device) -> Iterator[None]:
    """Compute in float64 on a device, in this thread and inside this block alone."""
    with jax.enable_x64(True), jax.default_device(device):
        yield


def keep_compiled(folder: Path | None = None) -> Path:
    """Keep compiled programs on disk, so that the next fit of the same shape need not compile.

    Parameters
    ----------
    folder : Path, optional
        Default: the user's cache folder. A folder that JAX is already set to use stays in use.

    Returns
    -------
    Path
    """
    current = jax.config.jax_compilation_cache_dir
    chosen = (
        Path(current) if current and folder is None else folder or Path(platformdirs.user_cache_dir("hmeta")) / "jax"
    )
    jax.config.update("jax_compilation_cache_dir", str(chosen))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
    return chosen
