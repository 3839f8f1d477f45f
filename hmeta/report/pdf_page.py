"""A page as PDF, through Typst: the template reads what is said from a file of plain data."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hmeta.core.errors import HmetaError
from hmeta.report.figure_file import fonts
from hmeta.report.html_page import plain
from hmeta.report.page import Block, Code, Heading, Listing, Page, Paragraph, Picture, Table
from hmeta.report.references import Reference
from hmeta.report.templates import PDF, shipped_templates

MM_PER_POINT = 25.4 / 72
WIDEST, TALLEST = 170.0, 215.0
"""Millimetres that a figure may take."""

MOST_ROWS = 60
"""A longer table is cut in the PDF, and says so."""


def to_pdf(page: Page, pictures: Mapping[str, bytes], references: Mapping[str, Reference], templates: Path) -> bytes:
    """Return the page as PDF; the same page gives the same bytes.

    Parameters
    ----------
    page, pictures, references, templates
        As for `hmeta.report.html_page.to_html`; the folder holds ``report.typ``.

    Raises
    ------
    HmetaError
        Where the template is missing or wrong.
    """
    import typst

    with TemporaryDirectory(prefix="hmeta-") as folder:
        root = Path(folder)
        (root / "figures").mkdir()
        for name, svg in pictures.items():
            (root / "figures" / f"{name}.svg").write_bytes(svg)
        (root / "page.json").write_text(json.dumps(page_data(page, pictures, references), ensure_ascii=False))
        try:
            shutil.copyfile(templates / PDF, root / PDF)
            return typst.compile(root / PDF, root=root, font_paths=[fonts()])
        except (OSError, typst.TypstError) as error:
            message = getattr(error, "message", None) or str(error)
            raise HmetaError(
                "the template cannot be used",
                where=str(templates / PDF),
                received=message.replace(str(root), ""),
                mend=f"compare it with the one that comes with hmeta: {shipped_templates() / PDF}",
            ) from error


def page_data(page: Page, pictures: Mapping[str, bytes], references: Mapping[str, Reference]) -> dict[str, Any]:
    """Return what the template reads: texts as plain words."""
    return {
        "title": page.title,
        "facts": list(page.facts),
        "banners": [plain(banner) for banner in page.banners],
        "sections": [
            {"name": s.name, "title": s.title, "blocks": [_block(block, pictures) for block in s.blocks]}
            for s in page.sections
        ],
        "missing": [gap._asdict() for gap in page.missing],
        "references": [reference.whole for reference in references.values()],
    }


def _block(block: Block, pictures: Mapping[str, bytes]) -> dict[str, Any]:
    match block:
        case Paragraph(text, tone):
            return {"kind": "paragraph", "tone": tone, "text": plain(text)}
        case Heading(words):
            return {"kind": "heading", "text": words}
        case Listing(items):
            return {"kind": "listing", "items": [plain(item) for item in items]}
        case Code(text):
            return {"kind": "code", "text": text}
        case Table():
            return _table(block)
        case Picture():
            width = _width_on_page(pictures[block.name])
            return {
                "kind": "picture",
                "name": block.name,
                "caption": plain(block.caption),
                "alt": block.alt,
                "width": width,
            }


def _table(table: Table) -> dict[str, Any]:
    table, more = table.cut(MOST_ROWS)
    gray = table.gray or (False,) * len(table.frame)
    rows = [[cell.text for cell in row] for row in table.rows()]
    columns = zip(*rows, strict=True) if rows else [()] * len(table.columns)
    return {
        "kind": "table",
        "caption": plain(table.caption),
        "headings": [
            {"text": words, "numeric": numeric, "share": _share([words, *column])}
            for (words, numeric), column in zip(table.headings, columns, strict=True)
        ],
        "rows": [{"gray": dim, "cells": row} for dim, row in zip(gray, rows, strict=True)],
        "more": more,
    }


def _share(texts: list[str]) -> int:
    """Return the room that a column of texts asks for: letters of all but its longest tenth, within limits."""
    lengths = sorted(len(text) for text in texts)
    return min(max(lengths[int(0.9 * (len(lengths) - 1))], 5), 42)


def _width_on_page(svg: bytes) -> float:
    """Return the width in millimetres at which a figure of matplotlib fits on the page, with its caption below."""
    head = svg[: svg.index(b">", svg.index(b"<svg"))].decode()
    sizes = dict(re.findall(r' (width|height)="([0-9.]+)pt"', head))
    width, height = (float(sizes[side]) * MM_PER_POINT for side in ("width", "height"))
    return width * min(1.0, WIDEST / width, TALLEST / height)
