"""Several studies of one quantity put together: the normal random-effects model, integrated rather than sampled.

    y_i ~ N(theta_i, se_i²),   theta_i ~ N(mu, tau²),   mu ~ N(loc, scale²),   tau ~ half-normal(tau_scale)

Given tau everything is normal and in closed form (Gelman et al., Bayesian Data Analysis, 3rd ed., section 5.4), so
that each posterior is a mixture of normals over tau; the integral over tau is a Gauss–Legendre rule on panels that
are halved until they agree. Letters: ``study`` counts the studies, ``node`` the values of tau, ``panel`` the panels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hmeta.core.errors import DataError
from hmeta.infer.intervals import MASS, Kind, check_interval

Floats = NDArray[np.float64]

TAU_SCALE = 0.3
"""Of the half-normal prior of the spread between studies: what the model files use for spreads of M."""

MU_PRIOR = (0.0, 10.0)
"""Location and standard deviation of the normal prior of the mean: proper, and flat over any M, d or AUROC2."""

FEW = 5
"""With fewer studies the note says that the spread rests on its prior."""

NODES, TOLERANCE, MAX_ROUNDS = 10, 1e-11, 40


@dataclass(frozen=True)
class Estimate:
    """One posterior in four numbers."""

    median: float
    sd: float
    lower: float
    upper: float


@dataclass(frozen=True)
class Classical:
    """The second opinion: no priors; spread by Paule and Mandel, interval by Hartung and Knapp (t, K − 1)."""

    mean: float
    se: float
    lower: float
    upper: float
    tau: float


@dataclass(frozen=True)
class Pooled:
    """What several studies say together.

    `mean` is of mu, the average of studies like these; `spread` of tau, the standard deviation between their true
    values; `new` of the true value of one more study like these, whose interval is the prediction interval.
    """

    studies: tuple[str, ...]
    mean: Estimate
    spread: Estimate
    new: Estimate
    reference: float
    p_mean_above: float  # P(mu > reference)
    p_new_above: float  # P(a new study's true value > reference)
    p_new_below: float
    shrunken: tuple[Estimate, ...]  # each study's true value given all studies
    shares: tuple[float, ...]  # of each study in the mean; they add up to 1
    q: float  # Cochran's, with K − 1 degrees of freedom
    i_squared: float  # share of the variation that is not sampling error, never below 0
    classical: Classical
    tau_scale: float
    mu_prior: tuple[float, float]
    interval: float
    kind: Kind
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _Grid:
    """The posterior of tau as a quadrature rule."""

    edges: Floats  # (panel + 1,)
    mass: Floats  # (panel,)
    tau: Floats  # (node,)
    weight: Floats  # (node,), adds up to 1
    density: Callable[[Floats], Floats]  # normalised


@dataclass(frozen=True)
class _Mixture:
    """A mixture of normals over the nodes of tau."""

    weight: Floats  # (node,)
    centre: Floats  # (node,)
    sd: Floats  # (node,)

    def cdf(self, x: Floats) -> Floats:
        from scipy.special import ndtr

        return ndtr((np.asarray(x)[..., None] - self.centre) / self.sd) @ self.weight

    def quantile(self, p: Floats) -> Floats:
        # Twelve standard deviations beyond the outermost centres all but 10⁻³² of the mass lies inside.
        ends = (self.centre - 12 * self.sd).min(), (self.centre + 12 * self.sd).max()
        return _find_quantile(self.cdf, p, ends)

    @property
    def standard_deviation(self) -> float:
        centre = self.weight @ self.centre
        return float(np.sqrt(self.weight @ (self.sd**2 + (self.centre - centre) ** 2)))


def pool(
    y: Sequence[float] | Floats,
    se: Sequence[float] | Floats,
    *,
    studies: Sequence[str] | None = None,
    tau_scale: float = TAU_SCALE,
    mu_prior: tuple[float, float] = MU_PRIOR,
    reference: float = 0.0,
    interval: float = MASS,
    kind: Kind = "eti",
) -> Pooled:
    """Pool studies by random effects.

    Parameters
    ----------
    y, se : (study,)
        What each study found, with its standard error (of a fit: posterior median and standard deviation).
    studies : sequence of str, optional
        Names.
    tau_scale : float
        Scale of the half-normal prior of the standard deviation between studies.
    mu_prior : (float, float)
        Mean and standard deviation of the normal prior of the average.
    reference : float
        The value that the probabilities are about.
    interval : float
        Mass of all intervals.
    kind : {"eti", "hdi"}
        Equal tails, or the narrowest interval.

    Returns
    -------
    Pooled
        Exact up to about nine digits; nothing in it is simulated. `shares` are posterior means of the studies'
        relative weights.

    Raises
    ------
    DataError
        With fewer than two studies, or numbers that are not finite, or standard errors that are not positive.

    Examples
    --------
    >>> found = pool([0.7, 0.9, 0.8], [0.05, 0.06, 0.05])
    >>> round(found.mean.median, 3), round(found.shares[0], 3)
    (0.795, 0.344)
    """
    check_interval(interval, kind)
    values, errors = np.asarray(y, dtype=np.float64), np.asarray(se, dtype=np.float64)
    names = tuple(studies or (f"study {i + 1}" for i in range(len(values))))
    _check_studies(values, errors, names)
    _check_priors(tau_scale, mu_prior)
    grid = _integrate(values, errors, tau_scale, mu_prior)
    centre, variance, shares = _mean_given_tau(values, errors, grid.tau, mu_prior)
    mean = _Mixture(grid.weight, centre, np.sqrt(variance))
    new = _Mixture(grid.weight, centre, np.sqrt(variance + grid.tau**2))
    above_mean, below = 1.0 - float(mean.cdf(np.array(reference))), float(new.cdf(np.array(reference)))
    q, classical = _cochran(values, errors), _second_opinion(values, errors, interval)
    return Pooled(
        studies=names,
        mean=_describe(mean, interval, kind),
        spread=_describe_spread(grid, interval, kind),
        new=_describe(new, interval, kind),
        reference=float(reference),
        p_mean_above=above_mean,
        p_new_above=1.0 - below,
        p_new_below=below,
        shrunken=tuple(_describe(m, interval, kind) for m in _shrink(values, errors, grid, centre, variance)),
        shares=tuple(float(s) for s in shares @ grid.weight),
        q=q,
        i_squared=max(0.0, 1.0 - (len(values) - 1) / q) if q > 0 else 0.0,
        classical=classical,
        tau_scale=float(tau_scale),
        mu_prior=(float(mu_prior[0]), float(mu_prior[1])),
        interval=interval,
        kind=kind,
        notes=tuple(_notes(errors, tau_scale, classical)),
    )


def _notes(se: Floats, tau_scale: float, classical: Classical) -> list[str]:
    notes = []
    if len(se) < FEW:
        how = "rests on" if len(se) == 2 else "rests largely on"
        notes.append(
            f"with so few studies ({len(se)}) the spread between studies {how} its prior, half-normal({tau_scale:g}); "
            "so do the intervals of the mean and of a new study"
        )
    if classical.se < 0.9 / np.sqrt((se**-2.0).sum()):
        notes.append(
            "the studies agree better than their standard errors let expect, which makes the classical "
            "(Hartung–Knapp) interval too narrow"
        )
    return notes


def _check_studies(y: Floats, se: Floats, names: tuple[str, ...]) -> None:
    if y.ndim != 1 or y.shape != se.shape or len(names) != len(y):
        raise DataError(
            "every study needs one value, one standard error and one name",
            received=f"values {y.shape}, standard errors {se.shape}, {len(names)} names",
        )
    if len(y) < 2:
        raise DataError(
            "pooling needs several studies: one says nothing about how studies differ",
            received=f"{len(y)}",
            allowed="two or more",
        )
    for name, value, error in zip(names, y, se, strict=True):
        if not (np.isfinite(value) and np.isfinite(error) and error > 0):
            raise DataError(
                "a study cannot be pooled without a value and a standard error above 0",
                where=name,
                received=f"{value:g} with standard error {error:g}",
                allowed="finite numbers",
            )


def _check_priors(tau_scale: Any, mu_prior: Any) -> None:
    if not (np.isfinite(tau_scale) and tau_scale > 0):
        raise DataError("the prior of the spread needs a scale above 0", where="tau_scale", received=f"{tau_scale}")
    if not (np.isfinite(mu_prior[0]) and np.isfinite(mu_prior[1]) and mu_prior[1] > 0):
        raise DataError(
            "the prior of the mean needs a location and a standard deviation above 0",
            where="mu_prior",
            received=f"{mu_prior}",
        )


def _mean_given_tau(y: Floats, se: Floats, tau: Floats, mu_prior: tuple[float, float]) -> tuple[Floats, Floats, Floats]:
    """Return mean and variance of mu given tau, (node,), and the studies' relative weights, (study, node)."""
    loc, scale = mu_prior
    weight = 1.0 / (se[:, None] ** 2 + tau**2)
    variance = 1.0 / (weight.sum(axis=0) + scale**-2)
    # About the prior's location, so that large values lose no digits.
    return loc + variance * ((y - loc) @ weight), variance, weight / weight.sum(axis=0)


