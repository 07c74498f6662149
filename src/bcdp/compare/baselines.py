"""The error to expect from a plan, next to the paper's mechanism and uniform LDP at the same guarantee.

All three are predictions for the worst population and the same demands, and each alternative is taken at its best: the
paper's mechanism at its best level (never worse than with its own heuristic); uniform LDP, which protects every feature
like the most sensitive one, for each feature as the better of two surveys: the one of least total error, which may ask
some features rarely, and the one that asks all equally often. Worst is a population with shares of one half, numbers at
the bounds (half of them at each) and equally frequent categories: no other has larger errors (theory.md, 4.3).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bcdp.correlation import Correlation, PerFeature
from bcdp.mechanisms.cascade.decoding import channel_errors
from bcdp.mechanisms.cascade.mechanism import open_channels
from bcdp.mechanisms.cascade.plans import coordinate_budgets
from bcdp.mechanisms.survey.design.classes.feature_classes import NEGLIGIBLE
from bcdp.mechanisms.survey.design.planner import plan_evenly, plan_survey
from bcdp.plan import Plan, mechanism_of
from bcdp.policy import Policy
from bcdp.statistics import Single, error_without_privacy, headline
from bcdp.statistics.shared.value_targets import mean_target

Array = npt.NDArray[np.float64]

NO_PAPER = "its mechanism has no mean scores, and no means next to a regression; bcdp simulate compares regressions"


@dataclass(frozen=True)
class Errors:
    """n times the largest squared error of a feature: of its mean on the [-1, 1] scale, or summed over frequencies."""

    plan: float
    paper: float  # NaN where the paper's mechanism cannot do what the plan does: a regression, mean scores
    uniform: float


def compare(plan: Plan, correlation: Correlation, uniform: Sequence[Plan] | None = None) -> dict[str, Errors]:
    """The errors of each feature; infinite where it is not asked. `uniform` are `uniform_plans`, made if left out."""
    policy = plan.policy
    paper = channel_errors(policy, open_channels(coordinate_budgets(policy, correlation)))
    ours = _errors(plan)
    surveys = [_errors(survey) for survey in (uniform_plans(policy) if uniform is None else uniform)]
    best_uniform = {name: min((errors[name] for errors in surveys), default=math.inf) for name in policy.features}
    means = all(task.kind != "regression" for task in policy.tasks)
    return {
        name: Errors(ours[name], paper[name] if means and not feature.scale else math.nan, uniform=best_uniform[name])
        for name, feature in policy.features.items()
    }


def uniform_plans(policy: Policy) -> tuple[Plan, ...]:
    """The surveys that give every feature and the whole record the smallest delta; none where that allows nothing.

    The first has the least total error; the second asks everything equally often.
    """
    least = min(policy.epsilon, *(feature.delta for feature in policy.features.values()))
    if least < 2 * NEGLIGIBLE:
        return ()
    features = {name: feature.with_delta(least) for name, feature in policy.features.items()}
    stated, independent_of_q = policy.model_copy(update={"epsilon": least, "features": features}), PerFeature(1.0, {})
    return plan_survey(stated, independent_of_q), plan_evenly(stated, independent_of_q)


def _errors(plan: Plan) -> dict[str, float]:
    errors = mechanism_of(plan).largest_errors(plan)
    return {name: errors[headline(plan.policy, name)] for name in plan.policy.features}


def standard_error(policy: Policy, name: str, error: float, people: int) -> float:
    """The largest standard error for so many people in own units; of frequencies, the root of their mean square."""
    low, high = policy.features[name].span
    if is_mean(policy, name):
        return math.sqrt(error / people) * (high - low) / 2
    return math.sqrt(error / people / headline(policy, name).size(policy))


def open_people(policy: Policy, name: str, error: float, people: int) -> int:
    """The equivalent open sample size: how many openly asked people have the same largest standard error.

    >>> policy = Policy(epsilon=1, features={"smoker": {"type": "binary"}})
    >>> open_people(policy, "smoker", 4.0, 1_000)
    250
    """
    if is_mean(policy, name):
        return math.floor(people / error)
    target = headline(policy, name)
    share_of_half = target.size(policy) / 4
    return math.floor(
        people * (share_of_half if target != Single(name) else error_without_privacy(policy.features[name])) / error
    )


def is_mean(policy: Policy, name: str) -> bool:
    """Whether one mean is reported of a feature; where some give no answer, as if nearly everybody did."""
    feature = policy.features[name]
    if feature.scale:
        return headline(policy, name) == mean_target(policy, name)
    return not feature.counts_values or feature.asked_as != feature.type
