"""Has a fit converged? One verdict, with its reasons (docs/statistics.md, section 8)."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from hmeta.core.errors import DataError
from hmeta.infer.labels import labelled_posterior
from hmeta.infer.mixing import MIN_DRAWS, Mixing, e_bfmi, measure_mixing
from hmeta.infer.quantities import count_disordered, list_quantities

Floats = NDArray[np.float64]

MAX_R_HAT, MIN_ESS, MIN_E_BFMI = 1.01, 400.0, 0.3
OK, CONSTANT, INVALID, ONE_CHAIN, FEW_DRAWS = (
    "ok",
    "constant",
    "invalid draws",
    "not available, one chain",
    "not available, too few draws",
)
FAULTS = {
    "R-hat": ("r_hat", f"not below {MAX_R_HAT:g}"),
    "bulk ESS": ("ess_bulk", f"not above {MIN_ESS:g}"),
    "tail ESS": ("ess_tail", f"not above {MIN_ESS:g}"),
}
MOST_ROWS = 10


@dataclass(frozen=True)
class Diagnosis:
    """The verdict on a fit and what it rests on."""

    converged: bool
    reasons: tuple[str, ...]  # why not converged; empty where converged
    table: pd.DataFrame  # quantity, variable, r_hat, ess_bulk, ess_tail, status
    n_divergent: int | None  # None where the fit does not say
    e_bfmi: tuple[float, ...]  # one number a chain; empty where the fit has no energy
    n_disordered: int  # draws in which criteria are not strictly increasing
    n_chains: int
    n_draws: int

    def render(self) -> str:
        """Return the verdict as text: reasons, the numbers behind them, and the worst quantities."""
        head = "converged" if self.converged else "NOT CONVERGED: do not read numbers off this fit"
        lines = [head, *(f"  - {reason}" for reason in self.reasons), "", *self._facts()]
        bad = self.table[~self.table["status"].isin([OK, CONSTANT])]
        if len(bad):
            shown = _worst_first(bad).head(MOST_ROWS).drop(columns="variable")
            lines += ["", shown.to_string(index=False, float_format=lambda x: f"{x:.4g}", na_rep="-")]
            if len(bad) > MOST_ROWS:
                lines.append(f"and {len(bad) - MOST_ROWS} more")
        return "\n".join(lines)

    def to_json(self) -> str:
        """Return the diagnosis as one JSON object; undefined numbers are null."""
        rows = self.table.astype(object).where(self.table.notna(), None)
        content = {
            "schema": "1",
            "converged": self.converged,
            "reasons": self.reasons,
            "chains": self.n_chains,
            "draws": self.n_draws,
            "divergences": self.n_divergent,
            "e_bfmi": [x if np.isfinite(x) else None for x in self.e_bfmi],
            "disordered_draws": self.n_disordered,
            "quantities": [{k: _finite(v) for k, v in row.items()} for row in rows.to_dict("records")],
        }
        return json.dumps(content, ensure_ascii=False, allow_nan=False)

    def __str__(self) -> str:
        return self.render()

    def _facts(self) -> list[str]:
        energies = ", ".join(f"{x:.2f}" for x in self.e_bfmi) or "not available"
        facts = {
            "chains × draws": f"{self.n_chains} × {self.n_draws:,}",
            "quantities": f"{len(self.table):,} ({(self.table['status'] == CONSTANT).sum()} constant)",
            "largest R-hat": _extreme(self.table, "r_hat", digits=4),
            "smallest bulk ESS": _extreme(self.table, "ess_bulk", digits=0),
            "smallest tail ESS": _extreme(self.table, "ess_tail", digits=0),
            "divergences": "not available" if self.n_divergent is None else f"{self.n_divergent:,}",
            "E-BFMI by chain": energies,
        }
        return [f"{name:<18} {value}" for name, value in facts.items()]


def diagnose(tree: xr.DataTree) -> Diagnosis:
    """Judge whether a fit has converged.

    Every variable of the posterior is looked at, number by number. Converged means: rank-normalised
    R-hat < 1.01, bulk and tail ESS > 400, no divergence, E-BFMI > 0.3 in every chain, criteria strictly
    increasing in every draw. What cannot be computed counts as not converged, except for quantities that
    never change.

    Parameters
    ----------
    tree : DataTree
        A fit, as `hmeta.fit` returns it.

    Returns
    -------
    Diagnosis
    """
    if not isinstance(tree, xr.DataTree) or "posterior" not in tree.children:
        raise DataError("this is not a fit", received=type(tree).__name__, allowed="what hmeta.fit returns")
    posterior = labelled_posterior(tree)
    labels, draws = list_quantities(posterior)
    mixing = measure_mixing(draws)
    table = labels.assign(**mixing._asdict())
    table["status"] = _statuses(draws, mixing)
    stats = tree["sample_stats"].to_dataset() if "sample_stats" in tree.children else xr.Dataset()
    divergent = int(stats["diverging"].sum()) if "diverging" in stats else None
    energy = e_bfmi(_chains(stats["energy"])) if "energy" in stats else np.array([])
    facts = tree["hmeta"].attrs if "hmeta" in tree.children else {}
    disordered = count_disordered(posterior, float(facts.get("criteria_above", 0.0)))
    n_chains, n_draws = draws.shape[1:]
    reasons = (
        *_table_reasons(table),
        *_sampler_reasons(divergent, energy, n_chains * n_draws),
        *([f"criteria are not strictly increasing in {disordered:,} draws"] if disordered else []),
    )
    return Diagnosis(
        converged=not reasons,
        reasons=reasons,
        table=table,
        n_divergent=divergent,
        e_bfmi=tuple(float(x) for x in energy),
        n_disordered=disordered,
        n_chains=n_chains,
        n_draws=n_draws,
    )


def _statuses(draws: Floats, mixing: Mixing) -> list[str]:
    flat = draws.reshape(len(draws), -1)
    invalid = ~np.isfinite(flat).all(axis=1)
    constant = flat.max(axis=1, initial=-np.inf) == flat.min(axis=1, initial=np.inf)
    n_chains, n_draws = draws.shape[1:]
    alone = ONE_CHAIN if n_chains < 2 else FEW_DRAWS if n_draws < MIN_DRAWS else ""
    out = []
    for i in range(len(draws)):
        if invalid[i]:
            out.append(INVALID)
        elif constant[i]:
            out.append(CONSTANT)
        else:
            out.append(alone or _judge(mixing.r_hat[i], mixing.ess_bulk[i], mixing.ess_tail[i]))
    return out


def _judge(r_hat: float, bulk: float, tail: float) -> str:
    # Written so that NaN fails.
    faults = [
        "" if r_hat < MAX_R_HAT else "R-hat",
        "" if bulk > MIN_ESS else "bulk ESS",
        "" if tail > MIN_ESS else "tail ESS",
    ]
    return ", ".join(f for f in faults if f) or OK


def _table_reasons(table: pd.DataFrame) -> list[str]:
    """Return what is wrong with the quantities, one sentence a kind of fault."""
    status, n = table["status"], len(table)
    reasons = []
    for kind in (INVALID, ONE_CHAIN, FEW_DRAWS):
        rows = table[status == kind]
        if len(rows):
            what = "draws that are not finite" if kind == INVALID else f"R-hat {kind}"
            reasons.append(f"{what} ({_of(len(rows), n)}, first {rows['quantity'].iloc[0]})")
    if (status == CONSTANT).all():
        reasons.append("nothing moved: every quantity is constant")
    for fault, (column, limit) in FAULTS.items():
        rows = table[status.str.contains(fault, regex=False) & ~status.isin([ONE_CHAIN, FEW_DRAWS])]
        if len(rows):
            name, value = _worst(rows, column)
            shown = f"{value:.3f}" if column == "r_hat" else f"{value:.0f}"
            reasons.append(f"{fault} {limit} for {_of(len(rows), n)}; worst {name}: {shown}")
    return reasons


def _worst(rows: pd.DataFrame, column: str) -> tuple[str, float]:
    """Return the quantity with the largest R-hat or the smallest ESS; undefined counts as worst."""
    values = rows[column].to_numpy(dtype=np.float64)
    row = int(np.argmax(np.nan_to_num(values, nan=np.inf) if column == "r_hat" else -values))
    return str(rows["quantity"].iloc[row]), float(values[row])


def _sampler_reasons(divergent: int | None, energy: Floats, total: int) -> list[str]:
    reasons = []
    if divergent is None:
        reasons.append("divergences not available: the fit has no sampler statistics")
    elif divergent:
        reasons.append(f"{divergent:,} divergent of {total:,} draws")
    low = [f"{x:.2f} in chain {i}" for i, x in enumerate(energy, 1) if not x > MIN_E_BFMI]
    if not len(energy):
        reasons.append("E-BFMI not available: the fit has no energies")
    elif low:
        reasons.append(f"E-BFMI not above {MIN_E_BFMI:g}: {', '.join(low)}")
    return reasons


def _chains(variable: xr.DataArray) -> Floats:
    return np.asarray(variable.transpose("chain", "draw").values, dtype=np.float64)


def _worst_first(bad: pd.DataFrame) -> pd.DataFrame:
    return bad.sort_values("r_hat", ascending=False, na_position="first", kind="stable")


def _extreme(table: pd.DataFrame, column: str, *, digits: int) -> str:
    known = table[table[column].notna()]
    if not len(known):
        return "not available"
    name, value = _worst(known, column)
    return f"{value:,.{digits}f} ({name})"


def _of(part: int, whole: int) -> str:
    return f"{part:,} of {whole:,} quantities"


def _finite(value: object) -> object:
    return None if isinstance(value, float) and not np.isfinite(value) else value
