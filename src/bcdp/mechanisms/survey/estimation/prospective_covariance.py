"""What a survey's answers will reveal, before anybody is asked: from the plan and the records of a population."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from bcdp.exact import TOTAL
from bcdp.mechanisms.survey.estimation.decoder import information
from bcdp.mechanisms.survey.estimation.readings import Asked, Ways
from bcdp.plan import Menu, Plan
from bcdp.policy import Policy
from bcdp.questions import Question, input_shares
from bcdp.statistics import Target
from bcdp.statistics.shared.decoded_values import JointEstimate
from bcdp.statistics.shared.target import Codes

Array = npt.NDArray[np.float64]


class SurveyProspect:
    """A survey's plan as statistics see it before anybody has answered."""

    def __init__(self, plan: Plan) -> None:
        self._plan, self._ways = plan, plan.derived(Ways)

    @property
    def policy(self) -> Policy:
        """The policy of the plan."""
        return self._plan.policy

    @cached_property
    def errors(self) -> Mapping[Target, float]:
        """For each target, n times its squared error (second moments counted); infinite if it is not asked."""
        return {
            target: 1 / informed if informed > 0 else math.inf for target, informed in information(self._plan).items()
        }

    def together(self, targets: Collection[Target], people: int, records: Codes) -> JointEstimate:
        """The values of several targets in a population, and how so many people's answers would vary about them.

        As `SurveyDecoder.together`, with the distribution of the answers in the place of counts.
        """
        menus = [people * menu.weight / TOTAL for menu in self._plan.menus]
        asked, values = list[Asked](), list[Array]()
        for target in targets:
            size, ways = target.size(self.policy), self._ways.of(target)
            is_known = bool(ways) or self._ways.is_certain(target)
            asked.append(Asked(size, {way: way.asked(menus) for way in ways}))
            values.append(target.of(self.policy, records).mean(axis=0) if is_known else np.full(size, math.nan))
        value = np.concatenate(values)
        covariance = np.zeros((len(value), len(value)))
        for added in self._ways.adding(asked, value):
            law = self._law(self._plan.menus[added.menu], records)
            mean, square = added.moments(law)
            covariance[np.ix_(added.places, added.places)] += menus[added.menu] * (square - np.outer(mean, mean))
        unknown = np.isnan(value)
        covariance[unknown] = covariance[:, unknown] = math.nan
        answers = tuple(round(sum(asking.people.values())) for asking in asked)
        return JointEstimate(value, covariance, answers, self._ways.messages(targets))

    def _law(self, menu: Menu, records: Codes) -> Callable[..., Array]:
        """How probable each symbol is at one axis of a menu, or each two at two of them."""
        plan = self._plan

        def seen(*axes: int) -> Array:
            questions = [plan.questions[menu.questions[axis]] for axis in axes]
            shares = _inputs(plan.policy, questions, records)
            for question in questions:  # each turns its axis into the last: after all of them they are in order
                shares = np.tensordot(shares, plan.tables[question.table].dense().weights / TOTAL, axes=(0, 0))
            return shares

        return seen


def _inputs(policy: Policy, questions: Sequence[Question], records: Codes) -> Array:
    """The share of the people with each input to a question, or to several, one axis for each."""
    people = len(next(iter(records.values())))
    coordinates = [coordinate for question in questions for coordinate in question.coordinates(policy, records)]
    shares = input_shares(coordinates, np.full(people, 1 / people))
    shares = shares.reshape([math.prod(question.levels) for question in questions])
    for axis, question in enumerate(questions):
        possible = question.combinations(policy)
        if possible is not None:
            shares = shares.take(np.ravel_multi_index(tuple(possible.T), question.levels), axis=axis)
    return shares
