"""The priors of a fit as distributions: density, quantiles and spread, each on the scale on which it is stated.

A fit keeps its specification with every prior written out; here each prior meets the posterior draws that it is
about. Densities are SciPy's, that of correlation matrices is Lewandowski, Kurowicka & Joe (2009), J. Multivariate
Analysis 100, 1989-2001.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from hmeta.core.errors import DataError
from hmeta.spec.plan import Prior
from hmeta.spec.priors import place_of

Floats = NDArray[np.float64]

COMMON, SD, COR, CRITERIA = "common", "sd", "cor", "criteria"
"""What a prior is of: population terms, group standard deviations, correlations, confidence criteria."""

WORDS = {
    "normal": "normal",
    "student_t": "Student t",
    "half_normal": "half-normal",
    "half_student_t": "half-Student t",
    "exponential": "exponential",
    "gamma": "gamma",
    "lognormal": "lognormal",
    "lkj": "LKJ",
}


class Distribution(Protocol):
    """What is asked of a distribution of one number; SciPy's frozen ones have it."""

    def logpdf(self, x: Any) -> Any: ...  # noqa: D102
    def ppf(self, q: Any) -> Any: ...  # noqa: D102
    def std(self) -> Any: ...  # noqa: D102


@dataclass(frozen=True)
class HalfStudentT:
    """The size of a Student t number with location 0."""

    df: float
    scale: float

    @cached_property
    def _whole(self) -> Any:
        from scipy import stats

        return stats.t(self.df, scale=self.scale)

    def logpdf(self, x: Any) -> Any:
        """Return the log density, minus infinity below 0."""
        return np.where(np.asarray(x) < 0.0, -np.inf, np.log(2.0) + self._whole.logpdf(x))

    def ppf(self, q: Any) -> Any:
        """Return quantiles."""
        return self._whole.ppf((1.0 + np.asarray(q)) / 2.0)

    def std(self) -> Any:
        """Return the standard deviation, infinite up to two degrees of freedom."""
        from scipy.special import gammaln

        df = self.df
        if df <= 2.0:
            return np.inf
        mean = 2.0 * np.sqrt(df / np.pi) / (df - 1.0) * np.exp(gammaln((df + 1.0) / 2.0) - gammaln(df / 2.0))
        return self.scale * np.sqrt(df / (df - 2.0) - mean**2)


def distribution(prior: Prior, size: int = 2) -> Distribution:
    """Return the distribution of one number; of an LKJ prior that of one correlation in a matrix of `size` rows.

    Each correlation of a `size` × `size` LKJ(η) matrix is 2·Beta(a, a) - 1 with a = η - 1 + size/2.
    """
    from scipy import stats

    families: dict[str, Callable[..., Any]] = {
        "normal": lambda loc, scale: stats.norm(loc, scale),
        "student_t": lambda df, loc, scale: stats.t(df, loc, scale),
        "half_normal": lambda scale: stats.halfnorm(scale=scale),
        "half_student_t": HalfStudentT,
        "exponential": lambda rate: stats.expon(scale=1.0 / rate),
        "gamma": lambda concentration, rate: stats.gamma(concentration, scale=1.0 / rate),
        "lognormal": lambda loc, scale: stats.lognorm(scale, scale=np.exp(loc)),
        "lkj": lambda eta: stats.beta(eta - 1.0 + size / 2.0, eta - 1.0 + size / 2.0, loc=-1.0, scale=2.0),
    }
    return families[prior.family](**prior.arguments)


def describe_prior(prior: Prior) -> str:
    """Return a prior in words.

    Examples
    --------
    >>> describe_prior(Prior("half_normal", {"scale": 0.3}))
    'half-normal(0.3)'
    """
    return f"{WORDS[prior.family]}({', '.join(f'{value:g}' for value in prior.arguments.values())})"


def lkj_log_density(correlations: Floats, eta: float) -> Floats:
    """Return the log density of correlation matrices, with its normaliser.

    Parameters
    ----------
    correlations : (..., row, column)
    eta : float

    Returns
    -------
    (...,)
        With respect to the correlations below the diagonal.
    """
    from scipy.special import betaln

    size = correlations.shape[-1]
    k = np.arange(1, size)
    b = eta + (size - k - 1.0) / 2.0
    log_normaliser = np.sum((size - k) * ((2.0 * (eta - 1.0) + size - k) * np.log(2.0) + betaln(b, b)))
    _, log_determinant = np.linalg.slogdet(correlations)
    return (eta - 1.0) * log_determinant - log_normaliser


