"""Which blocks a policy leaves to the design: each is one class, asked by one question (theory.md, section 4.17)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

import numpy as np
import numpy.typing as npt

from bcdp.errors import refuse
from bcdp.mechanisms.survey.design.budget_limits import BudgetLimits, SecondDemand
from bcdp.mechanisms.survey.design.classes.feature_classes import NEGLIGIBLE, FeatureClass
from bcdp.mechanisms.survey.design.information import Kind
from bcdp.plan.views import View, views_of
from bcdp.policy import MultipleFeature, Policy
from bcdp.policy.blocks import MOST_COMBINATIONS
from bcdp.questions import Question
from bcdp.statistics import Below, BlockAim, BlockSteps, BlockValues, Role, Target
from bcdp.statistics.shared.block_targets import TickedItems, block_question, suggested_sets

Array = npt.NDArray[np.float64]

_A_LITTLE = 1e-7  # of all combinations' frequencies, so that integer weights decode what is wanted without bias


def block_classes(limits: BudgetLimits, weights: Mapping[Target, float]) -> Iterator[FeatureClass]:
    """The class of each block of which something is wanted.

    Together with other questions it is asked within the strictest demand of its features; alone within each of them.
    """
    policy = limits.policy
    lists = [(name,) for name, own in policy.features.items() if isinstance(own, MultipleFeature)]
    groups = [*policy.blocks.values(), *(names for names in lists if names[0] not in policy.blocks)]
    for block in dict.fromkeys(groups):
        wanted = {
            target: weight
            for target, weight in weights.items()
            if weight and set(target.features) <= set(block) and target.role is not Role.DISTRIBUTION
        }
        strictest = min(map(limits.strictest, block))
        others = (limits.level(name, frozenset(block)) for name in policy.features if name not in block)
        alone = min([limits.epsilon, *others])
        if not wanted or min(strictest, alone) < NEGLIGIBLE:
            continue
        question = block_question(policy, block)
        views = list(views_of(policy, question))
        if len(views) == 1:  # a list with one demand
            yield _ticked(limits, block[0], float(f"{sum(wanted.values()):.12g}"), min(alone, strictest))
            continue
        aim = BlockAim(_criterion(policy, question, wanted), _limits(limits, views), suggested_sets(policy, question))
        bounds = [limits.total_bounds(name) for name in block]
        yield FeatureClass(
            (BlockValues(block, aim),),
            Kind("block", question.inputs(policy), aim=aim),
            delta=strictest,
            q=max(q for q, _ in bounds),
            alone=min(alone, aim.largest),
            weight=float(f"{sum(wanted.values()):.12g}"),
            odds=max(odds for _, odds in bounds),
            second=_strictest_second(limits, block),
        )


def stepped_block(limits: BudgetLimits, target: Below, weight: float) -> Iterator[FeatureClass]:
    """The class of a question about a block that is asked for the distribution of one of its numbers.

    Nothing else is asked with it, and all that it distinguishes is protected by the strictest demand.
    """
    policy, block = limits.policy, limits.policy.blocks[target.feature]
    levels = tuple(
        target.levels(policy) if name == target.feature else 2 + own.extras if own.is_number else own.joint_inputs
        for name, own in ((name, policy.features[name]) for name in block)
    )
    cuts = tuple(target.cuts_by_feature.get(name) for name in block)
    question = Question(features=block, levels=levels, table=0, kind="block", cuts=cuts)
    if (inputs := question.inputs(policy)) > MOST_COMBINATIONS:
        accepted = f"at most {MOST_COMBINATIONS} combinations with the answers that it depends on: fewer bins"
        raise refuse(f"distribution of {target.feature}", f"{inputs} combinations", accepted)
    digits = question.digits(policy)[:, block.index(target.feature)]
    apart = digits[:, None] != digits
    others = (limits.level(name, frozenset(block)) for name in policy.features if name not in block)
    alone = min([*others, float(np.array(_limits(limits, list(views_of(policy, question))))[apart].min())])
    if alone >= NEGLIGIBLE:
        member = BlockSteps(target, block, levels, tuple(digits.tolist()))
        kind = Kind("steps", target.levels(policy))
        yield FeatureClass((member,), kind, alone, q=0.0, alone=alone, weight=weight, apart=True)


def _ticked(limits: BudgetLimits, name: str, weight: float, alone: float) -> FeatureClass:
    """The class of a list to tick, all of whose items are protected equally."""
    feature = cast("MultipleFeature", limits.policy.features[name])
    items, most = len(feature.values), feature.at_most or len(feature.values)
    q, odds = limits.total_bounds(name)
    return FeatureClass(
        (TickedItems(name, items, most, feature.own),),
        Kind("ticks", items + feature.own, most=most),
        delta=limits.demand(name),
        q=q,
        alone=alone,
        weight=weight,
        odds=odds,
        second=limits.second_demand(name, q, odds),
    )


def _strictest_second(limits: BudgetLimits, block: Sequence[str]) -> SecondDemand | None:
    """The least of the levels that the features of a block still demand, at the largest of their larger bounds."""
    demands = [limits.second_demand(name, *limits.total_bounds(name)) for name in block]
    stated = [demand for demand in demands if demand is not None]
    if not stated:
        return None
    delta, q, odds = zip(*stated, strict=True)
    return SecondDemand(min(delta), max(q), max(odds))


def _criterion(policy: Policy, question: Question, wanted: Mapping[Target, float]) -> tuple[tuple[float, ...], ...]:
    """How much the error of every two combinations counts, by what is wanted of them."""
    size = question.inputs(policy)
    criterion = np.zeros((size, size))
    for target, weight in wanted.items():
        numbers = target.at(policy, question)
        criterion += weight * numbers @ numbers.T
    criterion += _A_LITTLE * np.trace(criterion) / size * np.eye(size)
    return _rows(criterion / sum(wanted.values()))


def _limits(limits: BudgetLimits, views: Sequence[View]) -> tuple[tuple[float, ...], ...]:
    """The largest logarithm of the ratio of every two inputs' weights: the strictest view that separates them."""
    result = np.full((len(views[0].parts),) * 2, limits.epsilon)
    for view in views:
        parts = np.array(view.parts)
        shared = np.isin(parts, list(view.shared))
        separates = (parts[:, None] != parts) | (shared[:, None] & shared)
        result = np.where(separates, np.minimum(result, limits.within(view.delta)), result)
    np.fill_diagonal(result, 0.0)
    return _rows(result)


def _rows(matrix: Array) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(float(f"{number:.12g}") for number in row) for row in matrix.tolist())
