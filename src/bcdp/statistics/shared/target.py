"""Targets: each is a function of the codes of one or two features whose mean is wanted, on the planning scale.

On that scale numbers between their bounds and two values are in [-1, 1]; of a feature with several values, each value's
indicator is 0 or 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, ClassVar, Protocol, cast

import numpy as np
import numpy.typing as npt

from bcdp.policy import Policy
from bcdp.questions import Question
from bcdp.questions.product import product_of
from bcdp.randomizers import Dense, Table, binary, categorical, numeric, numeric_values

Array = npt.NDArray[np.float64]
Codes = Mapping[str, npt.NDArray[Any]]
Cuts = tuple[float, ...]


class Role(Enum):
    """How a survey may ask for a target."""

    FEATURE = "a feature by itself: alone, with others in a menu, or inside a joint question"
    VALUES = "numbers that a feature's values stand for: alone, or with others in a menu"
    STEPS = "a number in steps: alone, or inside a joint question"
    DISTRIBUTION = "a distribution: alone, or with others in a menu"
    INTERACTION = "what two or three features have together beyond fewer of them: by joint questions only"
    CHANGE = "the values of a feature in two waves of a panel: alone"
    CELLS = "the cells of a table, by a question about the blocks of both features"
    PRODUCT = "a product of features: alone, or by joint questions"


class Target(Protocol):
    """What the mean is wanted of; targets are values, so that two statistics may want the same one."""

    role: ClassVar[Role]

    @property
    def features(self) -> tuple[str, ...]:
        """The features that it is computed from."""

    @property
    def cuts_by_feature(self) -> Mapping[str, Cuts]:
        """The numbers that it reads in steps, with the cuts where steps begin."""

    @property
    def margins(self) -> tuple[Target, ...]:
        """Its features by themselves, as joint questions ask for it."""

    def size(self, policy: Policy) -> int:
        """How many numbers it is: 1, or one for each value of a feature whose values are counted."""

    def of(self, policy: Policy, codes: Codes) -> Array:
        """Its numbers for each record, shape (records, size)."""

    def answered_by(self, question: Question) -> bool:
        """Whether the answers to a question inform about it."""

    def at(self, policy: Policy, question: Question) -> Array:
        """Its numbers at each input of a question that informs about it, shape (inputs, size)."""


class Askable(Target, Protocol):
    """A target that a question may be about alone."""

    def randomizer(self, policy: Policy, budget: float) -> tuple[tuple[int, ...], Table]:
        """The levels and the table of the question."""

    @property
    def question_keys(self) -> Mapping[str, Any]:
        """What the question states beyond its features, levels, cuts and table."""


class Margin(Askable, Protocol):
    """A feature by itself, which may be a part of joint questions."""

    def levels(self, policy: Policy) -> int:
        """How many levels it has there."""


class OneFeature:
    """What targets about a single feature share: nothing else is needed to know them."""

    feature: str

    @property
    def features(self) -> tuple[str, ...]:
        return (self.feature,)

    @property
    def cuts_by_feature(self) -> Mapping[str, Cuts]:
        return {}

    @property
    def margins(self) -> tuple[Target, ...]:
        return (cast("Target", self),)

    @property
    def question_keys(self) -> Mapping[str, Any]:
        return {}


@dataclass(frozen=True)
class Single(OneFeature):
    """A feature by itself: its mean, or the frequencies of its values."""

    role: ClassVar[Role] = Role.FEATURE
    feature: str

    def levels(self, policy: Policy) -> int:
        return policy.features[self.feature].joint_inputs

    def randomizer(self, policy: Policy, budget: float) -> tuple[tuple[int, ...], Table]:
        kind = policy.features[self.feature].asked_as
        if kind == "categorical":
            return (self.levels(policy),), categorical(self.levels(policy), budget, geometries=policy.batch is None)
        table = numeric(budget) if kind == "numeric" else binary(budget)
        return (table.levels,), table

    def size(self, policy: Policy) -> int:
        feature = policy.features[self.feature]
        return feature.joint_inputs if feature.counts_values else 1

    def of(self, policy: Policy, codes: Codes) -> Array:
        feature, own = policy.features[self.feature], codes[self.feature]
        if feature.counts_values:
            return feature.indicators(own)
        return feature.worth(own)[:, None]

    def answered_by(self, question: Question) -> bool:
        rounded = self.feature in question.features and question.cuts_of(self.feature) is None
        return question.reads_values and rounded

    def at(self, policy: Policy, question: Question) -> Array:
        levels = question.levels[question.features.index(self.feature)]
        return question.at_inputs(policy, self.feature, policy.features[self.feature].input_values(levels))


@dataclass(frozen=True)
class Product:
    """The product of two to four features, or the square of one as `2 x^2 - 1`; a category's number where one is meant.

    Signs stand for values. Of more than two features at most one is a number.
    """

    role: ClassVar[Role] = Role.PRODUCT
    features: tuple[str, ...]
    categories: tuple[int | None, ...]

    @property
    def cuts_by_feature(self) -> Mapping[str, Cuts]:
        return {}

    @property
    def question_keys(self) -> Mapping[str, Any]:
        return {} if self._is_parity else {"kind": "product", "categories": self.categories}

    def is_number(self, policy: Policy) -> bool:
        """Whether it takes more values than -1 and 1."""
        return any(policy.features[name].is_number for name in self.features)

    def randomizer(self, policy: Policy, budget: float) -> tuple[tuple[int, ...], Table]:
        if self._is_parity:
            return self._parity(policy, budget)
        table = numeric(budget) if self.is_number(policy) else binary(budget)
        return (table.levels,), table

    @property
    def _is_parity(self) -> bool:
        """Whether it is asked as the values of its features, in one question: more than two have no other."""
        return len(self.features) > 2

    def _parity(self, policy: Policy, budget: float) -> tuple[tuple[int, ...], Table]:
        """The question about values whose answer is the sign of their product, randomized."""
        sizes = tuple(policy.features[name].joint_inputs for name in self.features)
        values = dict(zip(self.features, np.indices(sizes).reshape(len(sizes), -1), strict=True))
        codes = {
            name: numeric_values(2)[value] if policy.features[name].is_number else value
            for name, value in values.items()
        }  # a number is rounded to one of its bounds
        signs = self.of(policy, codes)[:, 0]
        return sizes, Dense(binary(budget).dense().weights[(signs > 0).astype(np.int64)])

    def size(self, policy: Policy) -> int:
        return 1

    def of(self, policy: Policy, codes: Codes) -> Array:
        return product_of(policy, self.features, self.categories, codes)[:, None]

    @property
    def margins(self) -> tuple[Target, ...]:
        """The features by themselves."""
        return tuple(map(Single, self.features))

    @property
    def is_shaped(self) -> bool:
        """Whether joint shapes are priced by what they reveal about it: two features, neither of them by one
        category.
        """
        return self.categories == (None, None)

    def answered_by(self, question: Question) -> bool:
        if not question.reads_values:
            return (question.features, question.categories) == (self.features, self.categories)
        return len(self.features) > 1 and all(
            name in question.features and question.cuts_of(name) is None for name in self.features
        )

    def at(self, policy: Policy, question: Question) -> Array:
        if not question.reads_values:
            return numeric_values(question.levels[0])[:, None]
        product = np.ones((1, 1))
        for name, category in zip(self.features, self.categories, strict=True):
            own = Single(name).at(policy, question)
            # numbers are rounded independently of each other, so that their product has the right mean
            product = product * (own if category is None else 2 * own[:, [category]] - 1)
        return product
