"""Every likelihood, with every choice of its options, through the same questions."""

from __future__ import annotations

from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from hmeta.sdt.derived import Rows, log_likelihood
from hmeta.sdt.likelihood import get
from tests.contract.likelihood_options import Choice, choices
from tests.oracle import mafc, type2

CHOICES = choices()
EDGES = (0.0, 0.35, 0.8, 1.1, 2.2, np.inf)
GRID = [(d, meta_d) for d in (-3.0, -0.4, 0.6, 2.5, 8.0) for meta_d in (-4.0, -0.7, 1.3, 9.0)]


def _quick_or_slow(choices):
    """Leave normal noise with m = 4 to the quick tests; compiling it for every m takes minutes."""
    slow = [not c.closed_form and c.n_options != 4 for c in choices]
    return [pytest.param(c, id=str(c), marks=[pytest.mark.slow] * s) for c, s in zip(choices, slow, strict=True)]


each = pytest.mark.parametrize("choice", _quick_or_slow(CHOICES))


@pytest.fixture(autouse=True)
def _float64():
    with jax.enable_x64(True):
        yield


def compiled(choice: Choice, *, exact: bool = False):
    """Return log P(outcome), log P(rating | outcome) as compiled functions of (outcome, [lo, hi,] params)."""
    likelihood = choice.get(exact=exact)
    return jax.jit(likelihood.log_outcome), jax.jit(likelihood.log_rating)


def edges_of(choice: Choice) -> tuple[float, ...]:
    """Return the edges, from the lowest that the confidence variable has."""
    return (choice.lowest, *EDGES[1:])


def broadcast(params: dict, shape: tuple[int, ...]) -> dict:
    return {key: jnp.broadcast_to(value, shape) for key, value in params.items()}


def test_every_option_is_asked():
    names = {str(choice) for choice in CHOICES}
    assert {
        "binary-normal-relative",
        "binary-gumbel_min-absolute",
        "mafc-gumbel-gap-m4",
        "mafc-normal-max-m10",
        "type2",
    } <= names


@each
def test_probabilities_sum_to_one(choice):
    """1e-12 in closed form; 1e-8 where a table or quadrature gives the tails."""
    log_outcome, log_rating = compiled(choice)
    tolerance = 1e-12 if choice.closed_form else 1e-8
    lo, hi = jnp.asarray(edges_of(choice)[:-1]), jnp.asarray(EDGES[1:])
    for d, meta_d in [(-1.0, 0.3), (0.6, -0.7), (2.5, 1.9)]:
        params = choice.params(d, meta_d, c=0.4, sd_ratio=1.3)
        for together in choice.outcomes():
            logs = [log_outcome(jnp.asarray(code), params) for code in together]
            assert np.exp(logs).sum() == pytest.approx(1.0, abs=tolerance)
            for code in together:
                levels = log_rating(jnp.full(lo.shape, code), lo, hi, broadcast(params, lo.shape))
                assert np.exp(levels).sum() == pytest.approx(1.0, abs=tolerance)


@each
def test_values_and_gradients_are_finite_at_the_extremes(choice):
    """d in [-3, 8], meta_d in [-4, 9], lowest and top levels, far criteria, and gaps of 1e-7 and 1e-12."""
    likelihood = choice.get()
    spans = [(0.0, 1e-7), (0.0, 1e-12), (0.5, 0.5 + 1e-7), (1.0, 1.0 + 1e-12), (0.0, np.inf), (3.0, 4.0), (6.0, np.inf)]
    spans += [(likelihood.lowest, 0.7), (likelihood.lowest, np.inf)]
    points = np.array([(d, m, c, *s) for d, m in [*GRID, (0.0, 1.0)] for c in (-1.5, 0.0, 1.5) for s in spans])

    def joint(x: jax.Array, hi: jax.Array, code: jax.Array) -> jax.Array:
        return likelihood.log_joint(code, x[3], hi, choice.params(x[0], x[1], c=x[2]))

    both = jax.jit(jax.vmap(jax.value_and_grad(joint, argnums=(0, 1)), in_axes=(0, 0, None)))
    for code in range(likelihood.n_outcomes):
        value, (slope, slope_hi) = both(jnp.asarray(points[:, :4]), jnp.asarray(points[:, 4]), jnp.asarray(code))
        bad = ~(np.isfinite(value) & np.isfinite(slope).all(1) & np.isfinite(slope_hi))
        assert not bad.any(), points[bad][:5]


