"""Targets that are linear in which value a feature has: mean scores, shares of sets of values; and their question."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from bcdp.errors import InputError
from bcdp.policy import Feature, MultipleFeature, Policy
from bcdp.questions import Question
from bcdp.randomizers import Dense, Table, categorical, least_moment, optimal
from bcdp.statistics.shared.target import Array, Codes, OneFeature, Role, Single, Target

Rows = tuple[tuple[float, ...], ...]  # a matrix that can be hashed


@dataclass(frozen=True)
class ValueMeans(OneFeature):
    """The means of some numbers that each value of a feature stands for, shape (values, size)."""

    role: ClassVar[Role] = Role.VALUES
    feature: str
    numbers: Rows

    def size(self, policy: Policy) -> int:
        return len(self.numbers[0])

    def of(self, policy: Policy, codes: Codes) -> Array:
        return np.asarray(policy.features[self.feature].indicators(codes[self.feature]) @ np.array(self.numbers))

    def answered_by(self, question: Question) -> bool:
        return question.reads_values and self.feature in question.features

    def at(self, policy: Policy, question: Question) -> Array:
        return question.at_inputs(policy, self.feature, np.array(self.numbers))


def mean_target(policy: Policy, name: str) -> Target:
    """The feature by itself; of an ordinal one the mean score, or with more values both ends of the scale."""
    feature = policy.features[name]
    if not feature.scale:
        return Single(name)
    ends = scale_ends(feature)
    return ValueMeans(name, ends if feature.extras else tuple((2 * share - 1,) for _, share in ends))


def scale_ends(feature: Feature) -> Rows:
    """How far each ordered value is at the lower and at the upper end of its scale; then what follows the values.

    >>> from bcdp.policy import OrdinalFeature
    >>> scale_ends(OrdinalFeature(type="ordinal", values=("low", "middle", "high"), missing="own"))
    ((1.0, 0.0, 0.0), (0.5, 0.5, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    """
    low, high = feature.span
    shares = [(score - low) / (high - low) for score in feature.scale]
    beyond = np.eye(feature.extras, 2 + feature.extras, 2).tolist()
    return (*((1 - share, share, *(0.0,) * feature.extras) for share in shares), *map(tuple, beyond))


def headline(policy: Policy, name: str) -> Target:
    """What stands for a feature where it has one number: its mean, if it has one, else whatever tasks want of it."""
    feature = policy.features[name]
    is_list = isinstance(feature, MultipleFeature)
    if not feature.scale and not is_list and all(task.kind != "share" for task in policy.tasks):
        return Single(name)
    wanted = [target for task in policy.tasks for target, _ in task.targets(policy)]
    mean = mean_target(policy, name)
    others = [target for target in wanted if target.role is Role.VALUES and target.features == (name,)]
    return next((target for target in (mean, Single(name)) if target in wanted), (others or [Single(name)])[0])


@dataclass(frozen=True)
class AimedValues(OneFeature):
    """A feature with values, asked for certain numbers: `criterion` is `sum w T T^t` over targets T with weights w."""

    role: ClassVar[Role] = Role.VALUES
    feature: str
    criterion: Rows

    def randomizer(self, policy: Policy, budget: float) -> tuple[tuple[int, ...], Table]:
        return (len(self.criterion),), aimed(self.criterion, budget)

    def size(self, policy: Policy) -> int:
        return len(self.criterion)

    def of(self, policy: Policy, codes: Codes) -> Array:
        return policy.features[self.feature].indicators(codes[self.feature])

    def answered_by(self, question: Question) -> bool:
        return False  # estimates ask for the numbers themselves

    def at(self, policy: Policy, question: Question) -> Array:
        return np.eye(len(self.criterion))


@lru_cache(maxsize=256)
def aimed(criterion: Rows, budget: float) -> Table:
    """The table with the least criterion within the budget: a design of its own, or that for all frequencies."""
    usual = categorical(len(criterion), budget, geometries=False)
    matrix = np.array(criterion)
    try:
        best = optimal(matrix, np.full(matrix.shape, budget), runs(len(matrix)))
    except InputError:
        return usual
    return min(best, usual, key=lambda table: _criterion(table.dense(), matrix))


@lru_cache(maxsize=4096)
def aimed_moment(criterion: Rows, budget: float) -> float:
    """The least criterion within a budget, before rounding."""
    matrix = np.array(criterion)
    return least_moment(matrix, np.full(matrix.shape, budget), runs(len(matrix)))


def runs(values: int) -> list[Any]:
    """Sets of values that follow each other, the first after the last: where order matters these tell most."""
    numbers = np.arange(values)
    return [(numbers - start) % values < length for start in range(values) for length in range(1, values // 2 + 1)]


def _criterion(table: Dense, criterion: Array) -> float:
    probability = table.weights / 2.0**32
    informed = (probability / np.maximum(probability.mean(axis=0), 1e-300)) @ probability.T
    return float(np.trace(criterion @ np.linalg.pinv(informed, hermitian=True)))