def _log_posterior(y: Floats, se: Floats, tau: Floats, tau_scale: float, mu_prior: tuple[float, float]) -> Floats:
    """Return log p(tau | y) up to a constant, (node,): mu is integrated out."""
    loc, scale = mu_prior
    centre, variance, _ = _mean_given_tau(y, se, tau, mu_prior)
    weight = 1.0 / (se[:, None] ** 2 + tau**2)
    squares = (weight * (y[:, None] - centre) ** 2).sum(axis=0) + ((centre - loc) / scale) ** 2
    return 0.5 * (np.log(weight).sum(axis=0) + np.log(variance) - squares - (tau / tau_scale) ** 2)


def _integrate(y: Floats, se: Floats, tau_scale: float, mu_prior: tuple[float, float]) -> _Grid:
    """Return the posterior of tau on panels that are halved until a panel and its halves agree."""
    # The likelihood falls beyond the range of the values, and ten scales further the prior has lost a factor e⁵⁰.
    top = 10 * tau_scale + 2 * max(float(np.ptp(y)), float(np.abs(y - mu_prior[0]).max()))
    low = 1e-3 * min(tau_scale, float(se.min()))
    edges = np.concatenate([[0.0], np.geomspace(low, top, int(np.log(top / low) / 0.3) + 2)])

    def log_density(tau: Floats) -> Floats:
        return _log_posterior(y, se, tau.ravel(), tau_scale, mu_prior).reshape(tau.shape)

    highest = float(log_density(edges).max())

    def raw(tau: Floats) -> Floats:
        return np.exp(log_density(tau) - highest)

    for _ in range(MAX_ROUNDS):
        middle = 0.5 * (edges[:-1] + edges[1:])
        mass = _panel_integrals(raw, edges)
        halves = _panel_integrals(raw, np.insert(edges, np.arange(1, len(edges)), middle)).reshape(-1, 2).sum(axis=1)
        rough = np.abs(mass - halves) > TOLERANCE * halves.sum()
        if not rough.any():
            break
        edges = np.sort(np.concatenate([edges, middle[rough]]))
    tau, length = _nodes(edges)
    weight = (raw(tau) * length).ravel()
    mass = _panel_integrals(raw, edges)
    total = weight.sum()
    kept = weight > 1e-18 * total
    return _Grid(edges, mass / total, tau.ravel()[kept], weight[kept] / weight[kept].sum(), lambda t: raw(t) / total)


