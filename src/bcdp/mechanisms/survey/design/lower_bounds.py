"""How far any mechanism could go: lower bounds on n times the total error (theory.md, section 5).

The closed form is proved. The numerical bound is the equivalence theorem over all answers, not only those that the
planner asks: its inner maximum is a convex function over a polytope, sought by alternating linear programs from several
starts over every group of six features (or of all, if they are fewer). It is marked as numerical because such a search
proves no maximum, and larger groups are not looked at.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import islice

import numpy as np
import numpy.typing as npt

from bcdp.correlation import Correlation
from bcdp.errors import refuse
from bcdp.mechanisms.survey.design.joint.candidates import LARGEST_GROUP, ShapeOffers
from bcdp.mechanisms.survey.design.menu_pricing import MenuPricing
from bcdp.mechanisms.survey.design.planner import Setting
from bcdp.mechanisms.survey.estimation.decoder import information
from bcdp.plan import Plan
from bcdp.policy import Policy
from bcdp.statistics import Role, Single

Array = npt.NDArray[np.float64]

_MOST_GROUPS = 30


@dataclass(frozen=True)
class LowerBound:
    """No mechanism within the policy has an objective below `closed_form`; a search reached none below `numerical`.

    `numerical` is None where there are too many groups of features to look at them all.
    """

    numerical: float | None
    closed_form: float


def lower_bound(policy: Policy, correlation: Correlation, plan: Plan) -> LowerBound:
    """Bounds on the objective of any mechanism that keeps the policy; `plan` is one that does, for binary features.

    >>> from bcdp import Policy, make_plan
    >>> policy = Policy(epsilon=1, features={"smoker": {"type": "binary", "delta": 0.2}, "open": {"type": "binary"}})
    >>> plan = make_plan(policy)
    >>> bound = lower_bound(policy, plan.correlation_model, plan)
    >>> bound.closed_form <= bound.numerical <= plan.certificate.objective
    True
    """
    for name, feature in policy.features.items():
        if feature.asked_as != "binary":
            raise refuse(f"features.{name}.type", feature.type, "binary features only, for a bound on all mechanisms")
    if any(target.role is not Role.FEATURE for task in policy.tasks for target, _ in task.targets(policy)):
        raise refuse("tasks", "a regression", "means and frequencies only, for a bound on all mechanisms")
    setting = Setting.of(policy, correlation)
    informed = information(plan)
    each = np.array([np.mean([informed[name] for name in c.members]) for c in setting.classes])
    weight_of = {name: setting.weights[Single(name)] for name in policy.features}
    weights = np.array([c.weight for c in setting.classes])
    sizes = np.array([len(c.members) for c in setting.classes])
    prices = weights / each**2
    objective = sum(weight / informed[name] for name, weight in setting.weights.items() if informed[name] > 0)
    offers = ShapeOffers(setting.classes, setting.epsilon, setting.outside)
    groups = list(islice(offers.groups(min(int(sizes.sum()), LARGEST_GROUP)), _MOST_GROUPS + 1))
    if len(groups) > _MOST_GROUPS:
        return LowerBound(None, closed_form(policy, weight_of))
    values = [float(prices[list(group)] @ offers.shape(group, prices).information) for group in groups]
    best = max(MenuPricing(setting.classes, setting.total).bound(prices, 1e-4), objective, *values)
    return LowerBound(objective / (best / objective), closed_form(policy, weight_of))


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
