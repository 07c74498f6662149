"""What if q and odds are as many times as large as a policy says that they might be?"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from bcdp.correlation.models import Bounds, Correlation, Ranges, Sets
from bcdp.errors import InputError
from bcdp.policy.base_feature import IfWrong


@dataclass(frozen=True)
class Exceeded:
    """Another model's bounds, those of the named features exceeded as `IfWrong` says; no distributions are known.

    >>> from bcdp.correlation import PerFeature
    >>> model = Exceeded(PerFeature(0.1, {}, default_odds=3.0), {"smoker": IfWrong(times=2, delta=1.5)})
    >>> model.q("smoker", {"age"}), model.odds("smoker", {"age"}), model.q("age", {"smoker"})
    (0.2, 5.0, 0.1)
    """

    model: Correlation
    named: Mapping[str, IfWrong]

    @property
    def alike(self) -> bool:
        return self.model.alike

    @property
    def rounded(self) -> frozenset[str]:
        return self.model.rounded

    @property
    def ranges(self) -> Ranges:
        return self.model.ranges

    @property
    def cuts(self) -> Ranges:
        return self.model.cuts

    @property
    def products(self) -> Bounds:
        return {key: self._q(key[0], q) for key, q in self.model.products.items()}

    def _q(self, feature: str, q: float) -> float:
        return self.named[feature].moved(q, 1.0).q if feature in self.named else q

    def q(self, feature: str, others: Collection[str]) -> float:
        return self._q(feature, self.model.q(feature, others))

    def odds(self, feature: str, others: Collection[str]) -> float:
        odds = self.model.odds(feature, others)
        return self.named[feature].moved(0.0, odds).odds if feature in self.named else odds

    def laws(self, feature: str, other: str) -> None:
        return None

    def restricted(self, sets: Sets) -> Correlation:
        return Exceeded(self.model.restricted(sets), self.named)

    def to_dict(self) -> dict[str, Any]:
        raise InputError("an exceeded correlation is a question about a plan, not the assumption of one")
