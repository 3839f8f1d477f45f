"""What a report is made from: fits, results files and tables of measures, told apart by what they hold."""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from hmeta.core.errors import DataError
from hmeta.core.files import distinct_names, read_any
from hmeta.infer.diagnose import Diagnosis, diagnose
from hmeta.infer.fitted import COUNT_OF_OPTIONS, Fitted, default_unit, is_covariate, read_fit
from hmeta.trials.columns import decode

FEWEST_DRAWS = 20


@dataclass(frozen=True)
class FitInput:
    """A fit.

    Attributes
    ----------
    name : str
        How it is called on the page; distinct among the inputs.
    file : str
        The file's name without its folder.
    tree : DataTree
    """

    name: str
    file: str
    tree: xr.DataTree

    @cached_property
    def headline(self) -> Fitted:
        """The parameter that the fit is about, M or auroc2, at the cells."""
        return read_fit(self.tree)

    @cached_property
    def diagnosis(self) -> Diagnosis:
        """The verdict on its convergence, and what that rests on."""
        return diagnose(self.tree)

    @cached_property
    def prior_influence(self) -> pd.DataFrame:
        """How the reported quantities depend on priors and data (`hmeta.infer.prior_sensitivity`)."""
        from hmeta.infer.prior_sensitivity import prior_sensitivity

        return prior_sensitivity(self.tree)

    @cached_property
    def ml_estimates(self) -> Future[pd.DataFrame]:
        """M of each unit under several noises and binnings, begun when first asked for.

        Most of the time goes into compiling, which lets other work go on.
        """
        from hmeta.infer.ml_sensitivity import ml_sensitivity

        return ThreadPoolExecutor(max_workers=1).submit(ml_sensitivity, self.tree)

    @property
    def converged(self) -> bool:
        """Whether the fit was found to have converged, and its draws are numbers."""
        return not self.doubts

    @cached_property
    def doubts(self) -> tuple[str, ...]:
        """Why the draws cannot be trusted; empty where they can."""
        found = () if self.headline.converged else self.headline.reasons or ("the fit does not say why",)
        broken = int((~np.isfinite(self.headline.draws).all(axis=(1, 2))).sum())
        return (*found, *([f"draws of {broken} cells are not finite"] if broken else []))

    def holds(self, parameter: str) -> bool:
        """Say whether the fit has a parameter at its cells."""
        posterior = self.tree["posterior"].to_dataset()
        return parameter in posterior and set(posterior[parameter].dims) == {"chain", "draw", "cell"}


@dataclass(frozen=True)
class ResultsInput:
    """A results file of layout `trials` or `counts`."""

    name: str
    file: str
    dataset: xr.Dataset


@dataclass(frozen=True)
class MetricsInput:
    """A table of measures, as ``hmeta metrics -o table.nc`` writes it.

    Attributes
    ----------
    frame : DataFrame
        One row a cell and measure (`hmeta.assess.table.MetricTable`).
    factors : tuple of str
    content : mapping
        Units, resampling, notes and screen.
    """

    name: str
    file: str
    frame: pd.DataFrame
    factors: tuple[str, ...]
    content: dict[str, Any]


Input = FitInput | ResultsInput | MetricsInput


def read_inputs(paths: Sequence[str | Path]) -> list[Input]:
    """Read files of any of the three kinds, and give each a name of its own.

    Raises
    ------
    DataError
        For a file that cannot be read, is none of them, or comes twice.
    """
    resolved = [Path(path).resolve() for path in paths]
    for i, path in enumerate(resolved):
        if path in resolved[:i]:
            raise DataError("the same file comes twice", where=str(paths[i]), mend="name each file once")
    return [
        as_input(read_any(path), name, file=Path(path).name)
        for path, name in zip(paths, distinct_names(paths), strict=True)
    ]


def as_input(held: xr.Dataset | xr.DataTree, name: str, *, file: str = "") -> Input:
    """Return what was read from a file as the input that it is.

    Raises
    ------
    DataError
        For a fit without draws, and for a layout that a report has no section for.
    """
    file = file or f"{name}.nc"
    if isinstance(held, xr.DataTree):
        _check_fit(held, file)
        return FitInput(name, file, held)
    layout = held.attrs.get("hmeta_layout")
    if layout == "metrics":
        return _metrics(held, name, file)
    if layout in ("trials", "counts"):
        return ResultsInput(name, file, held)
    raise DataError(
        f"there is no report of layout {layout}",
        where=file,
        allowed="fits, results files (trials, counts) and tables of measures",
        mend=f"fit it first: hmeta fit {file} -o fit.nc" if layout == "estimates" else None,
    )


def _check_fit(tree: xr.DataTree, file: str) -> None:
    """Refuse a tree without draws, or without what every section reads."""
    fitted = read_fit(tree)
    if "task" not in fitted.attributes:
        raise DataError(
            "the fit does not say of which task it is",
            where=file,
            received="no attribute task in /hmeta",
            allowed="a file written by hmeta fit",
            mend="fit the answers again with this version of hmeta",
        )
    if fitted.draws.shape[1] * fitted.draws.shape[2] < FEWEST_DRAWS:
        raise DataError(
            "too few draws for a report",
            where=file,
            received=f"{fitted.draws.shape[1]} × {fitted.draws.shape[2]}",
            allowed=f"at least {FEWEST_DRAWS} in all",
            mend="fit again with more draws",
        )


def _metrics(ds: xr.Dataset, name: str, file: str) -> MetricsInput:
    content = json.loads(str(ds.attrs.get("content", "{}")))
    factors = tuple(content.get("factors", ()))
    frame = pd.DataFrame({str(k): decode(str(k), ds[k].values) for k in ds.data_vars if ds[k].dims == ("row",)})
    return MetricsInput(name, file, frame.assign(reason=frame["reason"].fillna("")), factors, content)


def factors_of(fit: FitInput, *, most: int = 40) -> list[str]:
    """Return the factors beside who answered whose levels can be told apart in a table: 2 to `most` of them."""
    fitted = fit.headline
    unit = default_unit(fitted)
    return [
        name
        for name in fitted.names
        if name not in (unit, COUNT_OF_OPTIONS)
        and not is_covariate(fitted.factors[name])
        and 2 <= fitted.factors[name].nunique() <= most
    ]


def unit_word(fit: FitInput) -> str:
    """Return what a unit of a fit is called: model, participant, or cell."""
    return default_unit(fit.headline) or "cell"
