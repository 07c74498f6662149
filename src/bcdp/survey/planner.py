"""From a policy and a correlation model to a survey plan: classes, optimal menus, integer tables, certificate."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from bcdp.correlation import Correlation
from bcdp.errors import InputError
from bcdp.notions import ldp_limit
from bcdp.plan import Plan, certify, shares_levels
from bcdp.policy import FrequencyTask, MeanTask, Policy
from bcdp.survey.decoding import information
from bcdp.survey.design import Design, design
from bcdp.survey.kinds import Kind
from bcdp.survey.offers import ShapeOffers
from bcdp.survey.pricing import NEGLIGIBLE, FeatureClass, Profile
from bcdp.survey.shapes import Shape, shaped_table
from bcdp.tables import TOTAL, Table, binary, categorical, joint, numeric

_SLACK = 1e-9  # kept aside of every demand, so that rounding can never break it
_MOST_ROTATIONS = 2000  # menus made of one profile


@dataclass(frozen=True)
class Setting:
    """What a policy leaves to be designed: classes of features to ask, and how much a menu may spend."""

    classes: tuple[FeatureClass, ...]
    weights: dict[str, float]  # of each feature's squared error
    epsilon: float
    total: float  # the largest budget of a menu that may ask anything
    outside: float  # the largest LDP level that the features never asked can live with

    @classmethod
    def of(cls, policy: Policy, correlation: Correlation) -> Setting:
        """The setting of a policy; refused where no question could be asked at all."""
        weights = _weights(policy)
        total = _largest_total(policy, correlation)
        classes = _classes(policy, correlation, weights)
        outside = _limit_outside(policy, correlation, classes)
        return cls(classes, weights, policy.epsilon - _SLACK, total, outside)


def plan_survey(policy: Policy, correlation: Correlation, progress: Callable[[str], None] = lambda line: None) -> Plan:
    """The most accurate survey that keeps every demand of the policy under the given correlation."""
    setting = Setting.of(policy, correlation)
    offers = ShapeOffers(setting.classes, setting.epsilon, setting.outside)
    found = design(setting.classes, setting.total, further=offers, progress=progress)
    menus = list(_menus(setting.classes, found))
    return _document(policy, correlation, menus, found, setting.weights)


def _weights(policy: Policy) -> dict[str, float]:
    """How much the squared error of each feature counts; 0 for features that no task needs."""
    weights = dict.fromkeys(policy.features, 0.0)
    for number, task in enumerate(policy.tasks):
        if not isinstance(task, MeanTask | FrequencyTask):
            raise InputError(
                f"tasks.{number}: a survey cannot estimate a regression; accepted: mean and frequency tasks, "
                "or `mechanism: cascade`"
            )
        for name in task.features:
            # the two frequencies of a binary feature are (1 +- mean) / 2, so their errors sum to half of the mean's
            binary_frequency = isinstance(task, FrequencyTask) and policy.features[name].type == "binary"
            weights[name] += task.weight * (0.5 if binary_frequency else 1.0)
    return weights


def _demand(policy: Policy, name: str) -> float:
    return max(min(policy.features[name].delta, policy.epsilon) - _SLACK, 0.0)


def _others(policy: Policy, name: str) -> frozenset[str]:
    return frozenset(policy.features) - {name}


def _largest_total(policy: Policy, correlation: Correlation) -> float:
    """The largest budget of a menu that may ask anything: what even an unasked feature's demand still allows."""
    limits = {name: _limit(policy, correlation, name, _others(policy, name)) for name in policy.features}
    tightest = min(limits, key=lambda name: limits[name])
    if limits[tightest] < NEGLIGIBLE:
        feature = policy.features[tightest]
        raise InputError(
            f"features.{tightest}.delta: got {feature.delta:g} with a correlation above 0, so that no question about "
            "any feature could be answered; accepted: a larger delta, or correlation 0 for this feature"
        )
    return min(policy.epsilon - _SLACK, limits[tightest])


def _limit_outside(policy: Policy, correlation: Correlation, classes: tuple[FeatureClass, ...]) -> float:
    """The largest LDP level that the features of no class, which are never asked, can live with."""
    inside = {name for c in classes for name in c.members}
    limits = [
        _limit(policy, correlation, name, _others(policy, name)) for name in policy.features if name not in inside
    ]
    return min(limits, default=math.inf)


def _limit(policy: Policy, correlation: Correlation, name: str, others: frozenset[str]) -> float:
    """The largest LDP level of an answer about `others` that the demand of a feature can live with."""
    demand = _demand(policy, name)
    return max(float(ldp_limit(demand, correlation.q(name, others))), demand)


def _alone(policy: Policy, correlation: Correlation, name: str) -> float:
    """The largest budget of a menu that asks one feature only."""
    limits = (_limit(policy, correlation, other, frozenset({name})) for other in _others(policy, name))
    return min(_demand(policy, name), *limits, policy.epsilon - _SLACK)


def _classes(policy: Policy, correlation: Correlation, weights: dict[str, float]) -> tuple[FeatureClass, ...]:
    groups: dict[tuple[Any, ...], list[str]] = {}
    for name, feature in policy.features.items():
        values = _values(policy, name)
        alone = _alone(policy, correlation, name)
        if weights[name] == 0 or values < 2 or alone < NEGLIGIBLE:
            continue  # not needed, known without asking, or not to be asked at all
        demand = _demand(policy, name)
        free = demand >= policy.epsilon - _SLACK  # kept by any menu, so its q does not matter
        q = 0.0 if free else correlation.q(name, _others(policy, name))
        key = (Kind(feature.type, values), demand, q, alone, weights[name], shares_levels(feature))
        groups.setdefault(key, []).append(name)
    if not groups:
        raise InputError("tasks: no feature can be asked; accepted: at least one feature in a task with delta above 0")
    return tuple(
        FeatureClass(tuple(members), *key) for key, members in sorted(groups.items(), key=lambda item: item[0])
    )


