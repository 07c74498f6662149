"""Correlation as a sample shows it: limits that hold together with a stated confidence."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from bcdp.correlation.models import ROUNDING, Bounds, Correlation, Ranges, Sets, listed
from bcdp.errors import InputError, refuse
from bcdp.policy import Policy

Array = npt.NDArray[np.float64]


def check_measurable(policy: Policy, source: str) -> None:
    """Raises `InputError` for a policy with follow-ups, whose q and odds no sample measures yet."""
    if policy.blocks:
        accepted = "q and odds that are stated, for a policy with follow-ups"
        raise refuse("correlation", source, accepted)


@dataclass(frozen=True)
class Estimated:
    """Limits for some sets of others, which hold for every subset too (theory.md, Proposition 2)."""

    limits: Mapping[str, Mapping[frozenset[str], float]]  # of each feature
    hulls: Mapping[tuple[str, str], Array]
    observed: Mapping[tuple[str, str], float]  # the distances seen, without any margin
    notes: tuple[str, ...]  # what could not be bounded and why, and what else to know before a plan relies on it
    source: str
    rounded: frozenset[str] = frozenset()  # numbers
    products: Bounds = field(default_factory=dict)
    ranges: Ranges = field(default_factory=dict)
    pair_odds: Mapping[tuple[str, str], float] = field(default_factory=dict)  # limits on the odds of pairs
    cuts: Ranges = field(default_factory=dict)

    @property
    def alike(self) -> bool:
        return False

    def q(self, feature: str, others: Collection[str]) -> float:
        if not others:
            return 0.0
        wanted = frozenset(others)
        return min((q for bounded, q in self.limits.get(feature, {}).items() if wanted <= bounded), default=1.0)

    def odds(self, feature: str, others: Collection[str]) -> float:
        if len(others) == 1:
            return self.pair_odds.get((feature, next(iter(others))), math.inf)
        return math.inf if others else 1.0

    def laws(self, feature: str, other: str) -> Array | None:
        return self.hulls.get((feature, other))

    def restricted(self, sets: Sets) -> Correlation:
        return listed(self, sets, self.source)

    def to_dict(self) -> dict[str, Any]:
        raise InputError("limits are written into a plan for the sets that the plan asks; call restricted()")


@dataclass(frozen=True)
class Tree:
    """Limits of pairs, and the assumption that the features form a tree, whichever: neighbours screen off the rest.

    A set is reached over at most as many branches as it has features, and no branch moves more than its first feature;
    all together move by at most `1 - product of (1 - q)`, and the odds by at most the product of theirs
    (measured-correlation.md). No sample proves that it is a tree.
    """

    pairs: Estimated
    source: str

    @property
    def alike(self) -> bool:
        return False

    @property
    def rounded(self) -> frozenset[str]:
        return self.pairs.rounded

    @property
    def ranges(self) -> Ranges:
        return self.pairs.ranges

    @property
    def cuts(self) -> Ranges:
        return self.pairs.cuts

    @property
    def products(self) -> Bounds:
        return self.pairs.products

    @property
    def observed(self) -> Mapping[tuple[str, str], float]:
        """The distances seen, without any margin."""
        return self.pairs.observed

    @property
    def notes(self) -> tuple[str, ...]:
        """What could not be bounded, and why."""
        return self.pairs.notes

    def q(self, feature: str, others: Collection[str]) -> float:
        near = sorted((self.pairs.q(feature, {other}) for other in self.pairs.limits if other != feature), reverse=True)
        branches = math.prod(1 - q for q in near[: len(frozenset(others))])
        return min(self.pairs.q(feature, others), 1 - branches + ROUNDING)

    def odds(self, feature: str, others: Collection[str]) -> float:
        near = sorted(
            (self.pairs.odds(feature, {other}) for other in self.pairs.limits if other != feature), reverse=True
        )
        branches = math.prod(near[: len(frozenset(others))]) * (1 + ROUNDING)
        return min(self.pairs.odds(feature, others), branches)

    def laws(self, feature: str, other: str) -> Array | None:
        return self.pairs.laws(feature, other)

    def restricted(self, sets: Sets) -> Correlation:
        return listed(self, sets, self.source)

    def to_dict(self) -> dict[str, Any]:
        raise InputError("limits are written into a plan for the sets that the plan asks; call restricted()")
