"""From a policy and a correlation model to a survey plan: classes, optimal menus, integer tables, certificate."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from bcdp.correlation import Correlation, product_q
from bcdp.errors import InputError, refuse
from bcdp.exact import TOTAL
from bcdp.mechanisms.survey.decoding import information
from bcdp.mechanisms.survey.design import Design, design
from bcdp.mechanisms.survey.kinds import Kind
from bcdp.mechanisms.survey.known import exact_limit
from bcdp.mechanisms.survey.offers import ShapeOffers
from bcdp.mechanisms.survey.places import Place
from bcdp.mechanisms.survey.profiles import NEGLIGIBLE, FeatureClass, Profile, rotation
from bcdp.mechanisms.survey.seen import as_seen
from bcdp.mechanisms.survey.shapes import Shape, shaped_table
from bcdp.notions import ldp_limit
from bcdp.plan import Plan, collection_of, guessed_parts
from bcdp.policy import Policy
from bcdp.statistics import Below, Interaction, Product, Single, Steps, Target
from bcdp.statistics.table import MOST_CELLS
from bcdp.tables import Table, binary, categorical, joint, numeric, waves

Array = npt.NDArray[np.float64]

_SLACK = 1e-9  # kept aside of every demand, so that rounding can never break it


@dataclass(frozen=True)
class Setting:
    """What a policy leaves to be designed: classes of features to ask, and how much a menu may spend."""

    classes: tuple[FeatureClass, ...]
    weights: dict[Target, float]  # of each squared error
    epsilon: float
    total: float  # the largest budget of a menu that may ask anything
    outside: float  # the largest LDP level that the features never asked can live with

    @classmethod
    def of(cls, policy: Policy, correlation: Correlation) -> Setting:
        """The setting of a policy; refused where no question could be asked at all."""
        weights = _weights(policy)
        if any(isinstance(target, Below) for target in weights):  # menus may ask it beside anything
            correlation = as_seen(correlation, weights)
        total = _largest_total(policy, correlation)
        classes = _classes(policy, correlation, weights)
        outside = _limit_outside(policy, correlation, classes)
        return cls(classes, weights, policy.epsilon - _SLACK, total, outside)


def plan_survey(policy: Policy, correlation: Correlation, progress: Callable[[str], None] = lambda line: None) -> Plan:
    """The most accurate survey that keeps every demand of the policy under the given correlation.

    >>> from bcdp.correlation import PerFeature
    >>> policy = Policy(epsilon=1, features={"smoker": {"type": "binary", "delta": 0.2}, "open": {"type": "binary"}})
    >>> plan_survey(policy, PerFeature(0.0, {})).certificate.features["smoker"].certified <= 0.2
    True
    """
    setting = Setting.of(policy, correlation)
    offers = ShapeOffers(setting.classes, setting.epsilon, setting.outside)
    several = setting.total >= NEGLIGIBLE  # else a demand allows nothing but single questions, by the q of its pairs
    further: Callable[[Array, float], list[Profile]] = offers if several else lambda prices, enough: []
    found = design(setting.classes, setting.total, further=further, progress=progress)
    menus = list(_menus(setting.classes, found))

    def accuracy(draft: Plan) -> tuple[float, float]:
        told = information(draft)
        objective = sum(weight / told[t] for t, weight in setting.weights.items() if told.get(t, 0.0) > 0)
        return objective, found.gap * objective / found.objective * _curve_slack(policy)

    return Plan.certified(_document(policy, correlation, menus), accuracy)


def plan_evenly(policy: Policy, correlation: Correlation) -> Plan:
    """The survey that asks each person one question, about every feature (and product) equally often."""
    classes = Setting.of(policy, correlation).classes
    asked: list[Asked] = [
        ((target,) if c.pair is None else (classes[c.pair[0]].members[0], classes[c.pair[1]].members[0]), c.alone, None)
        for c in classes
        for target in c.members
    ]
    menus = [(Fraction(1, len(asked)), [question]) for question in asked]
    return Plan.certified(_document(policy, correlation, menus))


def _weights(policy: Policy) -> dict[Target, float]:
    """How much the squared error of each feature and product counts; 0 for features that no task needs."""
    weights: dict[Target, float] = dict.fromkeys(map(Single, policy.features), 0.0)
    for task in policy.tasks:
        for target, weight in task.targets(policy):
            weights[target] = weights.get(target, 0.0) + task.weight * weight
    return weights


def _demand(policy: Policy, name: str) -> float:
    return max(min(policy.features[name].delta, policy.epsilon) - _SLACK, 0.0)


def _others(policy: Policy, name: str) -> frozenset[str]:
    return frozenset(policy.features) - {name}


def _largest_total(policy: Policy, correlation: Correlation) -> float:
    """The largest budget of a menu that may ask anything: what even an unasked feature's demand still allows."""
    limits = [_limit(policy, correlation, name, _others(policy, name)) for name in policy.features]
    return min(policy.epsilon - _SLACK, *limits)


