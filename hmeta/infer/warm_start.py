"""Where sampling starts and in which coordinates: empirical Bayes before Bayes.

Joint modes of hierarchical models are useless (standard deviations collapse or explode), so the mode
is taken with standard deviations held, and these are then moved to what the mode and its curvature
imply (expectation-maximisation with a normal approximation).
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import scipy.optimize

from hmeta.infer import sites, whitening
from hmeta.infer.blocks import Blocks, find_blocks
from hmeta.infer.data import Data, model_data, model_shape
from hmeta.infer.expansion import Expansion
from hmeta.infer.target import Target
from hmeta.spec.plan import ModelPlan, Prior

EM_STEPS = 8
SETTLED = 0.03
"""Largest relative change of a standard deviation at which the search stops."""


class WarmStart(NamedTuple):
    """A target with chosen centring, and the map to whitened coordinates."""

    target: Target
    map_: whitening.Whitening


def warm_start(plan: ModelPlan) -> WarmStart:
    """Return the posterior in coordinates in which it is nearly round."""
    zero = {key: 0.0 for t in sites.group_terms(plan) for key in sites.centring_keys(t.parameter, t.group)}
    expansion = Expansion(Target(plan, model_shape(plan), model_data(plan, zero)))
    search = _Search(expansion, find_blocks(expansion.expanded))
    position, variance = search.run()
    centred, weights = _recentre(expansion, position, variance)
    final = Target(plan, expansion.target.shape, model_data(plan, weights))
    root = search.root(centred, final.data)
    return WarmStart(final, whitening.whiten(expansion, root, centred))


def _diagonal(size: int) -> Blocks:
    """Return every number as a block of its own: scaling only."""
    return Blocks(tuple(np.array([i]) for i in range(size)), np.array([], dtype=np.int64))


def _typical_sd(prior: Prior) -> float:
    arguments = prior.arguments
    if "rate" in arguments:
        return arguments.get("concentration", 1.0) / arguments["rate"]
    return float(np.exp(arguments["loc"])) if prior.family == "lognormal" else 0.5 * arguments["scale"]


class _Search:
    """The mode with standard deviations held, and the standard deviations it implies, in turn."""

    def __init__(self, expansion: Expansion, blocks: Blocks | None) -> None:
        self.expansion, self.target, self.blocks = expansion, expansion.target, blocks
        self.product = whitening.curvature_product(expansion.expanded)
        self.value_and_slope = jax.jit(jax.value_and_grad(self.target.potential))
        self.held, self.held_wide = _held(self.target), _held(expansion.expanded)

    def run(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the position, (number,), and the variance of each expanded number there, (expanded,)."""
        position = self._mode(self._start())
        variance = self._variance(position)
        for _ in range(EM_STEPS):
            moved = self._move_sds(position, variance)
            change = np.max(np.abs((moved - position)[self.held]), initial=0.0)
            position = self._mode(moved)
            variance = self._variance(position)
            if change < SETTLED:
                break
        return position, variance

    def _start(self) -> np.ndarray:
        values = {name: np.zeros(place.shape) for name, place in self.target.positions.items()}
        criteria = {"log_gap": self.target.data.log_gap_location, "anchor": self.target.data.anchor_location}
        values |= {name: np.asarray(location) for name, location in criteria.items() if name in values}
        for parameter in self.target.plan.parameters.values():
            for term in parameter.common:
                values[sites.common_site(parameter, term.name)] += term.prior.arguments.get("loc", 0.0)
            for group in parameter.groups:
                values[sites.group_site(parameter, group, "sd")] += np.log(_typical_sd(group.sd_prior))
        if "log_gap_mean" in values:
            index, _ = sites.pooled_gap_index(self.target.plan.criteria)
            values["log_gap_mean"][index] = values["log_gap"]
            values["log_gap_sd"] += np.log(0.5)
        position = np.zeros(self.target.size)
        for name, place in self.target.positions.items():
            position[place.astype(int)] = values[name]
        return position

    def _mode(self, position: np.ndarray) -> np.ndarray:
        free = ~self.held

        def objective(x: np.ndarray) -> tuple[float, np.ndarray]:
            value, slope = self.value_and_slope(jnp.asarray(x), self.target.data)
            return float(value), np.where(free, np.asarray(slope), 0.0)

        options = {"maxiter": 500, "maxcor": 20, "ftol": 1e-11}
        return scipy.optimize.minimize(objective, position, jac=True, method="L-BFGS-B", options=options).x

    def root(self, position: np.ndarray, data: Data, *, hold: bool = False) -> whitening.Root:
        """Return the root of the inverse curvature at a position; `hold` takes standard deviations as known."""
        expanded, wide = self.expansion.expanded, self.expansion.widen(position)
        if self.blocks is None:
            arrow = whitening.diagonal_curvature(self.product, expanded, data, wide)
            return whitening.find_root(arrow, _diagonal(expanded.size), expanded.size)
        arrow = whitening.curvature(self.product, expanded, data, wide, self.blocks)
        if hold:
            held = self.held_wide[self.blocks.border]
            arrow.border[held] = 0.0
            arrow.border[:, held] = 0.0
            for coupling in arrow.coupling:
                coupling[:, :, held] = 0.0
        return whitening.find_root(arrow, self.blocks, expanded.size)

    def _variance(self, position: np.ndarray) -> np.ndarray:
        return whitening.variances(self.expansion, self.root(position, self.target.data, hold=True))

    def _move_sds(self, position: np.ndarray, variance: np.ndarray) -> np.ndarray:
        moved, wide = position.copy(), self.expansion.widen(position)
        for term in sites.group_terms(self.target.plan):
            free, sd = _places(self.target, term)
            levels, _ = _places(self.expansion.expanded, term)
            second_moment = np.sum(wide[levels] ** 2 + variance[levels], axis=0) / sites.n_free(term.group)
            limit = np.log(_typical_sd(term.group.sd_prior)) + np.log([0.02, 6.0])
            moved[sd] = np.clip(position[sd] + 0.5 * np.log(second_moment), *limit)
            moved[free] = position[free] * np.exp(position[sd] - moved[sd])  # the effects stay
        return moved


