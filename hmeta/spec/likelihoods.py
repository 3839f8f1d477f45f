"""The likelihoods that a model file can name, with their parameters, links and closed options."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Family:
    """What a model file may say about one likelihood; the first value of each option is its default."""

    options: dict[str, tuple[str, ...]]
    links: dict[str, tuple[str, ...]]  # parameter -> links; the first is the default
    optional: frozenset[str] = frozenset()  # parameters that a model may leave out

    @property
    def required(self) -> tuple[str, ...]:
        """The parameters that every model must describe."""
        return tuple(name for name in self.links if name not in self.optional)


FAMILIES = {
    "binary": Family(
        options={
            "noise": ("normal", "logistic", "gumbel_min", "gumbel_max"),
            "meta_c": ("absolute", "relative"),
        },
        links={"d": ("identity",), "c": ("identity",), "M": ("identity", "log"), "sd_ratio": ("log",)},
        optional=frozenset({"sd_ratio"}),
    ),
    "mafc": Family(
        options={"noise": ("gumbel", "normal"), "rule": ("gap", "max")},
        links={"d": ("identity",), "M": ("identity", "log")},
    ),
}
"""By likelihood name, which is also the kind of task it needs. Without `sd_ratio` the ratio is 1."""


def option_conflict(likelihood: str, options: dict[str, str]) -> str | None:
    """Return why two valid options cannot go together, or None."""
    if likelihood == "mafc" and options["rule"] == "max" and options["noise"] != "normal":
        return 'rule "max" needs noise "normal": under Gumbel noise the largest sample says nothing about correctness'
    return None