def _limit_outside(policy: Policy, correlation: Correlation, classes: tuple[FeatureClass, ...]) -> float:
    """The largest LDP level that the features of no class, which are never asked, can live with."""
    inside = {name for c in classes for member in c.members if c.is_feature for name in member.features}
    limits = [
        _limit(policy, correlation, name, _others(policy, name)) for name in policy.features if name not in inside
    ]
    return min(limits, default=math.inf)


def _limit(policy: Policy, correlation: Correlation, name: str, others: frozenset[str]) -> float:
    """The largest LDP level of an answer about `others` that the demand of a feature can live with."""
    return _limit_by(policy, name, correlation.q(name, others), correlation.odds(name, others))


def _limit_by(policy: Policy, name: str, q: float, odds: float) -> float:
    return _level_limit(_demand(policy, name), q, odds)


@lru_cache(maxsize=4096)
def _level_limit(demand: float, q: float, odds: float) -> float:
    return max(float(ldp_limit(demand, q, odds)), demand)


@dataclass(frozen=True)
class Binding:
    """The largest budget of a menu that asks one feature only, and whose demand it meets first."""

    budget: float
    by: str | None  # a feature, perhaps the one asked; None for epsilon


def binding(policy: Policy, correlation: Correlation, name: str) -> Binding:
    """How much may be asked of one feature alone, and what forbids more (docs/theory.md, sections 4.1 and 4.5)."""
    limits: dict[str | None, float] = {None: policy.epsilon - _SLACK, name: _demand(policy, name)}
    limits |= {other: _limit_told(policy, correlation, other, name) for other in _others(policy, name)}
    by = min(limits, key=lambda whose: limits[whose])
    return Binding(limits[by], by)


def _limit_told(policy: Policy, correlation: Correlation, name: str, told: str) -> float:
    """The largest budget of a question about `told` alone that the demand of another feature can live with."""
    usual, most = _limit(policy, correlation, name, frozenset({told})), policy.epsilon - _SLACK
    laws = correlation.laws(name, told) if usual < most else None
    return usual if laws is None else max(usual, exact_limit(laws, _demand(policy, name), most))


def _alone(policy: Policy, correlation: Correlation) -> dict[str, float]:
    """The largest budget of a menu that asks one feature only, for each."""
    if not correlation.alike or len(policy.features) == 1:
        return {name: binding(policy, correlation, name).budget for name in policy.features}
    # what a feature's demand allows is the same whichever other is asked: the two strictest say it for all
    limits = {name: _limit(policy, correlation, name, _others(policy, name)) for name in policy.features}
    first, second = sorted(limits, key=lambda name: limits[name])[:2]
    most = policy.epsilon - _SLACK
    return {
        name: min(most, _demand(policy, name), limits[second if name == first else first]) for name in policy.features
    }


def _classes(policy: Policy, correlation: Correlation, weights: dict[Target, float]) -> tuple[FeatureClass, ...]:
    """Features by themselves, numbers in steps, how two features go together, products: in this order."""
    groups: dict[tuple[Any, ...], list[Target]] = {}
    tied = {name for target in weights if isinstance(target, Interaction) for name in target.features}
    spread = {target.feature for target in weights if isinstance(target, Below)}
    correlation = as_seen(correlation, weights)
    alone_with = _alone(policy, correlation)
    for name, feature in policy.features.items():
        values, alone = feature.joint_inputs, alone_with[name]
        if weights[Single(name)] == 0 or values < 2 or alone < NEGLIGIBLE:
            continue  # not needed, known without asking, or not to be asked at all
        demand = _demand(policy, name)
        free = demand >= policy.epsilon - _SLACK  # kept by any menu, so its q and odds do not matter
        q = 0.0 if free else correlation.q(name, _others(policy, name))
        odds = math.inf if free else correlation.odds(name, _others(policy, name))
        told_apart = () if free else guessed_parts(feature, correlation, name)
        parts = tuple((round(low, 12), round(high, 12)) for low, high in told_apart)  # alike between other bounds too
        key = (Kind(feature.type, values), demand, q, alone, weights[Single(name)], feature.shares_inputs, parts, odds)
        own = name if name in tied else ""  # what is asked of one with another is not what is asked of its likes
        groups.setdefault((0, own, *key, name in spread), []).append(Single(name))
    alone_of = cache(lambda features: _alone_together(policy, correlation, features))
    for target in (target for target in weights if isinstance(target, Product)):
        alone = alone_of(frozenset(target.features))
        if alone >= NEGLIGIBLE:
            key = (_product_kind(policy, target), alone, 0.0, alone, weights[target], False, (), math.inf)
            groups.setdefault((1, "", *key), []).append(target)  # after all features
    found = [
        (key[0], FeatureClass(tuple(members), *key[2:]))
        for key, members in sorted(groups.items(), key=lambda item: item[0])
    ]
    features = [c for after, c in found if not after]
    features += [
        c for t, weight in weights.items() if isinstance(t, Steps) for c in _stepped(policy, correlation, t, weight)
    ]
    pairs = [
        c
        for target, weight in weights.items()
        if isinstance(target, Interaction)
        for c in _together(policy, correlation, target, weight, features)
    ]
    spreads = list(_spreads(policy, correlation, weights))
    products = [c for after, c in found if after]
    if not features and not spreads and not products:
        raise _nothing_to_ask(policy, weights)
    return (*features, *spreads, *pairs, *products)


