"""In which ways a survey asks for a target, how the answers of each are read, and what they add to several values.

A target may be asked in several ways: by other tables, or together with other features. Each way's answers are decoded
without bias and averaged, and ways are weighted by what each was designed to reveal (theory.md, section 4.3).
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from typing import Any

import numpy as np
import numpy.typing as npt

from bcdp.errors import InputError
from bcdp.plan import Plan, Question
from bcdp.plan.messages import sends_all
from bcdp.randomizers import Table
from bcdp.statistics import Decoded, Role, Single, Target
from bcdp.statistics.shared.decoded_values import two_valued, with_spread

Array = npt.NDArray[np.float64]
Counts = npt.NDArray[Any]  # whole numbers, or weighted ones
CountsOf = Callable[[int], Counts]  # of a menu: one axis for the symbols of each of its questions


@dataclass(frozen=True, eq=False)
class Reading:
    """How the answers to a table's questions are read: `wanted` at each input, shape (inputs, size).

    None stands for one indicator for each input, where tables have shorter ways to decode.
    """

    table: Table
    wanted: Array | None

    @cached_property
    def decoded(self) -> Array:
        """What each symbol decodes to, shape (symbols, size)."""
        return self.table.decode(np.eye(self.table.levels) if self.wanted is None else self.wanted)

    @cached_property
    def tells(self) -> bool:
        """Whether the answers reveal the target at all: a table about two features need not reveal how they are
        associated.
        """
        try:
            return math.isfinite(self.second_moment)
        except InputError:
            return False

    @cached_property
    def squares(self) -> Array:
        """The expected square of the decoded answer at each input, shape (inputs, size)."""
        assert self.wanted is not None
        return np.stack([self.table.second_moments(column) for column in self.wanted.T], axis=1)

    @cached_property
    def second_moment(self) -> float:
        """The average second moment of the decoded answer, inputs uniform; summed over the target's numbers."""
        if self.wanted is None:
            return self.table.second_moment
        return float(sum(column.mean() for column in self.squares.T))

    def largest_variance(self, size: int) -> float:
        """The variance of the decoded answer in the worst population; summed over categories, which are treated
        equally.

        That is: shares of one half, numbers at the inputs of the largest second moment with their mean in the middle,
        categories equally frequent (theory.md, section 4.3).
        """
        return self.second_moment - 1 / size if size > 1 else float(self.squares.max())

    def decode(self, answers: Counts) -> Decoded:
        """What the counts of the symbols reveal: the mean of the decoded answers."""
        people = int(answers.sum())
        if self.wanted is None:
            return two_valued(self.table.frequencies(answers), 0.0, *self.table.indicator_moments(), people)
        mean: Array = answers @ self.decoded / people
        low = float(self.wanted.min())
        if np.isin(self.wanted, (low, 1.0)).all():
            at_one, at_low = (np.where(self.wanted == end, self.squares, 0.0).max(axis=0) for end in (1.0, low))
            return two_valued(mean, low, at_one, at_low, people)
        # a few equal answers have no spread of their own, but the randomizer's is known
        least = (self.squares - self.wanted**2).min(axis=0)
        return with_spread(mean, np.maximum(answers @ self.decoded**2 / people - mean**2, least), people)


@dataclass(frozen=True, eq=False)
class Way:
    """One way of asking for a target: how its answers are read, and where, as menus and axes of their counts."""

    reading: Reading
    places: list[tuple[int, int]]

    def answered(self, counts: CountsOf) -> Counts:
        """How often each symbol was given."""
        return np.asarray(sum(marginals(counts(menu))(axis) for menu, axis in self.places))

    def asked(self, people: Sequence[float]) -> float:
        """How many people were asked in this way, from those of each menu."""
        return sum(people[menu] for menu, _ in self.places)


@dataclass(frozen=True, eq=False)
class Asked:
    """How a target of so many numbers was asked: the people of each way, none where too few were asked to reveal it."""

    size: int
    people: Mapping[Way, float]

    @cached_property
    def _total(self) -> float:
        return sum(people / way.reading.second_moment for way, people in self.people.items())

    def weight(self, way: Way) -> float:
        """By how much one answer in this way counts."""
        return 1 / way.reading.second_moment / self._total

    def value(self, counts: CountsOf) -> Array:
        """The average of the decoded answers."""
        parts = (self.weight(way) * (way.answered(counts) @ way.reading.decoded) for way in self.people)
        return np.asarray(sum(parts)) if self.people else np.full(self.size, math.nan)


