"""Data that a model cannot be fitted to, each with the reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from hmeta.core.errors import SpecError
from hmeta.core.schema import TASKS
from hmeta.spec.likelihoods import FAMILIES

MEASURES = (
    "AUROC2 and metacognitive information (meta-I) need only correctness and confidence: report those "
    "(hmeta fit without a model, or one whose name starts with type2_, estimates AUROC2); "
    "if the answers come from a fixed set of alternatives, declare them when importing: --task mafc --n-options M; "
    "if every trial has a true class and an answer of two, give both columns: --task binary"
)
OUTCOME_COLUMNS = ("confidence", "correct", "stimulus", "response", "confidence_status")
INTERNAL_COLUMNS = ("cell_group",)


def source_name(ds: xr.Dataset) -> str:
    """Return what to call a dataset in a message."""
    source = ds.encoding.get("source")
    return Path(str(source)).name if source else "the data"


def layout_dim(ds: xr.Dataset) -> str:
    """Return the dimension that factors lie on: "trial" or "cell"."""
    layout = ds.attrs.get("hmeta_layout")
    if layout == "estimates":
        raise SpecError(
            "published estimates are pooled, not fitted: they hold no answers",
            where=source_name(ds),
            received="layout estimates",
            allowed="layouts trials and counts",
            mend="pooling published estimates is not offered by `hmeta fit`; fit the trials or counts behind them",
        )
    return "cell" if layout == "counts" else "trial"


def factor_names(ds: xr.Dataset) -> list[str]:
    """Return the columns that a formula may name."""
    dim = layout_dim(ds)
    hidden = (*OUTCOME_COLUMNS, *INTERNAL_COLUMNS)
    return [str(n) for n, v in ds.variables.items() if v.dims == (dim,) and n not in hidden and n != dim]


def factor(ds: xr.Dataset, name: str) -> pd.Series:
    """Return one column over trials or cells, with missing values as missing."""
    values = pd.Series(ds[name].to_numpy(), name=name)
    if not pd.api.types.is_numeric_dtype(values):
        values = values.astype("str").mask(values.isna() | (values.astype("str") == ""))
    elif name == "n_options":
        values = values.mask(values < 0)
    return values


def refuse_task(ds: xr.Dataset) -> str:
    """Return the kind of task, or refuse data that lack what it needs."""
    task = ds.attrs.get("task")
    where = source_name(ds)
    dim = layout_dim(ds)
    if task == "binary" and dim == "trial" and not {"stimulus", "response"} <= set(ds.variables):
        raise _circular(where, "task binary without stimulus and response")
    if task not in TASKS:
        raise SpecError("the kind of task is not declared", where=where, received=repr(task), allowed=TASKS)
    if task == "mafc" and "n_options" not in ds.variables:
        raise SpecError('column "n_options" is missing', where=where, mend="import again with --n-options M")
    return str(task)


def refuse_open(task: str, source: str) -> None:
    """Refuse M for answers without a type-1 table."""
    if task == "open":
        raise _circular(source, "task open")


def _circular(where: str, received: str) -> SpecError:
    return SpecError(
        "M is not defined here: there is no stimulus-response table, only correctness and confidence; "
        "with correctness in the place of the stimulus, d and meta_d would be two functions of one table "
        "and M near 1 whatever the truth (circular)",
        where=where,
        received=received,
        allowed="tasks mafc and binary",
        mend=MEASURES,
    )


def refuse_mismatch(task: str, likelihood: str, *, where: str, source: str) -> None:
    """Refuse a model of one kind of task on data of another."""
    wanted = FAMILIES[likelihood].task
    if task == wanted:
        return
    refuse_open(task, source)
    names = [name for name, family in FAMILIES.items() if family.task == task]
    raise SpecError(
        f"this model is for {wanted} tasks, {source} holds a {task} task",
        where=where,
        received=f"task {task}",
        allowed=f"task {wanted}",
        mend=f"choose a model whose name starts with {names[0]}_, or leave out -m to let hmeta choose",
    )


def refuse_missing(ds: xr.Dataset, columns: Sequence[str]) -> None:
    """Refuse missing values in the columns that a model uses, with counts."""
    counts = {name: int(factor(ds, name).isna().sum()) for name in columns if name in ds.variables}
    missing = {name: n for name, n in counts.items() if n}
    if missing:
        size = ds.sizes[layout_dim(ds)]
        raise SpecError(
            "columns that the model uses have missing values",
            where=source_name(ds),
            received=", ".join(f"{name}: {n} of {size} {layout_dim(ds)}s" for name, n in missing.items()),
            mend="fill them in, remove those rows, or leave the columns out of the formulas",
        )


def refuse_one_level(confidence: NDArray[np.float64], source: str) -> None:
    """Refuse data in which confidence never varies, or that hold no answer at all."""
    used = np.unique(confidence)
    if len(used) < 2:
        raise SpecError(
            "at least two rating levels are needed; here "
            + (f"every confidence is {used[0]:g}" if len(used) else "no answer can be used"),
            where=source,
            allowed="two or more levels used in at least one criteria group",
            mend="accuracy can still be reported; M and AUROC2 need confidence that varies",
        )


def refuse_uninformative(n_informative: int, where: str) -> None:
    """Refuse criteria groups that use one rating level each, all of them."""
    if n_informative == 0:
        raise SpecError(
            "at least two rating levels are needed; here every criteria group uses a single one",
            where=where,
            allowed="two or more levels used in at least one criteria group",
            mend="accuracy can still be reported; M and AUROC2 need confidence that varies",
        )


def refuse_outcome(word: str, ds: xr.Dataset, where: str) -> None:
    """Refuse a formula that predicts with what the model explains."""
    if word in OUTCOME_COLUMNS and word in ds.variables:
        raise SpecError(
            f'column "{word}" is what the model explains; it cannot stand in a formula',
            where=where,
            allowed=factor_names(ds),
        )


def refuse_derived_verdict(outcome: NDArray[np.int64], confidence: NDArray[np.float64], source: str) -> None:
    """Refuse binary data whose answer can be read off the confidence level: low half one, high half the other."""
    response = outcome % 2
    low, high = confidence[response == 0], confidence[response == 1]
    if not len(low) or not len(high):
        return
    if low.max() < high.min() or high.max() < low.min():
        edge = (low.max(), high.min()) if low.max() < high.min() else (high.max(), low.min())
        raise SpecError(
            "the response is a function of the confidence level, so that the ratings hold nothing beyond the answer: "
            "one scale was cut in two to make a response, and M would be circular",
            where=source,
            received=f"one response at levels up to {edge[0]:g}, the other from {edge[1]:g}",
            allowed="confidence in the answer given, rated apart from it",
            mend=MEASURES,
        )


def refuse_mixed_scales(ds: xr.Dataset, criteria: Sequence[str], names: Mapping[str, str], where: str) -> None:
    """Refuse criteria groups that pool ratings of several scales or signals."""
    for name in ("scale", "signal"):
        if name not in ds.variables or name in [names[c] for c in criteria]:
            continue
        keys = pd.DataFrame({c: factor(ds, names[c]) for c in criteria} | {" ": factor(ds, name)}).drop_duplicates()
        sizes = keys.groupby(list(criteria)).size() if criteria else pd.Series([len(keys)])
        if (sizes > 1).any():
            values = keys[" "].dropna().unique()
            raise SpecError(
                f"criteria would be shared by answers of different {name}s",
                where=where,
                received=f"{len(values)} values of {name}: {', '.join(map(str, values[:5]))}",
                allowed=f"criteria groups with one {name} each",
                mend=f'add it to the criteria: "1 | {":".join([*criteria, name])}", or select one {name}',
            )