class Placed(NamedTuple):
    """A prior of a fit and what it is of."""

    name: str  # "M.sd.model"
    prior: Prior
    parameter: str  # "M", or "criteria"
    place: str  # COMMON, SD, COR or CRITERIA
    link: str  # of the parameter; "" for criteria
    variable: str  # of the posterior; "" for criteria, whose own numbers are in criteria_prior.py


def read_spec(tree: xr.DataTree) -> dict[str, Any]:
    """Return the specification that a fit holds, as the tables of its TOML text.

    Raises
    ------
    DataError
        Where the fit holds none.
    """
    text = _attributes(tree).get("spec")
    if not text:
        raise DataError(
            "the fit does not hold its specification, so that its priors are not known",
            mend="fit again with hmeta fit, which writes the specification into the file",
        )
    try:
        return tomllib.loads(str(text))
    except tomllib.TOMLDecodeError as error:
        where, mend = "attribute spec of the fit", "fit the answers again"
        raise DataError("this is no TOML", where=where, received=str(error), mend=mend) from error


def read_priors(tree: xr.DataTree) -> list[Placed]:
    """Return every prior of a fit, in the order of its specification.

    Raises
    ------
    DataError
        Where the fit holds no specification, or its terms and priors do not belong together.
    """
    spec, terms = read_spec(tree), json.loads(_attributes(tree).get("terms", "{}"))
    return [_place(name, dict(table), spec, terms) for name, table in spec.get("priors", {}).items()]


def log_priors(tree: xr.DataTree) -> dict[str, Floats]:
    """Return the log prior density of every draw by parameter, (chain, draw) each.

    Only top-level priors count: population terms, group standard deviations and correlations. The distribution of
    group effects given these is a part of the model. Densities stand on the scale on which the prior is stated: the
    population term on the linear predictor, the standard deviation itself, the correlation matrix. No Jacobian enters:
    power-scaling multiplies the posterior by p(θ)^(α - 1), a ratio of two posteriors of the same θ, in which the
    Jacobian of the sampler's own unconstrained numbers cancels.
    """
    posterior = tree["posterior"].to_dataset()
    total: dict[str, Floats] = {}
    for placed in read_priors(tree):
        if placed.place != CRITERIA:
            each = _log_density(placed, posterior[placed.variable])
            total[placed.parameter] = total.get(placed.parameter, np.zeros(each.shape)) + each
    return total


def _log_density(placed: Placed, variable: xr.DataArray) -> Floats:
    """Return the log density of a prior at every draw, (chain, draw)."""
    draws = np.asarray(variable.transpose("chain", "draw", ...).values, dtype=np.float64)
    if placed.place == COR:
        return lkj_log_density(draws, placed.prior.arguments["eta"])
    each = np.asarray(distribution(placed.prior).logpdf(draws))
    return each.reshape(*each.shape[:2], -1).sum(axis=-1)


def _place(name: str, table: dict[str, Any], spec: dict[str, Any], terms: dict[str, Any]) -> Placed:
    prior = Prior(table.pop("family"), {key: float(value) for key, value in table.items()})
    parameter, _, rest = name.partition(".")
    if parameter == CRITERIA:
        return Placed(name, prior, CRITERIA, CRITERIA, "", "")
    place = place_of(name)
    link = spec["parameters"][parameter].get("link", "identity")
    known = terms.get(parameter, {"common": [], "groups": []})
    if place == "location":
        found = [t["variable"] for t in known["common"] if t["name"] == rest]
    else:
        found = [g[place] for g in known["groups"] if g["name"] == rest.partition(".")[2]]
    if not found:
        raise DataError(f'the prior "{name}" belongs to no term of this fit', mend="fit again")
    return Placed(name, prior, parameter, COMMON if place == "location" else place, link, found[0])


def _attributes(tree: xr.DataTree) -> dict[str, Any]:
    found = tree["hmeta"].attrs if "hmeta" in tree.children else {}
    return {str(name): value for name, value in found.items()}
