"""Simulated results with a known truth, as a results file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import ArrayLike, NDArray

from hmeta.core.errors import HmetaError
from hmeta.core.registry import did_you_mean
from hmeta.core.schema import UNIT_COLUMNS
from hmeta.core.streams import stream
from hmeta.study.criteria import Ladders, read_criteria
from hmeta.study.evidence import (
    BINARY_NOISES,
    CHOICE_NOISES,
    OPEN_NOISES,
    Answers,
    Observer,
    answer_binary,
    answer_choice,
    answer_open,
)
from hmeta.trials import trials_dataset

Units = Mapping[str, Sequence[object]]

NOISES: dict[str, tuple[str, ...]] = {"binary": tuple(BINARY_NOISES), "mafc": CHOICE_NOISES, "open": OPEN_NOISES}
"""By task, the distributions that evidence can have, the default first."""

VALUES: dict[str, dict[str, float | None]] = {
    "binary": {"d": None, "M": None, "c": 0.0, "sd_ratio": 1.0},
    "mafc": {"d": None, "M": None, "n_options": 4.0},
    "open": {"accuracy": None, "d_a": None, "zroc_slope": 1.0},
}
"""By task, the true values of a unit with their defaults; None has to be given."""

PLACEMENTS = ("absolute", "relative")


def simulate(
    *,
    n_trials: ArrayLike,
    criteria: Sequence[object] | NDArray[np.float64],
    task: str = "binary",
    d: ArrayLike | None = None,
    M: ArrayLike | None = None,
    c: ArrayLike | None = None,
    sd_ratio: ArrayLike | None = None,
    n_options: ArrayLike | None = None,
    accuracy: ArrayLike | None = None,
    d_a: ArrayLike | None = None,
    zroc_slope: ArrayLike | None = None,
    noise: str | None = None,
    meta_c: str | None = None,
    units: Sequence[str] | Units | None = None,
    seed: int = 0,
) -> xr.Dataset:
    """Simulate answers and confidence ratings by drawing evidence.

    The answer comes from evidence of strength d, the rating from fresh evidence of strength M·d given the
    answer; every trial has both. In an open task answers are right with a given probability, and confidence is drawn
    from one distribution where they are right and another where they are wrong.

    Parameters
    ----------
    n_trials : int or (unit,)
        Answers of each unit; `binary`: of these half are of each stimulus.
    criteria : sequence
        Increasing distances from the type-1 decision (`open`: increasing values of the confidence variable); a rating
        is 1 + the number of criteria passed. One sequence, or one a unit; `binary` also a pair of sequences (of
        responses 0 and 1), or one pair a unit.
    task : {"binary", "mafc", "open"}
    d, M : float or (unit,)
        `binary` and `mafc`: sensitivity, and metacognitive efficiency meta_d / d.
    c : float or (unit,), optional
        `binary`: the type-1 criterion; default 0.
    sd_ratio : float or (unit,), optional
        `binary`: sd of the evidence of stimulus 1 over that of stimulus 0; default 1.
    n_options : int or (unit,), optional
        `mafc`: alternatives; default 4.
    accuracy : float or (unit,), optional
        `open`: the probability of a right answer.
    d_a : float or (unit,), optional
        `open`: distance of the confidence of right answers from that of wrong ones; AUROC2 is Φ(d_a/√2).
    zroc_slope : float or (unit,), optional
        `open`: sd of the confidence variable of wrong answers over that of right ones; default 1.
    noise : str, optional
        `binary`: "normal" (default), "logistic", "gumbel_min" or "gumbel_max"; `mafc`: "gumbel" (default)
        or "normal"; `open`: "normal".
    meta_c : {"absolute", "relative"}, optional
        `binary`: whether ratings part at c (default) or at M·c.
    units : sequence of str or mapping, optional
        Names of the units, or columns with one value a unit, among them `model` or `participant`.
        Default: participants for `binary`, else models.
    seed : int

    Returns
    -------
    Dataset
        Layout `trials`.

    Raises
    ------
    HmetaError
        For values that no answerer can have, options of another task, or arrays that do not fit together.

    Examples
    --------
    >>> ds = simulate(n_trials=200, d=[1.0, 2.0], M=0.8, criteria=[0.5, 1.0], seed=1)
    >>> ds.sizes["trial"], int(ds["confidence"].max())
    (400, 3)
    """
    asked = _Asked(task, noise, meta_c, seed)
    signal = {"d": d, "M": M, "c": c, "sd_ratio": sd_ratio, "n_options": n_options}
    given = {**signal, "accuracy": accuracy, "d_a": d_a, "zroc_slope": zroc_slope}
    columns, truth = _truth(task, units, {"n_trials": n_trials, **asked.values(given)})
    ladders = read_criteria(criteria, task, len(truth))
    return _dataset(asked, columns, truth, ladders)


@dataclass(frozen=True)
class _Asked:
    """The closed options of a simulation."""

    task: str
    noise_given: str | None
    meta_c_given: str | None
    seed: int

    @property
    def noise(self) -> str:
        return self.noise_given or NOISES[self.task][0]

    def values(self, given: Mapping[str, ArrayLike | None]) -> dict[str, ArrayLike]:
        """Return the true values of the task, defaults filled in; refuse unknown options and those of other tasks."""
        _one_of("task", self.task, tuple(NOISES))
        _one_of("noise", self.noise, NOISES[self.task])
        _one_of("meta_c", self.meta_c_given or PLACEMENTS[0], PLACEMENTS)
        own: dict[str, ArrayLike | None] = dict(VALUES[self.task])
        for name, value in {**given, "meta_c": self.meta_c_given}.items():
            if value is not None and name in own:
                own[name] = value
            elif value is not None and not (name == "meta_c" and self.task == "binary"):
                raise HmetaError(
                    f"{name} has no meaning in this task",
                    received=f'{name}={value}, task="{self.task}"',
                    mend=f"leave {name} out",
                )
        for name, value in own.items():
            if value is None:
                raise HmetaError(f"{name} is missing", where=f'task="{self.task}"', mend=f"give {name}")
        return {name: value for name, value in own.items() if value is not None}


def _one_of(name: str, value: str, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise HmetaError(
            f"unknown {name}", received=repr(value), allowed=allowed, mend=did_you_mean(str(value), allowed)
        )


def _truth(
    task: str, units: Sequence[str] | Units | None, values: Mapping[str, ArrayLike]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the columns that name the units, and the true values of each, (unit, value)."""
    arrays = {name: np.atleast_1d(np.asarray(value, dtype=np.float64)) for name, value in values.items()}
    word = "participant" if task == "binary" else "model"
    if units is None:
        longest = max(len(a) for a in arrays.values())
        units = {word: [f"{word[0]}{i + 1:0{len(str(longest))}d}" for i in range(longest)]}
    columns = pd.DataFrame(dict(units) if isinstance(units, Mapping) else {word: list(units)})
    if not set(columns) & set(UNIT_COLUMNS):
        raise HmetaError(
            "no column says who answered",
            where="units",
            received=", ".join(map(str, columns)),
            allowed=" or ".join(UNIT_COLUMNS),
        )
    for name, array in arrays.items():
        if array.ndim != 1 or len(array) not in (1, len(columns)):
            raise HmetaError(
                f"{name} does not fit the units",
                received=f"shape {array.shape}",
                allowed=f"one number, or {len(columns)} (one a unit)",
            )
        _refuse_values(name, array)
    return columns, pd.DataFrame({name: np.broadcast_to(a, len(columns)) for name, a in arrays.items()})


