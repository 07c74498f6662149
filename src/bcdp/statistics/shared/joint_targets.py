"""Targets of tables and distributions: where numbers are among some ranges, and how two features are associated.

A table of two features is its margins and what is left of every cell without them (theory.md, section 4.7):
`P(a, b) = 1/(k l) + (P(a) - 1/k)/l + (P(b) - 1/l)/k + E[(1[x = a] - 1/k)(1[y = b] - 1/l)]`. A table of three is what is
left of its margins, of its tables of two and of its cells.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from bcdp.policy import Policy
from bcdp.questions import Question
from bcdp.randomizers import Table, categorical, marginal_target, steps, waves
from bcdp.records.encoding import step_of
from bcdp.statistics.shared.target import Codes, Cuts, Role, Single, Target

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class _InSteps:
    """A number in steps that begin at public cuts, the first apart."""

    feature: str
    cuts: Cuts

    @property
    def features(self) -> tuple[str, ...]:
        return (self.feature,)

    @property
    def cuts_by_feature(self) -> Mapping[str, Cuts]:
        return {self.feature: self.cuts}

    @property
    def question_keys(self) -> Mapping[str, Any]:
        return {}

    def levels(self, policy: Policy) -> int:
        return len(self.cuts) + 1


@dataclass(frozen=True)
class Steps(_InSteps):
    """How often a number is in each step."""

    role: ClassVar[Role] = Role.STEPS

    @property
    def margins(self) -> tuple[Target, ...]:
        return (self,)

    def randomizer(self, policy: Policy, budget: float) -> tuple[tuple[int, ...], Table]:
        return (self.levels(policy),), categorical(self.levels(policy), budget)

    def size(self, policy: Policy) -> int:
        return len(self.cuts) + 1

    def of(self, policy: Policy, codes: Codes) -> Array:
        step = step_of(policy.features[self.feature], self.cuts, codes[self.feature])
        return np.asarray(step[:, None] == np.arange(self.size(policy)), dtype=np.float64)

    def answered_by(self, question: Question) -> bool:
        return self.feature in question.features and question.cuts_of(self.feature) == self.cuts

    def at(self, policy: Policy, question: Question) -> Array:
        own, position = np.eye(self.size(policy)), question.features.index(self.feature)
        return own if len(question.levels) == 1 else marginal_target(question.levels, position, own)


@dataclass(frozen=True)
class Below(_InSteps):
    """The shares of the people whose number is below each of some cuts."""

    role: ClassVar[Role] = Role.DISTRIBUTION

    @property
    def margins(self) -> tuple[Target, ...]:
        return (self,)

    def randomizer(self, policy: Policy, budget: float) -> tuple[tuple[int, ...], Table]:
        table = waves(self.levels(policy), budget)
        return (table.levels,), table

    def size(self, policy: Policy) -> int:
        return len(self.cuts)

    def of(self, policy: Policy, codes: Codes) -> Array:
        step = step_of(policy.features[self.feature], self.cuts, codes[self.feature])
        return steps(len(self.cuts) + 1)[step]

    def answered_by(self, question: Question) -> bool:
        return question.features == (self.feature,) and question.cuts_of(self.feature) == self.cuts

    def at(self, policy: Policy, question: Question) -> Array:
        return steps(len(self.cuts) + 1)


@dataclass(frozen=True)
class Interaction:
    """What two or three features have together beyond fewer of them: products of what is left of each without its
    average.

    Of a number without cuts and of two values that is the number itself, on the [-1, 1] scale; of several values or
    steps, the indicator of each less one over how many there are. The first feature changes slowest.
    """

    role: ClassVar[Role] = Role.INTERACTION
    features: tuple[str, ...]
    cuts: tuple[Cuts | None, ...] = (None, None)

    @property
    def cuts_by_feature(self) -> Mapping[str, Cuts]:
        return {name: cuts for name, cuts in zip(self.features, self.cuts, strict=True) if cuts is not None}

    def sizes(self, policy: Policy) -> tuple[int, ...]:
        """How many numbers stand for each of the features."""
        return tuple(margin.size(policy) for margin in self.margins)

    def size(self, policy: Policy) -> int:
        return int(np.prod(self.sizes(policy)))

    @property
    def margins(self) -> tuple[Target, ...]:
        """The features by themselves."""
        return tuple(margin_of(name, cuts) for name, cuts in zip(self.features, self.cuts, strict=True))

    def of(self, policy: Policy, codes: Codes) -> Array:
        return crossed(_centred(margin.of(policy, codes)) for margin in self.margins)

    def answered_by(self, question: Question) -> bool:
        return question.reads_values and all(
            name in question.features and question.cuts_of(name) == cuts
            for name, cuts in zip(self.features, self.cuts, strict=True)
        )

    def at(self, policy: Policy, question: Question) -> Array:
        return crossed(_centred(margin.at(policy, question)) for margin in self.margins)


def interaction(policy: Policy, cuts: Mapping[str, Cuts | None]) -> Interaction:
    """What several features have together, by their cuts: one target, whichever of them is named first."""
    names = tuple(sorted(cuts, key=list(policy.features).index))
    return Interaction(names, tuple(cuts[name] for name in names))


def crossed(parts: Iterable[Array]) -> Array:
    """For each row all products of one number of each part; those of the first change slowest."""
    return reduce(lambda first, second: (first[:, :, None] * second[:, None, :]).reshape(len(first), -1), parts)


def margin_of(name: str, cuts: Cuts | None) -> Target:
    """A feature by itself as a table has it."""
    return Single(name) if cuts is None else Steps(name, cuts)


def _centred(values: Array) -> Array:
    return values - 1 / values.shape[1] if values.shape[1] > 1 else values
