"""The error to expect from a plan, beside the paper's mechanism and uniform LDP at the same guarantee.

All three are predictions, second moments counted, for the same people and the same demands, and each alternative is
taken at its best: the paper's mechanism at its best level (never worse than with its own heuristic), uniform LDP as the
survey that protects every feature like the most sensitive one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bcdp.cascade import budgets, predicted_error
from bcdp.cascade.device import coordinates
from bcdp.correlation import Correlation, PerFeature
from bcdp.plan import Plan
from bcdp.policy import NumericFeature, Policy
from bcdp.survey import information
from bcdp.survey.planner import plan_survey
from bcdp.survey.pricing import NEGLIGIBLE

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Errors:
    """n times the squared error of one feature: of its mean on the [-1, 1] scale, or summed over its frequencies."""

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
    q = [correlation.q(name, frozenset(policy.features) - {name}) for name in owners]
    return budgets(demands, policy.epsilon, q).c


def _survey(plan: Plan) -> dict[str, float]:
    told = information(plan)
    return {name: 1 / told[name] if told[name] > 0 else math.inf for name in plan.policy.features}


def _cascade(policy: Policy, c: Array) -> dict[str, float]:
    each = predicted_error(c, 1) if np.any(c > 0) else np.full(len(c), math.inf)
    errors = dict.fromkeys(policy.features, 0.0)
    for name, error in zip(coordinates(policy), each, strict=True):
        scale = 0.25 if policy.features[name].type == "categorical" else 1.0  # indicators count on the [0, 1] scale
        errors[name] += float(error) * scale
    return errors


def standard_error(policy: Policy, name: str, error: float, people: int) -> float:
    """The standard error for so many people in the feature's own units; of a typical frequency for categories."""
    feature = policy.features[name]
    if isinstance(feature, NumericFeature):
        return math.sqrt(error / people) * (feature.bounds[1] - feature.bounds[0]) / 2
    if feature.type == "binary":
        return math.sqrt(error / people) / 2
    return math.sqrt(error / people / len(feature.values))