Asked = tuple[tuple[str, ...], float, Shape | None]  # a question about named features: its budget, and its shape


def _menus(classes: tuple[FeatureClass, ...], found: Design) -> Iterator[tuple[Fraction, list[Asked]]]:
    """Concrete menus: interchangeable features take turns in every place of a profile, so that each is told equally."""
    for profile, probability in zip(found.profiles, found.probabilities, strict=True):
        steps, turns = _rotation(classes, profile)
        for turn in range(turns):
            used = dict.fromkeys(steps, 0)
            questions = []
            for question in profile:
                names = []
                for c in question.classes:
                    names.append(classes[c].members[(turn * steps[c] + used[c]) % len(classes[c].members)])
                    used[c] += 1
                questions.append((tuple(names), question.budget, question.shape))
            yield Fraction(float(probability)) / turns, questions


def _rotation(classes: tuple[FeatureClass, ...], profile: Profile) -> tuple[dict[int, int], int]:
    """How far each class moves on from menu to menu, and how many menus it takes (nearly so beyond 2000).

    Where all places of a class are alike, its features move on by as many as were asked; else one by one, so that each
    feature stands in each place equally often.
    """
    steps, turns = {}, 1
    for c in {c for question in profile for c in question.classes}:
        places = [(q.budget, q.shape and q.shape.means[i]) for q in profile for i, k in enumerate(q.classes) if k == c]
        members = len(classes[c].members)
        steps[c] = len(places) if len(set(places)) == 1 else 1
        turns = math.lcm(turns, members // math.gcd(members, steps[c]))
    return steps, min(turns, _MOST_ROTATIONS)


def _document(
    policy: Policy,
    correlation: Correlation,
    menus: list[tuple[Fraction, list[Asked]]],
    found: Design,
    weights: dict[str, float],
) -> Plan:
    tables: dict[Table, int] = {}
    questions: dict[Asked, int] = {}
    documents: list[dict[str, Any]] = []
    for question in (question for _, asked in menus for question in asked):
        if question not in questions:
            levels, table = _randomizer(policy, *question)
            questions[question] = len(documents)
            documents.append(
                {"features": question[0], "levels": levels, "table": tables.setdefault(table, len(tables))}
            )
    asked_sets = [frozenset(name for names, _, _ in asked for name in names) for _, asked in menus]
    pairs = {(name, asked - {name}) for asked in asked_sets for name in policy.features if asked - {name}}
    unproven = {name: {"asked": feature.delta, "certified": 0.0, "c": 0.0} for name, feature in policy.features.items()}
    document = {
        "mechanism": "survey",
        "collection": {
            key: value for key, value in policy.to_dict().items() if key not in ("correlation", "mechanism")
        },
        "correlation": correlation.restricted(pairs).to_dict(),
        "tables": [table.to_dict() for table in tables],
        "questions": documents,
        "menus": [
            {"weight": weight, "questions": [questions[question] for question in asked]}
            for weight, (_, asked) in zip(_integer_weights([p for p, _ in menus]), menus, strict=True)
        ],
        "certificate": {"epsilon": 0.0, "features": unproven, "objective": None, "optimality_gap": None},
    }
    draft = Plan.build(document)
    claims = certify(draft)
    told = information(draft)
    objective = sum(weight / told[name] for name, weight in weights.items() if told[name] > 0)
    document["certificate"] = {
        "epsilon": claims.epsilon,
        "features": {
            name: {"asked": feature.delta, "certified": claims.delta[name], "c": claims.c[name]}
            for name, feature in policy.features.items()
        },
        "objective": objective,
        "optimality_gap": max(1.0, found.gap * objective / found.objective * _curve_slack(policy)),
    }
    plan = Plan.build(document)
    plan.verify()
    return plan


def _curve_slack(policy: Policy) -> float:
    """Planning knows the information of numeric questions to within half a percent, from below."""
    return 1.005 if any(feature.type == "numeric" for feature in policy.features.values()) else 1.0


def _randomizer(
    policy: Policy, names: tuple[str, ...], budget: float, shape: Shape | None
) -> tuple[tuple[int, ...], Table]:
    sizes = tuple(_values(policy, name) for name in names)
    if shape is not None:
        return sizes, shaped_table(shape)
    if len(names) > 1:
        return sizes, joint(sizes, budget)
    kind = policy.features[names[0]].type
    if kind == "categorical":
        return sizes, categorical(sizes[0], budget)
    table: Table = numeric(budget) if kind == "numeric" else binary(budget)
    return (table.levels,), table


def _values(policy: Policy, name: str) -> int:
    """How many values a joint question tells apart; a number is rounded at random to one of two."""
    feature = policy.features[name]
    return 2 if feature.type == "numeric" else len(feature.values or (0, 1))


def _integer_weights(probabilities: list[Fraction]) -> list[int]:
    """Weights of at least 1 that sum to 2^32, as close to the probabilities as that allows."""
    total = sum(probabilities)
    weights = np.array([max(1, int(p / total * TOTAL)) for p in probabilities], dtype=np.int64)
    weights[int(weights.argmax())] += TOTAL - int(weights.sum())
    return [int(weight) for weight in weights]
