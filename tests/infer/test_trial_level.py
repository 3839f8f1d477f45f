"""Terms that vary by item turn the rows from counts to trials: an item-response meta-d′.

The simulation: 5 models answer the same 60 items, of which the difficulty has sd 1 on d.
"""

import jax.numpy as jnp
import numpy as np
import pytest

import hmeta
from hmeta.infer.data import model_data, model_shape
from hmeta.infer.device import computing, find_device
from hmeta.infer.labels import labelled_posterior
from hmeta.sdt.derived import log_likelihood, pointwise_log_likelihood
from hmeta.spec import load_model, plan, with_formulas

N_MODELS, N_ITEMS = 5, 60
BY_ITEM = {"d": "1 + (1 | model) + (1 | item)", "M": "1"}


@pytest.fixture(scope="module")
def difficulty():
    return np.random.default_rng(8).normal(size=N_ITEMS)


@pytest.fixture(scope="module")
def answers(difficulty):
    """Every model answers every item twice: 600 trials."""
    models, repeats, items = np.indices((N_MODELS, 2, N_ITEMS)).reshape(3, -1)
    return hmeta.simulate(
        task="mafc",
        n_trials=1,
        d=np.linspace(1.5, 2.5, N_MODELS)[models] - difficulty[items],
        M=0.8,
        criteria=[0.5, 1.2, 2.0],
        units={"model": [f"m{i}" for i in models], "item": [f"i{i:02d}" for i in items], "repeat": repeats},
        seed=9,
    )


@pytest.fixture(scope="module")
def plans(answers):
    data, spec = hmeta.validate(answers).dataset, load_model("mafc_hierarchical")
    return plan(spec, data), plan(with_formulas(spec, BY_ITEM), data)


@pytest.fixture(scope="module")
def fit(answers):
    return hmeta.fit(answers, "mafc_hierarchical", formulas=BY_ITEM, chains=2, warmup=150, draws=150, seed=1)


def test_rows_are_pooled_only_where_no_term_tells_them_apart(plans):
    pooled, by_item = plans
    assert len(pooled.cells) == N_MODELS
    assert len(by_item.cells) == N_MODELS * N_ITEMS
    assert len(pooled.rows.count) <= N_MODELS * 2 * 4
    assert len(by_item.rows.count) > 1.5 * N_MODELS * N_ITEMS
    assert pooled.rows.count.sum() == by_item.rows.count.sum() == 2 * N_MODELS * N_ITEMS


def test_counts_and_trials_have_one_log_likelihood(plans):
    """With items alike, the rows by item say what the pooled rows say, to 1e-9 of a sum of 600 terms."""
    rng, found = np.random.default_rng(10), []
    d, M = rng.normal(2.0, 0.5, N_MODELS), rng.normal(0.8, 0.2, N_MODELS)
    edges = np.cumsum(np.insert(rng.uniform(0.3, 0.9, (N_MODELS, 3)), 0, 0.0, axis=1), axis=1)
    with computing(find_device("cpu")):
        for one in plans:
            shape, data = model_shape(one), model_data(one, dict.fromkeys(("d.model", "d.item", "M.model"), 0.0))
            assert shape.ladders == (N_MODELS, 4)
            model = one.cells["model"].str[1:].astype(int).to_numpy()
            values = {"d": d[model], "meta_d": (M * d)[model], "n_options": np.full(len(model), 4.0)}
            cells = {name: jnp.asarray(value) for name, value in values.items()}
            total = float(log_likelihood(shape.likelihood, data.rows, cells, jnp.asarray(edges)))
            each = pointwise_log_likelihood(shape.likelihood, data.rows, cells, jnp.asarray(edges), len(model))
            found.append((total, np.bincount(model, weights=np.asarray(each), minlength=N_MODELS)))
    (pooled, pooled_cells), (trials, trial_cells) = found
    assert trials == pytest.approx(pooled, abs=1e-9)
    assert trial_cells == pytest.approx(pooled_cells, abs=1e-9)
    assert pooled_cells.sum() == pytest.approx(pooled, abs=1e-9)


def test_item_effects_find_the_difficulty(fit, difficulty):
    """Ten answers an item and sd 1: r about 0.75 with standard error 0.06; below 0.45 less than once in 1e5."""
    assert fit["posterior"]["d_item"].dims == ("chain", "draw", "item_level")
    effects = fit["posterior"]["d_item"].mean(("chain", "draw"))
    assert effects["item_level"].values.tolist() == [f"i{i:02d}" for i in range(N_ITEMS)]
    assert np.corrcoef(effects.values, -difficulty)[0, 1] > 0.45
    assert np.abs(fit["posterior"]["d_item"].sum("item_level")).max() < 1e-11


def test_the_spread_of_items_is_seen(fit):
    """True sd 1; a posterior of 600 answers that held 0.3 or 2.5 in the middle would be wrong."""
    low, high = fit["posterior"]["d_sd_item"].quantile([0.005, 0.995]).values
    assert low < 1.0 < high
    assert low > 0.2


def test_d_of_a_cell_is_that_of_its_item(fit):
    posterior = labelled_posterior(fit)
    assert posterior.sizes["cell"] == N_MODELS * N_ITEMS
    item = [list(posterior["item_level"].values).index(name) for name in posterior["item"].values]
    model = [list(posterior["llm"].values).index(name) for name in posterior["model"].values]
    total = (
        posterior["d_Intercept"].values[..., None]
        + posterior["d_model"].values[..., model]
        + posterior["d_item"].values[..., item]
    )
    assert posterior["d"].values == pytest.approx(total, abs=1e-12)
