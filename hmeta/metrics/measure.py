"""What a measure is: one function of columns and weights, with the card that describes it.

A measure is written once, as ``fn(*columns, weights, **options) -> value``. Weights of one are trials, counts
are a count table, multinomial counts are a bootstrap replicate; leading axes of the weights are many of them
at once. Undefined is NaN, and the conditions in `needs` say why.

Letters: ``row`` counts trials or distinct rows of a count table, ``...`` any leading axes of the weights.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from hmeta.core.errors import DataError
from hmeta.core.registry import did_you_mean
from hmeta.core.schema import TASKS

Floats = NDArray[np.float64]
Columns = Mapping[str, Floats]
Need = Callable[[Columns, Floats], str]
"""From the columns by name and weights ``(row,)`` to the reason why a value is undefined, or ""."""

Better = Literal["higher", "lower", "none"]

RANGES = {
    "probability": (0.0, 1.0, "probabilities"),
    "correct": (0.0, 1.0, "0 or 1"),
    "stimulus": (0.0, 1.0, "0 or 1"),
    "response": (0.0, 1.0, "0 or 1"),
    "p_positive": (0.0, 1.0, "probabilities"),
}
"""What a column can hold, by its name."""

MAY_LACK = frozenset({"reported"})
"""Columns in which NaN is a fact about the answer (no usable confidence) rather than a fault."""


@dataclass(frozen=True)
class Card:
    """What is said about a measure or a curve.

    Attributes
    ----------
    name : str
        The key in tables and on the command line, in the field's own terms.
    label : str
        As printed in a heading.
    family : str
        discrimination, efficiency, information, calibration, selective prediction, scale use, judges,
        measurement, or performance.
    columns : tuple of str
        The columns that the function takes, in order.
    compute : callable
        ``(*columns, weights, **options)``; columns are ``(row,)``, weights ``(..., row)``.
    unit : str
        "probability", "bit", "nat", "sd", "1" …
    better : {"higher", "lower", "none"}
    reference : str
        Paper and equation or section.
    needs : tuple of callable
        Conditions for a value, most basic first.
    tasks : tuple of str
        Kinds of task for which it has a meaning.
    neutral : float or None
        The value of someone without metacognition, or of perfect calibration, where there is one.
    default : bool
        Whether it is computed when the user names none.
    caution : str
        Printed wherever a value is shown; "" for none.
    slow : bool
        Whether thousands of resamples take minutes, so that only those who name the measure get them.
    variants : tuple of dict
        Options under which it is computed where the user sets none of them; empty for the defaults alone.
    """

    name: str
    label: str
    family: str
    columns: tuple[str, ...]
    compute: Callable[..., Any]
    unit: str
    better: Better
    reference: str
    needs: tuple[Need, ...] = ()
    tasks: tuple[str, ...] = TASKS
    neutral: float | None = None
    default: bool = False
    caution: str = ""
    slow: bool = False
    variants: tuple[dict[str, Any], ...] = ()

    @property
    def definition(self) -> str:
        """The docstring of the function: one sentence, then the definition."""
        return inspect.getdoc(self.compute) or ""

    @property
    def summary(self) -> str:
        """The first sentence of the definition."""
        return " ".join(self.definition.split("\n\n")[0].split())

    @cached_property
    def options(self) -> dict[str, Option]:
        """The keyword arguments that a user may set."""
        hints = get_type_hints(self.compute)
        parameters = inspect.signature(self.compute).parameters.values()
        return {
            p.name: Option(p.name, hints[p.name], None if p.default is p.empty else p.default)
            for p in parameters
            if p.kind is p.KEYWORD_ONLY and p.name != "weights"
        }

    def why_undefined(self, columns: Columns, weights: Floats) -> str:
        """Return why there is no value for weights ``(row,)``, or ""."""
        return next((reason for need in self.needs if (reason := need(columns, weights))), "")

    def evaluate(self, columns: tuple[Any, ...], weights: Any, options: Mapping[str, Any]) -> Any:
        """Check the columns and weights of a direct call, and compute."""
        if len(columns) != len(self.columns):
            raise DataError(
                f"{self.name} takes {len(self.columns)} columns",
                received=f"{len(columns)}",
                allowed=", ".join(self.columns),
            )
        arrays = [check_column(name, values) for name, values in zip(self.columns, columns, strict=True)]
        sizes = {name: len(a) for name, a in zip(self.columns, arrays, strict=True)}
        if len(set(sizes.values())) > 1:
            raise DataError("columns differ in length", received=", ".join(f"{k}: {v}" for k, v in sizes.items()))
        w = check_weights(weights, len(arrays[0]))
        chosen = {name: self.option(name).check(value, self.name) for name, value in options.items()}
        return self.compute(*arrays, weights=w, **chosen)

    def option(self, name: str) -> Option:
        """Return an option by name; unknown names are refused with the nearest one."""
        if name not in self.options:
            raise DataError(
                f"{self.name} has no option {name}",
                received=name,
                allowed=list(self.options) or "no options",
                mend=did_you_mean(name, self.options),
            )
        return self.options[name]


@dataclass(frozen=True)
class Option:
    """A keyword argument of a measure; a default of None means that the user must set it."""

    name: str
    kind: Any
    default: Any

    @property
    def allowed(self) -> str:
        """What it takes, as text."""
        if get_origin(self.kind) is Literal:
            return ", ".join(map(str, get_args(self.kind)))
        return {int: "a whole number", float: "a number", bool: "true or false"}[self.kind]

    @property
    def words(self) -> str:
        """Its default and what it takes, as text."""
        default = str(self.default).lower() if isinstance(self.default, bool) else self.default
        return f"{'to be set' if default is None else default} ({self.allowed})"

    def check(self, value: Any, measure: str) -> Any:
        """Return the value as what the option takes, or refuse it."""
        whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
        number = whole or isinstance(value, float | np.floating)
        if get_origin(self.kind) is Literal:
            fine = value in get_args(self.kind)
        elif self.kind is bool:
            fine = isinstance(value, bool)
        else:
            fine = whole if self.kind is int else number and bool(np.isfinite(value))
        if not fine:
            near = did_you_mean(str(value), map(str, get_args(self.kind))) if get_origin(self.kind) is Literal else None
            where = f"{measure}, option {self.name}"
            raise DataError("unusable option", where=where, received=repr(value), allowed=self.allowed, mend=near)
        return float(value) if self.kind is float else value


@dataclass(frozen=True)
class Measure(Card):
    """One statistic: a function of columns and weights whose value is ``(...,)``, NaN where undefined."""

    def __call__(self, *columns: Any, weights: Any = None, **options: Any) -> Any:
        """Return the value for arrays given directly.

        Parameters
        ----------
        *columns : (row,) array_like
            In the order of `columns`.
        weights : (..., row) array_like, optional
            Default: ones, every row an answer.
        **options
            See `options`.

        Returns
        -------
        (...,) float
        """
        return self.evaluate(columns, weights, options)


@dataclass(frozen=True)
class Curve(Card):
    """A table of points: a function of columns and weights ``(row,)`` that returns columns ``(point,)`` by name."""

    def __call__(self, *columns: Any, weights: Any = None, **options: Any) -> dict[str, Floats]:
        """Return the points for arrays given directly; arguments as for `Measure`, weights ``(row,)``."""
        return self.evaluate(columns, weights, options)


def measure(
    *,
    label: str,
    family: str,
    columns: tuple[str, ...],
    unit: str,
    better: Better,
    reference: str,
    needs: tuple[Need, ...] = (),
    tasks: tuple[str, ...] = TASKS,
    neutral: float | None = None,
    default: bool = False,
    caution: str = "",
    slow: bool = False,
    variants: tuple[dict[str, Any], ...] = (),
) -> Callable[[Callable[..., Any]], Measure]:
    """Make a function a measure under its own name; arguments as for `Card`."""

    def wrap(compute: Callable[..., Any]) -> Measure:
        name = compute.__name__
        card = (name, label, family, columns, compute, unit, better, reference, needs, tasks, neutral, default)
        return Measure(*card, caution=caution, slow=slow, variants=variants)

    return wrap


def curve(
    *,
    label: str,
    family: str,
    columns: tuple[str, ...],
    reference: str,
    needs: tuple[Need, ...] = (),
    tasks: tuple[str, ...] = TASKS,
    caution: str = "",
) -> Callable[[Callable[..., Any]], Curve]:
    """Make a function a curve under its own name; arguments as for `Card`."""

    def wrap(compute: Callable[..., Any]) -> Curve:
        card = (compute.__name__, label, family, columns, compute, "", "none", reference, needs, tasks)
        return Curve(*card, caution=caution)  # pyright: ignore[reportArgumentType]

    return wrap


def check_column(name: str, values: Any) -> Floats:
    """Return a column as float64, or refuse what it cannot hold."""
    array = _numbers(values, name)
    if array.ndim != 1:
        raise DataError("a column is one-dimensional", where=name, received=f"shape {array.shape}")
    missing = ~np.isfinite(array)
    if missing.any() and name not in MAY_LACK:
        raise DataError(
            f"{int(missing.sum())} values are missing or infinite",
            where=f"{name}, position {int(np.argmax(missing))} (counted from 0)",
            mend="leave these answers out and report how many they are; hmeta validate does both",
        )
    if name in RANGES:
        lower, upper, what = RANGES[name]
        bad = (array < lower) | (array > upper) | ((what == "0 or 1") & (array != 0) & (array != 1))
        if bad.any():
            scale = name == "probability" and bool((array[bad] > 1).any())
            raise DataError(
                f"{int(bad.sum())} values are outside {lower:g} to {upper:g}" if what != "0 or 1" else "not 0 or 1",
                where=f"{name}, position {int(np.argmax(bad))} (counted from 0)",
                received=", ".join(f"{v:g}" for v in array[bad][:5]),
                allowed=what,
                mend="divide by the width of the scale, for example by 100, or declare the scale" if scale else None,
            )
    return array


def _numbers(values: Any, name: str) -> Floats:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(
            "these are not all numbers", where=name, received=str(error), allowed="an array of numbers"
        ) from error


def check_weights(weights: Any, n_rows: int) -> Floats:
    """Return weights as float64 with `n_rows` on the last axis; ones by default."""
    if weights is None:
        return np.ones(n_rows)
    w = _numbers(weights, "weights")
    if w.ndim < 1 or w.shape[-1] != n_rows:
        raise DataError("weights do not fit the columns", received=f"shape {w.shape}", allowed=f"(..., {n_rows})")
    if not (np.isfinite(w) & (w >= 0)).all():
        raise DataError("weights are negative or missing", allowed="0 or more")
    return w
