"""Ratings are ordinal: no plan and no likelihood changes under other names for the same order of levels.

Tolerance 1e-10 of a log likelihood of a few hundred answers; plans are compared exactly.
"""

import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest

import hmeta
from hmeta.infer.data import model_data, model_shape
from hmeta.infer.device import computing, find_device
from hmeta.sdt.derived import log_likelihood
from hmeta.spec import load_model, plan
from hmeta.trials import frame_of, trials_dataset

MODELS = {"binary": "binary_hierarchical", "mafc": "mafc_hierarchical", "open": "type2_hierarchical"}
TRUTH = {"d": [1.0, 1.5, 2.0], "M": [0.6, 0.9, 1.2]}
OPEN_TRUTH = {"accuracy": [0.5, 0.6, 0.7], "d_a": [0.6, 0.9, 1.2]}
LABELS = {
    "shifted": lambda k: k + 0.25,
    "percentages": lambda k: 10.0 * k + 3.0,
    "crowded at the top": lambda k: 100.0 - 64.0 / 2.0**k,
    "logarithms": lambda k: np.log(k + 1.0),
}


def answers(task):
    """Three units, of which the last never uses the top level."""
    ladder = [[0.4, 0.9, 1.6]] * 2 + [[0.5, 1.0]]
    criteria = [(one, one) for one in ladder] if task == "binary" else ladder
    truth = OPEN_TRUTH if task == "open" else TRUTH
    return hmeta.simulate(task=task, n_trials=150, criteria=criteria, seed=12, **truth)


def with_scale(ds, change, *, lower, upper, step=0.0):
    """Return the same answers with other confidence labels and another declared scale."""
    frame = frame_of(ds)
    frame["confidence"] = change(frame["confidence"].astype(float))
    scales = pd.DataFrame({"scale_id": ["s"], "scale_lower": [lower], "scale_upper": [upper], "scale_step": [step]})
    return trials_dataset(frame, task=ds.attrs["task"], scales=scales)


def planned(ds):
    return plan(load_model(MODELS[ds.attrs["task"]]), hmeta.validate(ds).dataset)


def likelihood(made, seed=0):
    """Return the log likelihood at parameters and criteria that depend on the seed alone."""
    rng, n = np.random.default_rng(seed), len(made.cells)
    with computing(find_device("cpu")):
        shape, data = model_shape(made), model_data(made, {})
        ours = ("logit_accuracy", "d_a") if made.task == "open" else ("d", "meta_d")
        values = dict(zip(ours, (rng.normal(1.5, 0.5, n), rng.normal(1.0, 0.5, n)), strict=True))
        values |= {"c": rng.normal(0.0, 0.3, n)} if made.task == "binary" else {"n_options": np.full(n, 4.0)}
        edges = np.insert(
            rng.uniform(0.2, 0.8, (shape.ladders[0], shape.ladders[1] - 1)).cumsum(axis=1),
            0,
            shape.likelihood.lowest,
            axis=1,
        )
        cells = {name: jnp.asarray(value) for name, value in values.items()}
        return float(log_likelihood(shape.likelihood, data.rows, cells, jnp.asarray(edges)))


def assert_same_rows(a, b):
    for name in ("cell", "outcome", "ladder", "level", "count"):
        assert np.array_equal(getattr(a.rows, name), getattr(b.rows, name)), name
    for name in ("ladder_group", "n_levels", "gap_ladder", "gap_step", "anchor_ladder", "anchor_level"):
        assert np.array_equal(getattr(a.criteria, name), getattr(b.criteria, name)), name
    assert a.criteria.ladder_outcomes == b.criteria.ladder_outcomes
    assert a.criteria.prior == b.criteria.prior


@pytest.mark.parametrize("task", MODELS)
@pytest.mark.parametrize("labels", LABELS)
def test_a_monotone_relabelling_changes_nothing(task, labels):
    ds, change = answers(task), LABELS[labels]
    made = planned(ds)
    other = planned(with_scale(ds, change, lower=0.0, upper=200.0))
    assert_same_rows(made, other)
    assert likelihood(other) == pytest.approx(likelihood(made), abs=1e-10)
    values = np.unique(np.concatenate(made.criteria.level_values))
    renamed = np.unique(np.concatenate(other.criteria.level_values))
    assert renamed == pytest.approx(np.asarray(change(values)), rel=1e-6)  # kept as float32


@pytest.mark.parametrize("task", MODELS)
def test_levels_that_nobody_uses_change_nothing(task):
    """Levels 1 to 4 as 2, 5, 8 and 11 of an eleven-level scale: seven levels more, none of them used."""
    ds = answers(task)
    made = planned(with_scale(ds, lambda k: k, lower=1.0, upper=4.0, step=1.0))
    other = planned(with_scale(ds, lambda k: 3.0 * k - 1.0, lower=1.0, upper=11.0, step=1.0))
    assert_same_rows(made, other)
    assert likelihood(other) == pytest.approx(likelihood(made), abs=1e-10)


@pytest.mark.parametrize("task", MODELS)
def test_a_reversed_scale_is_read_the_other_way_round(task):
    ds = answers(task)
    frame = frame_of(ds)
    frame["confidence"] = 5.0 - frame["confidence"].astype(float)
    scales = {"scale_id": ["s"], "scale_lower": [1.0], "scale_upper": [4.0], "scale_step": [1.0], "scale_reversed": [1]}
    other = planned(trials_dataset(frame, task=task, scales=pd.DataFrame(scales)))
    assert_same_rows(planned(ds), other)


@pytest.mark.parametrize("task", MODELS)
def test_a_relabelling_that_swaps_two_levels_is_seen(task):
    """The comparison can fail: an order that is not the same gives another likelihood."""
    ds = answers(task)
    swapped = planned(with_scale(ds, lambda k: k.replace({2.0: 3.0, 3.0: 2.0}), lower=1.0, upper=4.0, step=1.0))
    assert abs(likelihood(swapped) - likelihood(planned(ds))) > 0.1
