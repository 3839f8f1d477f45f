"""Every registered likelihood with every choice of its options, and points at which to ask."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from hmeta.sdt.likelihood import Likelihood, families, get
from tests.oracle import binary, mafc, type2


@dataclass(frozen=True)
class Choice:
    """One likelihood with one choice of options."""

    name: str
    options: tuple[tuple[str, str], ...]
    n_options: int | None = None

    def __str__(self) -> str:
        words = [self.name, *(value for _, value in self.options)]
        return "-".join(words + ([f"m{self.n_options}"] if self.n_options else []))

    @property
    def noise(self) -> str:
        return dict(self.options).get("noise", "normal")

    @property
    def rule(self) -> str:
        return dict(self.options).get("rule", "gap")

    @property
    def closed_form(self) -> bool:
        return self.name != "mafc" or self.noise == "gumbel"

    @property
    def lowest(self) -> float:
        """Lower edge of the lowest level."""
        return self.get().lowest

    def get(self, *, exact: bool = False) -> Likelihood:
        options: dict[str, object] = dict(self.options)
        if self.name == "mafc":
            options |= {"n_options": (self.n_options,), "exact": exact}
        return get(self.name, **options)

    def outcomes(self) -> list[list[int]]:
        """Outcome codes whose probabilities add up to one."""
        return [[0, 1], [2, 3]] if self.name == "binary" else [[0, 1]]

    def params(self, d: ArrayLike, meta_d: ArrayLike, c: ArrayLike = 0.0, sd_ratio: ArrayLike = 1.0) -> dict:
        """Return the parameters; those of the type-2 ROC are accuracy, d_a and the slope, in d, meta_d and sd_ratio."""
        if self.name == "type2":
            named = {"logit_accuracy": d, "d_a": meta_d, "zroc_slope": sd_ratio}
            return {key: jnp.asarray(value) for key, value in named.items()}
        own = {"c": c, "sd_ratio": sd_ratio} if self.name == "binary" else {"n_options": float(self.n_options or 2)}
        return {key: jnp.asarray(value) for key, value in ({"d": d, "meta_d": meta_d} | own).items()}

    def oracle(self, outcome: int, lo: float, hi: float, params: dict) -> float:
        """Return log P(outcome, lo < y <= hi) by the slow implementation."""
        p = {key: float(value) for key, value in params.items()}
        if self.name == "binary":
            setting = binary.Setting(
                p["d"], p["c"], p["meta_d"], p["sd_ratio"], self.noise, dict(self.options)["meta_c"]
            )
            return binary.log_joint(setting, outcome, lo, hi)
        if self.name == "type2":
            return type2.log_joint(type2.Setting(p["logit_accuracy"], p["d_a"], p["zroc_slope"]), outcome, lo, hi)
        setting = mafc.Setting(p["d"], p["meta_d"], int(p["n_options"]), self.noise, self.rule)
        if self.rule == "max":  # the confidence variable is log(1 + e^x) of the largest sample x
            lo, hi = (float(np.log(np.expm1(e))) if 0.0 < e < np.inf else (-np.inf, e)[e > 0] for e in (lo, hi))
        return mafc.log_joint(setting, outcome, lo, hi)


def choices() -> list[Choice]:
    """List every likelihood × options; `mafc` for 2, 4 and 10 alternatives."""
    found = []
    for name, module in sorted(families().items()):
        sets = module.OPTIONS  # type: ignore[attr-defined]
        for values in product(*sets.values()):
            options = tuple(zip(sets, values, strict=True))
            if dict(options).get("rule") == "max" and dict(options)["noise"] == "gumbel":
                continue
            found += [Choice(name, options, m) for m in ((2, 4, 10) if name == "mafc" else (None,))]
    return found