def _spreads(policy: Policy, correlation: Correlation, weights: dict[Target, float]) -> Iterator[FeatureClass]:
    """The classes of distributions; a second one of the same number is asked of other people."""
    seen = set[str]()
    for target, weight in weights.items():
        if isinstance(target, Below):
            for c in _stepped(policy, correlation, Steps(target.feature, target.cuts), weight):
                kind = Kind("steps", len(target.cuts) + 1)
                yield replace(c, members=(target,), kind=kind, apart=target.feature in seen)
            seen.add(target.feature)


def _stepped(policy: Policy, correlation: Correlation, target: Steps, weight: float) -> Iterator[FeatureClass]:
    """The class of a number in steps, if it may be asked."""
    name, feature = target.feature, policy.features[target.feature]
    alone, demand = binding(policy, correlation, name).budget, _demand(policy, name)
    if alone < NEGLIGIBLE:
        return
    free = demand >= policy.epsilon - _SLACK
    q = 0.0 if free else correlation.q(name, _others(policy, name))
    odds = math.inf if free else correlation.odds(name, _others(policy, name))
    by_range = correlation.ranges.get(name) == target.cuts  # then guesses are between the steps themselves
    shared = feature.missing is not None if by_range else True
    kind = Kind("categorical", len(target.cuts) + 1)
    yield FeatureClass((target,), kind, demand, q, alone, weight, shared, (), odds)


def _together(
    policy: Policy, correlation: Correlation, target: Interaction, weight: float, features: Sequence[FeatureClass]
) -> Iterator[FeatureClass]:
    """The class of how two features go together, if both may be asked in one question."""
    numbers = {c.members[0]: number for number, c in enumerate(features)}
    if not all(margin in numbers for margin in target.margins):
        return
    one, two = (numbers[margin] for margin in target.margins)
    cells = features[one].kind.values * features[two].kind.values
    if cells > MOST_CELLS:
        raise refuse(f"table of {' and '.join(target.features)}", f"{cells} cells", f"at most {MOST_CELLS} cells")
    names = frozenset(target.features)
    limits = [_limit(policy, correlation, other, names) for other in policy.features if other not in names]
    alone = min(policy.epsilon - _SLACK, *limits, *(_demand(policy, name) for name in names))
    if alone >= NEGLIGIBLE:
        scale = math.prod(Place(features[number].kind).scale for number in (one, two))
        pair = (min(one, two), max(one, two))
        yield FeatureClass((target,), Kind("pair", cells), alone, 0.0, alone, weight, pair=pair, scale=scale)


def _nothing_to_ask(policy: Policy, weights: dict[Target, float]) -> InputError:
    strict = [name for name in policy.features if _demand(policy, name) < NEGLIGIBLE]
    wanted = {name for target, weight in weights.items() if weight > 0 for name in target.features} - set(strict)
    if strict and wanted:
        return InputError(
            f"features.{strict[0]}.delta: got {policy.features[strict[0]].delta:g} with a correlation above 0, so that "
            "no question about any feature could be answered; accepted: a larger delta, or correlation 0 for it"
        )
    return InputError("tasks: no feature can be asked; accepted: at least one feature in a task with delta above 0")


