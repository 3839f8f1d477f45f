"""The house plan holds: layers, sizes, names, and what an import costs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import hmeta

ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted((ROOT / "hmeta").rglob("*.py"))
HEAVY = ("jax", "numpyro", "pymc", "pandas", "xarray", "scipy", "matplotlib", "arviz", "formulae", "numpy")


def loaded_after(statement: str) -> set[str]:
    """Return the heavy libraries that a fresh interpreter holds after a statement."""
    code = f"import sys\ntry:\n    {statement}\nexcept SystemExit:\n    pass\nprint(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    return set(HEAVY) & set(run.stdout.split())


def test_the_probe_sees_a_heavy_library():
    assert "numpy" in loaded_after("import numpy")


@pytest.mark.parametrize(
    "statement",
    [
        "import hmeta; hmeta.__version__; dir(hmeta)",
        "from hmeta.cli import main; main(['--help'])",
        "from hmeta.cli import main; main(['fit', '--help'])",
    ],
)
def test_import_and_help_load_nothing_heavy(statement: str):
    assert loaded_after(statement) == set()


def test_import_contracts_are_kept():
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as run; run()", "--no-cache"]
    run = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert run.returncode == 0, run.stdout + run.stderr
    assert " 0 broken" in run.stdout


def test_modules_are_small_and_named_by_what_they_hold():
    lengths = {path.relative_to(ROOT): len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES}
    assert len(lengths) > 20
    assert {path: n for path, n in lengths.items() if n > 400} == {}
    parts = {part for path in MODULES for part in path.relative_to(ROOT).with_suffix("").parts}
    assert parts.isdisjoint({"utils", "util", "helpers", "helper", "misc", "common"})


def test_public_verbs_exist_and_are_functions():
    assert set(hmeta.VERBS) == set(hmeta.__all__) - {"__version__"}
    assert len(hmeta.VERBS) <= 25
    rooms = {path.name for path in (ROOT / "hmeta").iterdir() if path.is_dir()}
    assert rooms.isdisjoint(hmeta.VERBS)
    for name in hmeta.VERBS:
        verb = getattr(hmeta, name)
        assert callable(verb), name
        assert verb.__doc__, name


def test_an_unknown_name_is_refused():
    with pytest.raises(AttributeError, match="no attribute 'fitt'"):
        _ = hmeta.fitt
