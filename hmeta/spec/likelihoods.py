"""The likelihoods that a model file can name: their parameters, links, closed options, and what a fit reports."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple


class View(NamedTuple):
    """One parameter on another scale: `link` maps the quantity to the parameter, as a link does."""

    of: str
    link: str


@dataclass(frozen=True)
class Family:
    """What a model file may say about one likelihood; the first value of each option is its default."""

    task: str  # the kind of task it needs
    options: dict[str, tuple[str, ...]]
    links: dict[str, tuple[str, ...]]  # parameter -> links; the first is the default
    optional: frozenset[str] = frozenset()  # parameters that a model may leave out
    lowest: float = 0.0  # least value of the confidence variable; -inf frees the whole ladder
    headline: str = "M"  # what a fit reports unless asked otherwise
    views: dict[str, View] = field(default_factory=dict)  # further quantities at the cells
    from_ratings: frozenset[str] = frozenset({"M"})  # what needs right and wrong answers and varying confidence

    @property
    def required(self) -> tuple[str, ...]:
        """The parameters that every model must describe."""
        return tuple(name for name in self.links if name not in self.optional)


FAMILIES = {
    "binary": Family(
        task="binary",
        options={
            "noise": ("normal", "logistic", "gumbel_min", "gumbel_max"),
            "meta_c": ("absolute", "relative"),
        },
        links={"d": ("identity",), "c": ("identity",), "M": ("identity", "log"), "sd_ratio": ("log",)},
        optional=frozenset({"sd_ratio"}),
    ),
    "mafc": Family(
        task="mafc",
        options={"noise": ("gumbel", "normal"), "rule": ("gap", "max")},
        links={"d": ("identity",), "M": ("identity", "log")},
    ),
    "type2": Family(
        task="open",
        options={},
        links={"logit_accuracy": ("identity",), "d_a": ("identity",), "zroc_slope": ("log",)},
        optional=frozenset({"zroc_slope"}),
        lowest=-float("inf"),
        headline="auroc2",
        views={"auroc2": View("d_a", "auroc"), "accuracy": View("logit_accuracy", "logit")},
        from_ratings=frozenset({"auroc2", "d_a", "zroc_slope"}),
    ),
}
"""By likelihood name. Without `sd_ratio` the ratio is 1, and without `zroc_slope` the slope."""


def option_conflict(likelihood: str, options: dict[str, str]) -> str | None:
    """Return why two valid options cannot go together, or None."""
    if likelihood == "mafc" and options["rule"] == "max" and options["noise"] != "normal":
        return 'rule "max" needs noise "normal": under Gumbel noise the largest sample says nothing about correctness'
    return None
