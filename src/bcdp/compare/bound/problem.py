"""Which policies a bound can be proved for, and the problem that each of them is."""

from __future__ import annotations

import math
from fractions import Fraction

from bcdp.compare.bound.check import Problem, Sensitive
from bcdp.errors import refuse
from bcdp.policy import OneOfBoth, OneQ, Policy, QPerFeature
from bcdp.statistics.shared.target import Role

MOST_SENSITIVE, MOST_OTHERS = 3, 28


def problem_of(policy: Policy) -> Problem:
    """The problem of a policy; features that are alike may stand in any order. Refused where Theorem 7 says nothing.

    >>> features = {"hiv": {"type": "binary", "delta": 0.2}, "smoker": {"type": "binary"}}
    >>> problem_of(Policy(epsilon=2, features=features, correlation=0.1)).sensitive
    (Sensitive(delta=Fraction(1, 5), q=Fraction(1, 10), weight=Fraction(1, 1)),)
    """
    for name, feature in policy.features.items():
        if feature.asked_as != "binary":
            raise refuse(f"features.{name}.type", feature.type, "binary features only, for a bound on all mechanisms")
    stated = policy.correlation
    if not isinstance(stated, OneQ | OneOfBoth | QPerFeature):
        raise refuse("correlation", stated.kind, "one q, or a q for each feature, for a bound on all mechanisms")
    if any(stated.odds_of(name) < math.inf for name in policy.features):  # better mechanisms keep the demands then
        raise refuse("correlation", "odds", "q without odds, for a bound on all mechanisms")
    weights = _weights(policy)
    sensitive, others = [], []
    for name, feature in policy.features.items():
        own = _decimal(weights[name])
        if own == 0:
            raise refuse("tasks", f"none for {name}", "a mean of every feature, for a bound on all mechanisms")
        if feature.delta >= policy.epsilon:
            others.append(own)
        elif feature.delta == 0:
            raise refuse(f"features.{name}.delta", 0, "a demand above 0, for a bound on all mechanisms")
        else:
            sensitive.append(Sensitive(_decimal(feature.delta), _decimal(stated.of(name)), own))
    if not 1 <= len(sensitive) <= MOST_SENSITIVE or not 1 <= len(others) <= MOST_OTHERS:
        counts = f"{len(sensitive)} features with a delta below epsilon and {len(others)} others"
        raise refuse("features", counts, f"1 to {MOST_SENSITIVE} and 1 to {MOST_OTHERS}, for a bound on all mechanisms")
    if len(set(others)) > 1:
        raise refuse("tasks", "several weights", "one weight for all features without a delta of their own")
    return Problem(_decimal(policy.epsilon), tuple(sorted(sensitive)), len(others), others[0])


def _weights(policy: Policy) -> dict[str, float]:
    """How much the squared error of each feature counts; refused where anything else is asked for."""
    weights = dict.fromkeys(policy.features, 0.0)
    for task in policy.tasks:
        for target, weight in task.targets(policy):
            if target.role is not Role.FEATURE:
                raise refuse("tasks", task.kind, "means and frequencies only, for a bound on all mechanisms")
            weights[target.features[0]] += task.weight * weight
    return weights


def _decimal(number: float) -> Fraction:
    """The number as it is written: 0.1 is a tenth."""
    return Fraction(repr(number))
