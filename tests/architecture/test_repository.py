"""Documents say what the repository does, and no file names a machine."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
MACHINE = re.compile(r"pythonhoste[d]|pyp[i]\.org|npmj[s]\.org|/(wor[k]|roo[t]|far[m])/")
BINARY = {".nc", ".png", ".mat", ".npz", ".parquet", ".pdf", ".gz"}


def tracked_files() -> list[Path]:
    """Return the files that git tracks or would track."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout.splitlines()
    return [ROOT / name for name in names if (ROOT / name).is_file()]


def code_blocks(path: Path, language: str) -> list[str]:
    """Return the fenced blocks of one language in a page."""
    return re.findall(rf"^```{language}\n(.*?)^```", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def test_no_file_names_a_registry_or_a_machine_path():
    texts = {path: path.read_text(encoding="utf-8") for path in tracked_files() if path.suffix not in BINARY}
    assert len(texts) > 50
    named = [f"{path.relative_to(ROOT)}: {found[0]}" for path, text in texts.items() if (found := MACHINE.search(text))]
    assert named == []


@pytest.mark.parametrize("name", ["python" + "hosted.org", "/wor" + "k/main", "/roo" + "t/.cache"])
def test_the_search_finds_what_it_should(name: str):
    assert MACHINE.search(f"see {name} for more")


def test_the_commands_in_the_readme_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    asked = {
        word for page in PAGES for word in re.findall(r"\bmake ([a-z-]+)\b(?=`|\s*#|\s*$)", page.read_text(), re.M)
    }
    assert {"demo", "test"} <= asked <= targets


def test_links_between_pages_lead_somewhere():
    broken = []
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            if "://" not in target and not (page.parent / target).exists():
                broken.append(f"{page.relative_to(ROOT)} -> {target}")
    assert broken == []


def test_the_reference_pages_are_current():
    run = subprocess.run(
        [sys.executable, "docs/build_reference.py", "--check"], capture_output=True, text=True, cwd=ROOT
    )
    assert run.returncode == 0, run.stderr


@pytest.mark.slow
@pytest.mark.parametrize("page", [p for p in PAGES if code_blocks(p, "python")], ids=lambda p: p.name)
def test_python_examples_run(page: Path, tmp_path: Path):
    """The blocks of one page run in order, in one interpreter, beside a copy of the shipped folders."""
    for folder in ("data", "models"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    code = "\n".join(code_blocks(page, "python"))
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, timeout=900)
    assert run.returncode == 0, run.stderr
