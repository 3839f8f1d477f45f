"""Whether fits of different studies estimate the same quantity, and why not where they do not.

M is a ratio within one model of the evidence: another noise, another rule for confidence or another place of the
boundary gives another M for the same answers (docs/statistics.md). What would compare such numbers is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple, NoReturn

import numpy as np
import xarray as xr

from hmeta.core.errors import DataError
from hmeta.core.schema import UNIT_COLUMNS
from hmeta.infer.fitted import COUNT_OF_OPTIONS, HEADLINE, Fitted, read_fit

TYPE2 = "type2"
THRESHOLD = "M_threshold"

OF_TYPE1 = ("M", "d", "meta_d", "c")
"""What an open task has not."""

IN_UNITS = ("d", "meta_d", "c")
"""In units of one likelihood's noise and of its number of options; M, a ratio, has no units."""

SAME_NOISE = {("mafc", "gumbel"): "logistic"}
"""The binary noise that another likelihood's noise amounts to: two Gumbel variables differ by a logistic one."""

IMPLIED = {"rule": ("binary", "gap")}
"""Options that a likelihood without them has all the same: binary confidence reads the gap of two alternatives."""

REASONS = {
    "noise": "M, d and meta_d are defined by the noise: one set of answers gives M 0.86 with Gumbel and 0.67 with "
    "normal noise, so that a difference would be one of models, not of studies",
    "rule": "the rule says what confidence reads, the gap between the two largest pieces of evidence or the largest "
    "alone; the same ratings then stand for another meta_d, and M is another number",
    "meta_c": "meta_c says where the ratings' boundary lies, at c or at M·c; where answers are biased the two give "
    "different meta_d for the same ratings",
    "sd_ratio": "unequal spread of the evidence explains part of the ratings that equal spread leaves to meta_d, so "
    "that the same answers give another M",
}


class Facts(NamedTuple):
    """What decides whether a fit is like another."""

    likelihood: str
    options: Mapping[str, str]  # as in the fit
    free_spread: bool  # whether sd_ratio is estimated
    n_options: tuple[int, ...]  # distinct numbers of alternatives; empty where the task has none


@dataclass(frozen=True)
class Alike:
    """Fits that estimate the same quantity."""

    parameter: str
    fits: Mapping[str, Fitted]
    facts: Mapping[str, Any]  # ready for JSON
    notes: tuple[str, ...]


def check_alike(fits: Mapping[str, xr.DataTree], parameter: str | None = None) -> Alike:
    """Return the quantity that fits share, or say why they share none.

    Parameters
    ----------
    fits : mapping of str to DataTree
        By the name that messages and tables use, for example the file's.
    parameter : str, optional
        A quantity at the cells. Default: the headline of the fits, M or auroc2.

    Returns
    -------
    Alike
        Its notes tell what is allowed but should be known: fits that have not converged, binary beside mafc, a log
        beside an identity link, the same units in the same data.

    Raises
    ------
    DataError
        With fewer than two fits, the same fit twice, or fits that differ in what defines the quantity.
    """
    if len(fits) < 2:
        raise DataError(
            "comparing needs two fits or more", received=", ".join(fits) or "none", mend="name at least two fits"
        )
    _refuse_threshold(parameter)
    shared = _shared_parameter(fits, parameter)
    read = {name: _read(name, tree, shared) for name, tree in fits.items()}
    facts = {name: _facts(fitted) for name, fitted in read.items()}
    pairs = list(combinations(read, 2))
    for pair in pairs:
        _refuse_same(pair, read)
        _refuse_unlike(pair, facts, shared)
    notes = [*_convergence(read), *_across(facts), *_links(read), *_slopes(read), *_shared_units(pairs, read)]
    return Alike(shared, read, _describe(shared, facts), tuple(notes))


def unit_column(fitted: Fitted) -> str | None:
    """Return the factor that says who answered, also where one unit answered all; None where the fit pools over it."""
    units = [name for name in UNIT_COLUMNS if name in fitted.factors]
    return max(units, key=lambda name: fitted.factors[name].nunique(), default=None)


def listed(words: Iterable[str], most: int = 12) -> str:
    """Return words joined with commas, the later ones of many as their number."""
    every = list(words)
    more = [f"and {len(every) - most} more"] if len(every) > most else []
    return ", ".join([*every[:most], *more])


def _refuse_threshold(parameter: str | None) -> None:
    if parameter == THRESHOLD:
        raise DataError(
            "M_threshold is not compared: it sets two functions of the same table of correctness by confidence against "
            "each other, over a d′ given by hand, so that it is not meta_d / d and not M",
            received=THRESHOLD,
            allowed="M, d, meta_d …; of open tasks auroc2",
            mend="compare M: --parameter M",
        )


def _likelihood(tree: xr.DataTree) -> str:
    own = tree["hmeta"].attrs if "hmeta" in tree.children else tree.attrs
    task = str(own.get("task", ""))
    return str(own.get("likelihood", TYPE2 if task == "open" else task))


