"""Tables and texts for LaTeX: booktabs, special characters as commands, long tables over pages."""

from __future__ import annotations

from functools import cache
from typing import Any

import pandas as pd

from hmeta.report.html_page import plain
from hmeta.report.page import Cite, Number, Table, Text

LONG = 40
"""A table of more rows than this goes over pages."""

WIDE = 45
"""Letters from which on a column is broken into lines."""

KEPT = {
    "|": r"\textbar{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "…": r"\ldots{}",
    "−": "$-$",
    "∞": r"$\infty$",
    "⁻": "$^{-}$",
    "¹": "$^{1}$",
    "′": r"$'$",
}
"""What the encoder of Unicode leaves, or writes less well."""


def escape(text: str) -> str:
    r"""Return text for LaTeX: special characters escaped, known Unicode as commands, other Unicode kept.

    Examples
    --------
    >>> escape("a_b & 5 %")
    'a\\_b \\& 5 \\%'
    """
    parts = [KEPT.get(letter) or _encoder().unicode_to_latex(letter) for letter in text]
    return "".join(parts)


def to_latex(table: Table) -> str:
    """Return a table for LaTeX with booktabs, caption and label; longtable where it is long."""
    shown = pd.DataFrame([[cell.text for cell in row] for row in table.rows()], columns=range(len(table.columns)))
    headings = [words for words, _ in table.headings]
    style = shown.style.format(lambda text: escape(str(text)))
    style = style.format_index(lambda i: escape(headings[int(str(i))]), axis=1).hide(axis="index")
    long = len(shown) > LONG
    text = style.to_latex(
        hrules=True,
        column_format="".join(_column(shown[i], numeric) for i, (_, numeric) in enumerate(table.headings)),
        caption=_one_line(to_text(table.caption)),
        label=f"tab:{table.name}",
        environment="longtable" if long else None,
        position=None if long else "tbp",
        position_float=None if long else "centering",
    )
    return f"% needs \\usepackage{{booktabs}}{' and \\usepackage{longtable}' if long else ''}\n{text}"


def _column(texts: pd.Series, numeric: bool) -> str:
    """Return how LaTeX sets a column: sentences in a paragraph column, numbers to the right."""
    return "r" if numeric else "p{5.5cm}" if texts.str.len().max() > WIDE else "l"


def to_text(text: Text) -> str:
    r"""Return a text for LaTeX, references as ``\citep``."""
    words = []
    for part in text:
        match part:
            case Cite():
                words.append(rf"\citep{{{','.join(part.keys)}}}")
            case Number():
                words.append(escape(part.text))
            case _:
                words.append(escape(part))
    return "".join(words)


def document(names: list[str]) -> str:
    """Return a document that shows all tables, to look at them and to copy its preamble."""
    lines = [
        "% All tables of the report; compile with pdflatex, or with lualatex where names are not in Latin or Greek "
        "letters.",
        r"\documentclass[a4paper,10pt]{article}",
        r"\usepackage{iftex}",
        r"\ifPDFTeX\usepackage[utf8]{inputenc}\usepackage[T1]{fontenc}\fi",
        r"\usepackage[margin=1.5cm,landscape]{geometry}",
        r"\usepackage{booktabs,longtable,amsmath,amssymb,textcomp}",
        r"\begin{document}",
        r"\footnotesize\setlength{\tabcolsep}{4pt}",
        *(rf"\input{{{name}.tex}}" + "\n\\clearpage" for name in names),
        r"\end{document}",
    ]
    return "\n".join(lines) + "\n"


def to_markdown(table: Table) -> str:
    """Return a table for Markdown."""
    heads = table.headings
    rows = ["| " + " | ".join(_marked(cell.text) for cell in row) + " |" for row in table.rows()]
    lines = [
        plain(table.caption),
        "",
        "| " + " | ".join(_marked(words) for words, _ in heads) + " |",
        "|" + "|".join("---:" if numeric else ":---" for _, numeric in heads) + "|",
        *rows,
    ]
    return "\n".join(lines) + "\n"


def _marked(text: str) -> str:
    for mark in ("\\", "|", "*", "_", "`", "<", "["):
        text = text.replace(mark, f"\\{mark}")
    return " ".join(text.split())


def _one_line(text: str) -> str:
    return " ".join(text.split())


@cache
def _encoder() -> Any:
    from pylatexenc.latexencode import UnicodeToLatexEncoder

    return UnicodeToLatexEncoder(unknown_char_policy="keep", unknown_char_warning=False)
