"""Make published/: numbers printed in the tables of two papers, copied unchanged after a check of their bytes."""

from __future__ import annotations

import csv
import hashlib
import shutil
import sys

from locations import HERE, record_checksums, source

SHA256 = {
    "seed000_tables.csv": "ec12ed90341b60d7e64ab8d7acdf929c347c2a07ad833bc0289b15423f11dd69",
    "seed004_tables.csv": "2ff0d1f4f3101b6df51213ecf7554623328ff1708dbb50fb932db077efe4e433",
}
COLUMNS = ["source", "table", "model", "dataset", "condition", "method", "metric", "value", "ci_low", "ci_high", "star"]


def main() -> None:
    """Check and copy both tables."""
    folder = HERE / "published"
    folder.mkdir(exist_ok=True)
    for name, expected in SHA256.items():
        path = source(f"published/{name}")
        found = hashlib.sha256(path.read_bytes()).hexdigest()
        if found != expected:
            sys.exit(f"{path} has changed: SHA-256 {found}, expected {expected}")
        with path.open(encoding="utf-8", newline="") as file:
            if next(csv.reader(file)) != COLUMNS:
                sys.exit(f"{path} has other columns than {', '.join(COLUMNS)}")
        shutil.copyfile(path, folder / name)
    record_checksums()


if __name__ == "__main__":
    main()
