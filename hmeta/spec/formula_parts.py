"""Formulas in parts: common terms, group terms, and the columns that they use."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from hmeta.core.errors import SpecError
from hmeta.core.registry import did_you_mean
from hmeta.spec import formula_tree as tree
from hmeta.spec.formula_tree import Column, FormulaRefusal, Node, Operation, Value
from hmeta.spec.formulas import read_tree

MAX_FACTORS = 20
"""How many grouping factors one group term may expand to."""


@dataclass(frozen=True)
class Group:
    """One ``(expression | factor)``: the factor is a tuple of columns, more than one for ``a:b``."""

    expression: Node
    factor: tuple[str, ...]
    correlated: bool

    @property
    def name(self) -> str:
        """The grouping factor as written, without spaces."""
        return ":".join(self.factor)


@dataclass(frozen=True)
class Formula:
    """A formula that was read and judged."""

    text: str
    where: str
    common: Node
    groups: tuple[Group, ...]
    columns: tuple[str, ...]


def parse_formula(text: str, where: str) -> Formula:
    """Read the formula of a parameter.

    Parameters
    ----------
    text : str
        The right-hand side, for example ``"0 + scale + (1 | model) + (1 | model:dataset)"``.
    where : str
        File and key, for messages.

    Raises
    ------
    SpecError
        For anything but terms over columns and the allowed functions.
    """
    with _refusals(where, text):
        root = read_tree(text)
        if root.bare_pipe:
            raise FormulaRefusal("a group term needs parentheses", mend=f'write "1 + ({text.strip()})"')
        common: list[tuple[str, Node]] = []
        groups: list[Group] = []
        for sign, node in _addends(root.node):
            if not isinstance(node, Operation) or node.symbol not in ("|", "||"):
                common.append((sign, node))
            elif sign == "-":
                raise FormulaRefusal("a group term cannot be taken away")
            else:
                groups.extend(_groups(node))
        joined = _join(common)
        tree.check_terms(joined)
        _refuse_repeats(groups)
    columns = [*tree.columns_of(joined)]
    for group in groups:
        columns += [*tree.columns_of(group.expression), *group.factor]
    return Formula(text, where, joined, tuple(groups), tuple(dict.fromkeys(columns)))


def parse_criteria(text: str, where: str) -> tuple[str, ...]:
    """Read the formula of the criteria, ``1 | a:b`` or ``1``, and return its columns."""
    with _refusals(where, text):
        node = read_tree(text).node
        if node == Value(1):
            return ()
        fits = isinstance(node, Operation) and node.symbol == "|" and node.left == Value(1)
        factors = _factors(node.right) if fits and isinstance(node, Operation) else []
        if len(factors) != 1:
            raise FormulaRefusal(
                "the criteria formula says which cells share criteria",
                allowed='"1", "1 | model" or "1 | model:scale"',
            )
        return factors[0]


def refuse_unknown(columns: Iterable[str], known: Iterable[str], *, where: str, source: str) -> None:
    """Refuse columns that the data lack, naming the nearest."""
    known = list(known)
    for name in columns:
        if name not in known:
            raise SpecError(
                f'column "{name}" is not in {source}. Columns: {", ".join(known) or "none"}',
                where=where,
                mend=did_you_mean(name, known) or "name one of them, or say which column it is with --map",
            )


@contextlib.contextmanager
def _refusals(where: str, text: object) -> Iterator[None]:
    try:
        yield
    except FormulaRefusal as refusal:
        raise SpecError(
            refusal.what, where=where, received=_short(text), allowed=refusal.allowed, mend=refusal.mend
        ) from refusal
    except ValueError as error:
        raise SpecError(
            f"this is not a formula: {error}",
            where=where,
            received=_short(text),
            mend='write it like "1 + scale + (1 | model)"',
        ) from error


def _short(text: object) -> str:
    shown = str(text)
    return shown if len(shown) <= 200 else shown[:200] + " ..."


def _addends(node: Node, sign: str = "+") -> list[tuple[str, Node]]:
    if isinstance(node, Operation) and node.left is not None and node.symbol in ("+", "-") and sign == "+":
        return [*_addends(node.left), *_addends(node.right, node.symbol)]
    return [(sign, node)]


def _join(common: list[tuple[str, Node]]) -> Node:
    """Join the common addends again; without any, the intercept is implied."""
    if not common:
        return Value(1)
    sign, joined = common[0]
    if sign == "-":
        joined = Operation("-", Value(1), joined)
    for sign, node in common[1:]:
        joined = Operation(sign, joined, node)
    return joined


def _groups(node: Operation) -> list[Group]:
    expression = node.left if node.left is not None else Value(1)
    tree.check_terms(expression)
    return [Group(expression, factor, node.symbol == "|") for factor in _factors(node.right)]


def _factors(node: Node) -> list[tuple[str, ...]]:
    """Expand a grouping factor: ``a/b`` is a and a:b, ``a*b`` is a, b and a:b."""
    if isinstance(node, Column):
        return [(node.name,)]
    if not isinstance(node, Operation) or node.left is None or node.symbol not in (":", "/", "*", "+"):
        raise FormulaRefusal("what follows | must be columns", allowed='"model", "model:dataset", "model/dataset"')
    left, right = _factors(node.left), _factors(node.right)
    crossed = [tuple(dict.fromkeys(a + b)) for a in left for b in right]
    if node.symbol == "/":
        whole = tuple(dict.fromkeys(name for factor in left for name in factor))
        crossed = [tuple(dict.fromkeys(whole + b)) for b in right]
    kept = {":": [], "/": left, "*": left + right, "+": left + right}[node.symbol]
    found = list(dict.fromkeys(kept + ([] if node.symbol == "+" else crossed)))
    if len(found) > MAX_FACTORS:
        raise FormulaRefusal(f"the grouping factor expands to more than {MAX_FACTORS} factors")
    return found


def _refuse_repeats(groups: list[Group]) -> None:
    seen: set[frozenset[str]] = set()
    for group in groups:
        if frozenset(group.factor) in seen:
            raise FormulaRefusal(
                f'two group terms share the factor "{group.name}"',
                mend=f"write one term, (1 + x | {group.name}), or (1 + x || {group.name}) without correlation",
            )
        seen.add(frozenset(group.factor))
