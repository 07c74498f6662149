"""What the answers to a survey tell of a target: the one decoder, shared by prediction and estimation.

A target may be asked in several ways: by other tables, or together with other features. Each way's answers are decoded
without bias and averaged, and ways are weighted by what each was designed to tell (docs/theory.md, section 4.3).
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from zlib import crc32

import numpy as np
import numpy.typing as npt

from bcdp.errors import InputError
from bcdp.exact import TOTAL
from bcdp.plan import Plan, Question
from bcdp.policy import Policy
from bcdp.statistics import Decoded, Means, Product, Single, Target
from bcdp.statistics.decoded import Together, combined, known, two_valued, unknown, with_spread
from bcdp.tables import Table

Array = npt.NDArray[np.float64]
Counts = npt.NDArray[Any]  # whole numbers, or weighted ones
CountsOf = Callable[[int], Counts]  # of a menu: shape (.., symbols of each of its questions)


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
        """Whether the answers tell the target at all: a table about two features need not tell how they go together."""
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
        """The variance of the decoded answer in the worst population; summed over categories, which are treated alike.

        That is: shares of one half, numbers at the inputs of the largest second moment with their mean in the middle,
        categories equally frequent (docs/theory.md, section 4.3).
        """
        return self.second_moment - 1 / size if size > 1 else float(self.squares.max())

    def decode(self, answers: Counts) -> Decoded:
        """What the counts of the symbols tell: the mean of the decoded answers."""
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


class Ways:
    """In which ways a plan asks for any target; readings are computed once, however many targets share them."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._asking: dict[str, list[tuple[int, int, Question]]] = defaultdict(list)  # by feature: menu, axis, question
        self._readings: dict[Hashable, Reading] = {}
        for number, menu in enumerate(plan.menus):
            for axis, question in enumerate(plan.questions[index] for index in menu.questions):
                for name in question.features:
                    self._asking[name].append((number, axis, question))

    def of(self, target: Target) -> list[Way]:
        """The ways in which a target is asked for; none if it is not."""
        found: dict[Reading, Way] = {}
        for menu, axis, question in self._asking[target.features[0]]:
            if target.answered_by(question):
                reading = self._reading(target, question)
                if not reading.tells:
                    continue
                found.setdefault(reading, Way(reading, [])).places.append((menu, axis))
        return list(found.values())

    def _reading(self, target: Target, question: Question) -> Reading:
        policy, table = self.plan.policy, self.plan.tables[question.table]
        indicators = len(question.features) == 1 and target.size(policy) == table.levels
        wanted = None if indicators else target.at(policy, question)
        key = (question.table, None if wanted is None else (wanted.shape, wanted.tobytes()))
        return self._readings.setdefault(key, Reading(table, wanted))

    def answered(self, ways: Iterable[Way], counts: CountsOf) -> list[Counts]:
        """How often each symbol was given, for each way, shape (.., symbols); every menu is counted once, in order."""
        totals: list[Counts] = []
        at: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for number, way in enumerate(ways):
            totals.append(np.int64(0))  # type: ignore[arg-type]
            for menu, axis in way.places:
                at[menu].append((number, axis))
        for menu in sorted(at):
            answers, questions = counts(menu), len(self.plan.menus[menu].questions)
            for number, axis in at[menu]:
                others = tuple(other - questions for other in range(questions) if other != axis)
                totals[number] = totals[number] + answers.sum(axis=others)
        return totals

    def targets(self) -> list[Target]:
        """Every feature by itself, asked or not, whatever else the tasks want, and every product that is asked."""
        policy = self.plan.policy
        wanted = dict.fromkeys(target for task in policy.tasks for target, _ in task.targets(policy))
        products = [target for target in wanted if isinstance(target, Product) and self.of(target)]
        further = [target for target in wanted if not isinstance(target, Single | Product)]
        return [*map(Single, policy.features), *further, *products]


def information(plan: Plan) -> dict[Target, float]:
    """For each feature and each product asked, one over n times its squared error (second moments counted).

    0 for a feature never asked.

    >>> from bcdp import Policy, make_plan
    >>> plan = make_plan(Policy(epsilon=1, features={"smoker": {"type": "binary"}}))
    >>> told = information(plan)[Single("smoker")]
    >>> round(math.atanh(math.sqrt(told)) * 2, 6)  # one bit with budget b tells tanh(b/2)^2
    1.0
    """
    ways = Ways(plan)
    return {
        target: sum(_share(plan, way) / way.reading.second_moment for way in ways.of(target))
        for target in ways.targets()
    }


def largest_errors(plan: Plan) -> dict[Target, float]:
    """For each feature and each product asked, n times its squared error in the worst population, for n large.

    Infinite for a feature never asked.
    """
    ways, errors = Ways(plan), {}
    for target, told in information(plan).items():
        size = target.size(plan.policy)
        errors[target] = (
            sum(
                _share(plan, way) * way.reading.largest_variance(size) / (way.reading.second_moment * told) ** 2
                for way in ways.of(target)
            )
            if told > 0
            else math.inf
        )
    return errors


def _share(plan: Plan, way: Way) -> float:
    """The share of the people who are asked in this way."""
    return sum(plan.menus[menu].weight for menu, _ in way.places) / TOTAL


