"""From a policy and a correlation model to a survey plan: classes, optimal menus, integer tables, certificate."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, lru_cache
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from bcdp.correlation import Correlation, product_q
from bcdp.errors import InputError, refuse
from bcdp.mechanisms.survey.decoding import information
from bcdp.mechanisms.survey.design import Design, design
from bcdp.mechanisms.survey.documents import document_of, product_kind
from bcdp.mechanisms.survey.kinds import Kind
from bcdp.mechanisms.survey.known import exact_limit
from bcdp.mechanisms.survey.offers import ShapeOffers
from bcdp.mechanisms.survey.places import Place
from bcdp.mechanisms.survey.profiles import NEGLIGIBLE, FeatureClass, Profile
from bcdp.mechanisms.survey.seen import as_seen, without_odds
from bcdp.mechanisms.survey.spreading import Asked, menus_of
from bcdp.mechanisms.survey.wholes import best_whole
from bcdp.notions import ldp_limit
from bcdp.plan import Plan, guessed_parts
from bcdp.policy import Policy
from bcdp.statistics import Below, Interaction, Product, Single, Steps, Target
from bcdp.statistics.table import MOST_CELLS

Array = npt.NDArray[np.float64]

# how two features go together: how much each counts, and the budget of a menu that asks nothing else
Wanted = dict[Interaction | Product, tuple[float, float]]

_BARELY = (
    1e-6  # how much a feature counts that is wanted in products only, so that it may be asked together with others
)
_SLACK = 1e-9  # kept aside of every demand, so that rounding can never break it


@dataclass(frozen=True)
class Setting:
    """What a policy leaves to be designed: classes of features to ask, and how much a menu may spend."""

    classes: tuple[FeatureClass, ...]
    weights: dict[Target, float]  # of each squared error, in the design
    errors: dict[Target, float]  # how often each squared error counts in the total that is told
    epsilon: float
    total: float  # the largest budget of a menu that may ask anything
    outside: float  # the largest LDP level that the features never asked can live with

    @classmethod
    def of(cls, policy: Policy, correlation: Correlation) -> Setting:
        """The setting of a policy; refused where no question could be asked at all."""
        wanted = [target for task in policy.tasks for target, _ in task.targets(policy)]
        seen = as_seen(correlation, wanted)
        alone = _alone(policy, seen)
        errors, weights = _weights(policy, alone)
        if any(isinstance(target, Below) for target in wanted):  # menus may ask it beside anything
            correlation = seen
        total = _largest_total(policy, correlation)
        classes = _classes(policy, seen, weights, alone)
        outside = _limit_outside(policy, correlation, classes)
        return cls(classes, weights, errors, policy.epsilon - _SLACK, total, outside)

    @property
    def asked(self) -> frozenset[Target]:
        """What may be asked for."""
        return frozenset(target for c in self.classes for target in c.members)


def plan_survey(policy: Policy, correlation: Correlation, progress: Callable[[str], None] = lambda line: None) -> Plan:
    """The most accurate survey that keeps every demand of the policy under the given correlation.

    >>> from bcdp.correlation import PerFeature
    >>> policy = Policy(epsilon=1, features={"smoker": {"type": "binary", "delta": 0.2}, "open": {"type": "binary"}})
    >>> plan_survey(policy, PerFeature(0.0, {})).certificate.features["smoker"].certified <= 0.2
    True
    """
    setting = Setting.of(policy, correlation)
    found = _designed(setting, progress)

    def accuracy(draft: Plan) -> tuple[float, float]:
        told = information(draft)
        error, objective = (_total(weights, told) for weights in (setting.errors, setting.weights))
        return error, found.gap * objective / found.objective * _curve_slack(policy, setting)

    def certified(classes: tuple[FeatureClass, ...], menus: Design) -> Plan:
        return Plan.certified(document_of(policy, correlation, menus_of(classes, menus)), accuracy)

    plans = [certified(setting.classes, found)]
    plain = _without_odds(policy, correlation, setting)
    if plain is not None:  # a search may end a little above where it ends with less to choose from
        plans.append(certified(plain.classes, _designed(plain, lambda line: progress(f"without odds, {line}"))))
    return min(plans, key=lambda plan: _total(setting.weights, information(plan)))


def _designed(setting: Setting, progress: Callable[[str], None]) -> Design:
    offers = ShapeOffers(setting.classes, setting.epsilon, setting.outside)
    several = setting.total >= NEGLIGIBLE  # else a demand allows nothing but single questions, by the q of its pairs
    further: Callable[[Array, float], list[Profile]] = offers if several else lambda prices, enough: []
    return design(setting.classes, setting.total, further=further, progress=progress)


def _without_odds(policy: Policy, correlation: Correlation, setting: Setting) -> Setting | None:
    """The setting if odds are left out; None where that changes nothing, or would leave something unasked."""
    try:
        plain = Setting.of(policy, without_odds(correlation))
    except InputError:  # nothing could be asked at all
        return None
    return plain if plain != setting and plain.asked == setting.asked else None


def _total(weights: dict[Target, float], told: dict[Target, float]) -> float:
    """The weighted sum of the squared errors of whatever is asked."""
    return sum(weight / told[target] for target, weight in weights.items() if told.get(target, 0.0) > 0)


def plan_evenly(policy: Policy, correlation: Correlation) -> Plan:
    """The survey that asks each person one question, about every feature (and product) that is wanted equally often."""
    setting = Setting.of(policy, correlation)
    classes = setting.classes
    numbers = {target: number for number, c in enumerate(classes) if c.is_feature for target in c.members}
    asked: list[Asked] = [
        (tuple(sorted(target.margins, key=numbers.__getitem__)) if isinstance(target, Interaction) else (target,),
         c.alone, c.whole)
        for c in classes
        for target in c.members
        if setting.weights[target] > 0
    ]  # fmt: skip
    menus = [(Fraction(1, len(asked)), [question]) for question in asked]
    return Plan.certified(document_of(policy, correlation, menus))


def _weights(policy: Policy, alone: dict[str, float]) -> tuple[dict[Target, float], dict[Target, float]]:
    """How often the squared error of each target counts in the total, and how much in the design; 0 if nobody needs it.

    They differ so that each feature counts alike in the design, whatever its number of values: at the budget that it
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


