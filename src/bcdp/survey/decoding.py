"""What the symbols of a question say about its features or their product: shared by prediction and estimation."""

from __future__ import annotations

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
    """
    share = dict.fromkeys(range(len(plan.questions)), 0)
    for menu in plan.menus:
        for number in menu.questions:
            share[number] += menu.weight
    told: dict[Target, float] = dict.fromkeys(plan.policy.features, 0.0)
    known: dict[tuple[object, ...], float] = {}
    for number, question in enumerate(plan.questions):
        for asked in targets(question):
            key = way(plan, question, asked)
            if key not in known:
                known[key] = 1 / second_moment(plan, question, asked)
            told[asked] = told.get(asked, 0.0) + share[number] / 2**32 * known[key]
    return told
