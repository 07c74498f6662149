"""Which classes of interchangeable targets a policy leaves to the design, each with its demand, budget and weight.

Features by themselves come first, then distributions, what two features have in common, and products.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, cast

import numpy as np

from bcdp.errors import InputError, refuse
from bcdp.mechanisms.survey.design.budget_limits import BudgetLimits
from bcdp.mechanisms.survey.design.classes.block_classes import block_classes, stepped_block
from bcdp.mechanisms.survey.design.classes.crossed_classes import crossed_classes
from bcdp.mechanisms.survey.design.classes.feature_classes import NEGLIGIBLE, FeatureClass
from bcdp.mechanisms.survey.design.information import Kind
from bcdp.mechanisms.survey.design.joint.cell_questions import best_whole
from bcdp.mechanisms.survey.design.joint.subset_families import SubsetFamily
from bcdp.plan import guessed_parts
from bcdp.policy import MultipleFeature, Policy
from bcdp.statistics import AimedValues, Below, Product, Role, Single, Steps, Target, ValueMeans
from bcdp.statistics.change import Transitions
from bcdp.statistics.tables.statistic import MOST_CELLS

_A_LITTLE = 1e-7  # of all frequencies, in a question about certain numbers of them
_BARELY = 1e-6  # the weight of a feature that is wanted in products only, so that joint questions may include it


@dataclass(frozen=True)
class _Wanted:
    """How much a joint target counts, and the budget of a menu that asks nothing else."""

    weight: float
    alone: float


JointTargets = dict[Target, _Wanted]


def classes_of(limits: BudgetLimits, weights: Mapping[Target, float]) -> tuple[FeatureClass, ...]:
    """All classes, in the order that the design expects."""
    features = _feature_classes(limits, weights)
    pairs, products = _joint_targets(limits, weights, features)
    names = _own_names(features, pairs)
    singles = list(_grouped((names[name], single) for name, single in features.items()))
    singles += block_classes(limits, weights)
    singles += crossed_classes(limits, weights)
    singles += [c for target in _of_role(weights, Role.STEPS) for c in _steps_class(limits, target, weights[target])]
    singles += [c for target in _of_role(weights, Role.CHANGE) for c in _change_class(limits, target, weights[target])]
    singles.sort(key=lambda c: not c.is_feature)  # joint questions number the features only
    distributions = list(_distributions(limits, weights))
    if not singles and not distributions and not products:
        raise _nothing_to_ask(limits, weights)
    return (*singles, *distributions, *_interaction_classes(limits.policy, pairs, singles), *products)


def _of_role(weights: Mapping[Target, float], role: Role) -> list[Any]:
    """The targets that a survey asks for in one way."""
    return [target for target in weights if target.role is role]


def _feature_classes(limits: BudgetLimits, weights: Mapping[Target, float]) -> dict[str, FeatureClass]:
    """Each feature that may be asked by itself, as a class of its own."""
    policy, correlation = limits.policy, limits.correlation
    distributed = {target.feature for target in _of_role(weights, Role.DISTRIBUTION)}
    products: list[Product] = _of_role(weights, Role.PRODUCT)
    multiplied = {name for target in products if target.is_shaped for name in target.features}
    joint = (Role.INTERACTION, Role.PRODUCT)
    jointly = {name for target in weights if target.role in joint for name in target.features}
    numbers: dict[str, list[ValueMeans]] = {}
    for target in _of_role(weights, Role.VALUES):
        numbers.setdefault(target.feature, []).append(target)
    result = {}
    for name, feature in policy.features.items():
        if name in policy.blocks or isinstance(feature, MultipleFeature):
            continue
        member, kind, weight = _asked(policy, name, weights, numbers.get(name, []), name in jointly)
        weight = max(weight, _BARELY if name in multiplied else 0.0)
        if weight == 0 or feature.joint_inputs < 2 or limits.alone[name] < NEGLIGIBLE:
            continue  # not needed, known without asking, or not to be asked at all
        q, odds = limits.total_bounds(name)
        ranges = () if limits.is_free(name) else guessed_parts(feature, correlation, name)
        parts = tuple((round(low, 12), round(high, 12)) for low, high in ranges)  # equal between other bounds too
        result[name] = FeatureClass(
            (member,),
            kind,
            delta=limits.demand(name),
            q=q,
            alone=limits.alone[name],
            weight=float(f"{weight:.12g}"),  # whatever the order in which tasks were added up
            shared=policy.shares_inputs(name),
            parts=parts,
            odds=odds,
            apart=name in distributed or (feature.own and bool(parts)),
            second=limits.second_demand(name, q, odds),
        )
    return result


def _asked(
    policy: Policy, name: str, weights: Mapping[Target, float], numbers: list[ValueMeans], joint: bool
) -> tuple[Target, Kind, float]:
    """How a feature is asked by itself, and how much that counts.

    Where nothing but numbers of its values are wanted, the question is designed for these; where joint questions ask
    it too, for its frequencies.
    """
    feature, alone = policy.features[name], Single(name)
    weight = weights[alone] + sum(weights[target] for target in numbers)
    if not numbers or joint:
        return alone, Kind("categorical" if numbers else feature.asked_as, feature.joint_inputs), weight
    criterion = weights[alone] * np.eye(feature.joint_inputs)
    for target in numbers:
        criterion += weights[target] * np.array(target.numbers) @ np.array(target.numbers).T
    # a little of every frequency, so that integer weights decode what is wanted without bias
    criterion += _A_LITTLE * np.trace(criterion) / len(criterion) * np.eye(len(criterion))
    rounded = tuple(tuple(float(f"{number:.12g}") for number in row) for row in (criterion / weight).tolist())
    return AimedValues(name, rounded), Kind("values", feature.joint_inputs, rounded), weight


def _grouped(named: Iterator[tuple[str, FeatureClass]]) -> Iterator[FeatureClass]:
    """Equal classes become one, unless a name keeps them apart; sorted by what they are."""
    groups: dict[tuple[Any, ...], list[FeatureClass]] = {}
    for name, single in named:
        groups.setdefault((name, *single.sort_key), []).append(single)
    for _, equal in sorted(groups.items(), key=lambda group: group[0]):
        yield replace(equal[0], members=tuple(member for single in equal for member in single.members))


def _joint_targets(
    limits: BudgetLimits, weights: Mapping[Target, float], features: Mapping[str, FeatureClass]
) -> tuple[JointTargets, list[FeatureClass]]:
    """Targets that joint questions inform about, and the classes of products that are only asked as such."""
    pairs: JointTargets = {}
    products = []
    budgets: dict[frozenset[str], float] = {}
    for target, weight in weights.items():
        names = frozenset(target.features)
        if target.role is Role.INTERACTION:
            pairs[target] = _Wanted(weight, limits.values(names))
        elif target.role is Role.PRODUCT:
            product = cast("Product", target)
            alone = budgets[names] if names in budgets else budgets.setdefault(names, limits.product(names))
            if product.is_shaped and features.keys() >= names:
                pairs[product] = _Wanted(float(f"{weight:.12g}"), alone)
            elif alone >= NEGLIGIBLE:
                products.append(
                    FeatureClass((product,), _product_kind(limits.policy, product), alone, 0.0, alone, weight)
                )
    return pairs, list(_grouped(("", product) for product in products))


def _product_kind(policy: Policy, product: Product) -> Kind:
    return Kind("numeric" if product.is_number(policy) else "binary")


def _distributions(limits: BudgetLimits, weights: Mapping[Target, float]) -> Iterator[FeatureClass]:
    """The classes of distributions."""
    targets: list[Below] = _of_role(weights, Role.DISTRIBUTION)
    for target in targets:
        if target.feature in limits.policy.blocks:
            yield from stepped_block(limits, target, weights[target])
            continue
        for c in _steps_class(limits, Steps(target.feature, target.cuts), weights[target]):
            yield replace(c, members=(target,), kind=Kind("steps", target.levels(limits.policy)))


def _steps_class(limits: BudgetLimits, target: Steps, weight: float) -> Iterator[FeatureClass]:
    """The class of a number in steps, if it may be asked."""
    name, feature = target.feature, limits.policy.features[target.feature]
    alone = limits.binding(name).budget
    if alone < NEGLIGIBLE:
        return
    q, odds = limits.total_bounds(name)
    by_range = limits.correlation.ranges.get(name) == target.cuts  # then guesses are between the steps themselves
    shared = feature.imputes if by_range else True
    kind = Kind("categorical", len(target.cuts) + 1)
    second = limits.second_demand(name, q, odds)
    yield FeatureClass(
        (target,), kind, limits.demand(name), q=q, alone=alone, weight=weight, shared=shared, odds=odds, second=second
    )


def _change_class(limits: BudgetLimits, target: Transitions, weight: float) -> Iterator[FeatureClass]:
    """The class of how often each value is followed by each, if it may be asked."""
    alone = limits.alone[target.feature]
    if alone < NEGLIGIBLE:
        return
    demand, kind = limits.demand(target.feature), Kind("categorical", target.size(limits.policy))
    q, odds = limits.total_bounds(target.feature)
    yield FeatureClass((target,), kind, demand, q=q, alone=alone, weight=weight, shared=True, odds=odds, apart=True)


def _own_names(features: Mapping[str, FeatureClass], targets: JointTargets) -> dict[str, str]:
    """For each feature its own name where joint targets distinguish it from its equals; else nothing, or "*" if it
    has some.

    Classes are cut into their members as long as two of a class, or of two classes, are wanted together and others
    of these are not, or with another weight or budget. Features wanted in threes are never exchanged.
    """
    wanted: dict[frozenset[str], list[tuple[Target, _Wanted]]] = {}
    for target, how in targets.items():
        wanted.setdefault(frozenset(target.features), []).append((target, how))
    tied = {name for pair in wanted for name in pair if name in features}
    specific = [target for target in targets if target.cuts_by_feature or len(target.features) > 2]
    own = {name for target in specific for name in target.features}
    equals = {name: (features[name].sort_key, name if name in own else "") for name in features if name in tied}
    while True:
        uses: dict[frozenset[Any], set[Any]] = {}
        for first, second in combinations(equals, 2):
            # of two equal features it does not matter which is first
            use = tuple(
                (target.role is Role.INTERACTION and equals[target.features[0]], how)
                for target, how in wanted.get(frozenset((first, second)), [])
            )
            uses.setdefault(frozenset((equals[first], equals[second])), set()).add(use)
        cut = {kind for pair, ways in uses.items() if len(ways) > 1 for kind in pair}
        if not cut:
            return {name: equals[name][1] or "*" if name in equals else "" for name in features}
        equals = {name: (features[name].sort_key, name) if kind in cut else kind for name, kind in equals.items()}


def _interaction_classes(
    policy: Policy, targets: JointTargets, features: Sequence[FeatureClass]
) -> Iterator[FeatureClass]:
    """The classes of joint targets, if all their features may be asked in one question."""
    numbers = {member: number for number, c in enumerate(features) for member in c.members}
    groups: dict[tuple[tuple[int, ...], Kind, _Wanted], list[Target]] = {}
    for target, wanted in targets.items():
        if not all(margin in numbers for margin in target.margins) or wanted.alone < NEGLIGIBLE:
            continue
        own = tuple(sorted(numbers[margin] for margin in target.margins))
        cells = math.prod(features[number].kind.values for number in own)
        if cells > MOST_CELLS:
            subject = f"table of {' and '.join(target.features)}"
            raise refuse(subject, f"{cells} cells", f"at most {MOST_CELLS} cells")
        tabulated = target.role is Role.INTERACTION
        kind = Kind("interaction", cells) if tabulated else _product_kind(policy, cast("Product", target))
        groups.setdefault((own, kind, wanted), []).append(target)
    for (own, kind, wanted), members in groups.items():
        families = tuple(SubsetFamily(features[number].kind) for number in own)
        tabulated = kind.name == "interaction"
        yield FeatureClass(
            tuple(members),
            kind,
            wanted.alone,
            q=0.0,
            alone=wanted.alone,
            weight=wanted.weight,
            interaction=own,
            scale=math.prod(family.scale for family in families),
            whole=best_whole((families[0], families[1]), wanted.alone) if tabulated and len(own) == 2 else None,
            begun=tabulated,
        )


def _nothing_to_ask(limits: BudgetLimits, weights: Mapping[Target, float]) -> InputError:
    features = limits.policy.features
    strict = [name for name in features if limits.demand(name) < NEGLIGIBLE]
    wanted = {name for target, weight in weights.items() if weight > 0 for name in target.features} - set(strict)
    if strict and wanted:
        return InputError(
            f"features.{strict[0]}.delta: got {features[strict[0]].delta:g} with a correlation above 0, so that "
            "no question about any feature could be answered; accepted: a larger delta, or correlation 0 for it"
        )
    return InputError("tasks: no feature can be asked; accepted: at least one feature in a task with delta above 0")
