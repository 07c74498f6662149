"""What the symbols of a question say about its features or their product: shared by prediction and estimation."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from bcdp.plan import Plan, Question
from bcdp.survey.moments import Product, Target
from bcdp.tables import marginal_target, numeric_values

Array = npt.NDArray[np.float64]


def is_frequency(plan: Plan, asked: Target) -> bool:
    """Whether a target is estimated as frequencies of its values rather than as a mean on the [-1, 1] scale."""
    return isinstance(asked, str) and plan.policy.features[asked].type == "categorical"


def targets(question: Question) -> tuple[Target, ...]:
    """What a question is about: each of its features, or one product."""
    if question.kind == "product":
        return (Product(question.features, question.categories),)
    return question.features


def target(plan: Plan, question: Question, asked: Target) -> Array:
    """What is asked as a function of the question's input levels: a value in [-1, 1], or one indicator per category."""
    if isinstance(asked, Product):
        return numeric_values(question.levels[0])
    position = question.features.index(asked)
    levels = question.levels[position]
    worth = np.eye(levels) if is_frequency(plan, asked) else numeric_values(levels)
    return marginal_target(question.levels, position, worth) if len(question.levels) > 1 else worth


def second_moment(plan: Plan, question: Question, asked: Target) -> float:
    """The average second moment of the decoded answer, input levels uniform; summed over categories."""
    table = plan.tables[question.table]
    if len(question.features) == 1 and is_frequency(plan, asked):
        return table.second_moment
    wanted = target(plan, question, asked)
    columns = wanted if wanted.ndim == 2 else wanted[:, None]
    return float(sum(table.second_moments(column).mean() for column in columns.T))


def way(plan: Plan, question: Question, asked: Target) -> tuple[object, ...]:
    """By which answers are decoded alike: the table, and what of its levels is asked."""
    position = targets(question).index(asked)
    return question.table, question.levels, position, is_frequency(plan, asked)


def information(plan: Plan) -> dict[Target, float]:
    """For each feature and each product asked, one over n times its squared error (second moments counted).

    0 for a feature never asked.

    >>> from bcdp import Policy, make_plan
    >>> plan = make_plan(Policy(epsilon=1, features={"smoker": {"type": "binary"}}))
    >>> round(math.atanh(math.sqrt(information(plan)["smoker"])) * 2, 6)  # one bit with budget b tells tanh(b/2)^2
    1.0
    """
    told: dict[Target, float] = dict.fromkeys(plan.policy.features, 0.0)
    for asked, share, moment, _ in _asked(plan):
        told[asked] = told.get(asked, 0.0) + share / moment
    return told


def largest_errors(plan: Plan) -> dict[Target, float]:
    """For each feature and each product asked, n times its squared error in the worst population, for n large.

    That is: shares of one half, numbers at the levels of the largest second moment with their mean in the middle,
    categories equally frequent (docs/theory.md, section 4.3). Infinite for a feature never asked.
    """
    told = information(plan)
    errors = {asked: 0.0 if told[asked] > 0 else math.inf for asked in told}
    for asked, share, moment, variance in _asked(plan):
        errors[asked] += share * variance / (moment * told[asked]) ** 2
    return errors


def _asked(plan: Plan) -> Iterator[tuple[Target, float, float, float]]:
    """What each menu asks, the menu's share, and an answer's second moment and variance in the worst population."""
    known: dict[tuple[object, ...], tuple[float, float]] = {}
    for menu in plan.menus:
        for question in (plan.questions[number] for number in menu.questions):
            for asked in targets(question):
                key = way(plan, question, asked)
                if key not in known:
                    known[key] = second_moment(plan, question, asked), _largest_variance(plan, question, asked)
                yield asked, menu.weight / 2**32, *known[key]


def _largest_variance(plan: Plan, question: Question, asked: Target) -> float:
    """The variance of the decoded answer in the worst population; summed over categories, which are treated alike."""
    feature = plan.policy.features[asked] if isinstance(asked, str) else None
    if feature is not None and feature.type == "categorical":
        return second_moment(plan, question, asked) - 1 / len(feature.values)
    return float(plan.tables[question.table].second_moments(target(plan, question, asked)).max())
