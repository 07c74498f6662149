"""Bounds that hold within every group of open values: the largest over the groups (theory.md, section 4.10)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bcdp.correlation.estimated import Estimated
from bcdp.correlation.models import Correlation, Sets, Unrounded, listed
from bcdp.correlation.prior import FinitePrior
from bcdp.errors import InputError
from bcdp.policy import Policy


@dataclass(frozen=True)
class GroupedPrior(Unrounded):
    """A known distribution of the features in each group of open values that occurs; no common table of shares is
    known.

    >>> import numpy as np
    >>> laws = [np.array([[3, 1], [1, 3]]) / 8, np.array([[1, 3], [3, 1]]) / 8]
    >>> both = GroupedPrior({(g,): FinitePrior(("a", "b"), law, "example") for g, law in enumerate(laws)}, "example")
    >>> round(both.q("a", {"b"}), 6)
    0.5
    """

    parts: Mapping[tuple[int, ...], FinitePrior]  # by the number of each open feature's value
    source: str

    def q(self, feature: str, others: Collection[str]) -> float:
        return max(part.q(feature, others) for part in self.parts.values())

    def odds(self, feature: str, others: Collection[str]) -> float:
        return max(part.odds(feature, others) for part in self.parts.values())

    def laws(self, feature: str, other: str) -> None:
        return None

    def restricted(self, sets: Sets) -> Correlation:
        return listed(self, sets, self.source)

    def to_dict(self) -> dict[str, Any]:
        raise InputError("a prior is written into a plan as bounds of the sets that the plan asks; call restricted()")


def largest(parts: Sequence[Estimated], source: str, notes: tuple[str, ...]) -> Estimated:
    """The limits that hold in all groups together, where each group has its own; what one lacks, all lack."""
    first = parts[0]
    limits = {
        feature: {others: max(part.limits[feature][others] for part in parts) for others in _common(
            [part.limits[feature] for part in parts])}
        for feature in first.limits
    }  # fmt: skip

    def most(name: str) -> dict[Any, float]:
        mappings = [getattr(part, name) for part in parts]
        return {key: max(mapping[key] for mapping in mappings) for key in _common(mappings)}

    return Estimated(
        limits, {}, most("observed"), notes=notes, source=source, rounded=first.rounded, products=most("products"),
        ranges=first.ranges, pair_odds=most("pair_odds"), cuts=first.cuts,
    )  # fmt: skip


def _common(mappings: Sequence[Mapping[Any, float]]) -> list[Any]:
    return [key for key in mappings[0] if all(key in mapping for mapping in mappings)]


def group_names(policy: Policy) -> Iterator[str]:
    """Each group of open values in words."""
    for values in policy.groups:
        yield ", ".join(f"{name} = {value}" for name, value in zip(policy.open, values, strict=True))


def within_groups(policy: Policy) -> str:
    """What to add to where a bound comes from."""
    return f", within every group of {', '.join(policy.open)}" if policy.open else ""
