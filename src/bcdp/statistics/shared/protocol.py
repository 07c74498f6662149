"""What every statistic gives: the words of its task in a policy, its targets, its estimates, its rows.

A new one is a file with a subclass of `Statistic`, and a line in `bcdp.policy.tasks.STATISTICS`.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt
from pydantic import Field

from bcdp.policy import Policy
from bcdp.policy.field_checks import Accepts, Number, Record
from bcdp.statistics.shared.decoded_values import Decoded, JointEstimate
from bcdp.statistics.shared.linear_form import HonestRange
from bcdp.statistics.shared.rows import Section
from bcdp.statistics.shared.target import Codes, Target

Array = npt.NDArray[np.float64]
Weight = Annotated[Number, Field(gt=0), Accepts("a finite number above 0")]
Means = Mapping[Target, Array]  # of each target its numbers in the last axis; a target that nobody told is left out


class Decoder(Protocol):
    """A mechanism's tally as statistics see it: what the answers reveal about any target."""

    @property
    def policy(self) -> Policy:
        """The policy of the plan that was answered."""

    @property
    def people(self) -> int:
        """How many reports were counted."""

    def decode(self, target: Target) -> Decoded:
        """The unbiased values of a target and their variances."""

    def means(self, targets: Collection[Target]) -> Means:
        """The unbiased values of several targets, shape (size,)."""

    def together(self, targets: Collection[Target]) -> JointEstimate | None:
        """The unbiased values of several targets with all their covariances; None if that cannot be."""

    def honest_range(self, target: Target, factors: Array, fakes: int) -> HonestRange | None:
        """What a linear function of a target may be if so many reports are fake; None if that is not known."""


class Prospect(Protocol):
    """A mechanism's plan as statistics see it before anybody has answered."""

    @property
    def policy(self) -> Policy:
        """The policy of the plan."""

    @property
    def errors(self) -> Mapping[Target, float]:
        """For each target, n times its squared error (second moments counted); infinite if it is not asked."""

    def together(self, targets: Collection[Target], people: int, records: Codes) -> JointEstimate:
        """The values of several targets in a population, and how so many people's answers would vary about them."""


class Weighed(Decoder, Protocol):
    """A tally in which people count by weights."""

    def design_effects(self) -> dict[str, float]:
        """Of each feature asked, its variance over that of as many answers that all count equally; of values the
        most.
        """


@dataclass(frozen=True, eq=False)
class Goal:
    """One answer of a statistic, for simulations: the truth in own units, and how a deviation from it is measured."""

    name: str
    of: Callable[[Any], Array]  # the answer among the statistic's estimates
    solved: Callable[[Means], Array]  # the answer from the means of the targets, NaN where something was not released
    truth: Array
    metric: Array  # of errors; its diagonal, where it has nothing else
    blind: Array  # the answer without data, which stands in where nothing was released
    guesses: tuple[Array, ...] = ()  # other answers without data: where a mean is small, so is the error of 0

    def error(self, answer: Array) -> float:
        """The length of the deviation."""
        error = (answer if np.isfinite(answer).all() else self.blind) - self.truth
        measured = self.metric @ error if self.metric.ndim > 1 else self.metric * error
        return math.sqrt(max(float(error @ measured), 0.0))

    @property
    def nothing(self) -> float:
        """The least error of an answer without data."""
        return min(map(self.error, (self.blind, *self.guesses)))


@dataclass(frozen=True)
class Expected:
    """What a collection is expected to reveal, before anybody is asked: sentences for people, and plain JSON.

    `scale` is what its standard error is compared with, if it has one: the range of a mean; see `scale_of_shares`.
    """

    subject: str
    lines: tuple[str, ...]
    document: Mapping[str, Any]
    scale: float | None = None


def scale_of_shares(count: int) -> float:
    """What errors of so many shares are compared with: 1, or ten times a typical share if there are more than ten."""
    return min(1.0, 10 / count)


def expected_error(subject: str, what: str, error: float, scale: float, document: Mapping[str, Any]) -> Expected:
    """The standard error to expect of a typical number of a statistic, in words and in plain JSON.

    >>> expected_error("mean of income", "a mean", 11_923.4, 200_000.0, {}).lines
    ('a mean has a standard error of about 11,923',)
    """
    line = f"{what} has a standard error of about {f'{error:,.0f}' if error >= 100 else f'{error:.2g}'}"
    if not math.isfinite(error):
        line = "a feature may not be asked at all, so nothing will be known"
    return Expected(subject, (line,), {**document, "standard_error": error if math.isfinite(error) else None}, scale)


class Statistic(Record):
    """One thing to ask for: a task of a policy, which knows its targets, estimates and rows."""

    kind: ClassVar[str]  # the word that names it in a task
    form: ClassVar[str]  # how a task is written, for anybody who wrote it wrongly
    key: ClassVar[str]  # names its estimates among all of a collection's

    if TYPE_CHECKING:
        weight: float  # how much it counts relative to the others; each statistic has this field, after its own

    @property
    def once(self) -> tuple[str, ...]:
        """The features that no other task of this kind may name, because its estimates go by their names alone."""
        return ()

    @abstractmethod
    def targets(self, policy: Policy) -> Iterator[tuple[Target, float]]:
        """What has to be asked for, and how much its squared error counts; a target may come several times."""

    def scale(self, policy: Policy, target: Target, budget: float) -> float:
        """What the design multiplies a target's squared error by: so much that one with many numbers starves no other.

        `budget` is the largest of a question about one of its features alone; `weight` comes on top.
        """
        return 1.0

    @abstractmethod
    def estimate(self, decoder: Decoder, confidence: float) -> Mapping[Any, Any]:
        """Its estimates with intervals of the given confidence, by name."""

    @classmethod
    @abstractmethod
    def document(cls, estimates: Mapping[Any, Any]) -> Mapping[str, Any]:
        """All of a collection's estimates of this statistic in plain JSON, by the keys where they stand."""

    @classmethod
    @abstractmethod
    def sections(cls, policy: Policy, estimates: Mapping[Any, Any]) -> Iterator[Section]:
        """All of a collection's estimates of this statistic as rows to show."""

    @abstractmethod
    def goals(self, policy: Policy, data: Means) -> Sequence[Goal]:
        """What simulations compare, from the means of the targets in the data."""

    def expected(self, prospect: Prospect, people: int, records: Codes | None = None) -> Sequence[Expected]:
        """What so many people will reveal beyond the standard errors of means and frequencies, if there is more to say.

        `records`, where there are any, are those of the population.
        """
        return ()
