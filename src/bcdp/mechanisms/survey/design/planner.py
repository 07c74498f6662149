"""From a policy and a correlation model to a survey plan: classes, optimal menus, integer tables, certificate."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import cast

import numpy as np
import numpy.typing as npt

from bcdp.correlation import Correlation
from bcdp.errors import InputError
from bcdp.mechanisms.survey.design.budget_limits import BudgetLimits
from bcdp.mechanisms.survey.design.classes.class_builder import classes_of
from bcdp.mechanisms.survey.design.classes.feature_classes import NEGLIGIBLE, FeatureClass, Profile
from bcdp.mechanisms.survey.design.column_generation import Design, design
from bcdp.mechanisms.survey.design.joint.candidates import MANY_INTERACTIONS, ShapeOffers
from bcdp.mechanisms.survey.design.menu_assignment import Asked, menus_of
from bcdp.mechanisms.survey.design.plan_assembly import document_of
from bcdp.mechanisms.survey.design.usable_correlation import as_seen, without_odds
from bcdp.mechanisms.survey.estimation.decoder import information
from bcdp.plan import Plan
from bcdp.policy import Policy
from bcdp.statistics import Askable, Role, Single, Target

Array = npt.NDArray[np.float64]

_FOR_MENUS = 0.6  # of the time: the rest is for the bound, integer tables and the certificate
_SECONDS_A_TABLE = 0.1  # of processor time, at most, over policies of 12 to 30 features


@dataclass(frozen=True)
class Setting:
    """What a policy leaves to be designed: classes of features to ask, and how much a menu may spend."""

    classes: tuple[FeatureClass, ...]
    weights: dict[Target, float]  # of each squared error, in the design
    errors: dict[Target, float]  # how often each squared error counts in the total that is reported
    epsilon: float
    total: float  # the largest budget of a menu that may ask anything
    outside: float  # the largest LDP level that the features never asked allow

    @classmethod
    def of(cls, policy: Policy, correlation: Correlation) -> Setting:
        """The setting of a policy; refused where no question could be asked at all."""
        wanted = [target for task in policy.tasks for target, _ in task.targets(policy)]
        seen = as_seen(correlation, wanted)
        menus = BudgetLimits(policy, seen)
        errors, weights = _weights(policy, menus.alone)
        classes = classes_of(menus, weights)
        asked = {name for c in classes for member in c.members if c.is_feature for name in member.features}
        distributed = any(target.role is Role.DISTRIBUTION for target in wanted)  # a menu may ask it next to anything
        limits = menus if distributed else BudgetLimits(policy, correlation)
        return cls(classes, weights, errors, limits.epsilon, limits.any_menu, limits.without_asking(asked))

    @property
    def asked(self) -> frozenset[Target]:
        """What may be asked for."""
        return frozenset(target for c in self.classes for target in c.members)


def plan_survey(
    policy: Policy,
    correlation: Correlation,
    progress: Callable[[str], None] = lambda line: None,
    seconds: float | None = None,
) -> Plan:
    """The most accurate survey that keeps every demand of the policy under the given correlation.

    After `seconds` the best of the menus that are known by then; the rest of the work takes a little longer.

    >>> from bcdp.correlation import PerFeature
    >>> policy = Policy(epsilon=1, features={"smoker": {"type": "binary", "delta": 0.2}, "open": {"type": "binary"}})
    >>> plan_survey(policy, PerFeature(0.0, {})).certificate.features["smoker"].certified <= 0.2
    True
    """
    deadline = math.inf if seconds is None else time.monotonic() + _FOR_MENUS * seconds
    setting = Setting.of(policy, correlation)
    if (tables := sum(bool(c.interaction) for c in setting.classes)) > MANY_INTERACTIONS:
        progress(f"{tables} tables that differ, some {_SECONDS_A_TABLE * tables:.0f} seconds")
    best = _designed(setting, progress, deadline)

    def accuracy(draft: Plan) -> tuple[float, float]:
        informed = information(draft)
        error, objective = (total_error(weights, informed) for weights in (setting.errors, setting.weights))
        return error, best.gap * objective / best.objective * _curve_slack(policy, setting)

    def certified(classes: tuple[FeatureClass, ...], menus: Design) -> Plan:
        return Plan.certified(document_of(policy, correlation, menus_of(classes, menus)), accuracy)

    plans = [certified(setting.classes, best)]
    plain = _without_odds(policy, correlation, setting)
    if plain is not None:  # a search may end a little above where it ends with less to choose from
        plans.append(
            certified(plain.classes, _designed(plain, lambda line: progress(f"without odds, {line}"), deadline))
        )
    return min(plans, key=lambda plan: total_error(setting.weights, information(plan)))


def _designed(setting: Setting, progress: Callable[[str], None], deadline: float = math.inf) -> Design:
    offers = ShapeOffers(setting.classes, setting.epsilon, setting.outside)
    several = setting.total >= NEGLIGIBLE  # else a demand allows nothing but single questions, by the q of its pairs
    further: Callable[[Array, float], list[Profile]] = offers if several else lambda prices, enough: []
    return design(setting.classes, setting.total, further=further, progress=progress, deadline=deadline)


def _without_odds(policy: Policy, correlation: Correlation, setting: Setting) -> Setting | None:
    """The setting if odds are left out; None where that changes nothing, or would leave something unasked."""
    try:
        plain = Setting.of(policy, without_odds(correlation))
    except InputError:  # nothing could be asked at all
        return None
    return plain if plain != setting and plain.asked == setting.asked else None


def total_error(weights: Mapping[Target, float], informed: Mapping[Target, float]) -> float:
    """The weighted sum of the squared errors of whatever is asked."""
    return sum(weight / informed[target] for target, weight in weights.items() if informed.get(target, 0.0) > 0)


def plan_evenly(policy: Policy, correlation: Correlation) -> Plan:
    """The survey that asks each person one question, about every feature (and product) that is wanted equally often."""
    setting = Setting.of(policy, correlation)
    classes = setting.classes
    numbers = {target: number for number, c in enumerate(classes) if c.is_feature for target in c.members}

    def parts(target: Target) -> tuple[Askable, ...]:
        """What a question about it asks: an interaction is asked by its features."""
        interacts = target.role is Role.INTERACTION
        asked = sorted(target.margins, key=numbers.__getitem__) if interacts else [target]
        return cast("tuple[Askable, ...]", tuple(asked))

    asked: list[Asked] = [
        (parts(target), c.alone, c.whole)
        for c in classes
        for target in c.members
        if setting.weights.get(target, c.weight) > 0
    ]
    menus = [(Fraction(1, len(asked)), [question]) for question in asked]
    return Plan.certified(document_of(policy, correlation, menus))


def _weights(policy: Policy, alone: dict[str, float]) -> tuple[dict[Target, float], dict[Target, float]]:
    """How often the squared error of each target counts in the total, and how much in the design; 0 if nobody needs it.

    They differ so that each feature counts equally in the design, whatever its number of values: at the budget that it
    may be asked with alone.
    """
    errors: dict[Target, float] = dict.fromkeys(map(Single, policy.features), 0.0)
    weights = errors.copy()
    for task in policy.tasks:
        for target, weight in task.targets(policy):
            errors[target] = errors.get(target, 0.0) + task.weight * weight
            budget = min(alone[name] for name in target.features)
            weights[target] = weights.get(target, 0.0) + task.weight * weight * task.scale(policy, target, budget)
    return errors, weights


def _curve_slack(policy: Policy, setting: Setting) -> float:
    """Planning knows the information of numeric questions to within half a percent, of waves to one, from below."""
    if any(target.role is Role.DISTRIBUTION for target in setting.weights):
        return 1.01
    valued = any(target.role is Role.VALUES for target in setting.weights)
    return 1.005 if valued or any(feature.is_number for feature in policy.features.values()) else 1.0
