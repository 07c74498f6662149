"""How often each value of a feature occurs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import nlargest
from typing import Any, ClassVar, cast

import numpy as np
from pydantic import Field

from bcdp.policy import Feature, MultipleFeature, Policy
from bcdp.policy.names import CountedNames
from bcdp.randomizers import binary_information, categorical_information
from bcdp.statistics.code_groups import fitted
from bcdp.statistics.many_shares import ManyShares
from bcdp.statistics.shared.block_targets import item_labels, item_target
from bcdp.statistics.shared.decoded_values import Decoded
from bcdp.statistics.shared.follow_ups import asked_items, asked_share_sections, asked_shares
from bcdp.statistics.shared.interval import Estimate, bounded
from bcdp.statistics.shared.linear_form import LinearForm, SomeNumbers
from bcdp.statistics.shared.nonresponse import answered_shares, share_sections
from bcdp.statistics.shared.protocol import Array, Decoder, Goal, Means, Statistic, Weight
from bcdp.statistics.shared.rows import LISTED, MANY, Row, Section
from bcdp.statistics.shared.target import Single, Target
from bcdp.statistics.shared.value_targets import ValueMeans

_LEAST = 1e-3  # a budget below which errors keep their ratio

SHOWN = 20  # of them

Shares = Mapping[Any, Estimate]  # of each value


class Frequency(Statistic):
    """How often each value of features occurs; of a list to tick, each item.

    The shares of up to 10,000 values sum to 1. Of more, each is the unbiased one moved into its range: to make a
    million noisy shares sum to 1 would take most of the frequent ones. Of more than 100 values each interval has the
    confidence with which all of them hold together (Bonferroni): then also those of the values that turn out to be the
    most frequent.
    """

    kind: ClassVar[str] = "frequency"
    form: ClassVar[str] = "{frequency: [names]}"
    key: ClassVar[str] = "frequencies"
    features: CountedNames = Field(alias="frequency")
    weight: Weight = 1.0

    def targets(self, policy: Policy) -> Iterator[tuple[Target, float]]:
        return ((_target(policy, name), 1.0) for name in self.features)

    def scale(self, policy: Policy, target: Target, budget: float) -> float:
        size = target.size(policy)
        if isinstance(target, ValueMeans):  # items, each of which is a mean on half the scale
            return 4.0 / size
        return scale_of_frequencies(size, budget)

    def estimate(self, decoder: Decoder, confidence: float) -> dict[str, Shares]:
        return {name: _shares(decoder, name, confidence) for name in self.features}

    @classmethod
    def document(cls, estimates: Mapping[str, Shares]) -> dict[str, Any]:
        return {
            cls.key: {
                name: {str(value): share.to_dict() for value, share in _written(shares)}
                for name, shares in estimates.items()
            }
        }

    @classmethod
    def sections(cls, policy: Policy, estimates: Mapping[str, Shares]) -> Iterator[Section]:
        for name, shares in estimates.items():
            label = policy.features[name].label
            rows = tuple(
                Row(
                    str(value),
                    f"{label} = {value}",
                    share,
                    possible=(0.0, 1.0),
                    key=(name, value),
                    answers=share.answers,
                    raw=share.raw,
                )
                for value, share in _shown(shares)
            )
            title = f"{name}, from {rows[0].answers:,} answers"
            together = "of all values together" if len(shares) > MANY else ""
            remarks = (f"The {len(rows)} most frequent of {len(shares):,} values.",) if together else ()
            interval = f", {together}" if together else ""
            yield Section(label, ("value", "frequency"), rows, "bars", title, interval=interval, remarks=remarks)
            if isinstance(shares, ManyShares):
                continue
            yield from share_sections(label, name, shares)
            yield from asked_share_sections(policy, name, shares)

    def goals(self, policy: Policy, data: Means) -> Sequence[Goal]:
        return [_goal(policy, name, data) for name in self.features]


def scale_of_frequencies(size: int, budget: float) -> float:
    """The error of a binary feature over that of so many frequencies at the same budget."""
    budget = max(budget, _LEAST)
    return float(categorical_information(size, budget) / binary_information(budget)) if size > 1 else 1.0


def _written(shares: Shares) -> Iterable[tuple[Any, Estimate]]:
    """The values in their order; of more than can be looked through the most frequent."""
    return shares.largest(MANY) if isinstance(shares, ManyShares) else shares.items()


def _shown(shares: Shares) -> Iterable[tuple[Any, Estimate]]:
    """The values in their order; of many the most frequent, by their unbiased estimates."""
    if len(shares) <= MANY:
        return shares.items()
    if isinstance(shares, ManyShares):
        return shares.largest(SHOWN)
    return nlargest(SHOWN, shares.items(), key=lambda item: item[1].raw)


def _target(policy: Policy, name: str) -> Target:
    """Of two values that is the mean, in other words."""
    feature = policy.features[name]
    return item_target(name, feature) if isinstance(feature, MultipleFeature) else Single(name)


def _items(decoder: Decoder, name: str, feature: MultipleFeature, confidence: float) -> dict[Any, Estimate]:
    """The share of each item; these do not sum to 1."""
    target, labels = item_target(name, feature), item_labels(feature)
    decoded = decoder.decode(target)
    columns = (*bounded(decoded, 0.0, confidence), decoded.raw)
    rows = list(zip(labels, np.column_stack(columns).tolist(), strict=False))
    shares: dict[Any, Estimate] = {
        label: Estimate(value, se, start, end, decoded.answers, raw=raw) for label, (value, se, start, end, raw) in rows
    }
    return asked_items(decoder, target, feature, shares, confidence) if feature.follows else shares


def _shares(decoder: Decoder, name: str, confidence: float) -> Shares:
    feature = decoder.policy.features[name]
    if isinstance(feature, MultipleFeature):
        return _items(decoder, name, feature, confidence)
    target = Single(name)
    decoded = decoder.decode(target)
    shares = decoded if feature.counts_values else decoded.shares()
    if (values := feature.joint_inputs - feature.extras) > MANY:  # whichever are chosen to be reported
        confidence = 1 - (1 - confidence) / values
    clipped, errors, low, high = bounded(shares, 0.0, confidence)
    if values > LISTED:
        return ManyShares(
            feature, confidence, decoded.answers, (clipped, errors, low, high, _unbiased(decoded, feature))
        )
    inside = fitted(decoder.policy, name, shares.value) if np.all(np.isfinite(shares.value)) else shares.value
    low, high = np.fmin(low, inside), np.fmax(high, inside)
    rows = np.column_stack([inside, errors, low, high, _unbiased(decoded, feature)]).tolist()
    factors: Iterable[Mapping[Target, Array]] = (
        (SomeNumbers(target, (number,), len(rows)) for number in range(len(rows)))
        if feature.counts_values
        else ({target: np.array([half])} for half in (-0.5, 0.5))
    )
    linear = [LinearForm(decoder, confidence, coefficients, (0.0, 1.0)) for coefficients in factors]
    rule = feature.rule
    estimates = {
        category: Estimate(value, se, start, high=end, answers=decoded.answers, raw=exact, rule=rule, linear=form)
        for category, form, (value, se, start, end, exact) in zip(feature.categories, linear, rows, strict=True)
    }
    if feature.follows:
        return asked_shares(decoder, name, estimates, confidence)
    return answered_shares(decoder, name, estimates, confidence) if feature.own else estimates


def _values_of(shares: Shares) -> Array:
    return shares.columns[0] if isinstance(shares, ManyShares) else np.array([share.value for share in shares.values()])


def _unbiased(decoded: Decoded, feature: Feature) -> Array:
    """The shares that are unbiased, of two values as well."""
    return decoded.raw if feature.counts_values else (1 + np.append(-decoded.raw, decoded.raw)) / 2


def _goal(policy: Policy, name: str, data: Means) -> Goal:
    target = _target(policy, name)

    def solved(means: Means) -> Array:
        exact = means[target]
        if isinstance(target, ValueMeans):
            return np.clip(exact[: len(item_labels(cast("MultipleFeature", policy.features[name])))], 0.0, 1.0)
        shares = exact if policy.features[name].counts_values else (1 + np.append(-exact, exact)) / 2
        known = np.isfinite(shares).all() and len(shares) <= LISTED
        return fitted(policy, name, shares) if known else np.clip(shares, 0.0, 1.0)

    truth = solved(data)
    size = len(truth)
    return Goal(
        f"frequencies of {name}",
        lambda estimates: _values_of(estimates[name]),
        solved,
        truth,
        np.eye(size) / size if size <= LISTED else np.full(size, 1 / size),
        np.full(size, 1 / size),
    )
