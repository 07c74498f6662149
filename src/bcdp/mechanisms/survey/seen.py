"""How a survey's questions see numbers of which a sample knows no more than their rounding (docs/theory.md, 4.5)."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from bcdp.correlation import Correlation, unrounded_odds
from bcdp.statistics import Target
from bcdp.statistics.cells import steps_of


@dataclass(frozen=True)
class _SeenInSteps:
    """What is known of how features go together, where numbers that were seen rounded enter in steps.

    Then `q` holds if it knows their cuts, and odds do not (docs/theory.md, 4.5).
    """

    model: Correlation
    unknown: frozenset[str]  # numbers whose cuts it does not know

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)

    def q(self, feature: str, others: Collection[str]) -> float:
        return self.model.q(feature, others) if self.unknown.isdisjoint(others) else 1.0

    def odds(self, feature: str, others: Collection[str]) -> float:
        return unrounded_odds(self.model, feature, others)


def as_seen(correlation: Correlation, targets: Iterable[Target]) -> Correlation:
    """The model as the questions of a survey see it."""
    read = [place for target in targets for place in steps_of(target)]
    steps = [(name, cuts) for name, cuts in read if name in correlation.rounded]
    unknown = frozenset(name for name, cuts in steps if not set(cuts) <= set(correlation.cuts.get(name, ())))
    return _SeenInSteps(correlation, unknown) if steps else correlation
