"""Units that cannot tell much, or nothing: kept, and named."""

from __future__ import annotations

from collections.abc import Iterable

from hmeta.trials.rules import caution
from hmeta.trials.study import Study, labels, named

FEW_ANSWERS = 20


@caution
def few_answers(study: Study) -> Iterable[str]:
    """Name units with fewer than 20 answers."""
    s = study.summary
    few = s["n"] < FEW_ANSWERS
    if few.any():
        shown = [f"{name}: {n:g} trials" for name, n in zip(labels(s, few), s["n"][few], strict=True)]
        yield f"fewer than {FEW_ANSWERS} answers: {named(shown)}"


@caution
def no_wrong_answers(study: Study) -> Iterable[str]:
    """Name units that were always right."""
    s = study.summary
    never = (s["n_wrong"] == 0) & (s["n"] > 0)
    if never.any():
        yield f"no wrong answers, so AUROC2, meta-d′ and M are undefined: {named(labels(s, never))}"


@caution
def no_correct_answers(study: Study) -> Iterable[str]:
    """Name units that were never right."""
    s = study.summary
    never = (s["n_correct"] == 0) & (s["n"] > 0)
    if never.any():
        yield f"no correct answers, so AUROC2, meta-d′ and M are undefined: {named(labels(s, never))}"


@caution
def one_level_used(study: Study) -> Iterable[str]:
    """Name units whose confidence never varies, overall or within each response."""
    s = study.summary
    stuck = s["n_levels"] <= 1
    if stuck.any():
        yield f"uninformative: one confidence level used, so M is not identified: {named(labels(s, stuck))}"
    if study.task == "binary":
        split = ~stuck & (s["levels_per_response"] <= 1)
        if split.any():
            yield f"uninformative: one confidence level used in each response: {named(labels(s, split))}"


@caution
def one_stimulus(study: Study) -> Iterable[str]:
    """Name units that were shown one stimulus only."""
    if study.task != "binary":
        return
    s = study.summary
    for code in (0, 1):
        absent = s[f"n_s{code}"] == 0
        if absent.any():
            yield f"no S{code + 1} trials, so d′ is undefined: {named(labels(s, absent))}"


@caution
def one_response(study: Study) -> Iterable[str]:
    """Name units that always gave the same response."""
    if study.task != "binary":
        return
    s = study.summary
    for code in (0, 1):
        absent = s[f"n_r{code}"] == 0
        if absent.any():
            shown = [f"{name} ({n:g} trials)" for name, n in zip(labels(s, absent), s["n"][absent], strict=True)]
            yield f"no S{code + 1} responses, so d′ and c are undefined: {named(shown)}"
