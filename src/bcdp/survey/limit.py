"""How far any mechanism could go: lower bounds on n times the total error (docs/theory.md, section 5).

The closed form is proved. The numerical bound is the equivalence theorem over all answers, not only those that the
planner asks: its inner maximum is a convex function over a polytope, sought by alternating linear programs from many
starts over up to six features. It is marked as numerical because such a search proves no maximum.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bcdp.correlation import Correlation
from bcdp.errors import refuse
from bcdp.plan import Plan
from bcdp.policy import Policy
from bcdp.survey.decoding import information
from bcdp.survey.offers import ShapeOffers
from bcdp.survey.planner import Setting
from bcdp.survey.pricing import Market

Array = npt.NDArray[np.float64]

_LARGEST_GROUP = 6
_MOST_GROUPS = 60


@dataclass(frozen=True)
class LowerBound:
    """No mechanism within the policy has an objective below `closed_form`, nor, as far as is known, `numerical`."""

    numerical: float
    closed_form: float


def lower_bound(policy: Policy, correlation: Correlation, plan: Plan) -> LowerBound:
    """Bounds on the objective of any mechanism that keeps the policy; `plan` is one that does, for binary features."""
    for name, feature in policy.features.items():
        if feature.type != "binary":
            raise refuse(f"features.{name}.type", feature.type, "binary features only, for a bound on all mechanisms")
    if any(task.kind == "regression" for task in policy.tasks):
        raise refuse("tasks", "a regression", "means and frequencies only, for a bound on all mechanisms")
    setting = Setting.of(policy, correlation)
    told = information(plan)
    each = np.array([np.mean([told[name] for name in c.members]) for c in setting.classes])
    weight_of = {name: setting.weights[name] for name in policy.features}
    weights = np.array([c.weight for c in setting.classes])
    sizes = np.array([len(c.members) for c in setting.classes])
    prices = weights / each**2
    objective = float((sizes * weights / each).sum())
    offers = ShapeOffers(setting.classes, setting.epsilon, setting.outside)
    groups = sorted(offers.groups(prices, _LARGEST_GROUP), key=len)[:_MOST_GROUPS]
    found = [float(prices[list(group)] @ np.array(offers.shape(group, prices).means) ** 2) for group in groups]
    best = max(Market(setting.classes, setting.total).best(prices, 1e-4).bound, objective, *found)
    return LowerBound(objective**2 / best, closed_form(policy, weight_of))


def closed_form(policy: Policy, weights: dict[str, float]) -> float:
    """The least weighted sum of `1 / J_i` with `J_i <= tanh^2(delta_i / 2)` and `sum J_i <= sinh^2(epsilon / 2)`."""
    names = [name for name, weight in weights.items() if weight > 0 and policy.features[name].delta > 0]
    weight = np.array([weights[name] for name in names])
    caps = np.array([math.tanh(min(policy.features[name].delta, policy.epsilon) / 2) ** 2 for name in names])
    trace = math.sinh(policy.epsilon / 2) ** 2
    low, high = 0.0, float((caps / np.sqrt(weight)).max())
    for _ in range(200):
        scale = (low + high) / 2
        low, high = (scale, high) if np.minimum(caps, scale * np.sqrt(weight)).sum() <= trace else (low, scale)
    return float((weight / np.minimum(caps, high * np.sqrt(weight))).sum())
