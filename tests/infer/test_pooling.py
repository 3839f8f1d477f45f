"""Pooling against brute force, published numbers, closed forms and statsmodels."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.integrate import dblquad, simpson
from scipy.stats import norm
from statsmodels.stats.meta_analysis import combine_effects

from hmeta.core.errors import DataError, HmetaError
from hmeta.infer.pooling import Estimate, pool

Y, SE = np.array([0.72, 0.95, 0.81]), np.array([0.05, 0.08, 0.06])

SCHOOLS = np.array([28.0, 8, -3, 7, -1, 1, 18, 12]), np.array([15.0, 10, 16, 11, 9, 11, 10, 18])
"""Rubin (1981), Journal of Educational Statistics 6, 377–401: effects of coaching in eight schools."""


class Brute:
    """The joint posterior of mu and tau on a dense grid, from the definition: nothing integrated by hand but theta."""

    def __init__(self, y, se, tau_scale, mu_prior, mu_ends, tau_end, size=1501):
        self.y, self.se = y, se
        self.mu, self.tau = np.linspace(*mu_ends, size), np.linspace(0, tau_end, size)
        m, t = self.mu[:, None], self.tau[None, :]
        log = norm.logpdf(m, *mu_prior) + norm.logpdf(t, 0, tau_scale)
        log = log + sum(norm.logpdf(a, m, np.sqrt(b**2 + t**2)) for a, b in zip(y, se, strict=True))
        density = np.exp(log - log.max())
        self.density = density / self._sum(density)

    def _sum(self, values):
        return simpson(simpson(values, x=self.tau, axis=1), x=self.mu)

    def expect(self, f: Callable) -> float:
        return float(self._sum(self.density * f(self.mu[:, None], self.tau[None, :])))

    def sd(self, f: Callable) -> float:
        return np.sqrt(self.expect(lambda m, t: f(m, t) ** 2) - self.expect(f) ** 2)

    def cdf_mu(self, x: float) -> float:
        marginal = simpson(self.density, x=self.tau, axis=1)
        return _cdf(self.mu, marginal, x)

    def cdf_tau(self, x: float) -> float:
        return _cdf(self.tau, simpson(self.density, x=self.mu, axis=0), x)

    def cdf_new(self, x: float) -> float:
        return self.expect(lambda m, t: norm.cdf(x, m, np.maximum(t, 1e-12)))

    def cdf_study(self, i: int, x: float) -> float:
        def share(m, t):
            precision = 1 / self.se[i] ** 2 + 1 / np.maximum(t, 1e-12) ** 2
            centre = (self.y[i] / self.se[i] ** 2 + m / np.maximum(t, 1e-12) ** 2) / precision
            return norm.cdf(x, centre, precision**-0.5)

        return self.expect(share)


def _cdf(grid, density, x):
    fine = np.linspace(grid[0], x, 4001)
    return float(simpson(np.interp(fine, grid, density), x=fine))


def check(estimate: Estimate, cdf: Callable, mass: float, tolerance: float = 1e-4):
    low, high = (1 - mass) / 2, (1 + mass) / 2
    found = [cdf(x) for x in (estimate.lower, estimate.median, estimate.upper)]
    assert found == pytest.approx([low, 0.5, high], abs=tolerance)


def test_against_brute_force():
    brute = Brute(Y, SE, 0.3, (0, 10), (-2.2, 3.8), 2.4)
    found = pool(Y, SE, reference=0.9)
    assert found.mu_prior == (0.0, 10.0)
    check(found.mean, brute.cdf_mu, 0.94)
    check(found.spread, brute.cdf_tau, 0.94)
    check(found.new, brute.cdf_new, 0.94)
    for i, estimate in enumerate(found.shrunken):
        check(estimate, lambda x, i=i: brute.cdf_study(i, x), 0.94)
    assert found.mean.sd == pytest.approx(brute.sd(lambda m, t: m + 0 * t), abs=1e-4)
    assert found.spread.sd == pytest.approx(brute.sd(lambda m, t: t + 0 * m), abs=1e-4)
    spread = brute.expect(lambda m, t: m**2 + t**2) - brute.expect(lambda m, t: m + 0 * t) ** 2
    assert found.new.sd == pytest.approx(np.sqrt(spread), abs=1e-4)
    assert found.p_mean_above == pytest.approx(1 - brute.cdf_mu(0.9), abs=1e-4)
    assert found.p_new_below == pytest.approx(brute.cdf_new(0.9), abs=1e-4)
    assert found.p_new_above + found.p_new_below == pytest.approx(1.0)
    for i, share in enumerate(found.shares):
        weights = [lambda t, b=b: 1 / (b**2 + t**2) for b in SE]
        relative = brute.expect(lambda m, t, i=i, w=weights: w[i](t) / sum(f(t) for f in w) + 0 * m)
        assert share == pytest.approx(relative, abs=1e-4)


def test_one_probability_by_scipys_double_integral():
    def joint(mu: float, tau: float) -> float:
        spread = np.sqrt(SE**2 + tau**2)
        squares = ((Y - mu) / spread) ** 2
        return np.exp(-0.5 * (squares.sum() + (mu / 10) ** 2 + (tau / 0.3) ** 2)) / spread.prod()

    whole = dblquad(joint, 0, 2.5, -2, 4, epsabs=1e-7, epsrel=1e-7)[0]
    below = dblquad(joint, 0, 2.5, -2, 0.75, epsabs=1e-7, epsrel=1e-7)[0]
    assert 1 - pool(Y, SE, reference=0.75).p_mean_above == pytest.approx(below / whole, abs=1e-5)


def test_true_values_of_studies_with_theta_itself_on_the_grid():
    # theta_1 = mu + tau z is summed over as it stands, instead of being integrated in closed form.
    mu, tau, z = np.linspace(-0.7, 2.3, 201)[:, None, None], np.linspace(0, 1.8, 201)[:, None], np.linspace(-7, 7, 201)
    theta = mu + tau * z
    log = norm.logpdf(z) + norm.logpdf(mu, 0, 10) + norm.logpdf(tau, 0, 0.3) + norm.logpdf(Y[0], theta, SE[0])
    log = log + sum(norm.logpdf(a, mu, np.sqrt(b**2 + tau**2)) for a, b in zip(Y[1:], SE[1:], strict=True))
    ends = np.where(np.arange(201) % 200 == 0, 0.5, 1.0)
    weight = np.exp(log - log.max()) * ends[:, None, None] * ends[:, None] * ends
    mean = (weight * theta).sum() / weight.sum()
    sd = np.sqrt((weight * (theta - mean) ** 2).sum() / weight.sum())
    assert pool(Y, SE).shrunken[0].sd == pytest.approx(sd, abs=1e-4)


@pytest.mark.parametrize("tau_scale", [5.0, 25.0])
def test_eight_schools_against_a_dense_grid(tau_scale: float):
    brute = Brute(*SCHOOLS, tau_scale, (0, 50), (-100, 120), 8 * tau_scale)
    found = pool(*SCHOOLS, tau_scale=tau_scale, mu_prior=(0, 50), interval=0.9)
    check(found.mean, brute.cdf_mu, 0.9)
    check(found.spread, brute.cdf_tau, 0.9)
    check(found.new, brute.cdf_new, 0.9)
    for i in (0, 2):
        check(found.shrunken[i], lambda x, i=i: brute.cdf_study(i, x), 0.9)


def test_eight_schools_as_published():
    # Gelman et al., Bayesian Data Analysis, section 5.5, table 5.3: flat priors, quantiles of 200 draws. The standard
    # error of the median of 200 draws with sd 6 to 8 is 0.6; of the outer quantiles about 1.5.
    found = pool(*SCHOOLS, tau_scale=1e3, mu_prior=(0, 1e4), interval=0.95)
    assert [e.median for e in found.shrunken] == pytest.approx([10, 8, 7, 8, 5, 6, 10, 8], abs=1.5)
    assert (found.shrunken[0].lower, found.shrunken[0].upper) == pytest.approx((-2, 31), abs=4)


def test_without_spread_it_is_the_weighted_mean():
    found = pool(Y, SE, tau_scale=1e-9)
    weight = SE**-2.0
    precision = weight.sum() + 0.01
    centre, sd = weight @ Y / precision, precision**-0.5
    z = norm.ppf(0.97)
    expected = (centre, sd, centre - z * sd, centre + z * sd)
    for estimate in (found.mean, found.new, *found.shrunken):
        assert (estimate.median, estimate.sd, estimate.lower, estimate.upper) == pytest.approx(expected, abs=1e-6)
    assert found.shares == pytest.approx(weight / weight.sum(), abs=1e-9)
    # The data know nothing of so small a spread: half-normal, median 0.6745 scale.
    assert found.spread.median == pytest.approx(0.67449e-9, rel=1e-4)


@pytest.mark.parametrize("tau", [0.05, 0.2])
def test_many_studies_recover_the_spread(tau: float):
    random = np.random.default_rng(3)
    se = random.uniform(0.02, 0.08, 800)
    y = random.normal(0.8, tau, 800) + se * random.standard_normal(800)
    found = pool(y, se)
    assert abs(found.spread.median - tau) < 3 * found.spread.sd
    assert found.spread.sd < 0.002 + tau / 30
    assert abs(found.mean.median - 0.8) < 3 * found.mean.sd
    assert found.mean.sd == pytest.approx(np.sqrt((tau**2 + 0.05**2) / 800), rel=0.15)
    assert (found.new.lower, found.new.upper) == pytest.approx((0.8 - 1.88 * tau, 0.8 + 1.88 * tau), abs=0.15 * tau)
    assert sum(found.shares) == pytest.approx(1.0)
    assert found.notes == ()


@pytest.mark.parametrize(("y", "se"), [(Y, SE), SCHOOLS])
def test_the_second_opinion_is_statsmodels(y, se):
    found = pool(y, se, interval=0.9)
    direct = combine_effects(y, se**2, method_re="pm", use_t=True)
    frame = direct.summary_frame(alpha=0.1, use_t=False)
    assert found.classical.mean == frame.loc["random effect wls", "eff"]
    assert found.classical.se == frame.loc["random effect wls", "sd_eff"]
    assert (found.classical.lower, found.classical.upper) == pytest.approx(direct.conf_int(alpha=0.1)[3])
    assert found.classical.tau == pytest.approx(np.sqrt(direct.tau2))
    assert found.q == pytest.approx(direct.q)
    assert found.i_squared == pytest.approx(max(direct.i2, 0.0))


def test_the_order_of_studies_is_nothing():
    order = [2, 0, 1]
    one, two = pool(Y, SE), pool(Y[order], SE[order])
    for name in ("mean", "spread", "new"):
        a, b = getattr(one, name), getattr(two, name)
        assert (a.median, a.sd, a.lower, a.upper) == pytest.approx((b.median, b.sd, b.lower, b.upper), abs=1e-9)
    assert [one.shrunken[i].median for i in order] == pytest.approx([e.median for e in two.shrunken], abs=1e-9)
    assert [one.shares[i] for i in order] == pytest.approx(two.shares, abs=1e-9)


def test_the_narrowest_interval():
    brute = Brute(Y, SE, 0.3, (0, 10), (-2.2, 3.8), 2.4)
    found, tails = pool(Y, SE, kind="hdi"), pool(Y, SE)
    for name, cdf in (("mean", brute.cdf_mu), ("new", brute.cdf_new), ("spread", brute.cdf_tau)):
        narrow, wide = getattr(found, name), getattr(tails, name)
        assert cdf(narrow.upper) - cdf(narrow.lower) == pytest.approx(0.94, abs=1e-4)
        assert narrow.upper - narrow.lower < wide.upper - wide.lower
    # A highest-density interval has the same density at both ends.
    marginal = simpson(brute.density, x=brute.tau, axis=1)
    low, high = np.interp([found.mean.lower, found.mean.upper], brute.mu, marginal)
    assert low == pytest.approx(high, rel=0.01)


def test_large_disagreement_under_a_tight_prior_is_followed():
    # With a scale of 0.03 the posterior of tau lies about 0.68, twenty-three scales out: the grid has to reach it.
    y, se = np.array([-10.0, 0, 10, 5, -5]), np.full(5, 0.02)
    brute = Brute(y, se, 0.03, (0, 10), (-3, 3), 1.2)
    found = pool(y, se, tau_scale=0.03)
    assert found.spread.median == pytest.approx(0.68, abs=0.01)
    check(found.spread, brute.cdf_tau, 0.94)
    check(found.mean, brute.cdf_mu, 0.94)


def test_few_studies_say_that_the_prior_decides():
    two, three = pool(Y[:2], SE[:2]), pool(Y, SE)
    assert "so few studies (2) the spread between studies rests on its prior, half-normal(0.3)" in two.notes[0]
    assert "rests largely on its prior" in three.notes[0]
    # And it does: a wider prior of the spread, a wider prediction.
    assert pool(Y[:2], SE[:2], tau_scale=1.0).new.sd > 2 * two.new.sd


def test_equal_values_have_no_spread_to_estimate_without_a_prior():
    found = pool([0.8, 0.8, 0.8], [0.05, 0.05, 0.05])
    assert (found.i_squared, found.classical.tau, found.shares) == (0.0, 0.0, pytest.approx((1 / 3,) * 3))
    assert found.mean.median == pytest.approx(0.8, abs=1e-3)
    assert any("too narrow" in note for note in found.notes)


@pytest.mark.parametrize(
    ("y", "se", "words", "message"),
    [
        ([0.8], [0.1], {}, "needs several studies"),
        ([0.8, 0.9], [0.1], {}, "one value, one standard error"),
        ([0.8, np.nan], [0.1, 0.1], {}, "study 2: a study cannot be pooled"),
        ([0.8, 0.9], [0.1, 0.0], {"studies": ["a", "b"]}, "b: a study cannot be pooled"),
        ([0.8, 0.9], [0.1, 0.1], {"tau_scale": 0.0}, "scale above 0"),
        ([0.8, 0.9], [0.1, 0.1], {"mu_prior": (0.0, -1.0)}, "standard deviation above 0"),
    ],
)
def test_refusals(y, se, words, message):
    with pytest.raises(DataError, match=message):
        pool(y, se, **words)


def test_the_mass_of_an_interval_is_checked():
    with pytest.raises(HmetaError, match="share of the posterior"):
        pool(Y, SE, interval=94)
