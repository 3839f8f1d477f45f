"""The ideal observer of signal detection: 1 and 0 for data of the model itself, and by simulation."""

from __future__ import annotations

from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hmeta.core.errors import DataError
from hmeta.metrics.catalogue import measures
from hmeta.metrics.discrimination import auroc2_difference, auroc2_ratio, gamma_ratio
from hmeta.metrics.expected import compare
from hmeta.sdt.likelihood import get
from tests.metrics.rating_rows import O9, S1, S2, mafc_rows, rows_of
from tests.oracle import binary

RATIOS = ("auroc2_ratio", "gamma_ratio", "phi_ratio", "delta_conf_ratio", "M")
DIFFERENCES = ("auroc2_difference", "gamma_difference", "phi_difference", "delta_conf_difference", "meta_d_difference")


def exact_binary(setting: binary.Setting, edges, n: tuple[int, int]):
    """Expected counts, not drawn: nR_S1 and nR_S2 to 16 digits."""
    out = []
    for stimulus in (0, 1):
        p = []
        for response, order in ((0, -1), (1, 1)):
            chance = binary.response_probability(setting, stimulus, response)
            spans = pairwise((0.0, *edges[response], np.inf))
            p += [float(chance * binary.rating_probability(setting, stimulus, response, *s)) for s in spans][::order]
        out.append(n[stimulus] * np.array(p))
    return rows_of(*out)


def exact_mafc(noise: str, d: float, m: int, edges):
    with jax.enable_x64(True):
        likelihood = get("mafc", noise=noise, n_options=(m,))
        params = {"d": jnp.asarray(d), "meta_d": jnp.asarray(d), "n_options": jnp.asarray(float(m))}
        spans = list(pairwise((0.0, *edges, np.inf)))
        p = [
            [float(jnp.exp(likelihood.log_joint(jnp.asarray(o), *map(jnp.asarray, s), params))) for s in spans]
            for o in (0, 1)
        ]
    return mafc_rows(1000 * np.array(p[0]), 1000 * np.array(p[1]), m)


@pytest.mark.parametrize("c", [0.0, 0.4])
def test_data_of_the_binary_model_are_what_is_expected(c):
    """Ratios 1 and differences 0 to 1e-9, with criteria that differ by response and unequal stimuli."""
    rows = exact_binary(binary.Setting(1.3, c, 1.3), ([0.4, 0.9, 1.5], [0.2, 1.1, 1.3]), (300, 500))
    for names, value in ((RATIOS, 1.0), (DIFFERENCES, 0.0)):
        for name in names:
            card = measures()[name]
            assert card(*rows.columns(card.columns), weights=rows.count) == pytest.approx(value, abs=1e-9), name


@pytest.mark.parametrize(("noise", "m", "within"), [("gumbel", 2, 1e-9), ("gumbel", 4, 1e-9), ("normal", 4, 1e-6)])
def test_data_of_the_mafc_model_are_what_is_expected(noise, m, within):
    (outcome, n_options, level), count = exact_mafc(noise, 1.6, m, [0.5, 1.2, 2.0])
    for names, value in ((RATIOS, 1.0), (DIFFERENCES, 0.0)):
        for name in names:
            card = measures()[name]
            share = level / 3.0 if "probability" in card.columns else level
            found = card(outcome, n_options, share, weights=count, noise=noise)
            assert found == pytest.approx(value, abs=within), name


def test_expected_answers_keep_accuracy_and_the_use_of_levels():
    """Right and wrong totals, and answers by level, are those observed (1e-10)."""
    rows = rows_of(S1, S2)
    pair = compare(*rows.rating, weights=rows.count)
    assert pair.expected.right.sum() == pytest.approx(pair.observed.right.sum(), abs=1e-10)
    np.testing.assert_allclose(pair.expected.total, pair.observed.total, atol=1e-10)


def test_oracle_o9_is_nearly_ideal():
    """M = 0.9992 in the shared table; the ratio of AUROC2 is within 1e-3 of 1."""
    rows = rows_of(O9, O9[::-1])
    assert auroc2_ratio(*rows.rating, weights=rows.count) == pytest.approx(1.0, abs=1e-3)


