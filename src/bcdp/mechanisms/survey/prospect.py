"""What a survey's answers will tell, before anybody is asked: from the plan and the records of a population."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from bcdp.exact import TOTAL
from bcdp.mechanisms.survey.decoding import information
from bcdp.mechanisms.survey.ways import Asked, Ways
from bcdp.plan import Menu, Plan, Question
from bcdp.policy import Policy
from bcdp.policy.encoding import step_of
from bcdp.statistics import Target
from bcdp.statistics.decoded import Together
from bcdp.statistics.target import Codes, product_of

Array = npt.NDArray[np.float64]
Digits = npt.NDArray[np.int64]
Likely = Sequence[tuple[Digits, Array | float]]  # what each record's input may be, and with what chance


class SurveyProspect:
    """A survey's plan as statistics see it before anybody has answered."""

    def __init__(self, plan: Plan) -> None:
        self._plan, self._ways = plan, Ways(plan)

    @property
    def policy(self) -> Policy:
        """The policy of the plan."""
        return self._plan.policy

    @cached_property
    def errors(self) -> Mapping[Target, float]:
        """For each target, n times its squared error (second moments counted); infinite if it is not asked."""
        return {target: 1 / told if told > 0 else math.inf for target, told in information(self._plan).items()}

    def together(self, targets: Collection[Target], people: int, records: Codes) -> Together:
        """The values of several targets in a population, and how so many people's answers would vary about them.

        As `SurveyDecoder.together`, with the law of the answers in the place of counts.
        """
        menus = [people * menu.weight / TOTAL for menu in self._plan.menus]
        asked, values = list[Asked](), list[Array]()
        for target in targets:
            size, ways = target.size(self.policy), self._ways.of(target)
            told = bool(ways) or self._ways.is_certain(target)
            asked.append(Asked(size, {way: way.asked(menus) for way in ways}))
            values.append(target.of(self.policy, records).mean(axis=0) if told else np.full(size, math.nan))
        value = np.concatenate(values)
        covariance = np.zeros((len(value), len(value)))
        for added in self._ways.adding(asked, value):
            law = self._law(self._plan.menus[added.menu], records)
            mean, square = added.moments(law)
            covariance[np.ix_(added.places, added.places)] += menus[added.menu] * (square - np.outer(mean, mean))
        unknown = np.isnan(value)
        covariance[unknown] = covariance[:, unknown] = math.nan
        return Together(value, covariance, tuple(round(sum(one.people.values())) for one in asked))

    def _law(self, menu: Menu, records: Codes) -> Callable[..., Array]:
        """How probable each symbol is at one axis of a menu, or each two at two of them."""
        plan = self._plan

        def seen(*axes: int) -> Array:
            questions = [plan.questions[menu.questions[axis]] for axis in axes]
            found = _inputs(plan.policy, questions, records)
            for question in questions:  # each turns its axis into the last: after all of them they are in order
                found = np.tensordot(found, plan.tables[question.table].dense().weights / TOTAL, axes=(0, 0))
            return found

        return seen


def _inputs(policy: Policy, questions: Sequence[Question], records: Codes) -> Array:
    """The share of the people with each input to a question, or to several, one axis for each."""
    people = len(next(iter(records.values())))
    likely: list[tuple[Digits, Array | float]] = [(np.zeros(people, dtype=np.int64), 1.0)]
    shape = []
    for question in questions:
        shape.append(math.prod(question.levels))
        for size, options in _digits(policy, question, records):
            likely = [(place * size + digit, one * two) for place, one in likely for digit, two in options]
    total = math.prod(shape)
    counted = sum(np.bincount(at, np.broadcast_to(chance, people), total) for at, chance in likely)
    return np.asarray(counted / people).reshape(shape)


def _digits(policy: Policy, question: Question, records: Codes) -> Iterator[tuple[int, Likely]]:
    """Of each part of a question's input how many values it has, and which of them the records may have.

    As `answering` computes it, with a chance in the place of each random word.
    """
    if question.kind == "product":
        yield (
            question.levels[0],
            _rounded(product_of(policy, question.features, question.categories, records), question.levels[0]),
        )
        return
    for name, size in zip(question.features, question.levels, strict=True):
        code, cuts, feature = records[name], question.cuts_of(name), policy.features[name]
        if cuts is not None:
            yield size, [(step_of(feature, cuts, code), 1.0)]
        elif code.dtype.kind == "i":
            yield size, [(code, 1.0)]
        else:
            rounded = _rounded(np.minimum(code, 1.0), size - feature.own)
            yield size, [(np.where(code > 1, size - 1, digit), chance) for digit, chance in rounded]


def _rounded(numbers: Array, levels: int) -> Likely:
    """A number in [-1, 1] as one of its two neighbouring inputs, right on average."""
    place = (numbers + 1) / 2 * (levels - 1)
    below = np.minimum(np.floor(place), levels - 2).astype(np.int64)
    return [(below, 1 - (place - below)), (below + 1, place - below)]
