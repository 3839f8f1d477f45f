"""A formula as a small tree of our own, and the rules that make it safe to evaluate.

Nothing here evaluates anything: a tree that passes `check_terms` names columns, numbers and the functions
of `FUNCTIONS` only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Column:
    """A name that must be a column of the data."""

    name: str


@dataclass(frozen=True)
class Value:
    """A number, a text or True, False, None."""

    value: float | int | str | bool | None


@dataclass(frozen=True)
class Operation:
    """Two parts joined by an operator, or one part after a sign (then `left` is None)."""

    symbol: str
    left: Node | None
    right: Node


@dataclass(frozen=True)
class Call:
    """A function of parts."""

    name: str
    arguments: tuple[Node, ...]
    keywords: tuple[tuple[str, Node], ...] = field(default=())


Node = Column | Value | Operation | Call


class FormulaRefusal(ValueError):
    """Why a formula is refused, in one clause, with what is allowed and how to mend it."""

    def __init__(self, what: str, *, allowed: str | None = None, mend: str | None = None) -> None:
        super().__init__(what)
        self.what, self.allowed, self.mend = what, allowed, mend


@dataclass(frozen=True)
class Signature:
    """How a function of formulas may be called."""

    categorical: bool = False  # its first argument is one column, read as a factor
    keywords: tuple[tuple[str, type], ...] = ()


FUNCTIONS = {
    **{name: Signature() for name in ("I", "abs", "center", "exp", "log", "log10", "log2", "scale", "sqrt")},
    "standardize": Signature(),
    "poly": Signature(keywords=(("degree", int), ("raw", bool))),
    "C": Signature(categorical=True),
    "S": Signature(categorical=True),
    "T": Signature(categorical=True, keywords=(("ref", str),)),
}
"""The only functions a formula may call. T(x, ref="a") sets the reference level, S(x) sums to zero."""

TERM_OPERATORS = ("+", "-", "*", "/", ":")
ARITHMETIC = ("+", "-", "*", "/", "**")
MAX_TERMS = 200
MAX_DEGREE = 10


def render(node: Node) -> str:
    """Return a formula text that reads back as this tree."""
    match node:
        case Column(name):
            return name
        case Value(value):
            return f'"{value}"' if isinstance(value, str) else str(value)
        case Operation(symbol, None, right):
            return f"{symbol}{_wrap(right)}"
        case Operation(symbol, left, right) if left is not None:
            # formulae reads "1 + 0 + x" but not "1 + (0 + x)": sums stay flat.
            return f"{render(left) if symbol in ('+', '-') else _wrap(left)} {symbol} {_wrap(right)}"
        case Call(name, arguments, keywords):
            parts = [render(a) for a in arguments] + [f"{key}={render(value)}" for key, value in keywords]
            return f"{name}({', '.join(parts)})"
    raise TypeError(f"not a formula: {node!r}")


def _wrap(node: Node) -> str:
    return f"({render(node)})" if isinstance(node, Operation) else render(node)


def columns_of(node: Node | None) -> Iterator[str]:
    """Yield the columns that a tree names, in order of appearance."""
    match node:
        case Column(name):
            yield name
        case Operation(_, left, right):
            yield from columns_of(left)
            yield from columns_of(right)
        case Call(_, arguments, _):
            for argument in arguments:
                yield from columns_of(argument)


def calls_of(node: Node | None) -> Iterator[Call]:
    """Yield every function call of a tree."""
    match node:
        case Operation(_, left, right):
            yield from calls_of(left)
            yield from calls_of(right)
        case Call(_, arguments, _):
            yield node
            for argument in arguments:
                yield from calls_of(argument)


def check_terms(node: Node) -> int:
    """Check a tree of terms (no ``|``) and return how many terms it can expand to."""
    match node:
        case Column():
            return 1
        case Call():
            _check_call(node)
            return 1
        case Value(value):
            if isinstance(value, bool) or value not in (0, 1):
                raise FormulaRefusal(f"{render(node)} is not a term", allowed="1 and 0 as the only numbers outside I()")
            return 1
        case Operation(symbol, left, right):
            return _check_operation(symbol, left, right)


def _check_operation(symbol: str, left: Node | None, right: Node) -> int:
    if symbol == "|":
        raise FormulaRefusal('a group term must stand alone in the sum, in parentheses: "... + (1 | group)"')
    if symbol not in TERM_OPERATORS:
        raise FormulaRefusal(f'operator "{symbol}" cannot join terms', allowed=" ".join(TERM_OPERATORS))
    if left is None:
        return check_terms(right)
    a, b = check_terms(left), check_terms(right)
    count = {"*": a + b + a * b, ":": a * b, "/": a + a * b}.get(symbol, a + b)
    if count > MAX_TERMS:
        raise FormulaRefusal(f"the formula expands to more than {MAX_TERMS} terms")
    return count


def _check_call(call: Call) -> None:
    signature = FUNCTIONS.get(call.name)
    if signature is None:
        raise FormulaRefusal(
            f'function "{call.name}" is not allowed in a formula',
            allowed=", ".join(sorted(FUNCTIONS)),
        )
    keywords = dict(signature.keywords)
    extra = call.arguments[1:]
    if not call.arguments or len(extra) > len(keywords):
        raise FormulaRefusal(f'"{call.name}" takes one column or expression', mend=_usage(call.name, keywords))
    named = [*zip(keywords, extra, strict=False), *call.keywords]
    for key, value in named:
        _check_keyword(call.name, key, value, keywords)
    if len({key for key, _ in named}) < len(named):
        raise FormulaRefusal(f'"{call.name}" has the same argument twice')
    if signature.categorical and not isinstance(call.arguments[0], Column):
        raise FormulaRefusal(f'"{call.name}" takes one column', mend=_usage(call.name, keywords))
    if not signature.categorical:
        _check_arithmetic(call.arguments[0])
        if not any(columns_of(call.arguments[0])):
            raise FormulaRefusal(f"{render(call)} names no column")


def _usage(name: str, keywords: dict[str, type]) -> str:
    return "write " + name + "(" + ", ".join(["column", *(f"{key}=..." for key in keywords)]) + ")"


def _check_keyword(name: str, key: str, value: Node, keywords: dict[str, type]) -> None:
    if key not in keywords:
        raise FormulaRefusal(f'"{name}" has no argument "{key}"', allowed=", ".join(keywords) or "none")
    if not isinstance(value, Value) or type(value.value) is not keywords[key]:
        raise FormulaRefusal(f'argument "{key}" of "{name}" must be a plain {keywords[key].__name__}')
    if isinstance(value.value, int) and not isinstance(value.value, bool) and not 1 <= value.value <= MAX_DEGREE:
        raise FormulaRefusal(f'argument "{key}" of "{name}" must be between 1 and {MAX_DEGREE}')


def _check_arithmetic(node: Node) -> None:
    """Check an expression inside a function: columns, numbers, arithmetic, allowed functions."""
    match node:
        case Value(value):
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise FormulaRefusal(f"{render(node)} is not a number")
        case Call(name, _, _):
            _check_call(node)
            if FUNCTIONS[name].categorical or name == "poly":
                raise FormulaRefusal(f'"{name}" cannot stand inside another function')
        case Operation(symbol, left, right):
            if symbol not in ARITHMETIC:
                raise FormulaRefusal(f'operator "{symbol}" is not arithmetic', allowed=" ".join(ARITHMETIC))
            if symbol == "**":
                _check_power(left, right)
            if left is not None:
                _check_arithmetic(left)
            _check_arithmetic(right)


def _check_power(left: Node | None, right: Node) -> None:
    # Without a column on the left the power would be of whole numbers, which can grow without bound; and
    # formulae reads -x**2 as (-x)**2, so a signed base is refused rather than misread.
    if isinstance(left, Operation) and left.left is None:
        raise FormulaRefusal("a power of a signed term is ambiguous", mend="write 0 - x**2, or x**2 without the sign")
    small = isinstance(right, Value) and isinstance(right.value, int | float) and abs(right.value) <= MAX_DEGREE
    if not small or not any(columns_of(left)):
        raise FormulaRefusal(f"a power must be of a column, with a plain exponent up to {MAX_DEGREE}")