def test_expected_auroc2_is_that_of_simulated_observers():
    """Half a million ideal answers rated by the quantiles of S1/S2's levels; four standard errors are 0.004."""
    rows = rows_of(S1, S2)
    rng = np.random.default_rng(4)
    d, c, n = 1.5040565, -0.0895930, 500_000
    stimulus = (rng.random(n) < sum(S2) / (sum(S1) + sum(S2))).astype(int)
    x = rng.normal((stimulus - 0.5) * d)
    response, distance = (x > c).astype(int), np.abs(x - c)
    level = np.zeros(n)
    for side in (0, 1):
        mine = rows.response == side
        share = np.array([rows.count[mine & (rows.confidence == k)].sum() for k in (1, 2, 3)]) / rows.count[mine].sum()
        cuts = np.quantile(distance[response == side], np.cumsum(share))
        level[response == side] = np.searchsorted(cuts, distance[response == side])
    from hmeta.metrics.discrimination import auroc2

    simulated = float(auroc2(level, (stimulus == response).astype(float)))
    expected = 0.70967 - float(auroc2_difference(*rows.rating, weights=rows.count))
    assert expected == pytest.approx(simulated, abs=4e-3)


def test_batches_are_loops():
    rows = rows_of(S1, S2)
    weights = np.random.default_rng(3).multinomial(60, rows.count / rows.count.sum(), size=(2, 6)).astype(float)
    batch = gamma_ratio(*rows.rating, weights=weights)
    loop = [[float(gamma_ratio(*rows.rating, weights=w)) for w in group] for group in weights]
    np.testing.assert_allclose(batch, loop, atol=1e-12)


def test_noise_that_the_task_does_not_have_is_refused():
    rows = rows_of(S1, S2)
    with pytest.raises(DataError, match="does not fit the task"):
        auroc2_ratio(*rows.rating, weights=rows.count, noise="gumbel")


def test_several_numbers_of_alternatives_are_undefined():
    outcome, n_options, level = [0, 1, 0, 1], [4, 4, 5, 5], [1, 2, 1, 2]
    columns = dict(zip(("outcome", "n_options", "confidence"), map(np.array, (outcome, n_options, level)), strict=True))
    for name in ("M", "auroc2_ratio", "meta_i1r"):
        assert np.isnan(measures()[name](outcome, n_options, level))
        assert measures()[name].why_undefined(columns, np.ones(4)) == "several numbers of alternatives"
    assert np.isfinite(measures()["auroc2_ratio"](outcome, n_options, level, weights=[3, 5, 0, 0]))


def test_d_of_zero():
    """At chance the ratio of AUROC2 is defined (0.5 is expected), those of gamma and M are not."""
    rows = rows_of([5, 10, 10, 5], [5, 10, 10, 5])
    columns = dict(zip(("outcome", "n_options", "confidence"), rows.rating, strict=True))
    assert auroc2_ratio(*rows.rating, weights=rows.count) == pytest.approx(1.0, abs=1e-12)
    for name, reason in (("gamma_ratio", "d = 0: nothing is expected of confidence"), ("M", "d = 0: M undefined")):
        assert np.isnan(measures()[name](*rows.rating, weights=rows.count))
        assert measures()[name].why_undefined(columns, rows.count) == reason


MINE = ("discrimination", "efficiency", "information", "sensitivity", "type2_roc")


@pytest.mark.parametrize("n_rows", [0, 4])
def test_nothing_gives_nothing(n_rows):
    """No rows, and rows without answers: NaN of the shape of the weights, with a reason."""
    for name, card in measures().items():
        if card.compute.__module__.split(".")[-1] not in MINE:
            continue
        columns = {column: np.zeros(n_rows) for column in card.columns}
        chosen = {"d": 1.0} if name == "M_threshold" else {}
        found = card(*columns.values(), weights=np.zeros((2, n_rows)), **chosen)
        assert found.shape == (2,), name
        assert np.isnan(found).all(), name
        assert card.why_undefined(columns, np.zeros(n_rows)) == "no answers", name