class SurveyDecoder:
    """The counts of a survey as statistics see them."""

    def __init__(self, plan: Plan, people: int, counts: CountsOf) -> None:
        self.ways, self._counts, self.people = Ways(plan), counts, people

    @property
    def policy(self) -> Policy:
        """The policy of the plan that was answered."""
        return self.ways.plan.policy

    def decode(self, target: Target) -> Decoded:
        """The unbiased values of a target and their variances."""
        size = target.size(self.policy)
        if self.is_certain(target):
            return known(self.people)
        ways = self.ways.of(target)
        asked = list(zip(ways, self.ways.answered(ways, self._counts), strict=True))
        answers = sum(int(counts.sum()) for _, counts in asked)
        enough = [(way.reading, counts) for way, counts in asked if counts.sum() >= 2]
        if not enough:
            return unknown(size, answers)
        weights = np.array([counts.sum() / reading.second_moment for reading, counts in enough])
        return combined([reading.decode(counts) for reading, counts in enough], weights / weights.sum(), answers)

    def is_certain(self, target: Target) -> bool:
        """Whether it is the share of the only value that a feature has: known without asking."""
        feature = self.policy.features[target.features[0]]
        return feature.counts_values and target == Single(target.features[0]) and feature.joint_inputs == 1

    def means(self, targets: Collection[Target]) -> Means:
        """The unbiased values of several targets, shape (size,)."""
        return self.means_of(targets, self._counts)

    def together(self, targets: Collection[Target]) -> Together:
        """The unbiased values of several targets, one after the other, and their covariances.

        Each answer adds a vector to all values at once, and menus are independent of each other: the covariance is the
        sum over menus of that of the vectors that were added. Four imagined people, whose answers are all equally
        likely, keep a few equal answers from looking certain.
        """
        policy = self.policy
        ends = np.cumsum([0, *(target.size(policy) for target in targets)])
        value, covariance = np.zeros(ends[-1]), np.zeros((ends[-1], ends[-1]))
        added: dict[int, dict[int, Array]] = defaultdict(dict)  # by menu and axis: what each symbol adds
        answers = []
        for target, start, end in zip(targets, ends, ends[1:], strict=False):
            certain, ways = self.is_certain(target), self.ways.of(target)
            counts = [int(found.sum()) for found in self.ways.answered(ways, self._counts)]
            answers.append(self.people if certain else sum(counts))
            enough = [(way, people) for way, people in zip(ways, counts, strict=True) if people >= 2]
            total = sum(people / way.reading.second_moment for way, people in enough)
            value[start:end] = 1.0 if certain else 0.0 if enough else math.nan
            for way, _ in enough if not certain else ():
                each = way.reading.decoded / way.reading.second_moment / total
                for menu, axis in way.places:
                    whole = added[menu].setdefault(axis, np.zeros((len(each), ends[-1])))
                    whole[:, start:end] += each.reshape(len(each), -1)
        for menu, axes in added.items():
            mean, spread = _added(self._counts(menu), axes)
            value, covariance = value + mean, covariance + spread
        unknown = np.isnan(value)
        covariance[unknown] = covariance[:, unknown] = math.nan
        return Together(value, covariance, tuple(answers))

    def bootstrap(self, targets: Collection[Target], draws: int) -> Means:
        """The values of several targets in tallies in which every menu's answers are drawn again from their own shares.

        Four imagined people, whose answers are all equally likely, keep a few equal answers from looking certain, as in
        the usual interval of a proportion. The same counts are drawn again alike, which protects nobody and gives
        everybody the same intervals.
        """
        menus = range(len(self.ways.plan.menus))
        rng = np.random.default_rng([crc32(self._counts(menu).tobytes()) for menu in menus])

        def counts(menu: int) -> Counts:
            found = self._counts(menu)
            share = (found + 4 / found.size) / (found.sum() + 4)
            return rng.multinomial(int(found.sum()), share.ravel(), size=draws).reshape(draws, *found.shape)

        return self.means_of(targets, counts)

    def means_of(self, targets: Collection[Target], counts: CountsOf) -> Means:
        """The values of several targets from any counts, also from several tallies at once."""
        asked = [(target, way) for target in targets for way in self.ways.of(target)]
        answered = self.ways.answered((way for _, way in asked), counts)
        total: dict[Target, Array] = {}
        weight: dict[Target, Array] = {}
        for (target, way), answers in zip(asked, answered, strict=True):
            information = 1 / way.reading.second_moment
            total[target] = total.get(target, 0.0) + information * (answers @ way.reading.decoded)
            weight[target] = weight.get(target, 0.0) + information * answers.sum(axis=-1, keepdims=True)
        with np.errstate(invalid="ignore"):
            return {target: np.asarray(total[target] / weight[target]) for target in total}


def _added(counts: Counts, axes: dict[int, Array]) -> tuple[Array, Array]:
    """What the answers to one menu add to some values, and the covariance of that sum."""
    people = int(counts.sum())
    mean = sum((_marginal(counts, axis) @ each for axis, each in axes.items()), start=np.zeros(()))
    if people == 0:
        size = next(iter(axes.values())).shape[1]
        return np.zeros(size), np.zeros((size, size))
    shares = (counts + 4 / counts.size) / (people + 4)
    middle = sum((_marginal(shares, axis) @ each for axis, each in axes.items()), start=np.zeros(()))
    square = np.zeros((len(middle), len(middle)))
    for (one, first), (two, second) in itertools.product(axes.items(), repeat=2):
        if one == two:
            square += first.T @ (_marginal(shares, one)[:, None] * first)
        else:
            both = shares.sum(axis=tuple(axis for axis in range(counts.ndim) if axis not in (one, two)))
            square += first.T @ (both if one < two else both.T) @ second
    return mean, people * (square - np.outer(middle, middle)) * people / max(people - 1, 1)


def _marginal(counts: npt.NDArray[Any], axis: int) -> npt.NDArray[Any]:
    return np.asarray(counts.sum(axis=tuple(other for other in range(counts.ndim) if other != axis)))
