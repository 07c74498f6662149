"""What a survey's questions may rest on of a model: numbers known by their rounding (theory.md, 4.5), no odds."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from bcdp.correlation import Correlation, unrounded_odds
from bcdp.statistics import Target


@dataclass(frozen=True)
class _Seen:
    """A model, but for what its subclass says."""

    model: Correlation

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)


@dataclass(frozen=True)
class _WithoutOdds(_Seen):
    """What is known of how features are associated, odds left out."""

    def odds(self, feature: str, others: Collection[str]) -> float:
        return math.inf if others else 1.0


@dataclass(frozen=True)
class _SeenInSteps(_Seen):
    """What is known of how features are associated, where numbers that were seen rounded enter in steps.

    Then `q` holds if it knows their cuts, and odds do not (theory.md, 4.5).
    """

    unknown: frozenset[str]  # numbers whose cuts it does not know

    def q(self, feature: str, others: Collection[str]) -> float:
        return self.model.q(feature, others) if self.unknown.isdisjoint(others) else 1.0

    def odds(self, feature: str, others: Collection[str]) -> float:
        return unrounded_odds(self.model, feature, others)


def as_seen(correlation: Correlation, targets: Iterable[Target]) -> Correlation:
    """The model as the questions of a survey see it."""
    read = [stepped for target in targets for stepped in target.cuts_by_feature.items()]
    steps = [(name, cuts) for name, cuts in read if name in correlation.rounded]
    unknown = frozenset(name for name, cuts in steps if not set(cuts) <= set(correlation.cuts.get(name, ())))
    return _SeenInSteps(correlation, unknown) if steps else correlation


def without_odds(correlation: Correlation) -> Correlation:
    """The model with no limit on odds: what keeps a demand under this one keeps it under the given one too."""
    return _WithoutOdds(correlation)
