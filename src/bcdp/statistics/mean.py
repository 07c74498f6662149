"""The means of numbers, of features with two values (the share of the second), and of scores."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from bcdp.policy import Policy
from bcdp.policy.names import MeanNames
from bcdp.statistics.one_population import mean_between, shares_among, value_shares
from bcdp.statistics.shared.follow_ups import ASKED, ASKED_ANSWERED, among_words, asked_mean, asked_mean_sections
from bcdp.statistics.shared.interval import Estimate, bounded
from bcdp.statistics.shared.linear_form import LinearForm
from bcdp.statistics.shared.nonresponse import AMONG, answered_mean, mean_of_shares, mean_sections
from bcdp.statistics.shared.protocol import Array, Decoder, Goal, Means, Statistic, Weight
from bcdp.statistics.shared.rows import Row, Section, as_dates
from bcdp.statistics.shared.target import Target
from bcdp.statistics.shared.value_targets import mean_target

_PARTIAL = (AMONG, ASKED, ASKED_ANSWERED)  # rules by which a mean is not about all people


class Mean(Statistic):
    """The means of numeric, binary and ordinal features."""

    kind: ClassVar[str] = "mean"
    form: ClassVar[str] = "{mean: [names]}"
    key: ClassVar[str] = "means"
    features: MeanNames = Field(alias="mean")
    weight: Weight = 1.0

    def targets(self, policy: Policy) -> Iterator[tuple[Target, float]]:
        return ((mean_target(policy, name), 1.0) for name in self.features)

    def estimate(self, decoder: Decoder, confidence: float) -> dict[str, Estimate]:
        return {name: _mean(decoder, name, confidence) for name in self.features}

    @classmethod
    def document(cls, estimates: Mapping[str, Estimate]) -> dict[str, Any]:
        return {cls.key: {name: mean.to_dict() for name, mean in estimates.items()}}

    @classmethod
    def sections(cls, policy: Policy, estimates: Mapping[str, Estimate]) -> Iterator[Section]:
        rows = tuple(
            Row(
                name,
                _label(policy, name),
                mean,
                policy.features[name].span,
                (name,),
                mean.answers,
                in_units=policy.features[name].in_units,
            )
            for name, mean in estimates.items()
        )
        if rows:
            note = (
                "In the features' own units; of two values the share of the second, of ordered values the mean score."
            )
            partial = {rule: [name for name, mean in estimates.items() if mean.rule == rule] for rule in _PARTIAL}
            remarks = tuple(f"{rule}: {', '.join(names)}" for rule, names in partial.items() if names)
            dates = tuple(line for row in rows for line in _dated(policy, row))
            yield Section("Means", ("feature", "mean"), rows, note=note, remarks=remarks + dates)
        yield from mean_sections(policy, estimates)
        yield from asked_mean_sections(policy, estimates)

    def goals(self, policy: Policy, data: Means) -> Sequence[Goal]:
        return [_goal(policy, name, data) for name in self.features]


def _dated(policy: Policy, row: Row) -> tuple[str, ...]:
    feature = policy.features[row.name]
    return as_dates(feature.written, [row]) if feature.is_date else ()


def _label(policy: Policy, name: str) -> str:
    feature = policy.features[name]
    if feature.follows:
        return f"{feature.share}, {among_words(feature)}"
    return f"{feature.share}, {AMONG}" if feature.own else feature.share


def _mean(decoder: Decoder, name: str, confidence: float) -> Estimate:
    feature, target = decoder.policy.features[name], mean_target(decoder.policy, name)
    if feature.extras:
        among = (
            asked_mean(decoder, target, feature, confidence)
            if feature.follows
            else answered_mean(decoder, target, feature.span, confidence)
        )
        return _among(decoder, name, among)
    low, high = feature.span
    scale = (high - low) / 2
    decoded = decoder.decode(target)
    value, se, start, end = (float(number[0]) for number in bounded(decoded, -1.0, confidence))
    value, start, end = (min(max(low + (x + 1) * scale, low), high) for x in (value, start, end))
    raw = low + (float(decoded.raw[0]) + 1) * scale
    if math.isfinite(raw):
        value = _nearest_mean(decoder, name, value)
        start, end = min(start, value), max(end, value)
    linear = LinearForm(decoder, confidence, {target: np.array([scale])}, feature.span)
    return Estimate(
        value, se * scale, start, high=end, answers=decoded.answers, raw=raw, rule=feature.rule, linear=linear
    )


def _among(decoder: Decoder, name: str, mean: Estimate) -> Estimate:
    """A mean among those who have a value: of scores that of the frequencies among them."""
    feature = decoder.policy.features[name]
    shares = shares_among(decoder, name) if feature.scale else None
    if shares is None or math.isnan(mean.value):
        return mean
    value = float(shares @ np.array(feature.scale))
    return replace(mean, value=value, low=min(mean.low, value), high=max(mean.high, value))


def _nearest_mean(decoder: Decoder, name: str, mean: float) -> float:
    """In the population that all estimates describe: of scores that of the frequencies."""
    feature = decoder.policy.features[name]
    if feature.is_number:
        return mean_between(decoder, name, mean)
    shares = value_shares(decoder, name) if feature.scale else None
    return mean if shares is None else float(shares @ np.array(feature.scale))


def _goal(policy: Policy, name: str, data: Means) -> Goal:
    (low, high), target = policy.features[name].span, mean_target(policy, name)

    def solved(means: Means) -> Array:
        if policy.features[name].extras:
            return low + mean_of_shares(means[target]) * (high - low)
        return low + (np.clip(means[target], -1, 1) + 1) * (high - low) / 2

    return Goal(
        f"mean of {name}",
        lambda estimates: np.array([estimates[name].value]),
        solved,
        truth=solved(data),
        metric=np.eye(1),
        blind=np.array([(low + high) / 2]),
        guesses=(np.array([low]), np.array([high])),
    )
