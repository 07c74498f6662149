"""Targets: each is a function of the codes of one or two features whose mean is wanted, on the planning scale.

On that scale numbers between their bounds and two values are in [-1, 1]; of a feature with several values, each value's
indicator is 0 or 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from bcdp.policy import Policy
from bcdp.tables import marginal_target, numeric_values

if TYPE_CHECKING:
    from bcdp.plan import Question

Array = npt.NDArray[np.float64]
Codes = Mapping[str, npt.NDArray[Any]]


class Target(Protocol):
    """What the mean is wanted of; targets are values, so that two statistics may want the same one."""

    @property
    def features(self) -> tuple[str, ...]:
        """The features that it is computed from."""

    def size(self, policy: Policy) -> int:
        """How many numbers it is: 1, or one for each value of a feature whose values are counted."""

    def of(self, policy: Policy, codes: Codes) -> Array:
        """Its numbers for each record, shape (records, size)."""

    def answered_by(self, question: Question) -> bool:
        """Whether the answers to a question tell it."""

    def at(self, policy: Policy, question: Question) -> Array:
        """Its numbers at each input of a question that tells it, shape (inputs, size)."""


@dataclass(frozen=True)
class Single:
    """A feature by itself: its mean, or the frequencies of its values."""

    feature: str

    @property
    def features(self) -> tuple[str, ...]:
        return (self.feature,)

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
        return question.kind == "values" and rounded

    def at(self, policy: Policy, question: Question) -> Array:
        place = question.features.index(self.feature)
        levels = question.levels[place]
        own = policy.features[self.feature].input_values(levels)
        return own if len(question.levels) == 1 else marginal_target(question.levels, place, own)


@dataclass(frozen=True)
class Product:
    """The product of two to four features, or the square of one as `2 x^2 - 1`; a category's number where one is meant.

    Signs stand for values. Of more than two features at most one is a number.
    """

    features: tuple[str, ...]
    categories: tuple[int | None, ...]

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
        """Whether joint shapes are priced by what they tell of it: two features, neither of them by one category."""
        return self.categories == (None, None)

    def answered_by(self, question: Question) -> bool:
        if question.kind == "product":
            return (question.features, question.categories) == (self.features, self.categories)
        return len(self.features) > 1 and all(
            name in question.features and question.cuts_of(name) is None for name in self.features
        )

    def at(self, policy: Policy, question: Question) -> Array:
        if question.kind == "product":
            return numeric_values(question.levels[0])[:, None]
        found = np.ones((1, 1))
        for name, category in zip(self.features, self.categories, strict=True):
            own = Single(name).at(policy, question)
            # numbers are rounded independently of each other, so that their product has the right mean
            found = found * (own if category is None else 2 * own[:, [category]] - 1)
        return found


def product_of(policy: Policy, features: tuple[str, ...], categories: tuple[int | None, ...], codes: Codes) -> Array:
    """The number in [-1, 1] that a product is, for each record: what devices answer about and samples measure."""
    factors = [
        policy.features[name].worth(codes[name], category) for name, category in zip(features, categories, strict=True)
    ]
    return np.asarray(np.prod(factors, axis=0)) if len(factors) > 1 else 2 * (factors[0] * factors[0]) - 1