def _nodes(edges: Floats) -> tuple[Floats, Floats]:
    """Return nodes and lengths of a Gauss–Legendre rule on every panel, (panel, node of panel)."""
    x, w = np.polynomial.legendre.leggauss(NODES)
    half = 0.5 * np.diff(edges)[:, None]
    return edges[:-1, None] + half * (1.0 + x), half * w


def _panel_integrals(density: Callable[[Floats], Floats], edges: Floats) -> Floats:
    tau, length = _nodes(edges)
    return (density(tau) * length).sum(axis=1)


def _shrink(y: Floats, se: Floats, grid: _Grid, centre: Floats, variance: Floats) -> list[_Mixture]:
    """Return the posterior of every study's true value."""
    own = grid.tau**2 / (grid.tau**2 + se[:, None] ** 2)  # weight of the study's own value, (study, node)
    sd = np.sqrt(own * se[:, None] ** 2 + (1.0 - own) ** 2 * variance)
    where = own * y[:, None] + (1.0 - own) * centre
    return [_Mixture(grid.weight, c, s) for c, s in zip(where, sd, strict=True)]


def _describe(mixture: _Mixture, mass: float, kind: Kind) -> Estimate:
    median = float(mixture.quantile(np.array([0.5]))[0])
    return Estimate(median, mixture.standard_deviation, *_ends(mixture.quantile, mass, kind))


