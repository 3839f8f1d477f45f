"""Small fits that the tests of this folder share: long enough to look at, far too short to trust."""

from __future__ import annotations

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr

import hmeta
from hmeta.infer import whitening
from hmeta.infer.blocks import Blocks, find_blocks
from hmeta.infer.data import Data
from hmeta.infer.device import computing, find_device, keep_compiled
from hmeta.infer.expansion import Expansion
from hmeta.infer.warm_start import warm_start
from hmeta.spec import ModelPlan, load_model, plan

CHAINS, WARMUP, DRAWS = 2, 100, 100


@dataclass(frozen=True)
class Fitted:
    """Simulated data, their plan and a fit."""

    data: xr.Dataset
    plan: ModelPlan
    tree: xr.DataTree


@pytest.fixture(scope="session", autouse=True)
def _kept_programs():
    keep_compiled()


def _fitted(data: xr.Dataset, model: str) -> Fitted:
    tree = hmeta.fit(data, model, chains=CHAINS, warmup=WARMUP, draws=DRAWS, seed=1)
    return Fitted(data, plan(load_model(model), hmeta.validate(data).dataset), tree)


@pytest.fixture(scope="session")
def people() -> Fitted:
    """Four people, 120 answers each, two of them with criteria that differ between responses."""
    even, uneven = ([0.4, 0.9, 1.5], [0.4, 0.9, 1.5]), ([0.2, 1.4, 1.9], [0.7, 1.0, 2.2])
    data = hmeta.simulate(
        n_trials=120,
        d=[1.2, 1.6, 2.0, 1.0],
        M=[0.6, 0.8, 1.0, 1.2],
        c=[0.0, 0.2, -0.2, 0.1],
        criteria=[even, even, uneven, uneven],
        seed=5,
    )
    return _fitted(data, "binary_hierarchical")


@pytest.fixture(scope="session")
def models() -> Fitted:
    """Five models × two datasets, 60 answers a cell; the scale's levels 3 and 5 belong to some models only."""
    names = np.repeat(["a", "b", "c", "d", "e"], 2)
    data = hmeta.simulate(
        task="mafc",
        n_trials=60,
        d=np.linspace(1.2, 2.6, 10),
        M=np.tile([0.6, 0.8, 1.0, 1.2, 0.4], 2),
        criteria=[[0.4, 0.9, 1.5, 2.2] if name < "d" else [0.5, 1.4] for name in names],
        units={"model": names.tolist(), "dataset": ["x", "y"] * 5},
        seed=6,
    )
    return _fitted(data, "mafc_pooled")


@pytest.fixture(scope="session")
def one_person() -> ModelPlan:
    """The plan of one person, the smallest there is."""
    data = hmeta.simulate(n_trials=150, d=1.5, M=0.8, c=0.1, criteria=[0.5, 1.1], seed=7)
    return plan(load_model("binary_single"), hmeta.validate(data).dataset)


@dataclass(frozen=True)
class Surroundings:
    """The posterior of `models` where sampling starts, with dense curvature there from JAX's own Hessian."""

    expansion: Expansion
    data: Data
    blocks: Blocks
    map_: whitening.Whitening
    curvature: np.ndarray  # (number, number)
    expanded_curvature: np.ndarray  # (expanded, expanded)


@pytest.fixture(scope="session")
def surroundings(models) -> Surroundings:
    with computing(find_device("cpu")):
        warm = warm_start(models.plan)
        expansion, centre = Expansion(warm.target), np.asarray(warm.map_.centre)
        blocks = find_blocks(expansion.expanded)
        assert blocks is not None
        narrow, wide = (
            np.asarray(jax.jit(jax.hessian(target.potential))(jnp.asarray(position), warm.target.data))
            for target, position in ((warm.target, centre), (expansion.expanded, expansion.widen(centre)))
        )
        return Surroundings(expansion, warm.target.data, blocks, warm.map_, narrow, wide)
