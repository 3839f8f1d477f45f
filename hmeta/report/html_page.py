"""A page as one HTML file: nothing outside it is asked for, and figures follow light and dark."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from urllib.parse import quote

from markupsafe import Markup

from hmeta.core.errors import HmetaError
from hmeta.report import style
from hmeta.report.page import Block, Cite, Number, Page, Part, Text
from hmeta.report.references import REFERENCES, Reference
from hmeta.report.templates import HTML, shipped_templates

MOST_ROWS = 600
"""A longer table is cut on the page, and says so."""

PLAIN_IN_ADDRESS = " <>/:;=,.()[]{}*!~@$'+-_?|^`"

MARKS = re.compile(r"([/@_\-:]|[.](?!\d))(?=\S)")
LONG_WORD = 12

DARK = {
    style.INK: "#E8E6E3",
    style.GRAY: "#9AA0A6",
    style.LIGHT: "#363B41",
    style.BLUE: "#5AB0EA",
    style.ORANGE: "#FF8F52",
    style.GREEN: "#3CC79C",
    style.PURPLE: "#D489CF",
    style.RED: "#FF7A88",
    "#ffffff": "#16181B",
}
"""What each colour of a figure becomes on a dark page."""


def to_html(page: Page, pictures: Mapping[str, bytes], references: Mapping[str, Reference], templates: Path) -> str:
    """Return the page as HTML.

    Parameters
    ----------
    page : Page
    pictures : mapping of str to bytes
        SVG by the name of the picture.
    references : mapping of str to Reference
        What is cited, in order.
    templates : Path
        The folder that holds ``report.html.j2``.

    Raises
    ------
    HmetaError
        Where the template is missing or wrong.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined, TemplateError

    environment = Environment(
        loader=FileSystemLoader(templates),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.tests["number"] = lambda part: isinstance(part, Number)
    environment.tests["cite"] = lambda part: isinstance(part, Cite)
    environment.filters["kind"] = _kind
    environment.globals["most_rows"] = MOST_ROWS
    environment.filters["source"] = partial(data_uri, pictures)
    environment.filters["plain"] = plain
    environment.filters["breakable"] = breakable
    try:
        template = environment.get_template(HTML)
        return template.render(page=page, references=references, cited=REFERENCES)
    except (TemplateError, ArithmeticError, LookupError, TypeError, UnicodeError) as error:
        line = getattr(error, "lineno", None)
        raise HmetaError(
            "the template cannot be used",
            where=f"{templates / HTML}" + (f", line {line}" if line else ""),
            received=str(getattr(error, "message", None) or error),
            mend=f"compare it with the one that comes with hmeta: {shipped_templates() / HTML}",
        ) from error


def plain(text: Text) -> str:
    """Return a text as words, numbers as written and references as cited."""
    return "".join(_words(part) for part in text)


def breakable(text: str) -> str:
    """Return a text whose long words may break after the marks in them, as names of models must."""
    return " ".join(MARKS.sub("\\1\u200b", word) if len(word) > LONG_WORD else word for word in text.split(" "))


def data_uri(pictures: Mapping[str, bytes], name: str) -> Markup:
    """Return a figure as the address of an image that the page itself holds.

    Only what would end the attribute or the address, or be read as an entity, is encoded: a third shorter than base64.
    """
    text = " ".join(with_dark(pictures[name]).decode().split())
    return Markup("data:image/svg+xml," + quote(text, safe=PLAIN_IN_ADDRESS))


def with_dark(svg: bytes) -> bytes:
    """Return an SVG with rules that change its colours on a dark page."""
    rules = [f"text:not([style*='fill:']){{fill:{DARK[style.INK]}}}"]
    for light, dark in DARK.items():
        for what in ("fill", "stroke"):
            rules.append(f"[style*='{what}: {light.lower()}']{{{what}:{dark} !important}}")
    sheet = "<style>@media (prefers-color-scheme: dark){" + "".join(rules) + "}</style>"
    head = svg.index(b">", svg.index(b"<svg")) + 1
    return svg[:head] + sheet.encode() + svg[head:]


def _kind(block: Block) -> str:
    return type(block).__name__.lower()


def _words(part: Part) -> str:
    if isinstance(part, Number):
        return part.text
    return f"({'; '.join(REFERENCES[key].short for key in part.keys)})" if isinstance(part, Cite) else part