@each
def test_log_probabilities_are_those_of_the_oracle(choice):
    """1e-10 in closed form; 1e-8 by table (gap rule) and 1e-7 for the largest sample, relative to max(1, |log P|)."""
    log_outcome, log_rating = compiled(choice)
    tolerance = 1e-10 if choice.closed_form else 1e-8 if choice.rule == "gap" else 1e-7
    quick = choice.name != "mafc"
    settings = GRID if quick else [(2.5, 1.3), (-3.0, -4.0), (8.0, 9.0)]
    spans = list(pairwise(edges_of(choice))) if quick else [(0.0, 0.35), (0.8, 1.1), (2.2, np.inf)]
    if not choice.closed_form:
        settings, spans = settings[:2], spans[1:]
    for d, meta_d in settings:
        params = choice.params(d, meta_d, c=0.4, sd_ratio=1.3)
        for code in range(choice.get().n_outcomes):
            for lo, hi in spans:
                outcome = jnp.asarray(code)
                found = float(
                    log_outcome(outcome, params) + log_rating(outcome, jnp.asarray(lo), jnp.asarray(hi), params)
                )
                expected = choice.oracle(code, lo, hi, params)
                assert abs(found - expected) <= tolerance * max(1.0, abs(expected)), (d, meta_d, code, lo, hi)


@pytest.mark.parametrize("choice", _quick_or_slow([c for c in CHOICES if not c.closed_form and c.rule == "gap"]))
def test_the_table_is_the_quadrature(choice):
    """Log tails to 1e-8 and rating probabilities to 1e-9, d in [-3, 8], meta_d in [-4, 9], criteria up to 5.

    A rating's probability is a difference of tails, so that its error is absolute: ratings rarer than
    1e-2 have their logarithm to fewer digits than the tails.
    """
    rng = np.random.default_rng(3)
    n = 300
    params = {
        "d": jnp.asarray(rng.uniform(-3, 8, n)),
        "meta_d": jnp.asarray(rng.uniform(-4, 9, n)),
        "n_options": jnp.full(n, float(choice.n_options or 2)),
    }
    lo = jnp.asarray(np.where(rng.random(n) < 0.3, 0.0, rng.uniform(0, 4, n)))
    hi = lo + jnp.asarray(rng.uniform(0.05, 1, n))
    table, exact = choice.get(), choice.get(exact=True)
    for code in (0, 1):
        outcome = jnp.full(n, code)
        tails = (x.log_joint(outcome, lo, jnp.full(n, jnp.inf), params) for x in (table, exact))
        np.testing.assert_allclose(*tails, atol=1e-8, rtol=0)
        levels = (np.exp(x.log_rating(outcome, lo, hi, params)) for x in (table, exact))
        np.testing.assert_allclose(*levels, atol=1e-9, rtol=0)


@each
def test_derivatives_are_those_of_finite_differences(choice):
    """Central differences, step 1e-4: gradients to 1e-6 and Hessians to 1e-5 of their scale (tables: 1e-3)."""
    likelihood = choice.get()

    def joint(x: jax.Array, code: jax.Array) -> jax.Array:
        return likelihood.log_joint(code, x[2], x[3], choice.params(x[0], x[1], c=x[4], sd_ratio=1.2))

    value, gradient = jax.jit(joint), jax.jit(jax.grad(joint))
    hessian = jax.jit(jax.hessian(joint))
    for point in ([1.5, 0.9, 0.4, 1.3, 0.3], [-0.8, -1.6, 0.7, 0.9, -0.5], [3.5, 4.2, 0.2, 2.9, 0.0]):
        x = jnp.asarray(point)
        for code in range(likelihood.n_outcomes):
            steps = 1e-4 * np.eye(5)
            first = [(value(x + s, code) - value(x - s, code)) / 2e-4 for s in steps]
            second = np.array([(gradient(x + s, code) - gradient(x - s, code)) / 2e-4 for s in steps])
            np.testing.assert_allclose(gradient(x, code), first, rtol=1e-6, atol=1e-6)
            loose = 1e-5 if choice.closed_form else 1e-3
            np.testing.assert_allclose(hessian(x, code), second, rtol=loose, atol=loose)


@pytest.mark.parametrize(
    ("noise", "binary_noise", "scale"), [("gumbel", "logistic", 1.0), ("normal", "normal", 2**0.5)]
)
def test_two_alternatives_are_the_binary_model(noise, binary_noise, scale):
    """The gap of two samples is the distance of their difference from 0: c = 0, to 1e-10 in log probability.

    The difference of two normal samples has standard deviation √2, so that it equals evidence
    N(±√2·d/2, 1) when divided by √2: d and criteria are d_binary = √2·d and t/√2.
    """
    alternatives = jax.jit(get("mafc", noise=noise, n_options=(2,), exact=True).log_joint)
    pair = jax.jit(get("binary", noise=binary_noise).log_joint)
    strength = scale if noise == "normal" else 2.0
    for d, meta_d in [(d, m) for d in (-3.0, 0.5, 4.0) for m in (-2.0, 0.7, 5.0)]:
        for lo, hi in pairwise(EDGES):
            for code in (0, 1):
                mine = {"d": jnp.asarray(d), "meta_d": jnp.asarray(meta_d), "n_options": jnp.asarray(2.0)}
                other = {"d": strength * d, "c": 0.0, "meta_d": strength * meta_d, "sd_ratio": 1.0}
                other = {key: jnp.asarray(value) for key, value in other.items()}
                found = alternatives(jnp.asarray(code), jnp.asarray(lo), jnp.asarray(hi), mine)
                edges = (jnp.asarray(lo / scale), jnp.asarray(hi / scale))
                for outcome in (3, 0) if code == 1 else (1, 2):  # by symmetry either stimulus will do
                    expected = pair(jnp.asarray(outcome), *edges, other)
                    assert float(found) == pytest.approx(float(expected), abs=1e-10)


