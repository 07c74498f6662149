"""From a policy and a correlation model to a survey plan: classes, optimal menus, integer tables, certificate."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from bcdp.correlation import Correlation
from bcdp.errors import InputError
from bcdp.notions import ldp_limit
from bcdp.plan import Plan, certify
from bcdp.policy import FrequencyTask, MeanTask, Policy
from bcdp.survey.decoding import information
from bcdp.survey.design import Design, design
from bcdp.survey.kinds import Kind
from bcdp.survey.pricing import NEGLIGIBLE, FeatureClass, Profile
from bcdp.tables import TOTAL, Table, binary, categorical, joint, numeric

_SLACK = 1e-9  # kept aside of every demand, so that rounding can never break it
_MOST_ROTATIONS = 2000  # menus made of one profile


def plan_survey(policy: Policy, correlation: Correlation, progress: Callable[[str], None] = lambda line: None) -> Plan:
    """The most accurate survey that keeps every demand of the policy under the given correlation."""
    weights = _weights(policy)
    total = _largest_total(policy, correlation)
    classes = _classes(policy, correlation, weights, total)
    found = design(classes, total, progress=progress)
    menus = list(_menus(classes, found))
    return _document(policy, correlation, menus, found, weights)


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
    limits = {}
    for name in policy.features:
        demand = _demand(policy, name)
        limits[name] = max(float(ldp_limit(demand, correlation.q(name, _others(policy, name)))), demand)
    tightest = min(limits, key=lambda name: limits[name])
    if limits[tightest] < NEGLIGIBLE:
        feature = policy.features[tightest]
        raise InputError(
            f"features.{tightest}.delta: got {feature.delta:g} with a correlation above 0, so that no question about "
            "any feature could be answered; accepted: a larger delta, or correlation 0 for this feature"
        )
    return min(policy.epsilon - _SLACK, limits[tightest])


def _alone(policy: Policy, correlation: Correlation, name: str) -> float:
    """The largest budget of a menu that asks one feature only."""
    budgets = [_demand(policy, name)]
    for other in _others(policy, name):
        demand = _demand(policy, other)
        budgets.append(max(float(ldp_limit(demand, correlation.q(other, frozenset({name})))), demand))
    return min(budgets)


def _classes(
    policy: Policy, correlation: Correlation, weights: dict[str, float], total: float
) -> tuple[FeatureClass, ...]:
    groups: dict[tuple[Any, ...], list[str]] = {}
    for name, feature in policy.features.items():
        values = _values(policy, name)
        alone = _alone(policy, correlation, name)
        if weights[name] == 0 or values < 2 or alone < NEGLIGIBLE:
            continue  # not needed, known without asking, or not to be asked at all
        demand = _demand(policy, name)
        q = correlation.q(name, _others(policy, name)) if demand < total else 0.0  # a free feature's q does not matter
        key = (Kind(feature.type, values), min(demand, total), q, alone, weights[name])
        groups.setdefault(key, []).append(name)
    if not groups:
        raise InputError("tasks: no feature can be asked; accepted: at least one feature in a task with delta above 0")
    return tuple(
        FeatureClass(tuple(members), *key) for key, members in sorted(groups.items(), key=lambda item: item[0])
    )


def _menus(
    classes: tuple[FeatureClass, ...], found: Design
) -> Iterator[tuple[Fraction, list[tuple[tuple[str, ...], float]]]]:
    """Concrete menus: interchangeable features take turns, so that each of a class is asked equally often."""
    for profile, probability in zip(found.profiles, found.probabilities, strict=True):
        rotations = _rotations(classes, profile)
        for turn in range(rotations):
            used = dict.fromkeys(range(len(classes)), 0)
            questions = []
            for question in profile:
                names = []
                for c in question.classes:
                    members = classes[c].members
                    per_turn = sum(q.classes.count(c) for q in profile)
                    names.append(members[(turn * per_turn + used[c]) % len(members)])
                    used[c] += 1
                questions.append((tuple(names), question.budget))
            yield Fraction(float(probability)) / rotations, questions


def _rotations(classes: tuple[FeatureClass, ...], profile: Profile) -> int:
    """How many turns until every feature has been asked equally often (nearly so beyond 2000 turns)."""
    turns = 1
    for c in {c for question in profile for c in question.classes}:
        members = len(classes[c].members)
        per_turn = sum(question.classes.count(c) for question in profile)
        turns = math.lcm(turns, members // math.gcd(members, per_turn))
    return min(turns, _MOST_ROTATIONS)


def _document(
    policy: Policy,
    correlation: Correlation,
    menus: list[tuple[Fraction, list[tuple[tuple[str, ...], float]]]],
    found: Design,
    weights: dict[str, float],
) -> Plan:
    tables: dict[Table, int] = {}
    questions: dict[tuple[tuple[str, ...], float], int] = {}
    documents: list[dict[str, Any]] = []
    for _, asked in menus:
        for names, budget in asked:
            if (names, budget) not in questions:
                levels, table = _randomizer(policy, names, budget)
                questions[names, budget] = len(documents)
                number = tables.setdefault(table, len(tables))
                documents.append({"features": names, "levels": levels, "table": number})
    asked_sets = [frozenset(name for names, _ in asked for name in names) for _, asked in menus]
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


def _randomizer(policy: Policy, names: tuple[str, ...], budget: float) -> tuple[tuple[int, ...], Table]:
    sizes = tuple(_values(policy, name) for name in names)
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
