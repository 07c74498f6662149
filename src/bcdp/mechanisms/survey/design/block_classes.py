"""Which blocks a policy leaves to the design: each is one class, asked by one question (theory.md, section 4.17)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt

from bcdp.mechanisms.survey.design.budget_limits import BudgetLimits
from bcdp.mechanisms.survey.design.feature_classes import NEGLIGIBLE, FeatureClass
from bcdp.mechanisms.survey.design.information import Kind
from bcdp.plan.views import shared_codes
from bcdp.policy import Policy
from bcdp.questions import Question
from bcdp.statistics import BlockAim, BlockValues, Target
from bcdp.statistics.shared.block_targets import block_question, suggested_sets

Array = npt.NDArray[np.float64]

_A_LITTLE = 1e-7  # of all combinations' frequencies, so that integer weights decode what is wanted without bias


def block_classes(limits: BudgetLimits, weights: Mapping[Target, float]) -> Iterator[FeatureClass]:
    """The class of each block of which something is wanted.

    Together with other questions it is asked within the strictest demand of its features; alone within each of them.
    """
    policy = limits.policy
    for block in dict.fromkeys(policy.blocks.values()):
        wanted = {target: weight for target, weight in weights.items() if weight and set(target.features) <= set(block)}
        strictest = min(map(limits.demand, block))
        others = (limits.level(name, frozenset(block)) for name in policy.features if name not in block)
        alone = min([limits.epsilon, *others])
        if not wanted or min(strictest, alone) < NEGLIGIBLE:
            continue
        question = block_question(policy, block)
        aim = BlockAim(
            _criterion(policy, question, wanted), _limits(limits, question), suggested_sets(policy, question)
        )
        bounds = [limits.total_bounds(name) for name in block]
        yield FeatureClass(
            (BlockValues(block, aim),),
            Kind("block", question.inputs(policy), aim=aim),
            delta=strictest,
            q=max(q for q, _ in bounds),
            alone=min(alone, aim.largest),
            weight=float(f"{sum(wanted.values()):.12g}"),
            odds=max(odds for _, odds in bounds),
        )


def _criterion(policy: Policy, question: Question, wanted: Mapping[Target, float]) -> tuple[tuple[float, ...], ...]:
    """How much the error of every two combinations counts, by what is wanted of them."""
    size = question.inputs(policy)
    criterion = np.zeros((size, size))
    for target, weight in wanted.items():
        numbers = target.at(policy, question)
        criterion += weight * numbers @ numbers.T
    criterion += _A_LITTLE * np.trace(criterion) / size * np.eye(size)
    return _rows(criterion / sum(wanted.values()))


def _limits(limits: BudgetLimits, question: Question) -> tuple[tuple[float, ...], ...]:
    """The largest logarithm of the ratio of every two combinations' weights: the strictest view that separates them."""
    policy = limits.policy
    possible = question.combinations(policy)
    assert possible is not None
    result = np.full((len(possible),) * 2, limits.epsilon)
    for name, size, codes in zip(question.features, question.levels, possible.T, strict=True):
        shared = np.isin(codes, list(shared_codes(policy.features[name], size)))
        separates = (codes[:, None] != codes) | (shared[:, None] & shared)
        result = np.where(separates, np.minimum(result, limits.demand(name)), result)
    np.fill_diagonal(result, 0.0)
    return _rows(result)


def _rows(matrix: Array) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(float(f"{number:.12g}") for number in row) for row in matrix.tolist())