def _held(target: Target) -> np.ndarray:
    """Say which numbers are standard deviations or correlations, (number,)."""
    held = np.zeros(target.size, dtype=bool)
    for name, place in target.positions.items():
        if "_sd_" in name or "_cor_" in name or name == "log_gap_sd":
            held[place.astype(int)] = True
    return held


def _places(target: Target, term: sites.Term) -> tuple[np.ndarray, np.ndarray]:
    """Return flat positions of a term's free numbers, (free, coefficient), and of its sds, (coefficient,)."""
    free = target.positions[sites.group_site(term.parameter, term.group, "free")].astype(int)
    return free, target.positions[sites.group_site(term.parameter, term.group, "sd")].astype(int)


def _recentre(expansion: Expansion, position: np.ndarray, variance: np.ndarray) -> tuple[np.ndarray, dict[str, float]]:
    """Return the position in the chosen centring, and the weights.

    A coefficient's weight is the share of its prior variance that the data remove, 1 - variance: with
    information I about an effect of variance s², this is I·s² / (1 + I·s²), the weight that makes effect
    and standard deviation independent in a normal model.
    """
    moved, weights = position.copy(), {}
    for term in sites.group_terms(expansion.target.plan):
        free, sd = _places(expansion.target, term)
        levels, _ = _places(expansion.expanded, term)
        left = np.sum(variance[levels], axis=0) / len(free)  # (coefficient,)
        weight = np.zeros(len(sd)) if term.group.correlated else np.round(np.clip(1.0 - left, 0.0, 1.0), 2)
        weights |= zip(sites.centring_keys(term.parameter, term.group), weight.tolist(), strict=True)
        moved[free] = position[free] * np.exp(weight * position[sd])
    return moved, weights
