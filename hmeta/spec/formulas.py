"""The one caller of `formulae`: formulas are read, judged, and only then evaluated.

`formulae` looks up functions in the environment it is given and follows dots into modules, so that an
unchecked formula can run code. Here a formula passes `formula_tree`'s rules first, sees an environment of
six numerical functions, and is evaluated from text rendered back from the checked tree.
"""

from __future__ import annotations

import contextlib
import io
import re
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from formulae import design_matrices
from formulae.environment import Environment
from formulae.parser import ParseError, Parser
from formulae.scanner import ScanError, Scanner

from hmeta.core.errors import SpecError
from hmeta.spec import formula_tree as tree
from hmeta.spec.formula_tree import Call, Column, FormulaRefusal, Node, Operation, Value
from hmeta.spec.plan import Floats

ENVIRONMENT = {name: getattr(np, name) for name in ("log", "log2", "log10", "exp", "sqrt", "abs")}
"""The functions beside formulae's own transforms; nothing else can be looked up."""

MAX_LENGTH = 2000
MAX_TOKENS = 300
MAX_DEPTH = 20
PLAIN_FACTOR = re.compile(r"\bC\((\w+)\)")
FORBIDDEN = re.compile(r"[^\w\s+\-*/:|().,=\"']")


class Term(NamedTuple):
    """One evaluated term: its name, its columns (row, column) and a label for each."""

    name: str
    matrix: Floats
    levels: tuple[str, ...]


def evaluate(node: Node, data: pd.DataFrame, where: str) -> list[Term]:
    """Evaluate checked terms over the rows of `data`.

    Parameters
    ----------
    node : Node
        A tree that `parse_formula` returned.
    data : DataFrame
        (row, column), without missing values; text columns are factors.
    where : str
        File and key, for messages.

    Returns
    -------
    list of Term
        In order of the formula, categorical terms coded against their first level unless no term
        before them spans the intercept.

    Raises
    ------
    SpecError
        Where a term cannot be evaluated or is not finite.
    """
    text = tree.render(node)
    _refuse_text_in_arithmetic(node, data, where)
    environment: Any = Environment([ENVIRONMENT])
    try:
        with np.errstate(all="ignore"), contextlib.redirect_stdout(io.StringIO()):
            design = design_matrices(text, _prepare(node, data), na_action="error", env=environment)
    except Exception as error:  # formulae raises bare kinds of every sort
        raise SpecError(f"the formula cannot be evaluated: {error}", where=where, received=text) from error
    if design.common is None:
        return []
    found = _named_plainly([_term(term, len(data)) for term in design.common.terms.values()])
    for term in found:
        if not np.isfinite(term.matrix).all():
            raise SpecError(f'term "{term.name}" has values that are not finite', where=where)
    return found


class Root(NamedTuple):
    """A whole formula, and whether it is an unparenthesised ``... | ...``."""

    node: Node
    bare_pipe: bool


def read_tree(text: object) -> Root:
    """Read a formula into a tree, evaluating nothing.

    Raises
    ------
    FormulaRefusal, ValueError
        For text that is not a formula, or holds characters and forms that have no place in one.
    """
    try:
        return _read(text)
    except (ScanError, ParseError, IndexError, RecursionError) as error:
        raise ValueError(str(error)) from error


def _read(text: object) -> Root:
    if not isinstance(text, str) or not text.strip():
        raise FormulaRefusal("a formula is a text", mend='write it like "1 + (1 | model)"')
    if "~" in text:
        raise FormulaRefusal("only the right-hand side is written", mend='leave out "~" and what stands before it')
    bad = FORBIDDEN.search(text)
    if bad:
        raise FormulaRefusal(
            f'character "{bad.group()}" is not allowed in a formula',
            allowed="column names, 0, 1, + - * / : | ( ) and the functions " + ", ".join(sorted(tree.FUNCTIONS)),
        )
    if len(text) > MAX_LENGTH or _depth(text) > MAX_DEPTH:
        raise FormulaRefusal(f"the formula is longer than {MAX_LENGTH} characters or nested deeper than {MAX_DEPTH}")
    tokens = _join_pipes(Scanner(text).scan(add_intercept=False))
    if len(tokens) > MAX_TOKENS:
        raise FormulaRefusal(f"the formula has more than {MAX_TOKENS} parts")
    parser = Parser(tokens)
    parsed: Any = parser.parse()
    if not parser.at_end():
        raise FormulaRefusal(f'"{parser.peek().lexeme}" is out of place')
    bare = type(parsed).__name__ == "Binary" and parsed.operator.kind == "PIPE"
    return Root(_convert(parsed), bare)


