"""What the answers to a survey reveal about a target: the one decoder, shared by prediction and estimation."""

from __future__ import annotations

import math
from collections.abc import Collection
from functools import cached_property

import numpy as np
import numpy.typing as npt

from bcdp.exact import TOTAL
from bcdp.mechanisms.survey.estimation.fake_reports import Weighted, honest_range
from bcdp.mechanisms.survey.estimation.readings import Asked, CountsOf, Way, Ways, marginals
from bcdp.plan import Plan
from bcdp.policy import Policy
from bcdp.statistics import Decoded, Means, Target
from bcdp.statistics.shared.decoded_values import JointEstimate, combined, known, unknown
from bcdp.statistics.shared.linear_form import HonestRange

Array = npt.NDArray[np.float64]


def information(plan: Plan) -> dict[Target, float]:
    """For each feature and each product asked, one over n times its squared error (second moments counted).

    0 for a feature never asked.

    >>> from bcdp import Policy, make_plan
    >>> from bcdp.statistics import Single
    >>> plan = make_plan(Policy(epsilon=1, features={"smoker": {"type": "binary"}}))
    >>> told = information(plan)[Single("smoker")]
    >>> round(math.atanh(math.sqrt(told)) * 2, 6)  # one bit with budget b tells tanh(b/2)^2
    1.0
    """
    return dict(plan.derived(_information))


def _information(plan: Plan) -> dict[Target, float]:
    ways = plan.derived(Ways)
    return {
        target: sum(_share(plan, way) / way.reading.second_moment for way in ways.of(target))
        for target in ways.targets()
    }


def largest_errors(plan: Plan) -> dict[Target, float]:
    """For each feature and each product asked, n times its squared error in the worst population, for n large.

    Infinite for a feature never asked.
    """
    ways, errors = plan.derived(Ways), {}
    for target, informed in information(plan).items():
        size = target.size(plan.policy)
        errors[target] = (
            sum(
                _share(plan, way) * way.reading.largest_variance(size) / (way.reading.second_moment * informed) ** 2
                for way in ways.of(target)
            )
            if informed > 0
            else math.inf
        )
    return errors


def _share(plan: Plan, way: Way) -> float:
    """The share of the people who are asked in this way."""
    return sum(plan.menus[menu].weight for menu, _ in way.places) / TOTAL


class SurveyDecoder:
    """The counts of a survey as statistics see them."""

    def __init__(self, plan: Plan, people: int, counts: CountsOf) -> None:
        self.ways, self._counts, self.people = plan.derived(Ways), counts, people

    @property
    def policy(self) -> Policy:
        """The policy of the plan that was answered."""
        return self.ways.plan.policy

    def decode(self, target: Target) -> Decoded:
        """The unbiased values of a target and their variances."""
        size = target.size(self.policy)
        if self.ways.is_certain(target):
            return known(self.people)
        asked = [(way.reading, way.answered(self._counts)) for way in self.ways.of(target)]
        answers = sum(int(counts.sum()) for _, counts in asked)
        enough = [(reading, counts) for reading, counts in asked if counts.sum() >= 2]
        if not enough:
            return unknown(size, answers)
        weights = np.array([counts.sum() / reading.second_moment for reading, counts in enough])
        return combined([reading.decode(counts) for reading, counts in enough], weights / weights.sum(), answers)

    def means(self, targets: Collection[Target]) -> Means:
        """The unbiased values of several targets, shape (size,)."""
        people = self._people
        asked = {target: {way: way.asked(people) for way in self.ways.of(target)} for target in targets}
        answered = {
            target: {way: number for way, number in ways.items() if number > 0} for target, ways in asked.items()
        }
        return {
            target: Asked(target.size(self.policy), answered[target]).value(self._counts)
            for target, ways in asked.items()
            if ways
        }

    def together(self, targets: Collection[Target]) -> JointEstimate:
        """The unbiased values of several targets, one after the other, and their covariances.

        Each answer adds a vector to all values at once, and menus are independent of each other: the covariance is the
        sum over menus of that of the vectors that were added. Four imagined people, whose answers are all equally
        likely, keep a few equal answers from looking certain, as in the usual interval of a proportion.
        """
        people = self._people
        asked, answers, values = list[Asked](), list[int](), list[Array]()
        for target in targets:
            certain, size = self.ways.is_certain(target), target.size(self.policy)
            ways = {} if certain else {way: way.asked(people) for way in self.ways.of(target)}
            answers.append(self.people if certain else int(sum(ways.values())))
            asked.append(Asked(size, {way: number for way, number in ways.items() if number >= 2}))
            values.append(np.ones(size) if certain else asked[-1].value(self._counts))
        value = np.concatenate(values)
        covariance = np.zeros((len(value), len(value)))
        for added in self.ways.adding(asked, value):
            counts, number = self._counts(added.menu), people[added.menu]
            mean, square = added.moments(marginals((counts + 4 / counts.size) / (number + 4)))
            spread = (square - np.outer(mean, mean)) * number**2 / max(number - 1, 1)
            covariance[np.ix_(added.places, added.places)] += spread
        unknown = np.isnan(value)
        covariance[unknown] = covariance[:, unknown] = math.nan
        return JointEstimate(value, covariance, tuple(answers), self.ways.messages(targets))

    def honest_range(self, target: Target, factors: Array, fakes: int) -> HonestRange:
        """What a linear function of a target may be if so many reports are fake."""
        return honest_range(self.ways, [Weighted(self._counts)], target, factors, fakes)

    @cached_property
    def _people(self) -> list[float]:
        """How many answered each menu."""
        return [float(self._counts(menu).sum()) for menu in range(len(self.ways.plan.menus))]