def _shared_parameter(fits: Mapping[str, xr.DataTree], parameter: str | None) -> str:
    """Return the quantity asked for, or the fits' headline; refuse open tasks beside others, and M of an open task."""
    for name, tree in fits.items():
        _read(name, tree, None)
    of_open = [name for name, tree in fits.items() if _likelihood(tree) == TYPE2]
    others = [name for name in fits if name not in of_open]
    if of_open and others:
        raise DataError(
            f"{of_open[0]} and {others[0]} share no quantity: an open task has no sensitivity of its own, hence AUROC2 "
            "but no M; and AUROC2 grows with d, which M takes out, so that the one cannot stand for the other",
            received=f"{of_open[0]}: auroc2; {others[0]}: {parameter or HEADLINE}",
            allowed="either fits of open tasks, or fits of binary and mafc tasks",
            mend="compare the fits of each kind by themselves; the AUROC2 of the ratings is in hmeta metrics for every "
            "task",
        )
    if of_open and parameter in OF_TYPE1:
        raise DataError(
            f"{of_open[0]} is a fit of an open task, which has no {parameter}: without a fixed set of alternatives "
            "nothing says how hard the questions were, and meta_d would have nothing to be divided by",
            received=str(parameter),
            allowed="auroc2, d_a, accuracy",
            mend="leave --parameter out, or write --parameter auroc2",
        )
    return parameter or ("auroc2" if of_open else HEADLINE)


def _read(name: str, tree: xr.DataTree, parameter: str | None) -> Fitted:
    try:
        return read_fit(tree, parameter)
    except DataError as error:
        raise error.at(name) from error


def _facts(fitted: Fitted) -> Facts:
    counts = fitted.factors.get(COUNT_OF_OPTIONS, ())
    return Facts(
        likelihood=_likelihood(fitted.tree),
        options={str(k): str(v) for k, v in fitted.from_json("options", {}).items()},
        free_spread="sd_ratio" in fitted.tree["posterior"].to_dataset(),
        n_options=tuple(sorted({int(n) for n in counts})),
    )


def _refuse_same(pair: tuple[str, str], read: Mapping[str, Fitted]) -> None:
    one, two = (read[name].draws for name in pair)
    # A quantity that the model holds constant is equal in different fits too.
    if one.shape == two.shape and np.ptp(one) > 0 and np.array_equal(one, two):
        raise DataError(
            f"{pair[0]} and {pair[1]} are the same fit: their posterior draws are identical",
            received=f"{pair[0]}, {pair[1]}",
            allowed="every study once",
            mend=f"leave {pair[1]} out",
        )


def _refuse_unlike(pair: tuple[str, str], facts: Mapping[str, Facts], parameter: str) -> None:
    one, two = (facts[name] for name in pair)
    if parameter in IN_UNITS:
        _refuse_units(pair, one, two, parameter)
    for option in dict.fromkeys([*one.options, *two.options, *IMPLIED]):
        values = _option(one, option), _option(two, option)
        if None in values or values[0] == values[1]:
            continue
        reason = REASONS.get(option, f"{option} is part of the model that defines {parameter}")
        shown = [f.options.get(option, f"{v} (implied)") for f, v in zip((one, two), values, strict=True)]
        _refuse(pair, parameter, option, shown, reason, _mend_option(pair, one, two, option))
    if one.free_spread != two.free_spread:
        shown = ["estimated" if f.free_spread else "1" for f in (one, two)]
        mend = "fit both with, or both without, [parameters.sd_ratio] in the model file: hmeta fit DATA --model FILE"
        _refuse(pair, parameter, "sd_ratio", shown, REASONS["sd_ratio"], mend)


def _option(facts: Facts, option: str) -> str | None:
    """Return an option's value as it compares across likelihoods; None where the likelihood has none."""
    value = facts.options.get(option)
    if option == "noise" and value is not None:
        return SAME_NOISE.get((facts.likelihood, value), value)
    if option in IMPLIED and value is None:
        likelihood, implied = IMPLIED[option]
        return implied if facts.likelihood == likelihood else None
    return value


def _refuse_units(pair: tuple[str, str], one: Facts, two: Facts, parameter: str) -> None:
    instead = "compare M, which has no units: --parameter M" if parameter != "c" else "compare M: --parameter M"
    if one.likelihood != two.likelihood:
        reason = (
            f"{parameter} is in units of the evidence of its task, and these differ: with normal noise d of a binary "
            "task is √2 times d of the same answers as a choice between two alternatives"
        )
        _refuse(pair, parameter, "likelihood", [one.likelihood, two.likelihood], reason, instead)
    if one.n_options != two.n_options:
        reason = (
            f"{parameter} is read from accuracy through the number of alternatives: the same share of right answers is "
            "another d with more of them, and questions with more alternatives are other questions"
        )
        shown = [f"m = {', '.join(map(str, f.n_options)) or 'unknown'}" for f in (one, two)]
        _refuse(pair, parameter, "number of alternatives", shown, reason, instead)