def _refuse_values(name: str, array: NDArray[np.float64]) -> None:
    least = {"n_trials": 1, "n_options": 2}.get(name)
    bad = ~np.isfinite(array)
    if least is not None:
        bad |= (array < least) | (array != np.round(array))
    elif name in ("sd_ratio", "zroc_slope"):
        bad |= array <= 0
    elif name == "accuracy":
        bad |= (array < 0) | (array > 1)
    if bad.any():
        allowed = f"whole numbers, {least} or more" if least is not None else "finite numbers"
        special = {"sd_ratio": "positive numbers", "zroc_slope": "positive numbers", "accuracy": "numbers from 0 to 1"}
        allowed = special.get(name, allowed)
        raise HmetaError(f"{name} cannot be used", received=str(array[bad][0]), allowed=allowed)


def _dataset(asked: _Asked, columns: pd.DataFrame, truth: pd.DataFrame, ladders: Ladders) -> xr.Dataset:
    rng = np.random.default_rng(stream(asked.seed, "simulate"))
    unit = np.repeat(np.arange(len(truth)), truth["n_trials"].astype(int))
    each = {str(name): truth[name].to_numpy()[unit] for name in truth}  # each (trial,)
    answered, found = ANSWER[asked.task](rng, asked, each, unit)
    side = found.answer if asked.task == "binary" else np.zeros(len(unit), dtype=np.int64)
    rating = 1 + ladders.passed(found.distance, unit, side)
    frame = columns.iloc[unit].reset_index(drop=True).assign(**answered, confidence=rating)
    return trials_dataset(
        frame,
        task=asked.task,
        scales=_scales(columns, ladders),
        title=f"simulated, {asked.noise} noise",
        source=f"hmeta.simulate, seed {asked.seed}",
        license="CC0-1.0",
    )


