"""Targets of tables and distributions: where numbers are among some ranges, and how two features go together.

A table of two features is its margins and what is left of every cell without them (docs/theory.md, section 4.7):
`P(a, b) = 1/(k l) + (P(a) - 1/k)/l + (P(b) - 1/l)/k + E[(1[x = a] - 1/k)(1[y = b] - 1/l)]`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bcdp.policy import Policy
from bcdp.policy.encoding import step_of
from bcdp.statistics.target import Codes, Single, Target
from bcdp.tables import marginal_target, steps

if TYPE_CHECKING:
    from bcdp.plan import Question

Array = npt.NDArray[np.float64]
Cuts = tuple[float, ...]


@dataclass(frozen=True)
class Steps:
    """How often a number is in each step; the steps begin at public cuts, the first apart."""

    feature: str
    cuts: Cuts

    @property
    def features(self) -> tuple[str, ...]:
        return (self.feature,)

    def size(self, policy: Policy) -> int:
        return len(self.cuts) + 1

    def of(self, policy: Policy, codes: Codes) -> Array:
        step = step_of(policy.features[self.feature], self.cuts, codes[self.feature])
        return np.asarray(step[:, None] == np.arange(self.size(policy)), dtype=np.float64)

    def answered_by(self, question: Question) -> bool:
        return self.feature in question.features and question.cuts_of(self.feature) == self.cuts

    def at(self, policy: Policy, question: Question) -> Array:
        own, place = np.eye(self.size(policy)), question.features.index(self.feature)
        return own if len(question.levels) == 1 else marginal_target(question.levels, place, own)


@dataclass(frozen=True)
class Below:
    """The shares of the people whose number is below each of some cuts."""

    feature: str
    cuts: Cuts

    @property
    def features(self) -> tuple[str, ...]:
        return (self.feature,)

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
    """What two features have together beyond their margins: products of what is left of each without its average.

    Of a number without cuts and of two values that is the number itself, on the [-1, 1] scale; of several values or
    steps, the indicator of each less one over how many there are. The first feature changes slowest.
    """

    features: tuple[str, str]
    cuts: tuple[Cuts | None, Cuts | None] = (None, None)

    def sizes(self, policy: Policy) -> tuple[int, int]:
        """How many numbers stand for each of the two features."""
        one, two = (margin.size(policy) for margin in self.margins)
        return one, two

    def size(self, policy: Policy) -> int:
        return int(np.prod(self.sizes(policy)))

    @property
    def margins(self) -> tuple[Target, Target]:
        """The two features by themselves."""
        one, two = (margin_of(name, cuts) for name, cuts in zip(self.features, self.cuts, strict=True))
        return one, two

    def of(self, policy: Policy, codes: Codes) -> Array:
        one, two = (_centred(margin.of(policy, codes)) for margin in self.margins)
        return (one[:, :, None] * two[:, None, :]).reshape(len(one), -1)

    def answered_by(self, question: Question) -> bool:
        return question.kind == "values" and all(
            name in question.features and question.cuts_of(name) == cuts
            for name, cuts in zip(self.features, self.cuts, strict=True)
        )

    def at(self, policy: Policy, question: Question) -> Array:
        one, two = (_centred(margin.at(policy, question)) for margin in self.margins)
        return (one[:, :, None] * two[:, None, :]).reshape(len(one), -1)


def steps_of(target: Target) -> Iterator[tuple[str, Cuts]]:
    """The numbers that a target reads in steps, with their cuts."""
    if isinstance(target, Steps | Below):
        yield target.feature, target.cuts
    elif isinstance(target, Interaction):
        yield from ((name, cuts) for name, cuts in zip(target.features, target.cuts, strict=True) if cuts is not None)


def interaction(policy: Policy, cuts: Mapping[str, Cuts | None]) -> Interaction:
    """What two features have together, by their cuts: one target, whichever of them is named first."""
    one, two = sorted(cuts, key=list(policy.features).index)
    return Interaction((one, two), (cuts[one], cuts[two]))


def margin_of(name: str, cuts: Cuts | None) -> Target:
    """A feature by itself as a table has it."""
    return Single(name) if cuts is None else Steps(name, cuts)


def _centred(values: Array) -> Array:
    return values - 1 / values.shape[1] if values.shape[1] > 1 else values
