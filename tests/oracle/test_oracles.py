"""The oracles against a second way of computing: SciPy's quadrature, closed forms, simulation."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from tests.oracle import binary, mafc, type2

NOISES = ("normal", "logistic", "gumbel_min", "gumbel_max")


@pytest.mark.parametrize("placement", ["absolute", "relative"])
@pytest.mark.parametrize("noise", NOISES)
def test_binary_ratings_are_the_integral_of_the_density(noise, placement):
    setting = binary.Setting(1.2, 0.3, 0.8, sd_ratio=1.3, noise=noise, placement=placement)
    for outcome in range(4):
        for lo, hi in ((0.4, 1.3), (0.4, np.inf)):
            exact = float(binary.rating_probability(setting, *divmod(outcome, 2), lo, hi))
            assert binary.rating_by_quadrature(setting, *divmod(outcome, 2), lo, hi) == pytest.approx(exact, rel=1e-9)


def test_binary_rates_of_a_known_case():
    setting = binary.Setting(d=2.0, c=0.0, meta_d=2.0)
    assert float(binary.response_probability(setting, 1, 1)) == pytest.approx(stats.norm.cdf(1.0), abs=1e-15)


@pytest.mark.parametrize("noise", ["gumbel", "normal"])
@pytest.mark.parametrize("m", [2, 5])
def test_mafc_mass_is_the_same_by_scipy(noise, m):
    setting = mafc.Setting(1.3, 1.3, m, noise)
    for correct in (False, True):
        exact = float(mafc._gap_mass(setting, 1.3, correct, 0.3, 1.1))
        assert mafc.gap_mass_by_scipy(setting, 1.3, correct, 0.3, 1.1) == pytest.approx(exact, rel=1e-10)


@pytest.mark.parametrize("m", [2, 4])
@pytest.mark.parametrize("mu", [-1.0, 2.5])
def test_gumbel_mass_has_its_closed_form(m, mu):
    setting = mafc.Setting(mu, mu, m)
    right = np.exp(mu) / (np.exp(mu) + (m - 1) * np.exp(0.7))
    wrong = (m - 1) / (1 + np.exp(0.7) * (np.exp(mu) + m - 2))
    assert float(mafc._gap_mass(setting, mu, True, 0.7, np.inf)) == pytest.approx(right, rel=1e-13)
    assert float(mafc._gap_mass(setting, mu, False, 0.7, np.inf)) == pytest.approx(wrong, rel=1e-13)


@pytest.mark.parametrize(("noise", "rule"), [("gumbel", "gap"), ("normal", "gap"), ("normal", "max")])
def test_mafc_masses_are_those_of_simulated_evidence(noise, rule):
    """Chi-square over 2 × 3 cells of 200,000 simulated trials; false alarm 1e-4 a test (fixed seed)."""
    setting = mafc.Setting(1.0, 1.0, 4, noise, rule)
    right, variable = mafc.simulate_evidence(setting, 1.0, 200_000, np.random.default_rng(7))
    edges = [-np.inf if rule == "max" else 0.0, 0.8, 1.8, np.inf]
    mass = mafc._gap_mass if rule == "gap" else mafc._max_mass
    expected, seen = [], []
    for correct in (False, True):
        for lo, hi in itertools.pairwise(edges):
            expected.append(float(mass(setting, 1.0, correct, lo, hi)))
            seen.append(np.sum((right == correct) & (variable > lo) & (variable <= hi)))
    assert sum(expected) == pytest.approx(1.0, abs=1e-13)
    statistic = stats.chisquare(seen, np.array(expected) / np.sum(expected) * len(right)).statistic
    assert statistic < stats.chi2.isf(1e-4, len(seen) - 1)


@pytest.mark.parametrize("slope", [0.6, 1.0, 1.7])
def test_type2_ratings_and_area_are_integrals_of_the_densities(slope):
    """AUROC2 is Φ(d_a / √2) whatever the slope."""
    setting = type2.Setting(0.4, 1.1, slope)
    for correct in (0, 1):
        for lo, hi in ((-np.inf, -0.3), (-0.3, 0.8), (0.8, np.inf)):
            exact = float(type2.rating_probability(setting, correct, lo, hi))
            assert type2.rating_by_quadrature(setting, correct, lo, hi) == pytest.approx(exact, rel=1e-10)
    assert type2.area_by_quadrature(setting) == pytest.approx(stats.norm.cdf(1.1 / np.sqrt(2)), abs=1e-12)
