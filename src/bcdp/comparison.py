"""The error to expect from a plan, beside the paper's mechanism and uniform LDP at the same guarantee.

All three are predictions for the worst population and the same demands, and each alternative is taken at its best: the
paper's mechanism at its best level (never worse than with its own heuristic), uniform LDP as the survey that protects
every feature like the most sensitive one. Worst is a population with shares of one half, numbers at the bounds (half of
them at each) and equally frequent categories: no other has larger errors (docs/theory.md, section 4.3).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bcdp.cascade import budgets
from bcdp.cascade.device import coordinates
from bcdp.cascade.mechanism import least_variances, open_channels
from bcdp.correlation import Correlation, PerFeature, unrounded_q
from bcdp.plan import Plan
from bcdp.policy import Feature, NumericFeature, Policy
from bcdp.survey.decoding import largest_errors
from bcdp.survey.planner import plan_survey
from bcdp.survey.profiles import NEGLIGIBLE

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Errors:
    """n times the largest squared error of a feature: of its mean on the [-1, 1] scale, or summed over frequencies."""

    plan: float
    paper: float
    uniform: float


def compare(plan: Plan, correlation: Correlation) -> dict[str, Errors]:
    """The errors of each feature; infinite where it is not asked."""
    policy = plan.policy
    paper = _cascade(policy, paper_budgets(policy, correlation))
    ours = _survey(plan) if plan.mechanism == "survey" else paper
    uniform = uniform_plan(policy)
    alike = dict.fromkeys(policy.features, math.inf) if uniform is None else _survey(uniform)
    return {name: Errors(ours[name], paper[name], alike[name]) for name in policy.features}


def uniform_plan(policy: Policy) -> Plan | None:
    """The survey that gives every feature and the whole record the smallest delta; None where that allows nothing."""
    least = min(policy.epsilon, *(feature.delta for feature in policy.features.values()))
    if least < 2 * NEGLIGIBLE:
        return None
    alike = {name: feature.model_copy(update={"delta": least}) for name, feature in policy.features.items()}
    return plan_survey(policy.model_copy(update={"epsilon": least, "features": alike}), PerFeature(1.0, {}))


def paper_budgets(policy: Policy, correlation: Correlation) -> Array:
    """The paper's budget of each coordinate, at the best level for the policy's demands."""
    owners = coordinates(policy)
    demands = [policy.features[name].delta for name in owners]
    q = [unrounded_q(correlation, name, frozenset(policy.features) - {name}) for name in owners]
    return budgets(demands, policy.epsilon, q).c


def _survey(plan: Plan) -> dict[str, float]:
    errors = largest_errors(plan)
    return {name: errors[name] for name in plan.policy.features}


def _cascade(policy: Policy, c: Array) -> dict[str, float]:
    """What the channels add to what chance leaves when everybody is asked openly: the two are independent."""
    noise = np.nan_to_num(least_variances(open_channels(c), len(c)), nan=math.inf)
    errors = {name: openly(feature) for name, feature in policy.features.items()}
    for name, error in zip(coordinates(policy), noise, strict=True):
        scale = 0.25 if policy.features[name].type == "categorical" else 1.0  # indicators count on the [0, 1] scale
        errors[name] += float(error) * scale
    return errors


def openly(feature: Feature) -> float:
    """n times the largest squared error without any protection, as `Errors` counts it."""
    return 1 - 1 / len(feature.values) if feature.type == "categorical" else 1.0


def standard_error(policy: Policy, name: str, error: float, people: int) -> float:
    """The largest standard error for so many people in own units; of frequencies, the root of their mean square."""
    feature = policy.features[name]
    if isinstance(feature, NumericFeature):
        return math.sqrt(error / people) * (feature.bounds[1] - feature.bounds[0]) / 2
    if feature.type == "binary":
        return math.sqrt(error / people) / 2
    return math.sqrt(error / people / len(feature.values))