def _refuse(
    pair: tuple[str, str], parameter: str, what: str, values: Iterable[str], reason: str, mend: str
) -> NoReturn:
    raise DataError(
        f"{parameter} of {pair[0]} and of {pair[1]} cannot be compared: their {what} differs; {reason}",
        received="; ".join(f"{name}: {what} {value}" for name, value in zip(pair, values, strict=True)),
        allowed=f"fits of the same {what}",
        mend=mend,
    )


def _mend_option(pair: tuple[str, str], one: Facts, two: Facts, option: str) -> str:
    """Say which fit to make again with what: the second like the first where its likelihood can, or the reverse."""
    from hmeta.spec.likelihoods import FAMILIES  # the planner is not needed to read fits

    for name, mended, like in ((pair[1], two, one), (pair[0], one, two)):
        family = FAMILIES.get(mended.likelihood)
        known = family.options.get(option, ()) if family else ()
        wanted = _option(like, option)
        for value in known:
            if _option(mended._replace(options={**mended.options, option: value}), option) == wanted:
                return (
                    f'fit the data of {name} again with {option} = "{value}" under [likelihood] of its model file: '
                    "hmeta fit DATA --model FILE (hmeta list models shows the shipped ones)"
                )
    return f"fit both again with the same {option}, under [likelihood] of the model file: hmeta fit DATA --model FILE"


def _convergence(read: Mapping[str, Fitted]) -> list[str]:
    return [
        f"{name} has NOT CONVERGED ({'; '.join(fitted.reasons) or 'see hmeta diagnose'}): its numbers, and all that "
        "uses them, cannot be trusted"
        for name, fitted in read.items()
        if not fitted.converged
    ]


def _across(facts: Mapping[str, Facts]) -> list[str]:
    notes = []
    kinds = sorted({fact.likelihood for fact in facts.values()})
    if len(kinds) > 1:
        noises = {f"{f.likelihood} {f.options['noise']}": None for f in facts.values() if "noise" in f.options}
        notes.append(
            f"tasks differ ({', '.join(kinds)}; noise {', '.join(sorted(noises))}): M is a ratio within each task and "
            "compares, d and meta_d do not"
        )
    numbers = sorted({n for fact in facts.values() for n in fact.n_options})
    if len({fact.n_options for fact in facts.values() if fact.n_options}) > 1:
        notes.append(f"numbers of alternatives differ between studies: m from {numbers[0]} to {numbers[-1]}")
    return notes


def _links(read: Mapping[str, Fitted]) -> list[str]:
    by_link: dict[str, list[str]] = {}
    for name, fitted in read.items():
        by_link.setdefault(fitted.link, []).append(name)
    if len(by_link) < 2 or "log" not in by_link:
        return []
    parameter = next(iter(read.values())).parameter
    return [
        f"{listed(by_link['log'])}: the log link keeps {parameter} above 0, which the other link does not; all "
        f"averages are of {parameter} itself"
    ]


def _slopes(read: Mapping[str, Fitted]) -> list[str]:
    free = {name for name, fitted in read.items() if "zroc_slope" in fitted.tree["posterior"].to_dataset()}
    fixed = [name for name in read if name not in free]
    if not free or not fixed:
        return []
    return [f"zroc_slope is 1 in {listed(fixed)} and estimated in {listed(sorted(free))}"]


def _shared_units(pairs: Iterable[tuple[str, str]], read: Mapping[str, Fitted]) -> list[str]:
    notes = []
    for one, two in pairs:
        names = [_units(read[name]) for name in (one, two)]
        common = names[0] & names[1]
        source = _same_data(read[one], read[two])
        if source and common:
            units = f"{len(common)} {unit_column(read[one])}{'s' * (len(common) > 1)}"
            notes.append(
                f"{one} and {two} have {units} of the same data ({source}) in common: differences treat the two "
                "as independent, and pooling counts shared answers twice"
            )
    return notes


def _units(fitted: Fitted) -> set[str]:
    column = unit_column(fitted)
    return set() if column is None else {str(value) for value in fitted.factors[column]}


def _same_data(one: Fitted, two: Fitted) -> str:
    """Return the data that both fits are of; "" where they are of different ones, as far as the fits say."""
    sources = [str(fitted.attributes.get("source", "")) for fitted in (one, two)]
    if sources[0] == sources[1] and sources[0]:
        return sources[0]
    same = one.observed is not None and two.observed is not None and one.observed.equals(two.observed)
    return "identical counts" if same else ""


def _describe(parameter: str, facts: Mapping[str, Facts]) -> dict[str, Any]:
    return {
        "parameter": parameter,
        "studies": {
            name: {
                "likelihood": fact.likelihood,
                "options": dict(fact.options),
                "sd_ratio": "estimated" if fact.free_spread else "1",
                "n_options": list(fact.n_options),
            }
            for name, fact in facts.items()
        },
    }