def _classes(
    policy: Policy, correlation: Correlation, weights: dict[Target, float], alone_with: dict[str, float]
) -> tuple[FeatureClass, ...]:
    """Features by themselves, numbers in steps, how two features go together, products: in this order."""
    groups: dict[tuple[Any, ...], list[Target]] = {}
    spread = {target.feature for target in weights if isinstance(target, Below)}
    keys: dict[str, tuple[Any, ...]] = {}
    shaped = {
        name for target in weights if isinstance(target, Product) and target.is_shaped for name in target.features
    }
    for name, feature in policy.features.items():
        values, alone = feature.joint_inputs, alone_with[name]
        counts = max(weights[Single(name)], _BARELY if name in shaped else 0.0)
        if counts == 0 or values < 2 or alone < NEGLIGIBLE:
            continue  # not needed, known without asking, or not to be asked at all
        demand = _demand(policy, name)
        free = demand >= policy.epsilon - _SLACK  # kept by any menu, so its q and odds do not matter
        q = 0.0 if free else correlation.q(name, _others(policy, name))
        odds = math.inf if free else correlation.odds(name, _others(policy, name))
        told_apart = () if free else guessed_parts(feature, correlation, name)
        parts = tuple((round(low, 12), round(high, 12)) for low, high in told_apart)  # alike between other bounds too
        weight = float(f"{counts:.12g}")  # whatever the order in which tasks were added up
        key = (Kind(feature.asked_as, values), demand, q, alone, weight, feature.shares_inputs, parts, odds)
        keys[name] = (*key, name in spread or (feature.own and bool(parts)))
    alone_of = cache(lambda features: _alone_together(policy, correlation, features))
    wanted: Wanted = {}
    for target, weight in weights.items():
        if isinstance(target, Interaction):
            wanted[target] = (weight, _alone_as_values(policy, correlation, frozenset(target.features)))
        elif isinstance(target, Product):
            alone = alone_of(frozenset(target.features))
            if target.is_shaped and keys.keys() >= set(target.features):
                wanted[target] = (float(f"{weight:.12g}"), alone)
            elif alone >= NEGLIGIBLE:
                key = (product_kind(policy, target), alone, 0.0, alone, weight, False, (), math.inf)
                groups.setdefault((1, "", *key), []).append(target)  # after all features
    own = _own(keys, wanted)
    for name, key in keys.items():
        groups.setdefault((0, own[name], *key), []).append(Single(name))
    found = [
        (key[0], FeatureClass(tuple(members), *key[2:]))
        for key, members in sorted(groups.items(), key=lambda item: item[0])
    ]
    features = [c for after, c in found if not after]
    features += [
        c for t, weight in weights.items() if isinstance(t, Steps) for c in _stepped(policy, correlation, t, weight)
    ]
    pairs = list(_together(policy, wanted, features))
    spreads = list(_spreads(policy, correlation, weights))
    products = [c for after, c in found if after]
    if not features and not spreads and not products:
        raise _nothing_to_ask(policy, weights)
    return (*features, *spreads, *pairs, *products)


