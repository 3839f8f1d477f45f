"""Columns as reported: what stands for missing, what is right, and how sure the answer was."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from hmeta.core.errors import DataError
from hmeta.trials.confidence_text import parse_column
from hmeta.trials.import_options import ImportOptions, ScaleDeclaration
from hmeta.trials.row_numbers import numbered

NOTHING = frozenset(
    {"", "na", "n/a", "nan", "<na>", "none", "null", ".", "-", "?", "missing", "blank", "cell_empty", "no_confidence"}
)
"""Texts, in small letters, that stand for nothing."""

MOST_DIGITS = 18
"""Whole numbers of up to so many digits fit 64 bits."""

_RIGHT = {"1", "1.0", "true", "t", "yes", "y", "correct", "right"}
_WRONG = {"0", "0.0", "false", "f", "no", "n", "incorrect", "wrong"}
_POSITIVE_SENTINELS = (99, 999, 9999, 99999)


@dataclass(frozen=True)
class Sentinel:
    """A value that looks like a code for missing."""

    column: str
    value: float
    count: int


def is_text(column: pd.Series) -> bool:
    """Whether a column holds text rather than numbers or truth values."""
    return not (pd.api.types.is_numeric_dtype(column.dtype) or pd.api.types.is_bool_dtype(column.dtype))


def as_numbers(column: pd.Series) -> pd.Series | None:
    """Return a text column as numbers, or None where a value that is not blank is no number.

    Whole numbers stay whole. Texts with leading zeros, and whole numbers of so many digits that a number could
    not hold them all, are names.
    """
    text = column.astype("string").str.strip()
    given = text.dropna()
    given = given[given != ""]
    if (
        given.empty
        or given.str.match(r"[+-]?0\d").any()
        or given.str.fullmatch(rf"[+-]?\d{{{MOST_DIGITS + 1},}}").any()
    ):
        return None
    numbers = pd.to_numeric(given, errors="coerce")
    if numbers.isna().any() or not np.isfinite(numbers.astype(float)).all():
        return None
    whole = bool(given.str.fullmatch(r"[+-]?\d+").all())
    return numbers.astype("Int64" if whole else "Float64").reindex(column.index)


def apply_missing(frame: pd.DataFrame, options: ImportOptions, notes: list[str], *, where: str) -> pd.DataFrame:
    """Return the table with the declared codes for missing taken out, counted for each column.

    Raises
    ------
    DataError
        Where a declared code occurs nowhere.
    """
    changed = frame.copy(deep=False)
    for scope, value in options.missing:
        hits: list[str] = []
        for name in [scope] if scope is not None else list(frame.columns):
            if name not in frame.columns:
                raise DataError(f'column "{name}" is not in the file', where=where, allowed=", ".join(frame.columns))
            mask = _equals(changed[name], value)
            if mask.any():
                changed[name] = changed[name].mask(mask)
                hits.append(f"{name} {int(mask.sum())}")
        if not hits:
            raise DataError(
                f"the value {value} that stands for missing occurs nowhere",
                where=where,
                mend="leave out --missing, or give the value as it stands in the file",
            )
        notes.append(f"{value} taken as missing: {', '.join(hits)}")
    return changed


def find_sentinels(frame: pd.DataFrame, names: list[str]) -> list[Sentinel]:
    """Find values that look like codes for missing: repeated whole numbers far from all the others.

    Parameters
    ----------
    frame : DataFrame
        The table, after the declared codes were taken out.
    names : list of str
        Which columns to look at.
    """
    found: list[Sentinel] = []
    for name in names:
        column = frame[name] if not is_text(frame[name]) else as_numbers(frame[name])
        if column is None or pd.api.types.is_bool_dtype(column.dtype):
            continue
        counts = column.dropna().astype(float).value_counts().sort_index()
        if len(counts) < 2:
            continue
        values = counts.index.to_numpy()
        low, high = values[0], values[-1]
        if low < 0 <= values[1] and low.is_integer() and (counts.iloc[0] > 1 or low <= -9):
            found.append(Sentinel(name, float(low), int(counts.iloc[0])))
        if high in _POSITIVE_SENTINELS and high > 2 * abs(values[-2]) + 1:
            found.append(Sentinel(name, float(high), int(counts.iloc[-1])))
    return found


def refuse_sentinels(found: list[Sentinel], *, where: str) -> None:
    """Refuse a table with undeclared codes for missing, and say how to declare them."""
    if not found:
        return
    values = sorted({entry.value for entry in found})
    raise DataError(
        "a value looks like a code for missing and is not declared",
        where=where,
        received="; ".join(f"{s.value:g} in column {s.column} ({s.count} rows)" for s in found),
        mend="pass " + " ".join(f"--missing {value:g}" for value in values) + ", or where it is a true rating "
        "declare the scale that holds it: --scale LOWER-UPPER",
    )


def read_correct(column: pd.Series, *, where: str) -> pd.Series:
    """Return correctness as 1, 0 or missing.

    Raises
    ------
    DataError
        Where a value is neither right, wrong nor missing.
    """
    if pd.api.types.is_bool_dtype(column.dtype):
        return column.astype("Int64")
    text = column.astype("string").str.strip().str.lower()
    text = text.mask(text.isin(NOTHING))
    bad = ~(text.isna() | text.isin(_RIGHT | _WRONG)).to_numpy(dtype=bool)
    if bad.any():
        raise DataError(
            f"{int(bad.sum())} values of correct are neither right nor wrong",
            where=f"{where}, column {column.name}, {numbered(bad)}",
            received=", ".join(map(str, column[bad].unique()[:5])),
            allowed="0 and 1, true and false, or blank for missing",
            mend="a graded score is a column of its own (--column score=NAME); --missing VALUE for codes of missing",
        )
    return text.isin(_RIGHT).astype("Int64").mask(text.isna())


@dataclass(frozen=True)
class Confidence:
    """Confidence as numbers, with further columns that say how each was read (empty for numeric files)."""

    values: pd.Series
    details: dict[str, pd.Series]


def read_confidence(
    column: pd.Series, options: ImportOptions, scale: ScaleDeclaration | None, notes: list[str], *, where: str
) -> Confidence:
    """Return confidence as numbers; text goes through the parser, on the declared scale.

    Raises
    ------
    DataError
        Where the column holds text that is no number and no scale is declared.
    """
    if not is_text(column):
        return Confidence(column.astype("Float64"), {})
    text = column.astype("string").str.strip()
    nothing = (text.isna() | text.str.lower().isin(NOTHING)).to_numpy(dtype=bool)
    numbers = as_numbers(text.mask(nothing))
    if numbers is not None or nothing.all():
        reason = text.fillna("").where(nothing, "").where(~nothing | (text.fillna("") != ""), "blank")
        counts = {str(token): int(n) for token, n in reason[nothing].value_counts().sort_index().items()}
        if not set(counts) <= {"blank"}:
            notes.append("confidence missing: " + ", ".join(f"{token} {n}" for token, n in counts.items()))
            details = {"missing_reason": reason.astype("string")}
        else:
            details = {}
        values = numbers if numbers is not None else pd.Series(np.nan, index=column.index)
        return Confidence(values.astype("Float64"), details)
    if scale is None:
        example = text[~nothing & pd.to_numeric(text, errors="coerce").isna().to_numpy()].iloc[0]
        raise DataError(
            "confidence is given as text and its scale is not declared",
            where=f"{where}, column {column.name}",
            received=repr(str(example)[:80]),
            allowed="numbers, or text with a declared scale",
            mend="pass --scale LOWER-UPPER, for example --scale 0-100, or --missing TEXT where it stands for missing",
        )
    return _parsed(text, options, scale, notes)


def _parsed(text: pd.Series, options: ImportOptions, scale: ScaleDeclaration, notes: list[str]) -> Confidence:
    read = parse_column(text, scale.lower, scale.upper, step=scale.step or 0.0, words=options.words)
    read.index = text.index
    if options.ambiguous == "literal":
        read["value"] = read["value"].fillna(read["literal"])
    tally = ", ".join(f"{status} {n}" for status, n in read["status"].value_counts().items())
    notes.append(
        f"confidence read from text on {scale.name}: {tally}; {int(read['value'].isna().sum())} without a value"
    )
    if options.ambiguous == "missing" and (read["status"] == "ambiguous").any():
        notes.append("ambiguous statements have no value; --ambiguous literal takes them as they stand on the scale")
    details = {f"confidence_{part}": read[name] for part, name in (("status",) * 2, ("rule",) * 2, ("text", "raw"))}
    return Confidence(read["value"].astype("Float64"), details)


def _equals(column: pd.Series, value: str) -> pd.Series:
    """Where a column holds a value, compared as numbers where both are."""
    same = column.astype("string").str.strip() == value
    try:
        number = float(value)
    except ValueError:
        return same.fillna(False).astype(bool)
    if pd.api.types.is_bool_dtype(column.dtype):
        return pd.Series(False, index=column.index)
    numeric = pd.to_numeric(column.astype("string"), errors="coerce") == number
    return (same.fillna(False) | numeric.fillna(False)).astype(bool)