def _answer_binary(
    rng: np.random.Generator, asked: _Asked, each: Mapping[str, NDArray[np.float64]], unit: NDArray[np.int64]
) -> tuple[dict[str, NDArray[np.int64]], Answers]:
    stimulus = (np.arange(len(unit)) - np.searchsorted(unit, unit)) % 2  # alternates within each unit
    meta_c = each["M"] * each["c"] if asked.meta_c_given == "relative" else each["c"]
    observer = Observer(each["d"], each["c"], each["M"] * each["d"], meta_c, each["sd_ratio"])
    found = answer_binary(rng, stimulus, observer, asked.noise)
    correct = (found.answer == stimulus).astype(np.int64)
    return {"stimulus": stimulus, "response": found.answer, "correct": correct}, found


def _answer_choice(
    rng: np.random.Generator, asked: _Asked, each: Mapping[str, NDArray[np.float64]], _unit: NDArray[np.int64]
) -> tuple[dict[str, NDArray[np.int64]], Answers]:
    n_options = each["n_options"].astype(np.int64)
    found = answer_choice(rng, each["d"], each["M"] * each["d"], n_options, asked.noise)
    return {"correct": found.answer, "n_options": n_options}, found


def _answer_open(
    rng: np.random.Generator, _asked: _Asked, each: Mapping[str, NDArray[np.float64]], _unit: NDArray[np.int64]
) -> tuple[dict[str, NDArray[np.int64]], Answers]:
    found = answer_open(rng, each["accuracy"], each["d_a"], each["zroc_slope"])
    return {"correct": found.answer}, found


ANSWER = {"binary": _answer_binary, "mafc": _answer_choice, "open": _answer_open}
"""By task, what draws the answers of every trial."""


def _scales(columns: pd.DataFrame, ladders: Ladders) -> pd.DataFrame:
    """Return the rating scales: one, or one for each value of the column `scale`."""
    top = pd.Series(ladders.n_levels)
    names = columns["scale"].astype(str) if "scale" in columns else pd.Series(f"1-{top.max()}", index=top.index)
    upper = top.groupby(names).max()
    return pd.DataFrame({"scale_id": upper.index, "scale_lower": 1.0, "scale_upper": upper.to_numpy(), "scale_step": 1})
