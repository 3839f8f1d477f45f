"""Where the source files are, and the list of checksums, for the scripts of this folder."""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
SHIPPED = ("mmlu_atlas.nc", "bang2019.nc", "published/seed000_tables.csv", "published/seed004_tables.csv")


def source(name: str) -> Path:
    """Return a source file below HMETA_SHARED, or below ``shared`` beside the repository."""
    root = Path(os.environ.get("HMETA_SHARED", HERE.parents[1] / "shared"))
    path = root / "data" / name
    if not path.exists():
        sys.exit(f"{path} is not there; set HMETA_SHARED to the folder that holds data/{name}")
    return path


def record_checksums() -> None:
    """Write SHA256SUMS, which ``sha256sum --check`` reads in this folder."""
    lines = [
        f"{hashlib.sha256((HERE / name).read_bytes()).hexdigest()}  {name}"
        for name in SHIPPED
        if (HERE / name).exists()
    ]
    (HERE / "SHA256SUMS").write_text("\n".join(lines) + "\n", encoding="utf-8")