def _depth(text: str) -> int:
    depth = deepest = 0
    for character in text:
        depth += (character == "(") - (character == ")")
        deepest = max(deepest, depth)
    return deepest


def _join_pipes(tokens: list[Any]) -> list[Any]:
    """Make one token of ``||``, which formulae does not know: no correlation between coefficients."""
    joined: list[Any] = []
    for token in tokens:
        if token.kind == "PIPE" and joined and joined[-1].kind == "PIPE" and joined[-1].lexeme == "|":
            joined[-1].lexeme = "||"
        else:
            joined.append(token)
    return joined


def _convert(parsed: Any) -> Node:
    match type(parsed).__name__:
        case "Grouping":
            return _convert(parsed.expression)
        case "Binary":
            return Operation(parsed.operator.lexeme, _convert(parsed.left), _convert(parsed.right))
        case "Unary":
            return Operation(parsed.operator.lexeme, None, _convert(parsed.right))
        case "Literal":
            return Value(parsed.value)
        case "Variable" if parsed.level is None:
            return Column(_plain_name(parsed.name.lexeme))
        case "Call" if type(parsed.callee).__name__ == "Variable" and parsed.callee.level is None:
            return _convert_call(parsed)
        case kind:
            raise FormulaRefusal(f"{kind} is not allowed in a formula")


def _convert_call(parsed: Any) -> Call:
    positional = [a for a in parsed.args if type(a).__name__ != "Assign"]
    named = [a for a in parsed.args if type(a).__name__ == "Assign"]
    keywords = tuple((_plain_name(a.name.name.lexeme), _convert(a.value)) for a in named)
    return Call(_plain_name(parsed.callee.name.lexeme), tuple(_convert(a) for a in positional), keywords)


def _plain_name(name: str) -> str:
    if "." in name:
        raise FormulaRefusal(
            f'"{name}": a name in a formula has no dot',
            mend="give the column a plain name with --map NAME=COLUMN",
        )
    return name


def _refuse_text_in_arithmetic(node: Node, data: pd.DataFrame, where: str) -> None:
    for call in tree.calls_of(node):
        for name in () if tree.FUNCTIONS[call.name].categorical else tree.columns_of(call):
            if not pd.api.types.is_numeric_dtype(data[name]):
                raise SpecError(
                    f'"{call.name}" needs numbers, and column "{name}" holds text',
                    where=where,
                    received=", ".join(map(str, data[name].unique()[:3])),
                )


def _prepare(node: Node, data: pd.DataFrame) -> pd.DataFrame:
    """Return the columns as formulae should see them: numbers as float64, factors as text.

    Whole numbers stay whole where C(), S() or T() make labels of them, unless arithmetic could overflow.
    """
    calls = list(tree.calls_of(node))
    labels = {c for call in calls if tree.FUNCTIONS[call.name].categorical for c in tree.columns_of(call)}
    labels -= {c for call in calls if not tree.FUNCTIONS[call.name].categorical for c in tree.columns_of(call)}
    used = list(dict.fromkeys(tree.columns_of(node)))
    prepared = data[used].copy()
    for name in used:
        if not pd.api.types.is_numeric_dtype(prepared[name]):
            prepared[name] = prepared[name].astype(str)
        elif name not in labels:
            prepared[name] = prepared[name].astype(np.float64)
    return prepared


def _term(term: Any, n_rows: int) -> Term:
    matrix = np.asarray(term.data, dtype=np.float64).reshape(n_rows, -1)
    labels = [""]
    for component in getattr(term, "components", ()):
        labels = [f"{a}:{b}" if a and b else a or b for a in labels for b in _labels(component)]
    return Term(term.name, matrix, tuple(labels))


def _named_plainly(terms: list[Term]) -> list[Term]:
    """Call ``C(x)`` by its column, ``x``, unless another term has that name."""
    plain = [PLAIN_FACTOR.sub(r"\1", term.name) for term in terms]
    if len(set(plain)) < len(plain):
        return terms
    return [term._replace(name=name) for term, name in zip(terms, plain, strict=True)]


def _labels(component: Any) -> list[str]:
    if component.contrast_matrix is not None:
        return [str(label) for label in component.contrast_matrix.labels]
    width = component.value.shape[1] if component.value.ndim == 2 else 1
    return [str(i + 1) for i in range(width)] if width > 1 else [""]