def _spreads(policy: Policy, correlation: Correlation, weights: dict[Target, float]) -> Iterator[FeatureClass]:
    """The classes of distributions."""
    for target, weight in weights.items():
        if isinstance(target, Below):
            for c in _stepped(policy, correlation, Steps(target.feature, target.cuts), weight):
                yield replace(c, members=(target,), kind=Kind("steps", len(target.cuts) + 1))


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
    shared = feature.imputes if by_range else True
    kind = Kind("categorical", len(target.cuts) + 1)
    yield FeatureClass((target,), kind, demand, q, alone, weight, shared, (), odds)


def _own(keys: dict[str, tuple[Any, ...]], targets: Wanted) -> dict[str, str]:
    """Of each feature its own name, if what is asked of it with others is not what is asked of its likes; else nothing.

    Classes are cut into their members as long as two of a class, or of two classes, are wanted together and others
    of these are not, or with another weight or budget.
    """
    wanted: dict[frozenset[str], list[tuple[Interaction | Product, tuple[float, float]]]] = {}
    for target, how in targets.items():
        wanted.setdefault(frozenset(target.features), []).append((target, how))
    tied = {name for pair in wanted for name in pair if name in keys}
    stepped = {name for t in targets if isinstance(t, Interaction) and any(t.cuts) for name in t.features}
    likes = {name: (keys[name], name if name in stepped else "") for name in keys if name in tied}
    while True:
        found: dict[frozenset[Any], set[Any]] = {}
        for one, two in combinations(likes, 2):
            # of two that are alike it does not matter which is first
            told = tuple(
                (isinstance(target, Interaction) and likes[target.features[0]], how)
                for target, how in wanted.get(frozenset((one, two)), [])
            )
            found.setdefault(frozenset((likes[one], likes[two])), set()).add(told)
        apart = {like for pair, ways in found.items() if len(ways) > 1 for like in pair}
        if not apart:
            return {name: likes[name][1] or "*" if name in likes else "" for name in keys}
        likes = {name: (keys[name], name) if like in apart else like for name, like in likes.items()}


def _together(policy: Policy, targets: Wanted, features: Sequence[FeatureClass]) -> Iterator[FeatureClass]:
    """The classes of how two features go together, if both may be asked in one question."""
    numbers = {member: number for number, c in enumerate(features) for member in c.members}
    groups: dict[tuple[tuple[int, int], Kind, float, float], list[Target]] = {}
    for target, (weight, alone) in targets.items():
        if all(margin in numbers for margin in target.margins) and alone >= NEGLIGIBLE:
            one, two = sorted(numbers[margin] for margin in target.margins)
            cells = features[one].kind.values * features[two].kind.values
            if cells > MOST_CELLS:
                subject = f"table of {' and '.join(target.features)}"
                raise refuse(subject, f"{cells} cells", f"at most {MOST_CELLS} cells")
            kind = product_kind(policy, target) if isinstance(target, Product) else Kind("pair", cells)
            groups.setdefault(((one, two), kind, weight, alone), []).append(target)
    for (pair, kind, weight, alone), members in groups.items():
        first, second = (Place(features[number].kind) for number in pair)
        whole = best_whole((first, second), alone) if kind.name == "pair" else None
        scale = first.scale * second.scale
        yield FeatureClass(tuple(members), kind, alone, 0.0, alone, weight, pair=pair, scale=scale, whole=whole)


def _alone_as_values(policy: Policy, correlation: Correlation, names: frozenset[str]) -> float:
    """The largest budget of a menu that asks nothing but the values of these features, in one question."""
    limits = [_limit(policy, correlation, other, names) for other in policy.features if other not in names]
    return min(policy.epsilon - _SLACK, *limits, *(_demand(policy, name) for name in names))


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
    if len(names) > 2:  # asked as values
        return _alone_as_values(policy, correlation, names)
    measured = names <= correlation.rounded  # as a product, of which the odds are not known
    limits = [
        _limit_by(policy, other, product_q(correlation, other, names), math.inf)
        if measured
        else _limit(policy, correlation, other, names)
        for other in policy.features
        if other not in names
    ]
    return min(policy.epsilon - _SLACK, *limits, *(_demand(policy, name) for name in names))


def _curve_slack(policy: Policy, setting: Setting) -> float:
    """Planning knows the information of numeric questions to within half a percent, of waves to one, from below."""
    if any(isinstance(target, Below) for target in setting.weights):
        return 1.01
    return 1.005 if any(feature.is_number for feature in policy.features.values()) else 1.0