def _describe_spread(grid: _Grid, mass: float, kind: Kind) -> Estimate:
    before = np.concatenate([[0.0], np.cumsum(grid.mass)])

    def cdf(tau: Floats) -> Floats:
        at = np.clip(np.searchsorted(grid.edges, tau, side="right") - 1, 0, len(grid.mass) - 1)
        x, w = np.polynomial.legendre.leggauss(NODES)
        half = 0.5 * (tau - grid.edges[at])[..., None]
        inside = (grid.density(grid.edges[at][..., None] + half * (1.0 + x)) * half) @ w
        return before[at] + inside

    def quantile(p: Floats) -> Floats:
        return _find_quantile(cdf, p, (0.0, float(grid.edges[-1])))

    mean = grid.weight @ grid.tau
    sd = float(np.sqrt(grid.weight @ (grid.tau - mean) ** 2))
    return Estimate(float(quantile(np.array([0.5]))[0]), sd, *_ends(quantile, mass, kind))


def _find_quantile(cdf: Callable[[Floats], Floats], p: Floats, ends: tuple[float, float]) -> Floats:
    from scipy.optimize import elementwise

    low, high = (np.full(p.shape, end) for end in ends)
    return np.asarray(elementwise.find_root(lambda x, share: cdf(x) - share, (low, high), args=(p,)).x)


def _ends(quantile: Callable[[Floats], Floats], mass: float, kind: Kind) -> tuple[float, float]:
    """Return the ends of an interval; the narrowest by a search over the mass below it."""
    if kind == "eti":
        lower, upper = quantile(np.array([(1 - mass) / 2, (1 + mass) / 2]))
        return float(lower), float(upper)
    low, high, found = 0.0, 1.0 - mass, (np.nan, np.nan)
    for _ in range(6):  # each round narrows the place of the smallest width twentyfold
        below = np.linspace(low, high, 41)
        inner = np.clip(below, 1e-12, 1 - mass - 1e-12)
        ends = quantile(np.concatenate([inner, inner + mass])).reshape(2, -1)
        best = int(np.argmin(ends[1] - ends[0]))
        low, high = below[max(best - 1, 0)], below[min(best + 1, len(below) - 1)]
        found = float(ends[0, best]), float(ends[1, best])
    return found


def _cochran(y: Floats, se: Floats) -> float:
    """Return Cochran's Q."""
    weight = se**-2.0
    return float((weight * (y - weight @ y / weight.sum()) ** 2).sum())


def _second_opinion(y: Floats, se: Floats, mass: float) -> Classical:
    from statsmodels.stats.meta_analysis import combine_effects

    with np.errstate(divide="ignore", invalid="ignore"):  # of its I² where all values agree, which is not used
        found: Any = combine_effects(y, se**2, method_re="pm", use_t=True)
    lower, upper = found.conf_int(alpha=1.0 - mass)[3]
    return Classical(
        mean=float(found.mean_effect_re),
        se=float(found.sd_eff_w_re_hksj),
        lower=float(lower),
        upper=float(upper),
        tau=float(np.sqrt(found.tau2)),
    )