@each
def test_trials_are_counts_of_one(choice):
    """A count table and its trials have the same log likelihood, to rounding (1e-11 relative)."""
    likelihood = choice.get()
    rng = np.random.default_rng(5)
    n_out, n_levels = likelihood.n_outcomes, 3
    counts = rng.integers(1, 6, (n_out, n_levels))
    outcome, level = (x.ravel() for x in np.indices(counts.shape))
    edges = jnp.asarray([[likelihood.lowest, 0.5, 1.4]] * (2 if choice.name == "binary" else 1))
    ladder = outcome % 2 if choice.name == "binary" else np.zeros_like(outcome)
    params = broadcast(choice.params(1.1, 0.8, c=0.2, sd_ratio=1.1), (1,))

    def rows(
        repeat: np.ndarray, count: np.ndarray, pairs: np.ndarray, pair_count: np.ndarray, pair: np.ndarray
    ) -> Rows:
        place = (ladder * n_levels + level)[repeat]
        top = level[repeat] == n_levels - 1
        pairs_part = (np.zeros_like(pairs), pairs, pair_count)
        between_part = (pair[~top], place[~top], place[~top] + 1, count[~top])
        above_part = (pair[top], place[top], count[top])
        return Rows(*(jnp.asarray(a) for a in (*pairs_part, *between_part, *above_part)))

    each_row = np.arange(counts.size)
    table = rows(each_row, counts.ravel().astype(float), np.arange(n_out), counts.sum(1).astype(float), outcome)
    repeat = rng.permutation(np.repeat(each_row, counts.ravel()))
    ones = np.ones(len(repeat))
    trials = rows(repeat, ones, outcome[repeat], ones, np.arange(len(repeat)))
    found = [float(log_likelihood(likelihood, r, params, edges)) for r in (table, trials)]
    assert found[0] == pytest.approx(found[1], rel=1e-11)


def draw(choice: Choice, n: int, d: float, c: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Simulate n answers by their definition with meta_d = d: outcome codes and the confidence variable."""
    if choice.name == "mafc":
        setting = mafc.Setting(d, d, choice.n_options or 2, choice.noise, choice.rule)
        right, variable = mafc.simulate_evidence(setting, d, n, rng)
        return right.astype(int), np.log1p(np.exp(variable)) if choice.rule == "max" else variable
    if choice.name == "type2":
        right, variable = type2.simulate_evidence(type2.Setting(d, d, 1.3), n, rng)
        return right.astype(int), variable
    noise = {
        "normal": rng.normal,
        "logistic": rng.logistic,
        "gumbel_max": rng.gumbel,
        "gumbel_min": lambda size: -rng.gumbel(size=size),
    }
    stimulus = np.arange(n) % 2
    x = (stimulus - 0.5) * d + np.where(stimulus == 1, 1.3, 1.0) * noise[choice.noise](size=n)
    return 2 * stimulus + (x > c), np.abs(x - c)


@each
def test_simulated_answers_have_the_probabilities(choice):
    """Chi-square of 100,000 answers simulated from the definition; false alarm 1e-4 a choice (fixed seed)."""
    n, edges = 100_000, (choice.lowest, 0.4, 1.0, 1.9, np.inf)
    rng = np.random.default_rng(11)
    outcome, variable = draw(choice, n, 1.2, 0.3, rng)
    likelihood = choice.get()
    params = choice.params(1.2, 1.2, c=0.3, sd_ratio=1.3)
    expected, seen = [], []
    for together in choice.outcomes():
        total = np.isin(outcome, together).sum()
        for code in together:
            for lo, hi in pairwise(edges):
                log_p = likelihood.log_joint(jnp.asarray(code), jnp.asarray(lo), jnp.asarray(hi), params)
                expected.append(total * float(jnp.exp(log_p)))
                seen.append(np.sum((outcome == code) & (variable > lo) & (variable <= hi)))
    statistic = np.sum((np.array(seen) - expected) ** 2 / expected)
    assert statistic < stats.chi2.isf(1e-4, len(seen) - len(choice.outcomes()))
