"""What the symbols of a question say about each of its features: shared by prediction and estimation."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bcdp.plan import Plan, Question
from bcdp.tables import marginal_target, numeric_values

Array = npt.NDArray[np.float64]


def is_frequency(plan: Plan, feature: str) -> bool:
    """Whether a feature is estimated as frequencies of its values rather than as a mean on the [-1, 1] scale."""
    return plan.policy.features[feature].type == "categorical"


def target(plan: Plan, question: Question, feature: str) -> Array:
    """The feature as a function of the question's input levels: its value in [-1, 1], or one indicator per category."""
    position = question.features.index(feature)
    levels = question.levels[position]
    worth = np.eye(levels) if is_frequency(plan, feature) else numeric_values(levels)
    return marginal_target(question.levels, position, worth) if len(question.levels) > 1 else worth


def second_moment(plan: Plan, question: Question, feature: str) -> float:
    """The average second moment of the decoded answer about a feature, input levels uniform; summed over categories."""
    table = plan.tables[question.table]
    if len(question.features) == 1 and is_frequency(plan, feature):
        return table.second_moment
    wanted = target(plan, question, feature)
    columns = wanted if wanted.ndim == 2 else wanted[:, None]
    return float(sum(table.second_moments(column).mean() for column in columns.T))


def information(plan: Plan) -> dict[str, float]:
    """For each feature, one over n times its squared error (second moments counted); 0 for a feature never asked."""
    share = dict.fromkeys(range(len(plan.questions)), 0)
    for menu in plan.menus:
        for number in menu.questions:
            share[number] += menu.weight
    told = dict.fromkeys(plan.policy.features, 0.0)
    known: dict[tuple[object, ...], float] = {}
    for number, question in enumerate(plan.questions):
        for feature in question.features:
            key = (question.table, question.levels, question.features.index(feature), is_frequency(plan, feature))
            if key not in known:
                known[key] = 1 / second_moment(plan, question, feature)
            told[feature] += share[number] / 2**32 * known[key]
    return told
