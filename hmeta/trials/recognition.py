"""Which column of a foreign table is which: a table of names in use, and the user's mapping over it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hmeta.core.errors import DataError
from hmeta.core.registry import did_you_mean

ALIASES: dict[str, tuple[str, ...]] = {
    "model": ("model", "model_id", "model_name", "llm", "generator"),
    "participant": (
        "participant",
        "participant_id",
        "subject",
        "subject_id",
        "subj_idx",
        "subj",
        "agent+agent_id",
        "agent_id",
        "observer",
        "worker_id",
    ),
    "dataset": ("dataset", "benchmark"),
    "scale": ("scale", "confidence_scale"),
    "item": ("item", "item_id", "question_id", "claim_id", "doc_id", "problem_id", "sample_id"),
    "repeat": ("repeat", "run", "epoch", "replicate"),
    "stimulus": ("stimulus", "stim", "true_class"),
    "response": ("response", "resp"),
    "correct": ("correct", "is_correct", "accuracy", "acc", "correctness"),
    "n_options": ("n_options", "n_choices", "num_options", "num_choices"),
    "confidence": ("confidence", "conf", "confidence_rating", "verbalized_confidence", "rating", "certainty"),
    "signal": ("signal", "confidence_source", "source"),
}
"""Names in use for each column of the schema, the likelier first; ``a+b`` joins two columns."""

AREAS_OF_ITEMS = ("subject",)
"""Names that mean a participant, but beside a model the area that an item is from."""

TRUTH = ("correct_answer", "gold_answer", "gold", "target", "truth", "reference")
GIVEN = ("answer", "predicted_answer", "model_answer", "prediction", "pred")
"""Columns whose agreement gives `correct` where the file has no such column."""


@dataclass(frozen=True)
class Recognised:
    """Schema names to the file's names, and which of them the user mapped."""

    columns: Mapping[str, str]
    mapped: frozenset[str]


def plain(name: str) -> str:
    """Return a column name in small letters, with one underscore for anything else."""
    return re.sub(r"[^a-z0-9+]+", "_", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()).strip("_")


def recognise(seen: Sequence[str], mapping: Mapping[str, str], constants: Mapping[str, str]) -> Recognised:
    """Find the columns of the schema among those of a table.

    Parameters
    ----------
    seen : sequence of str
        The table's column names.
    mapping : mapping of str to str
        What the user mapped: schema name to the table's name.
    constants : mapping of str to str
        Schema names that the user gave one value for.

    Returns
    -------
    Recognised
        No table column serves two names.

    Raises
    ------
    DataError
        Where a mapped column does not exist, or one column is mapped twice.
    """
    _check_mapping(seen, mapping)
    found = dict(mapping)
    by_plain: dict[str, str] = {}
    for name in seen:
        by_plain.setdefault(plain(name), name)
    taken = {part for source in found.values() for part in source.split("+")} | set(found.values())
    for role, aliases in ALIASES.items():
        if role in found or role in constants:
            continue
        if role == "participant" and ("model" in found or "model" in constants):
            aliases = tuple(alias for alias in aliases if alias not in AREAS_OF_ITEMS)
        source = next((s for alias in aliases if (s := _lookup(alias, by_plain, taken))), None)
        if source is None and role == "confidence":
            source = _only_confidence_like(seen, taken)
        if source is not None:
            found[role] = source
            taken |= {source, *source.split("+")}
    return Recognised(found, frozenset(mapping))


def answer_columns(seen: Sequence[str]) -> tuple[str, str] | None:
    """Return the columns of the right and of the given answer, where the table has both."""
    by_plain = {plain(name): name for name in reversed(seen)}
    truth = next((by_plain[name] for name in TRUTH if name in by_plain), None)
    given = next((by_plain[name] for name in GIVEN if name in by_plain), None)
    return (truth, given) if truth and given else None


def missing_role(role: str, seen: Sequence[str], *, where: str, more: str = "") -> DataError:
    """Return the refusal for a needed column that was not found."""
    mend = f"say which column it is: --column {role}=NAME" + (f", {more}" if more else "")
    return DataError(
        f"no column for {role} was found",
        where=where,
        received="columns " + ", ".join(seen),
        allowed=", ".join(ALIASES.get(role, (role,))),
        mend=mend,
    )


def _lookup(alias: str, by_plain: Mapping[str, str], taken: set[str]) -> str | None:
    parts = [by_plain.get(part) for part in alias.split("+")]
    if any(part is None or part in taken for part in parts):
        return None
    return "+".join(part for part in parts if part)


def _only_confidence_like(seen: Sequence[str], taken: set[str]) -> str | None:
    like = [name for name in seen if name not in taken and re.match(r"(?:confidence|conf)_", plain(name))]
    return like[0] if len(like) == 1 else None


def _check_mapping(seen: Sequence[str], mapping: Mapping[str, str]) -> None:
    used: dict[str, str] = {}
    for role, source in mapping.items():
        parts = [source] if source in seen else source.split("+")
        for part in parts:
            if part not in seen:
                raise DataError(
                    f'column "{part}" is not in the file',
                    where=f"--column {role}={source}",
                    allowed="columns " + ", ".join(seen),
                    mend=did_you_mean(part, seen),
                )
        if source in used:
            raise DataError(
                f'column "{source}" cannot be both {used[source]} and {role}',
                where=f"--column {role}={source}",
                mend="stimulus, response, correct and confidence must be measured separately; with only "
                "correctness and confidence leave stimulus and response out (task open)",
            )
        used[source] = role
