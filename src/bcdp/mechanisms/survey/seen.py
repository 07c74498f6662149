"""How features go together, for menus that may see numbers in steps (docs/theory.md, section 4.5)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bcdp.correlation import Correlation, unrounded_odds, unrounded_q
from bcdp.correlation.models import Bounds, Ranges, Sets

Cuts = Mapping[str, tuple[float, ...]]


@dataclass(frozen=True)
class SeenInSteps:
    """A model's bounds as certificates use them for answers that may see some numbers in steps.

    What was measured of rounded numbers holds for steps only if their cuts were measured too, and odds never.
    """

    model: Correlation
    steps: Cuts

    @property
    def rounded(self) -> frozenset[str]:
        return self.model.rounded

    @property
    def products(self) -> Bounds:
        return self.model.products

    @property
    def ranges(self) -> Ranges:
        return self.model.ranges

    @property
    def cuts(self) -> Ranges:
        return self.model.cuts

    def q(self, feature: str, others: Collection[str]) -> float:
        unknown = any(not set(self.cuts.get(name, ())).issuperset(self.steps[name]) for name in self._marked(others))
        return unrounded_q(self.model, feature, others) if unknown else self.model.q(feature, others)

    def odds(self, feature: str, others: Collection[str]) -> float:
        marked = self._marked(others)
        return unrounded_odds(self.model, feature, others) if marked else self.model.odds(feature, others)

    def _marked(self, others: Collection[str]) -> list[str]:
        return [name for name in others if name in self.steps and name in self.rounded]

    def laws(self, feature: str, told: str) -> npt.NDArray[np.float64] | None:
        return self.model.laws(feature, told)

    def restricted(self, sets: Sets) -> Correlation:
        return self.model.restricted(sets)

    def to_dict(self) -> dict[str, Any]:
        return self.model.to_dict()
