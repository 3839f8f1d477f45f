"""The posterior of a plan as one function of one flat unconstrained vector."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.flatten_util import ravel_pytree
from numpyro import handlers
from numpyro.distributions import biject_to
from numpyro.infer.util import constrain_fn, potential_energy

from hmeta.infer import numpyro_model
from hmeta.infer.data import Data, ModelShape
from hmeta.spec.plan import ModelPlan


def _energy(model: Any, data: Data, values: dict[str, Array]) -> Array:
    return jnp.asarray(potential_energy(model, (data,), {}, values))


@dataclass(frozen=True)
class Target:
    """Negative log posterior density over flat unconstrained vectors, (free,).

    Site values keep NumPyro's unconstrained forms: logs of standard deviations, and so on; sites are
    flattened in alphabetical order.
    """

    plan: ModelPlan
    shape: ModelShape
    data: Data

    @cached_property
    def _model(self) -> Any:
        return numpyro_model.build(self.plan, self.shape)

    @cached_property
    def example(self) -> dict[str, Array]:
        """Unconstrained values of every site, for their shapes."""
        trace = handlers.trace(handlers.seed(self._model, jax.random.key(0))).get_trace(self.data)
        sampled = {k: s for k, s in trace.items() if s["type"] == "sample" and not s["is_observed"]}
        return {k: biject_to(s["fn"].support).inv(s["value"]) for k, s in sampled.items()}

    @cached_property
    def positions(self) -> dict[str, np.ndarray]:
        """Where each site's numbers stand in the flat vector, in the site's unconstrained shape."""
        total = sum(value.size for value in self.example.values())
        return {k: np.asarray(v) for k, v in self.unravel(jnp.arange(total, dtype=float)).items()}

    @cached_property
    def unravel(self) -> Any:
        """Flat vector to a mapping of sites."""
        return ravel_pytree(self.example)[1]

    @property
    def size(self) -> int:
        """Length of the flat vector."""
        return sum(value.size for value in self.example.values())

    def potential(self, position: Array, data: Data) -> Array:
        """Return minus the log density at a flat position."""
        return _energy(self._model, data, self.unravel(position))

    def constrain(self, position: Array, data: Data) -> dict[str, Array]:
        """Return every site, and deterministic quantities, at a flat position."""
        return constrain_fn(self._model, (data,), {}, self.unravel(position), return_deterministic=True)
