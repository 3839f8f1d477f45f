"""A page as a folder of files, whole or not at all."""

from __future__ import annotations

import json
import math
import shutil
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from hmeta.core.errors import OutputError
from hmeta.report.figure_file import SUFFIXES, convert, make_figure, to_svg
from hmeta.report.html_page import plain, to_html
from hmeta.report.latex import document, to_latex, to_markdown, to_text
from hmeta.report.page import Block, Cite, Listing, Number, Page, Paragraph, Picture, Table, Text
from hmeta.report.pdf_page import to_pdf
from hmeta.report.references import REFERENCES, Reference, to_bibtex

SCHEMA = "1"
NOT_FOLDERS = (".html", ".pdf", ".nc", ".tex", ".csv", ".json")
LONGEST_NAME = 200
NUMBERS = "numbers.json"
"""The file by which a folder is known to be a report; it lists the files of the report."""

Report = Callable[[str, str], None]
"""Told the stage, and what is being done in it."""


def check_folder(folder: Path, *, inputs: Sequence[Path] = (), overwrite: bool) -> None:
    """Refuse a folder that holds anything but a report, or a report that may not be replaced.

    Parameters
    ----------
    folder : Path
        Resolved.
    inputs : sequence of Path
        Files that must not lie in it.
    overwrite : bool

    Raises
    ------
    OutputError
    """
    if folder.suffix.lower() in NOT_FOLDERS:
        mend = f"name a folder: -o {folder.with_suffix('').name}"
        raise OutputError("a report is a folder of files", where=str(folder), received=folder.suffix, mend=mend)
    if not folder.parent.is_dir():
        mend = f"create it: mkdir -p {folder.parent}"
        raise OutputError("the folder of the output does not exist", where=str(folder.parent), mend=mend)
    if len(folder.name.encode()) > LONGEST_NAME:
        raise OutputError("this is no possible name of a folder", where=f"{folder.name[:40]} …", received="too long")
    if not folder.exists():
        return
    if not folder.is_dir():
        raise OutputError("the output is a file, not a folder", where=str(folder), mend="give another name to -o")
    if folder == Path.cwd():
        raise OutputError("the output is the folder you are in", where=str(folder), mend="name a new folder: -o report")
    inside = [path for path in inputs if folder in path.resolve().parents]
    if inside:
        raise OutputError(
            "an input lies in the folder of the output; nothing was written",
            where=str(folder),
            received=", ".join(path.name for path in inside),
            mend="give the name of a new folder to -o",
        )
    foreign = _foreign(folder)
    if foreign:
        raise OutputError(
            "the folder holds files that are no part of a report; nothing was written",
            where=str(folder),
            received=", ".join(foreign[:5]) + (f" and {len(foreign) - 5} more" if len(foreign) > 5 else ""),
            mend="give the name of a new folder to -o",
        )
    if any(folder.iterdir()) and not overwrite:
        raise OutputError("the report exists already", where=str(folder), mend="pass --overwrite or another name")


def _foreign(folder: Path) -> list[str]:
    """Return what a folder holds that the report in it did not bring; everything where there is no report in it."""
    held = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir())
    try:
        own = set(json.loads((folder / NUMBERS).read_text(encoding="utf-8"))["files"])
    except (OSError, ValueError, KeyError, TypeError):
        own = set()
    return [name for name in held if name not in own]


def write_page(page: Page, folder: Path, *, templates: Path, report: Report) -> None:
    """Write a page and all that belongs to it; an existing report is replaced once the new one is whole.

    Parameters
    ----------
    page : Page
    folder : Path
    templates : Path
    report : callable
    """
    part = folder.with_name(f".{folder.name}.{uuid.uuid4().hex[:8]}.part")
    try:
        _make(part)
        _write_all(page, part, templates, report)
        _replace(part, folder)
    except OSError as error:
        raise OutputError("the report cannot be written", where=str(folder), received=error.strerror) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _make(folder: Path) -> None:
    for name in ("", "figures", "tables"):
        (folder / name).mkdir()


