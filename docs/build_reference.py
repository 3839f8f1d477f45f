"""Write docs/reference from the command line's help and the public verbs' docstrings.

``--check`` writes nothing and fails where a page is not current.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable
from pathlib import Path

import typer
from typer._click.core import Context

import hmeta
from hmeta.cli import build_app, command_names
from hmeta.metrics.catalogue import FAMILIES, curves, describe, measures
from hmeta.metrics.measure import Card, Curve

FOLDER = Path(__file__).resolve().parent / "reference"
NOTE = "<!-- Written by `make docs`; edit the docstrings instead. -->"


def command_page() -> str:
    """Return the page of the command line: one section a command, as its help prints it."""
    group = typer.main.get_command(build_app())
    settings = {**group.context_settings, "terminal_width": 100, "max_content_width": 100}
    top = Context(group, info_name="hmeta", **settings)
    sections = [NOTE, "# The command line", _block(top.get_help())]
    for name in command_names():
        command = group.get_command(top, name)  # pyright: ignore[reportAttributeAccessIssue]
        sections += [f"## hmeta {name}", _block(Context(command, info_name=name, parent=top).get_help())]
    return "\n\n".join(sections) + "\n"


def python_page() -> str:
    """Return the page of the Python interface: one section a public verb."""
    sections = [NOTE, "# The Python interface"]
    for name in sorted(hmeta.VERBS):
        verb = getattr(hmeta, name)
        sections += [f"## hmeta.{name}", _block(f"{name}{_signature(verb)}"), _block(inspect.getdoc(verb) or "")]
    return "\n\n".join(sections) + "\n"


def metrics_page() -> str:
    """Return the page of the measures: one section a measure or curve, family by family."""
    sections = [NOTE, "# The measures", MEASURES_INTRO]
    for family in FAMILIES:
        mine = [card for card in (*measures().values(), *curves().values()) if card.family == family]
        sections += [f"## {family.capitalize()}"] if mine else []
        sections += [_card(card) for card in mine]
    return "\n\n".join(sections) + "\n"


MEASURES_INTRO = """Each measure is one function of columns and weights. Weights of one are answers, counts a count
table, multinomial counts a bootstrap replicate: estimates and intervals share one code. `hmeta list metrics`
prints this list, `hmeta list metrics NAME` one definition."""


def _card(card: Card) -> str:
    """Return the section of one measure or curve."""
    facts = describe(card)
    options = "; ".join(f"`{name}` = {value}" for name, value in facts["options"].items())
    kind = "curve" if isinstance(card, Curve) else f"{card.unit}; better: {card.better}"
    lines = [f"### {card.name}", f"*{card.label}* — {kind}; reads {', '.join(f'`{c}`' for c in card.columns)}."]
    lines += [_block(card.definition)]
    lines += [
        f"Options: {options}." if options else "",
        f"Tasks: {', '.join(card.tasks)}. Reference: {card.reference}.",
    ]
    lines += [f"**Caution:** {card.caution}" if card.caution else ""]
    return "\n\n".join(line for line in lines if line)


def _signature(verb: Callable[..., object]) -> str:
    """Return the signature, one argument a line where it is long."""
    signature = inspect.signature(verb)
    whole = _unquote(str(signature))
    if len(whole) <= 100:
        return whole
    lines = []
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in lines:
            lines.append("*")
        lines.append(_unquote(str(parameter)))
    returns = whole[whole.rindex(" -> ") :] if " -> " in whole else ""
    return "(\n" + "".join(f"    {line},\n" for line in lines) + f"){returns}"


def _unquote(signature: str) -> str:
    """Take the quotes off annotations, which are text under postponed evaluation, and addresses off functions."""
    named = re.sub(r"<function (\w+) at 0x[0-9a-f]+>", r"\1", signature)
    return re.sub(r"(: |-> )'([^']*)'", r"\1\2", named)


def _block(text: str) -> str:
    return f"```text\n{text.rstrip()}\n```"


def main() -> int:
    """Write the pages, or with ``--check`` name those that are not current."""
    check = "--check" in sys.argv[1:]
    stale = []
    FOLDER.mkdir(exist_ok=True)
    pages = {"cli.md": command_page(), "metrics.md": metrics_page(), "python.md": python_page()}
    for name, page in pages.items():
        path = FOLDER / name
        if check and (not path.exists() or path.read_text(encoding="utf-8") != page):
            stale.append(f"docs/reference/{name}")
        elif not check:
            path.write_text(page, encoding="utf-8")
            print(f"docs/reference/{name}")
    if stale:
        print(f"not current: {', '.join(stale)}; run: make docs", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
