"""A statistic that the package does not have, to see that one file and one line in the registry are enough."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from bcdp.policy import Policy
from bcdp.policy.names import CategoryNames
from bcdp.statistics import Decoder, Estimate, Goal, Means, Row, Section, Single, Statistic, Target
from bcdp.statistics.shared.interval import bounded
from bcdp.statistics.shared.protocol import Weight


class Percentage(Statistic):
    """The share of the second value of binary features, in percent."""

    kind: ClassVar[str] = "percentage"
    form: ClassVar[str] = "{percentage: [names]}"
    key: ClassVar[str] = "percentages"
    features: CategoryNames = Field(alias="percentage")
    weight: Weight = 1.0

    def targets(self, policy: Policy) -> Iterator[tuple[Target, float]]:
        return ((Single(name), 1.0) for name in self.features)

    def estimate(self, decoder: Decoder, confidence: float) -> dict[str, Estimate]:
        return {name: _percentage(decoder, name, confidence) for name in self.features}

    @classmethod
    def document(cls, estimates: Mapping[str, Estimate]) -> dict[str, Any]:
        return {cls.key: {name: found.to_dict() for name, found in estimates.items()}} if estimates else {}

    @classmethod
    def sections(cls, policy: Policy, estimates: Mapping[str, Estimate]) -> Iterator[Section]:
        rows = tuple(
            Row(name, f"{policy.features[name].share}, in percent", found, (0.0, 100.0), (name,), found.answers)
            for name, found in estimates.items()
        )
        if rows:
            yield Section("Percentages", ("feature", "percent"), rows)

    def goals(self, policy: Policy, data: Means) -> Sequence[Goal]:
        return [_goal(name, data) for name in self.features]


def _percentage(decoder: Decoder, name: str, confidence: float) -> Estimate:
    found = decoder.decode(Single(name))
    value, se, low, high = (float(number[0]) for number in bounded(found, -1.0, confidence))
    return Estimate(50 * (1 + value), 50 * se, 50 * (1 + low), 50 * (1 + high), found.answers, 50 * (1 + value))


def _goal(name: str, data: Means) -> Goal:
    def solved(means: Means) -> np.ndarray:
        return 50 * (1 + means[Single(name)])

    return Goal(
        f"percentage of {name}", lambda found: np.array([found[name].value]), solved, solved(data), np.eye(1),
        np.array([50.0]),
    )  # fmt: skip
