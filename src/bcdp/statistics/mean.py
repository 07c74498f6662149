"""The means of numbers, and of features with two values: the share of the second."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from bcdp.policy import Policy
from bcdp.policy.names import NumberNames
from bcdp.statistics.answered import AMONG, answered_mean, mean_of_shares, mean_sections
from bcdp.statistics.interval import Estimate, bounded
from bcdp.statistics.protocol import Array, Decoder, Goal, Means, Statistic, Weight
from bcdp.statistics.rows import Row, Section
from bcdp.statistics.target import Single, Target


class Mean(Statistic):
    """The means of numeric and binary features."""

    kind: ClassVar[str] = "mean"
    form: ClassVar[str] = "{mean: [names]}"
    key: ClassVar[str] = "means"
    features: NumberNames = Field(alias="mean")
    weight: Weight = 1.0

    def targets(self, policy: Policy) -> Iterator[tuple[Target, float]]:
        return ((Single(name), 1.0) for name in self.features)

    def estimate(self, decoder: Decoder, confidence: float) -> dict[str, Estimate]:
        return {name: _mean(decoder, name, confidence) for name in self.features}

    @classmethod
    def document(cls, estimates: Mapping[str, Estimate]) -> dict[str, Any]:
        return {cls.key: {name: mean.to_dict() for name, mean in estimates.items()}}

    @classmethod
    def sections(cls, policy: Policy, estimates: Mapping[str, Estimate]) -> Iterator[Section]:
        rows = tuple(
            Row(name, _label(policy, name), mean, policy.features[name].span, (name,), mean.answers)
            for name, mean in estimates.items()
        )
        if rows:
            note = "In the features' own units; of two values, the share of the second."
            silent = [name for name, mean in estimates.items() if mean.rule == AMONG]
            remarks = (f"{AMONG}: {', '.join(silent)}",) if silent else ()
            yield Section("Means", ("feature", "mean"), rows, note=note, remarks=remarks)
        yield from mean_sections(policy, estimates)

    def goals(self, policy: Policy, data: Means) -> Sequence[Goal]:
        return [_goal(policy, name, data) for name in self.features]


def _label(policy: Policy, name: str) -> str:
    feature = policy.features[name]
    return f"{feature.share}, {AMONG}" if feature.own else feature.share


def _mean(decoder: Decoder, name: str, confidence: float) -> Estimate:
    feature = decoder.policy.features[name]
    if feature.own:
        return answered_mean(decoder, name, confidence)
    low, high = feature.span
    scale = (high - low) / 2
    found = decoder.decode(Single(name))
    value, se, start, end = (float(number[0]) for number in bounded(found, -1.0, confidence))
    value, start, end = (min(max(low + (x + 1) * scale, low), high) for x in (value, start, end))
    raw = low + (float(found.value[0]) + 1) * scale
    return Estimate(value, se * scale, start, end, found.answers, raw, feature.rule)


def _goal(policy: Policy, name: str, data: Means) -> Goal:
    low, high = policy.features[name].span

    def solved(means: Means) -> Array:
        if policy.features[name].own:
            return low + mean_of_shares(means[Single(name)]) * (high - low)
        return low + (np.clip(means[Single(name)], -1, 1) + 1) * (high - low) / 2

    return Goal(
        f"mean of {name}",
        lambda estimates: np.array([estimates[name].value]),
        solved,
        solved(data),
        np.eye(1),
        np.array([(low + high) / 2]),
        (np.array([low]), np.array([high])),
    )
