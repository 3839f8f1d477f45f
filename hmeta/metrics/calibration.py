"""How far stated probabilities are from the share of right answers: binned errors and reliability curves.

Every binned error depends on its bins; `ece_bins` shows by how much, and `smooth_ece` and the parts of the
Brier score use none.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from hmeta.core.errors import DataError
from hmeta.metrics.binning import BinSums, Edges, Mass, bin_sums
from hmeta.metrics.measure import Floats, curve, measure
from hmeta.metrics.needs import answers
from hmeta.metrics.tally import ratio

BIN_NUMBERS = (5, 10, 15, 20, 30, 50)
"""Numbers of bins met in papers: their spread shows how much an ECE owes to its bins."""


@measure(
    label="ECE",
    family="calibration",
    columns=("probability", "correct"),
    unit="probability",
    better="lower",
    reference="Naeini, Cooper & Hauskrecht (2015); Guo et al. (2017), eq. 3",
    needs=(answers,),
    neutral=0.0,
    default=True,
)
def ece(
    probability: Floats,
    correct: Floats,
    *,
    weights: Floats,
    bins: int = 10,
    mass: Mass = "equal_width",
    edges: Edges = "left",
) -> Floats:
    """Mean distance of stated confidence and accuracy over bins: the expected calibration error.

    Σ_b (n_b/n)·|mean confidence in b − accuracy in b|, over `bins` bins of [0, 1].

    Edges: with ``edges="left"`` (default; as in a NumPy histogram) bins are [a, b) and the last holds 1 too, so that
    certainty never gets a bin of its own; with ``"right"`` (as in Guo et al.) they are (a, b] and the first holds 0
    too. Stated confidences stand on edges (0.7, 0.8, 0.9), so the rule can decide the number: state it. Values within
    1e-6 of an edge are on it.

    ``mass="equal_mass"``: bins with equal shares of the answers; answers of equal confidence stay together and go to
    the bin that holds the middle of their ranks; fewer than `bins` bins remain where levels are few.

    It is biased upwards in small samples and rewards a confidence that never moves: read it beside
    `brier_resolution`. Undefined without answers.
    """
    return bin_sums(probability, correct, weights, bins, mass, edges).expected_error


@measure(
    label="adaptive ECE",
    family="calibration",
    columns=("probability", "correct"),
    unit="probability",
    better="lower",
    reference="Nguyen & O'Connor (2015), §4.1; Nixon et al. (2019), adaptive calibration error",
    needs=(answers,),
    neutral=0.0,
)
def adaptive_ece(
    probability: Floats, correct: Floats, *, weights: Floats, bins: int = 10, edges: Edges = "left"
) -> Floats:
    """Mean distance of stated confidence and accuracy over bins that hold equal shares of the answers (AECE).

    The same as `ece` with ``mass="equal_mass"``. Answers of equal confidence are never split: a level whose answers
    stand between the shares F₋ and F₊ of all answers, in order of confidence, goes to bin ⌊B·(F₋ + F₊)/2⌋, and where
    that middle is an edge, by `edges`. Undefined without answers.
    """
    return bin_sums(probability, correct, weights, bins, "equal_mass", edges).expected_error


@measure(
    label="maximum calibration error",
    family="calibration",
    columns=("probability", "correct"),
    unit="probability",
    better="lower",
    reference="Naeini, Cooper & Hauskrecht (2015), MCE",
    needs=(answers,),
    neutral=0.0,
)
def max_calibration_error(
    probability: Floats,
    correct: Floats,
    *,
    weights: Floats,
    bins: int = 10,
    mass: Mass = "equal_width",
    edges: Edges = "left",
) -> Floats:
    """Largest distance of stated confidence and accuracy among the bins that hold answers.

    Bins as for `ece`. One answer alone in a bin can decide it: look at the counts of `reliability`, or use bins of
    equal mass. Undefined without answers.
    """
    return bin_sums(probability, correct, weights, bins, mass, edges).largest_error


@measure(
    label="RMS calibration error",
    family="calibration",
    columns=("probability", "correct"),
    unit="probability",
    better="lower",
    reference="Hendrycks, Mazeika & Dietterich (2019), appendix; Kumar, Liang & Ma (2019), §2",
    needs=(answers,),
    neutral=0.0,
)
def rms_calibration_error(
    probability: Floats,
    correct: Floats,
    *,
    weights: Floats,
    bins: int = 10,
    mass: Mass = "equal_width",
    edges: Edges = "left",
) -> Floats:
    """Root mean square distance of stated confidence and accuracy over bins.

    √(Σ_b (n_b/n)·(mean confidence in b − accuracy in b)²), bins as for `ece`; never below `ece` with the same bins.
    Undefined without answers.
    """
    return bin_sums(probability, correct, weights, bins, mass, edges).rms_error


@measure(
    label="overconfidence",
    family="calibration",
    columns=("probability", "correct"),
    unit="probability",
    better="none",
    reference="Lichtenstein, Fischhoff & Phillips (1982), over/underconfidence",
    needs=(answers,),
    neutral=0.0,
)
def overconfidence(probability: Floats, correct: Floats, *, weights: Floats) -> Floats:
    """Mean confidence less accuracy: above 0 is overconfident, below 0 underconfident.

    Its size is the calibration error that remains when all answers share one bin; over- and underconfidence at
    different levels cancel. Undefined without answers.
    """
    return ratio(weights @ (probability - correct), weights.sum(axis=-1))


@curve(
    label="reliability curve",
    family="calibration",
    columns=("probability", "correct"),
    reference="Murphy & Winkler (1977); interval: Wilson (1927)",
    needs=(answers,),
)
def reliability(
    probability: Floats,
    correct: Floats,
    *,
    weights: Floats,
    bins: int = 10,
    mass: Mass = "equal_width",
    edges: Edges = "left",
    level: float = 0.95,
) -> dict[str, Floats]:
    """Accuracy against stated confidence, bin by bin, with counts and intervals.

    Bins as for `ece`; those without answers are left out.

    ``lower``, ``upper``: the edges of the bin; with equal mass the lowest and the highest confidence in it.
    ``n``: answers. ``confidence``: their mean. ``accuracy``: share of right ones, with its Wilson interval
    ``accuracy_lower`` to ``accuracy_upper`` at `level`, which holds for independent answers.
    """
    if not 0 < level < 1:
        raise DataError("unusable level of an interval", received=f"{level:g}", allowed="between 0 and 1")
    sums = bin_sums(probability, correct, weights, bins, mass, edges)
    there = sums.weight > 0
    n, accuracy = sums.weight[there], ratio(sums.outcome, sums.weight)[there]
    low, high = wilson(accuracy, n, level)
    lower, upper = (np.arange(bins) / bins)[there], (np.arange(1, bins + 1) / bins)[there]
    if mass == "equal_mass":
        lower, upper = _extremes(probability, weights, sums)
    return {
        "lower": lower,
        "upper": upper,
        "n": n,
        "confidence": ratio(sums.confidence, sums.weight)[there],
        "accuracy": accuracy,
        "accuracy_lower": low,
        "accuracy_upper": high,
    }


@curve(
    label="ECE by number of bins",
    family="calibration",
    columns=("probability", "correct"),
    reference="Nixon et al. (2019), §3; Kumar, Liang & Ma (2019), §3",
    needs=(answers,),
)
def ece_bins(probability: Floats, correct: Floats, *, weights: Floats, edges: Edges = "left") -> dict[str, Floats]:
    """ECE with 5, 10, 15, 20, 30 and 50 bins, of equal width and of equal mass.

    Conclusions that change along this table are about the bins. ``occupied_width`` and ``occupied_mass`` count the
    bins that hold answers: where they stop growing, every level has a bin of its own.
    """
    found: dict[Mass, list[BinSums]] = {
        mass: [bin_sums(probability, correct, weights, bins, mass, edges) for bins in BIN_NUMBERS]
        for mass in ("equal_width", "equal_mass")
    }
    return {
        "bins": np.array(BIN_NUMBERS, dtype=np.float64),
        "equal_width": np.array([float(s.expected_error) for s in found["equal_width"]]),
        "equal_mass": np.array([float(s.expected_error) for s in found["equal_mass"]]),
        "occupied_width": np.array([float((s.weight > 0).sum()) for s in found["equal_width"]]),
        "occupied_mass": np.array([float((s.weight > 0).sum()) for s in found["equal_mass"]]),
    }


def wilson(share: Floats, n: Floats, level: float) -> tuple[Floats, Floats]:
    """Return Wilson's score interval of shares of `n` answers each, same shape."""
    z = ndtri((1 + level) / 2)
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return np.clip(middle - half, 0.0, 1.0), np.clip(middle + half, 0.0, 1.0)


def _extremes(probability: Floats, weights: Floats, sums: BinSums) -> tuple[Floats, Floats]:
    """Return the lowest and highest confidence of each occupied bin: bins are runs of answers in their order."""
    order = np.argsort(probability, kind="stable")
    order = order[weights[order] > 0]
    end = np.cumsum(sums.weight[sums.weight > 0])
    reached = np.cumsum(weights[order])
    last = np.minimum(np.searchsorted(reached, end * (1 - 1e-12)), len(order) - 1)
    first = np.concatenate([[0], last[:-1] + 1])
    return probability[order][first], probability[order][last]