def _replace(part: Path, folder: Path) -> None:
    """Give the new folder its name; the old one is out of the way before, and comes back if that fails."""
    old = part.with_suffix(".old")
    if folder.exists():
        folder.rename(old)
    try:
        part.rename(folder)
    except OSError:
        if old.exists():
            old.rename(folder)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _write_all(page: Page, folder: Path, templates: Path, report: Report) -> None:
    pictures = _write_figures(page, folder / "figures", report)
    tables: list[Table] = list(page.blocks(Table))
    report("tables", "")
    for table in tables:
        _write_table(table, folder / "tables")
    if tables:
        (folder / "tables" / "all_tables.tex").write_text(document([table.name for table in tables]))
    references = {key: REFERENCES[key] for key in sorted(set(_cited(page)), key=lambda key: REFERENCES[key].whole)}
    _write_methods(page, folder, references)
    report("pages", "HTML")
    (folder / "report.html").write_text(to_html(page, pictures, references, templates))
    report("pages", "PDF")
    (folder / "report.pdf").write_bytes(to_pdf(page, pictures, references, templates))
    files = sorted([NUMBERS, *(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())])
    content = numbers(page) | {"files": files}
    (folder / NUMBERS).write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n")


def _write_figures(page: Page, folder: Path, report: Report) -> dict[str, bytes]:
    """Write each figure in every format, converting one while the next is drawn; return SVG by name."""
    pictures: dict[str, bytes] = {}
    with ThreadPoolExecutor(max_workers=1) as converting:
        pending = []
        for picture in page.blocks(Picture):
            report("figures", picture.name)
            pictures[picture.name] = to_svg(make_figure(picture.draw))
            for suffix in SUFFIXES:
                content, path = pictures[picture.name], folder / f"{picture.name}{suffix}"
                pending.append(converting.submit(lambda c, s, p: p.write_bytes(convert(c, s)), content, suffix, path))
        for one in pending:
            one.result()
    return pictures


def _write_table(table: Table, folder: Path) -> None:
    table.frame.to_csv(folder / f"{table.name}.csv", index=False, lineterminator="\n")
    (folder / f"{table.name}.tex").write_text(to_latex(table))
    (folder / f"{table.name}.md").write_text(to_markdown(table))


def _write_methods(page: Page, folder: Path, references: dict[str, Reference]) -> None:
    """Write the methods as Markdown and LaTeX, with the references as BibTeX."""
    found = [
        block.text for s in page.sections if s.name == "methods" for block in s.blocks if isinstance(block, Paragraph)
    ]
    (folder / "methods.md").write_text("\n\n".join(_with_keys(text) for text in found) + "\n")
    (folder / "methods.tex").write_text("\n\n".join(to_text(text) for text in found) + "\n")
    (folder / "references.bib").write_text(to_bibtex(references))


def _with_keys(text: Text) -> str:
    return "".join(
        f"[{'; '.join(f'@{key}' for key in part.keys)}]" if isinstance(part, Cite) else plain((part,)) for part in text
    )


def numbers(page: Page) -> dict[str, Any]:
    """Return every number in the texts, with its value in full and where it came from, and every table."""
    return {
        "schema": SCHEMA,
        "title": page.title,
        "numbers": [
            {"section": name, "text": n.text, "value": _finite(n.value), "what": n.what, "source": n.source}
            for name, text in _texts(page)
            for n in text
            if isinstance(n, Number)
        ],
        "tables": [
            {
                "file": f"tables/{t.name}.csv",
                "rows": len(t.frame),
                "columns": list(map(str, t.frame)),
                "source": t.source,
            }
            for t in page.blocks(Table)
        ],
        "figures": [{"file": f"figures/{p.name}", "source": p.source} for p in page.blocks(Picture)],
    }


def _texts(page: Page) -> Iterator[tuple[str, Text]]:
    yield from (("banner", banner) for banner in page.banners)
    for section in page.sections:
        for block in section.blocks:
            yield from ((section.name, text) for text in _texts_of(block))


def _texts_of(block: Block) -> tuple[Text, ...]:
    match block:
        case Paragraph(text, _):
            return (text,)
        case Listing(items):
            return items
        case Table() | Picture():
            return (block.caption,)
    return ()


def _cited(page: Page) -> Iterator[str]:
    return (key for _, text in _texts(page) for part in text if isinstance(part, Cite) for key in part.keys)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
