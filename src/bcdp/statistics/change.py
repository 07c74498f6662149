"""How often each value of a feature is followed by each in the next wave of a panel, and how many people changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from bcdp.policy import Policy
from bcdp.policy.names import CategoryNames
from bcdp.questions import Question
from bcdp.randomizers import Table, categorical
from bcdp.statistics.shared.interval import Estimate, bounded, confined, on_simplex
from bcdp.statistics.shared.linear_form import LinearForm
from bcdp.statistics.shared.protocol import Array, Decoder, Goal, Means, Statistic, Weight
from bcdp.statistics.shared.ratios import width
from bcdp.statistics.shared.rows import Row, Section
from bcdp.statistics.shared.target import Codes, OneFeature, Role, Target

CHANGED = "changed"


@dataclass(frozen=True)
class Transitions(OneFeature):
    """The share of the people with each pair of values, in one wave and in the next; the earlier changes slowest."""

    role: ClassVar[Role] = Role.CHANGE
    feature: str

    @property
    def question_keys(self) -> Mapping[str, Any]:
        return {"kind": "change"}

    def randomizer(self, policy: Policy, budget: float) -> tuple[tuple[int, ...], Table]:
        values = policy.features[self.feature].joint_inputs
        return (values, values), categorical(values**2, budget)

    def size(self, policy: Policy) -> int:
        return policy.features[self.feature].joint_inputs ** 2

    def of(self, policy: Policy, codes: Codes) -> Array:
        """Of records of one wave, as if nothing had changed."""
        values, now = policy.features[self.feature].joint_inputs, codes[self.feature]
        return np.asarray((now * (values + 1))[:, None] == np.arange(values**2), dtype=np.float64)

    def answered_by(self, question: Question) -> bool:
        return question.kind == "change" and question.features == self.features

    def at(self, policy: Policy, question: Question) -> Array:
        return np.eye(self.size(policy))


@dataclass(frozen=True)
class ChangeEstimate:
    """The share of each pair of values, the earlier first, and of all people whose value is another one."""

    values: tuple[Any, ...]
    cells: tuple[tuple[Estimate, ...], ...]
    changed: Estimate

    def to_dict(self) -> dict[str, Any]:
        """The shares in plain JSON."""
        cells = [
            {"from": first, "to": second, **cell.to_dict()}
            for first, row in zip(self.values, self.cells, strict=True)
            for second, cell in zip(self.values, row, strict=True)
        ]
        return {"cells": cells, CHANGED: self.changed.to_dict()}


class Change(Statistic):
    """How features change from each wave of a panel to the next, by questions about both waves at once."""

    kind: ClassVar[str] = "change"
    form: ClassVar[str] = "{change: [names]}"
    key: ClassVar[str] = "changes"
    features: CategoryNames = Field(alias="change")
    weight: Weight = 1.0

    @property
    def once(self) -> tuple[str, ...]:
        return self.features

    def targets(self, policy: Policy) -> Iterator[tuple[Target, float]]:
        return ((Transitions(name), 1.0) for name in self.features)

    def scale(self, policy: Policy, target: Target, budget: float) -> float:
        return 4.0 / target.size(policy)  # the mean over the cells, each of them a mean on half the scale

    def estimate(self, decoder: Decoder, confidence: float) -> dict[str, ChangeEstimate]:
        return {name: _changes(decoder, name, confidence) for name in self.features}

    @classmethod
    def document(cls, estimates: Mapping[str, ChangeEstimate]) -> dict[str, Any]:
        return {cls.key: {name: change.to_dict() for name, change in estimates.items()}} if estimates else {}

    @classmethod
    def sections(cls, policy: Policy, estimates: Mapping[str, ChangeEstimate]) -> Iterator[Section]:
        for name, change in estimates.items():
            label = policy.features[name].label
            shares: list[tuple[tuple[Any, ...], str, Estimate]] = [((CHANGED,), CHANGED, change.changed)]
            shares += [
                ((first, second), f"{first} then {second}", cell)
                for first, row in zip(change.values, change.cells, strict=True)
                for second, cell in zip(change.values, row, strict=True)
            ]
            rows = tuple(
                Row(
                    f"{name}: {words}",
                    f"{label}: {words}",
                    share,
                    (0.0, 1.0),
                    (name, *key),
                    share.answers,
                    raw=share.raw,
                )
                for key, words, share in shares
            )
            subject = f"{label}, from one wave to the next"
            yield Section(subject, ("values", "share"), rows, "bars", f"{name}, from {rows[0].answers:,} answers")

    def goals(self, policy: Policy, data: Means) -> Sequence[Goal]:
        return [_goal(policy, name, data) for name in self.features]


def _changes(decoder: Decoder, name: str, confidence: float) -> ChangeEstimate:
    feature, target = decoder.policy.features[name], Transitions(name)
    values = tuple(feature.categories)
    decoded = decoder.decode(target)
    _, errors, low, high = bounded(decoded, 0.0, confidence)
    inside = on_simplex(decoded.value) if np.isfinite(decoded.value).all() else decoded.value
    rows = np.column_stack([inside, errors, np.fmin(low, inside), np.fmax(high, inside), decoded.value]).tolist()
    nothing = Estimate(0.0, 0.0, 0.0, 1.0, decoded.answers, 0.0, rule=feature.rule)
    form = partial(LinearForm, decoder, confidence)
    shares = [
        replace(nothing, value=value, se=se, low=start, high=end, raw=raw, linear=form({target: factors}, (0.0, 1.0)))
        for factors, (value, se, start, end, raw) in zip(np.eye(len(rows)), rows, strict=True)
    ]
    cells = tuple(tuple(shares[start : start + len(values)]) for start in range(0, len(shares), len(values)))
    others = 1.0 - np.eye(len(values)).ravel()
    linear = form({target: others}, (0.0, 1.0))
    raw, error = linear.moments()
    value = np.array([others @ inside])
    start, end = confined(np.array([raw]), np.array([width(confidence) * error]), (0.0, 1.0), value)
    bounds = (float(start[0]), float(end[0])) if np.isfinite(raw) else (0.0, 1.0)
    changed = replace(nothing, value=float(value[0]), se=error, low=bounds[0], high=bounds[1], raw=raw, linear=linear)
    return ChangeEstimate(values, cells, changed)


def _goal(policy: Policy, name: str, data: Means) -> Goal:
    target = Transitions(name)

    def solved(means: Means) -> Array:
        return on_simplex(means[target]) if np.isfinite(means[target]).all() else means[target]

    truth = solved(data)
    size = target.size(policy)
    return Goal(
        f"changes of {name}",
        lambda estimates: np.array([cell.value for row in estimates[name].cells for cell in row]),
        solved,
        truth,
        np.eye(size) / size,
        np.full(size, 1 / size),
    )
