"""Class labels to codes: two labels to 0 and 1, or option labels to their index; never by force."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from hmeta.core.errors import DataError
from hmeta.trials.columns import as_reported


@dataclass(frozen=True)
class Coded:
    """Codes (nullable integers, missing stays missing) and the labels they stand for."""

    codes: pd.Series
    labels: dict[str, int]


def code_two_levels(
    stimulus: pd.Series,
    response: pd.Series,
    *,
    labels: Sequence[str] = (),
    codes: Mapping[str, Mapping[str, int]] | None = None,
    where: str = "",
) -> tuple[Coded, Coded]:
    """Code the stimulus and response of a two-class task as 0 and 1.

    Labels that are 0 and 1 keep their value; any other two are taken in order (numbers by size, text by
    letter), the same for both columns, unless the caller gives the order or the codes.

    Parameters
    ----------
    stimulus, response : Series
        The labels as they stand in the file.
    labels : sequence of str
        The label for 0 and the label for 1.
    codes : mapping, optional
        Codes for the labels of ``stimulus`` and of ``response``.
    where : str
        The file, for messages.

    Returns
    -------
    tuple of Coded
        Stimulus and response.

    Raises
    ------
    DataError
        Where a column has more than two labels, or the two columns use different labels.
    """
    if codes:
        declared = {name: dict(codes.get(name, {})) for name in ("stimulus", "response")}
        columns = {"stimulus": stimulus, "response": response}
        first, second = (_coded(columns[name].rename(name), declared[name], where) for name in columns)
        return first, second
    seen = {"stimulus": levels_of(stimulus), "response": levels_of(response)}
    _check_two(seen, where)
    table = _order(seen, labels, where)
    return _coded(stimulus.rename("stimulus"), table, where), _coded(response.rename("response"), table, where)


def code_options(stimulus: pd.Series, response: pd.Series, n_options: int) -> tuple[Coded, Coded] | None:
    """Code option labels as 0 … n_options − 1; None where there are more labels than options."""
    levels = _sorted({*levels_of(stimulus), *levels_of(response)})
    if not 2 <= len(levels) <= n_options:
        return None
    table = {label: code for code, label in enumerate(levels)}
    return _coded(stimulus, table, ""), _coded(response, table, "")


def levels_of(column: pd.Series) -> list[str]:
    """Return the labels of a column as text, numbers by size and text by letter; missing is no label."""
    return _sorted(set(as_labels(column).dropna().unique()))


def as_labels(column: pd.Series) -> pd.Series:
    """Return a column as text labels: 1.0 and 1 are both "1"; blank is missing."""
    if pd.api.types.is_bool_dtype(column.dtype):
        return column.astype("Int64").astype("string")
    if pd.api.types.is_numeric_dtype(column.dtype):
        exact = pd.Series(as_reported(column.to_numpy()), column.index) if column.dtype == "float32" else column
        return exact.astype("object").map(lambda value: pd.NA if pd.isna(value) else _exact(value)).astype("string")
    text = column.astype("string").str.strip()
    return text.mask(text == "")


def _exact(value: float) -> str:
    """Return a number as text without loss: two numbers never become one label."""
    return str(int(value)) if value == value // 1 else str(float(value))


def _sorted(labels: set[str]) -> list[str]:
    try:
        return sorted(labels, key=float)
    except ValueError:
        return sorted(labels)


def _check_two(seen: Mapping[str, list[str]], where: str) -> None:
    """Refuse more than two classes, and responses that are none of the two."""
    for name, levels in seen.items():
        if len(levels) <= 2:
            continue
        extra = [level for level in levels if level not in seen["stimulus"]] if name == "response" else []
        raise DataError(
            f"{name} has {len(levels)} levels",
            where=f"{where}, column {name}" if where else f"column {name}",
            received=", ".join(levels[:8]) + (" …" if len(levels) > 8 else ""),
            allowed="two classes for the task binary",
            mend=f"if {extra[0]} stands for a missing response pass --missing {extra[0]}"
            if len(extra) == 1
            else f"for a choice among several options pass --task mafc --n-options {len(levels)}, for answers that are "
            "no classes --task open, or recode to true and false for each pair of options",
        )


def _order(seen: Mapping[str, list[str]], labels: Sequence[str], where: str) -> dict[str, int]:
    union = _sorted({*seen["stimulus"], *seen["response"]})
    if labels:
        return {str(label): code for code, label in enumerate(labels)}
    if set(union) <= {"0", "1"}:
        return {"0": 0, "1": 1}
    if len(union) != 2:
        raise DataError(
            "stimulus and response use different labels" if len(union) > 2 else "only one class label occurs",
            where=where or None,
            received=f"stimulus {', '.join(seen['stimulus'])}; response {', '.join(seen['response'])}",
            allowed="the same two labels in both columns",
            mend="pass --labels LABEL_FOR_0,LABEL_FOR_1, or codes for each in a mapping file under [label_codes]",
        )
    return {label: code for code, label in enumerate(union)}


def _coded(column: pd.Series, table: Mapping[str, int], where: str) -> Coded:
    labels = as_labels(column)
    unknown = sorted(set(labels.dropna()) - set(table))
    if unknown:
        raise DataError(
            f"{column.name} has labels without a code",
            where=f"{where}, column {column.name}" if where else f"column {column.name}",
            received=", ".join(unknown[:8]),
            allowed=", ".join(table) or "none declared",
            mend="declare every label, or pass --missing LABEL where it stands for missing",
        )
    return Coded(labels.map(table).astype("Int64"), dict(table))
