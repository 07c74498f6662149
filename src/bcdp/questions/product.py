"""Questions about the product of two features, or the square of one: a single number, rounded at random."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bcdp.errors import refuse
from bcdp.policy import Feature, Policy
from bcdp.questions.inputs import Coordinate
from bcdp.questions.kind import QuestionKind

if TYPE_CHECKING:
    from bcdp.questions.document import Question

Array = npt.NDArray[np.float64]


class ProductKind(QuestionKind):
    """A binary feature is worth -1 or 1, a category 1 where it is the person's value and -1 elsewhere."""

    reads_values = False
    own_keys = frozenset({"kind", "categories"})
    joiner = " x "

    def check(self, path: str, question: Question, features: Mapping[str, Feature]) -> None:
        """One or two features, one entry of `levels`, a category for each categorical feature."""
        if question.cuts:
            raise refuse(f"{path}.cuts", question.cuts, "no such key for a product")
        if len(question.features) > 2 or len(question.levels) != 1:
            stated = f"{len(question.features)} features, {len(question.levels)} levels"
            raise refuse(path, stated, "one or two, and one")
        if len(question.features) == 1 and not features[question.features[0]].is_number:
            raise refuse(f"{path}.features", question.features, "a numeric feature, to be squared, or two features")
        if len(question.categories) != len(question.features):
            raise refuse(f"{path}.categories", question.categories, "null or the number of a value, for each feature")
        for name, category in zip(question.features, question.categories, strict=True):
            if features[name].own and features[name].is_number:
                raise refuse(f"{path}.features", name, "numbers in which no answer is not a value of its own")
            if category not in features[name].columns:
                accepted = f"the number of a value of {name}, null for a number and for one of two values"
                raise refuse(f"{path}.categories", category, accepted)

    def coordinates(
        self, policy: Policy, question: Question, codes: Mapping[str, npt.NDArray[Any]]
    ) -> Iterator[Coordinate]:
        """One digit: the product, rounded."""
        number = product_of(policy, question.features, question.categories, codes)
        yield Coordinate.rounded(number, question.levels[0])

    def rounding_levels(self, question: Question) -> tuple[int, ...]:
        """All features share the levels of their product."""
        return question.levels * len(question.features)

    def multiplies(self, question: Question, numbers: frozenset[str]) -> bool:
        """Whether each factor is one of these numbers."""
        return numbers.issuperset(question.features)


def product_of(
    policy: Policy, features: tuple[str, ...], categories: tuple[int | None, ...], codes: Mapping[str, npt.NDArray[Any]]
) -> Array:
    """The number in [-1, 1] that a product is, for each record; of a single feature its square as `2 x^2 - 1`."""
    factors = [
        policy.features[name].worth(codes[name], category) for name, category in zip(features, categories, strict=True)
    ]
    return np.asarray(np.prod(factors, axis=0)) if len(factors) > 1 else 2 * (factors[0] * factors[0]) - 1