def _alone_together(policy: Policy, correlation: Correlation, names: frozenset[str]) -> float:
    """The largest budget of a menu that asks one product of these features only (docs/theory.md, section 4.4)."""
    measured = names <= correlation.rounded  # as a product, of which the odds are not known
    limits = [
        _limit_by(policy, other, product_q(correlation, other, names), math.inf)
        if measured
        else _limit(policy, correlation, other, names)
        for other in policy.features
        if other not in names
    ]
    return min(policy.epsilon - _SLACK, *limits, *(_demand(policy, name) for name in names))


def _product_kind(policy: Policy, asked: Product) -> Kind:
    return Kind("numeric" if any(policy.features[name].is_number for name in asked.features) else "binary")


Asked = tuple[tuple[Target, ...], float, Shape | None]  # a question: its budget, and its shape


def _features(asked: tuple[Target, ...]) -> tuple[str, ...]:
    """The features that a question touches."""
    return tuple(name for target in asked for name in target.features)


def _menus(classes: tuple[FeatureClass, ...], found: Design) -> Iterator[tuple[Fraction, list[Asked]]]:
    """Concrete menus: interchangeable features take turns in every place of a profile, so that each is told equally."""
    for profile, probability in zip(found.profiles, found.probabilities, strict=True):
        steps, turns = rotation(classes, profile)
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


def _document(policy: Policy, correlation: Correlation, menus: list[tuple[Fraction, list[Asked]]]) -> dict[str, Any]:
    """The plan's document, but for its certificate."""
    tables: dict[Table, int] = {}
    questions: dict[Asked, int] = {}
    documents: list[dict[str, Any]] = []
    for question in (question for _, asked in menus for question in asked):
        if question not in questions:
            levels, table = _randomizer(policy, *question)
            questions[question] = len(documents)
            documents.append({"features": _features(question[0]), "levels": levels})
            documents[-1]["table"] = tables.setdefault(table, len(tables))
            if isinstance(question[0][0], Product):
                documents[-1] |= {"kind": "product", "categories": question[0][0].categories}
            cuts = [target.cuts if isinstance(target, Steps | Below) else None for target in question[0]]
            documents[-1] |= {"cuts": cuts} if any(cuts) else {}
    asked_sets = {frozenset(name for names, _, _ in asked for name in _features(names)) for _, asked in menus}
    # one by one: a thousand features have a million of them, and few models look at any
    pairs = ((name, others) for asked in asked_sets for name in policy.features if (others := asked - {name}))
    return {
        "mechanism": "survey",
        "collection": collection_of(policy),
        "correlation": correlation.restricted(pairs).to_dict(),
        "tables": [table.to_dict() for table in tables],
        "questions": documents,
        "menus": [
            {"weight": weight, "questions": [questions[question] for question in asked]}
            for weight, (_, asked) in zip(_integer_weights([p for p, _ in menus]), menus, strict=True)
        ],
    }


def _curve_slack(policy: Policy) -> float:
    """Planning knows the information of numeric questions to within half a percent, of waves to one, from below."""
    if any(isinstance(target, Below) for target in _weights(policy)):
        return 1.01
    return 1.005 if any(feature.is_number for feature in policy.features.values()) else 1.0


def _randomizer(
    policy: Policy, asked: tuple[Target, ...], budget: float, shape: Shape | None
) -> tuple[tuple[int, ...], Table]:
    if isinstance(asked[0], Product):
        table = numeric(budget) if _product_kind(policy, asked[0]).name == "numeric" else binary(budget)
        return (table.levels,), table
    if isinstance(asked[0], Below):
        table = waves(len(asked[0].cuts) + 1, budget)
        return (table.levels,), table
    names = _features(asked)
    sizes = tuple(_levels(policy, target) for target in asked)
    if shape is not None:
        return sizes, shaped_table(shape)
    if len(names) > 1:
        return sizes, joint(sizes, budget)
    kind = policy.features[names[0]].type
    if kind == "categorical" or isinstance(asked[0], Steps):
        return sizes, categorical(sizes[0], budget)
    table = numeric(budget) if kind == "numeric" else binary(budget)
    return (table.levels,), table


def _levels(policy: Policy, target: Target) -> int:
    """How many levels a feature has in a question: a number is rounded to two, unless it enters in steps."""
    if isinstance(target, Steps):
        return target.size(policy)
    return policy.features[target.features[0]].joint_inputs


def _integer_weights(probabilities: list[Fraction]) -> list[int]:
    """Weights of at least 1 that sum to 2^32, as close to the probabilities as that allows."""
    total = sum(probabilities)
    weights = np.array([max(1, int(p / total * TOTAL)) for p in probabilities], dtype=np.int64)
    weights[int(weights.argmax())] += TOTAL - int(weights.sum())
    return [int(weight) for weight in weights]
