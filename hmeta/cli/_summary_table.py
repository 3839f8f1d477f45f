"""The table of a summary, as `hmeta fit` and `hmeta summary` print it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from hmeta.cli._tables import print_table, records, say_verdict

if TYPE_CHECKING:
    import pandas as pd

NUMBER, SHARE, WHOLE = ".2f", ".2f", ",.0f"


def print_summary(frame: pd.DataFrame) -> None:
    """Print a summary: what is estimated, the table, notes and the verdict."""
    from hmeta.infer.parameter_words import words_of

    facts = frame.attrs
    name, by = facts["parameter"], facts["by"]
    what = words_of(name).title
    about = ", ".join(part for part in (facts["noise"], interval_words(facts)) if part)
    columns = {
        "level": (by or "", ""),
        "n_answers": ("answers", WHOLE),
        "median": (name, NUMBER),
        "lower": ("from", NUMBER),
        "upper": ("to", NUMBER),
        "p_below_zero": (f"P({name}<0)", SHARE),
        "p_below_half": (f"P({name}<½)", SHARE),
        "p_d_below_zero": ("P(d≤0)", SHARE),
        "meta_d_minus_d": ("meta_d−d", NUMBER),
        "r_hat": ("R-hat", ".3f"),
        "ess_bulk": ("ESS", WHOLE),
        "flags": ("", ""),
    }
    flags = [_own_flags(str(text)) for text in frame["flags"]]
    shown = frame.assign(flags=flags) if any(flags) else frame.drop(columns="flags")
    gray = [text.startswith("uninformative") for text in flags]
    if not facts["converged"]:
        say_verdict(False, ())
    print_table(shown.assign(n_answers=_known(frame)), columns, title=f"{what} ({about})", gray=gray)
    for label, estimand in _estimands(frame):
        typer.echo(f"{label}: {estimand}")
    for note in facts["notes"]:
        typer.echo(note)
    say_verdict(facts["converged"], facts["reasons"])


def print_terms(frame: pd.DataFrame) -> None:
    """Print the population terms of a parameter."""
    if not len(frame):
        return
    columns = {
        "term": ("term", ""),
        "median": ("median", NUMBER),
        "lower": ("from", NUMBER),
        "upper": ("to", NUMBER),
        "p_below_zero": ("P(<0)", SHARE),
        "r_hat": ("R-hat", ".3f"),
        "ess_bulk": ("ESS", WHOLE),
    }
    scale = "" if frame.attrs["link"] == "identity" else f", {frame.attrs['link']} scale"
    print_table(frame, columns, title=f"population terms of {frame.attrs['parameter']}{scale}")


def interval_words(facts: dict[Any, Any]) -> str:
    """Return the kind of interval in words: "94 % equal-tailed intervals"."""
    from hmeta.infer.intervals import NAMES

    return f"{100 * facts['interval']:g} % {NAMES[facts['kind']]} intervals"


def summary_content(frame: pd.DataFrame) -> dict[str, Any]:
    """Return a summary for JSON."""
    return {**{str(k): v for k, v in frame.attrs.items()}, "rows": records(frame)}


def _known(frame: pd.DataFrame) -> list[float]:
    """Return the numbers of answers, undefined for predictions."""
    return [n if cells else float("nan") for n, cells in zip(frame["n_answers"], frame["n_cells"], strict=True)]


def _own_flags(text: str) -> str:
    """Return a row's flags without the verdict on the whole fit, which is printed beside the table."""
    from hmeta.infer.caveats import NOT_CONVERGED

    return "; ".join(flag for flag in text.split("; ") if flag and flag != NOT_CONVERGED)


def _estimands(frame: pd.DataFrame) -> list[tuple[str, str]]:
    """Return what the rows estimate: once for the levels, then for each further row."""
    levels = frame[frame["kind"] == "level"]
    head = [(f"each {frame.attrs['by']}", str(levels["estimand"].iloc[0]))] if len(levels) else []
    rest = frame[~frame["kind"].isin(["level"])]
    return [*head, *zip(rest["level"].map(str), rest["estimand"].map(str), strict=True)]
