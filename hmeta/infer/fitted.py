"""What the verbs on a fit look at: the draws of one parameter at the cells, and the cells' factors.

Letters: ``cell`` counts the reporting cells, ``sample`` all draws of all chains.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from hmeta.core.errors import DataError
from hmeta.core.registry import did_you_mean
from hmeta.core.schema import UNIT_COLUMNS
from hmeta.infer.evidence import observed_rows
from hmeta.infer.labels import labelled_posterior

Floats = NDArray[np.float64]

NOT_FACTORS = ("cell", "n_answers")
COUNT_OF_OPTIONS = "n_options"
HEADLINE = "M"
"""The headline of a fit that does not name one."""

MAX_NUMERIC_LEVELS = 12
"""A numeric column with more values than this is a covariate rather than a set of levels."""


@dataclass(frozen=True)
class Fitted:
    """One parameter of a fit at its cells."""

    tree: xr.DataTree
    parameter: str
    draws: Floats  # (cell, chain, draw), natural scale
    factors: pd.DataFrame  # (cell, factor)
    n_answers: NDArray[np.int64]  # (cell,)
    attributes: Mapping[str, Any]

    @property
    def names(self) -> list[str]:
        """The factors of the cells."""
        return [str(name) for name in self.factors.columns]

    @property
    def flat(self) -> Floats:
        """The draws with chains side by side, (cell, sample)."""
        return self.draws.reshape(len(self.draws), -1)

    @cached_property
    def ratio(self) -> tuple[Floats, Floats] | None:
        """The draws of d and of meta_d at the cells, (cell, chain, draw); None where the fit lacks either."""
        posterior = self.tree["posterior"].to_dataset()
        found = [posterior[n] for n in ("d", "meta_d") if n in posterior and "cell" in posterior[n].dims]
        if len(found) < 2:
            return None
        d, meta_d = (np.asarray(v.transpose("cell", "chain", "draw").values, dtype=np.float64) for v in found)
        return d, meta_d

    @cached_property
    def observed(self) -> pd.DataFrame | None:
        """The counts stored with the fit, one row a (cell, outcome, confidence)."""
        return observed_rows(self.tree, len(self.factors))

    @property
    def link(self) -> str:
        """The link of the parameter, "identity" where the fit does not say."""
        return str(self.terms.get("link", "identity"))

    @property
    def terms(self) -> dict[str, Any]:
        """The terms of the parameter's linear predictor; empty for a derived quantity such as meta_d."""
        terms = self.from_json("terms", {}).get(self.parameter, {})
        if not terms:
            return {}
        named = [g | {"factors": [self.factor_name(word) or word for word in g["factors"]]} for g in terms["groups"]]
        return terms | {"groups": named}

    @property
    def seed(self) -> int:
        """The seed that the user gave."""
        return int(self.attributes.get("seed", 0))

    @property
    def converged(self) -> bool:
        """Whether the fit was found to have converged."""
        return bool(int(self.attributes.get("converged", 0)))

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the fit counts as not converged."""
        return tuple(self.from_json("reasons", []))

    @property
    def predictor(self) -> str:
        """The parameter whose linear predictor this is: itself, or what it is a view of."""
        return str(self.terms.get("of", self.parameter))

    @property
    def judged(self) -> bool:
        """Whether the parameter rests on ratings of right and wrong answers, so that a unit can be uninformative."""
        return self.parameter in self.from_json("from_ratings", [HEADLINE])

    @property
    def noise(self) -> str:
        """The noise and the number of alternatives, which every M depends on: "Gumbel noise, m = 4"."""
        options = self.from_json("options", {})
        noise = str(options.get("noise", "")).replace("_", " ")
        words = [f"{noise[:1].upper()}{noise[1:]} noise"] if noise else []
        if COUNT_OF_OPTIONS in self.factors:
            found = sorted({int(n) for n in self.factors[COUNT_OF_OPTIONS]})
            words.append(f"m = {found[0]}" if len(found) == 1 else f"m from {found[0]} to {found[-1]}")
        return ", ".join(words)

    def factor_name(self, word: str) -> str | None:
        """Return the factor that a word means, by its name or by the column that it was read from."""
        if word in self.factors:
            return word
        for role, column in self.from_json("columns", {}).items():
            if word in (role, column):
                other = column if word == role else role
                return str(other) if other in self.factors else None
        return None

    def from_json(self, name: str, default: Any) -> Any:
        """Return an attribute that holds JSON."""
        text = self.attributes.get(name)
        try:
            return default if text is None else json.loads(text)
        except json.JSONDecodeError as error:
            where, mend = f"attribute {name} of the fit", "fit the answers again"
            raise DataError("this is no JSON", where=where, received=str(error), mend=mend) from error


def read_fit(tree: xr.DataTree, parameter: str | None = None) -> Fitted:
    """Return one parameter of a fit at its cells, by default the one that the fit calls its headline.

    Raises
    ------
    DataError
        Where the tree is no fit of hmeta, or has no such parameter.
    """
    if not isinstance(tree, xr.DataTree) or "posterior" not in tree.children:
        raise DataError(
            "this is not a fit",
            received=type(tree).__name__,
            allowed="the DataTree that hmeta.fit returns, or hmeta.core.files.read_tree of its file",
        )
    posterior, attributes = labelled_posterior(tree), _attributes(tree)
    parameter = parameter or str(attributes.get("headline", HEADLINE))
    known = [str(name) for name, v in posterior.data_vars.items() if set(v.dims) == {"chain", "draw", "cell"}]
    if parameter not in known:
        raise DataError(
            f'the fit has no parameter "{parameter}" at its cells',
            allowed=known,
            mend=did_you_mean(parameter, known),
        )
    draws = np.asarray(posterior[parameter].transpose("cell", "chain", "draw").values, dtype=np.float64)
    factors = _in_the_users_words(cell_factors(posterior), json.loads(attributes.get("columns", "{}")))
    return Fitted(tree, parameter, draws, factors, _answers(posterior, len(draws)), attributes)


def cell_factors(posterior: xr.Dataset) -> pd.DataFrame:
    """Return the factors of the cells as a table, (cell, factor)."""
    names = [str(k) for k, v in posterior.coords.items() if v.dims == ("cell",) and k not in NOT_FACTORS]
    return pd.DataFrame({name: posterior[name].values for name in names}, index=range(posterior.sizes["cell"]))


def _in_the_users_words(factors: pd.DataFrame, columns: Mapping[str, str]) -> pd.DataFrame:
    """Name factors as the columns that they were read from, where that leaves them distinct."""
    return factors.rename(columns={w: c for w, c in columns.items() if w in factors and c not in factors})


def find_factor(fitted: Fitted, by: str) -> str:
    """Return the factor that a word means: its name in the fit, or the column that it was read from.

    Raises
    ------
    DataError
        Where the cells have no such factor.
    """
    found = fitted.factor_name(by)
    if found is not None:
        return found
    words = fitted.from_json("columns", {})
    known = list(dict.fromkeys([*fitted.names, *(c for pair in words.items() for c in pair)]))
    raise DataError(
        f'"{by}" is not a factor of this fit',
        allowed=known or "none: this fit has a single cell",
        mend=did_you_mean(by, known)
        or f'the fit pools over "{by}" if the data have it; fit again with a formula that uses it, for example '
        f'--formula "{fitted.predictor}=0 + {by}"',
    )


def default_unit(fitted: Fitted) -> str | None:
    """Return the factor that says who answered, or else the first that varies; None for a single cell."""
    sizes = {name: fitted.factors[name].nunique() for name in fitted.names if name != COUNT_OF_OPTIONS}
    units = [name for name in UNIT_COLUMNS if sizes.get(name, 0) > 1]
    if units:
        return max(units, key=lambda name: sizes[name])
    return next((name for name, size in sizes.items() if size > 1), None)


def level_labels(values: Iterable[Any]) -> list[str]:
    """Return how levels are written: texts as they are, numbers without needless zeros."""
    return [f"{v:g}" if isinstance(v, int | float | np.integer | np.floating) else str(v) for v in values]


def is_covariate(values: pd.Series) -> bool:
    """Say whether a factor is a measured number rather than a set of levels."""
    return pd.api.types.is_numeric_dtype(values) and values.nunique() > MAX_NUMERIC_LEVELS


def _answers(posterior: xr.Dataset, n_cells: int) -> NDArray[np.int64]:
    if "n_answers" not in posterior.coords:
        return np.zeros(n_cells, dtype=np.int64)
    return np.asarray(posterior["n_answers"].values, dtype=np.int64)


def _attributes(tree: xr.DataTree) -> dict[str, Any]:
    own = dict(tree["hmeta"].attrs) if "hmeta" in tree.children else {}
    return {str(k): v for k, v in {**tree.attrs, **own}.items()}