@dataclass(frozen=True, eq=False)
class Contribution:
    """What an answer to a menu adds to some of many values: of each axis what each symbol adds, by their places."""

    menu: int
    places: npt.NDArray[np.intp]
    axes: Mapping[int, Array]

    @classmethod
    def of(cls, menu: int, parts: Mapping[int, Sequence[tuple[int, Array]]]) -> Contribution:
        """From what each axis adds: to values that follow each other, from a place on."""
        indices = [start + np.arange(each.shape[1]) for added in parts.values() for start, each in added]
        columns = np.unique(np.concatenate(indices))
        axes = {}
        for axis, added in parts.items():
            axes[axis] = dense = np.zeros((len(added[0][1]), len(columns)))
            for start, each in added:
                first = np.searchsorted(columns, start)
                dense[:, first : first + each.shape[1]] += each
        return cls(menu, columns, axes)

    def moments(self, seen: Callable[..., Counts]) -> tuple[Array, Array]:
        """The sum over answers of what each adds, and of all products of what it adds to two values.

        `seen` counts the answers by their symbol at one axis, or at two in rising order.
        """
        total, square = np.zeros(len(self.places)), np.zeros((len(self.places), len(self.places)))
        for axis, each in self.axes.items():
            counts = seen(axis)
            total += counts @ each
            square += each.T @ (counts[:, None] * each)
        for (first_axis, first), (second_axis, second) in itertools.combinations(
            sorted(self.axes.items(), key=itemgetter(0)), 2
        ):
            both = first.T @ seen(first_axis, second_axis) @ second
            square += both + both.T
        return total, square


def marginals(counts: Counts) -> Callable[..., Counts]:
    """How often each symbol was given at one axis of a menu's counts, or each two at two of them in rising order."""
    return lambda *axes: np.asarray(counts.sum(axis=tuple(axis for axis in range(counts.ndim) if axis not in axes)))


class Ways:
    """In which ways a plan asks for any target; readings are computed once, however many targets share them.

    `plan.derived(Ways)` is shared by all who read the same plan.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._asking: dict[str, list[tuple[int, int, Question]]] = defaultdict(list)  # by feature: menu, axis, question
        self._readings: dict[Hashable, Reading] = {}
        self._ways: dict[Target, list[Way]] = {}
        for number, menu in enumerate(plan.menus):
            for axis, question in enumerate(plan.questions[index] for index in menu.questions):
                for name in question.features:
                    self._asking[name].append((number, axis, question))

    def of(self, target: Target) -> list[Way]:
        """The ways in which a target is asked for; none if it is not."""
        if target not in self._ways:
            self._ways[target] = list(self._asking_for(target))
        return self._ways[target]

    def _asking_for(self, target: Target) -> Iterable[Way]:
        ways: dict[Reading, Way] = {}
        for menu, axis, question in self._asking[target.features[0]]:
            if target.answered_by(question):
                reading = self._reading(target, question)
                if not reading.tells:
                    continue
                ways.setdefault(reading, Way(reading, [])).places.append((menu, axis))
        return ways.values()

    def _reading(self, target: Target, question: Question) -> Reading:
        policy, table = self.plan.policy, self.plan.tables[question.table]
        indicators = len(question.features) == 1 and target.size(policy) == table.levels
        wanted = None if indicators else target.at(policy, question)
        key = (question.table, None if wanted is None else (wanted.shape, wanted.tobytes()))
        return self._readings.setdefault(key, Reading(table, wanted))

    def messages(self, targets: Iterable[Target]) -> tuple[int, ...]:
        """For each number of some targets the message that asks for it; all the same if a person sends only one."""
        separate = sends_all(self.plan)
        first = ((target, next(iter(self.of(target)), None)) for target in targets)
        return tuple(
            way.places[0][0] if separate and way is not None else 0
            for target, way in first
            for _ in range(target.size(self.plan.policy))
        )

    def is_certain(self, target: Target) -> bool:
        """Whether it is the share of the only value that a feature has: known without asking."""
        feature = self.plan.policy.features[target.features[0]]
        return feature.counts_values and target == Single(target.features[0]) and feature.joint_inputs == 1

    def adding(self, asked: Sequence[Asked], value: Array) -> Iterator[Contribution]:
        """What answers add to the values of several targets, one after the other, given how each of them was asked."""
        parts: dict[int, dict[int, list[tuple[int, Array]]]] = defaultdict(lambda: defaultdict(list))
        start = 0
        for asking in asked:
            own = slice(start, start + asking.size)
            for way in asking.people:
                each = (way.reading.decoded.reshape(-1, asking.size) - value[own]) * asking.weight(way)
                for menu, axis in way.places:
                    parts[menu][axis].append((start, each))
            start = own.stop
        for menu, axes in parts.items():
            yield Contribution.of(menu, axes)

    def targets(self) -> list[Target]:
        """Every feature by itself, asked or not, whatever else the tasks want, and every product that is asked."""
        policy = self.plan.policy
        wanted = dict.fromkeys(target for task in policy.tasks for target, _ in task.targets(policy))
        products = [target for target in wanted if target.role is Role.PRODUCT and self.of(target)]
        further = [target for target in wanted if target.role not in (Role.FEATURE, Role.PRODUCT)]
        return [*map(Single, policy.features), *further, *products]
