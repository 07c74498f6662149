"""The columns of a regression's design, and the moments of them that have to be asked for.

Everything is on the [-1, 1] scale: numbers between their bounds, two values as signs, one category against the others
as a sign. A moment is the mean of a feature or of a product; some are known without asking (docs/theory.md, 4.4).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np
import numpy.typing as npt

from bcdp.policy import Policy
from bcdp.statistics.protocol import Means
from bcdp.statistics.target import Product, Single, Target

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Column:
    """A column of the design: a feature, or one category of a categorical one."""

    feature: str
    category: int | None = None

    def name(self, policy: Policy) -> str:
        """What results call it: the feature, with the value in brackets for a category."""
        if self.category is None:
            return self.feature
        return f"{self.feature}[{policy.features[self.feature].categories[self.category]}]"


Design = tuple[Column, ...]  # the target last


def design_of(policy: Policy, features: tuple[str, ...], target: str, intercept: bool) -> Design:
    """The columns of some features, the target last.

    Of a categorical feature the first value is the reference, which has no column; without an intercept the first
    categorical feature has a column for each value.
    """
    found, reference = [], intercept
    for name in features:
        columns = policy.features[name].columns
        categorical = columns != (None,)
        found += [Column(name, category) for category in columns[int(reference and categorical) :]]
        reference |= categorical
    return (*found, Column(target))


def product(policy: Policy, first: Column, second: Column) -> Product | None:
    """The product to ask about for one entry of the second-moment matrix; None where it is known or follows."""
    if first.feature != second.feature:
        one, other = sorted((first, second), key=lambda column: column.feature)  # the same in every copy of a plan
        return Product((one.feature, other.feature), (one.category, other.category))
    if policy.features[first.feature].is_number:
        return Product((first.feature,), (None,))
    return None  # a sign's square is 1; two categories of a feature exclude each other


def moment_weights(policy: Policy, design: Design, intercept: bool) -> Iterator[tuple[Target, float]]:
    """What to ask about, and how often its squared error counts in that of the second moments (Frobenius).

    Entries off the diagonal count twice. With an intercept the moments are centred: a mean counts as an entry of the
    constant column and, times another column's mean, in every entry of its own; a mean's square is taken as 1/3.
    """
    for first, second in combinations_with_replacement(design, 2):
        asked = product(policy, first, second)
        if asked is not None:
            yield asked, 2.0 if first != second else 0.25  # a square is (1 + v) / 2
        elif first != second:  # 1 - 2 f - 2 g, from the frequencies of the two categories
            yield Single(first.feature), 2 * 4.0 * 2 / len(policy.features[first.feature].categories)
    each = 2 * (1 + len(design) / 3)
    for column in design if intercept else ():  # a category's mean is 2 f - 1, and all f count together
        values = len(policy.features[column.feature].categories)
        yield Single(column.feature), each if column.category is None else 4 * each / values


@dataclass(frozen=True)
class Moments:
    """The means (.., columns) and second moments (.., columns, columns) of a design's columns, in [-1, 1] units.

    Unbiased, so that they may lie outside of what is possible; NaN for what was not answered.
    """

    mean: Array
    second: Array


def moment_targets(policy: Policy, design: Design, intercept: bool) -> set[Target]:
    """The targets whose means give the moments."""
    pairs = combinations_with_replacement(design, 2)
    products = {asked for first, second in pairs if (asked := product(policy, first, second)) is not None}
    return products | {Single(column.feature) for column in design if intercept or column.category is not None}


def moments(policy: Policy, design: Design, means: Means) -> Moments:
    """The moments from the means of their targets."""
    shape = next(iter(means.values())).shape[:-1] if means else ()
    mean = np.full((*shape, len(design)), np.nan)
    for i, column in enumerate(design):
        value = means.get(Single(column.feature))
        if value is not None:
            mean[..., i] = value[..., 0] if column.category is None else 2 * value[..., column.category] - 1
    second = np.ones((*shape, len(design), len(design)))  # a sign's square is 1
    for i, j in combinations_with_replacement(range(len(design)), 2):
        asked = product(policy, design[i], design[j])
        if asked is not None:
            told = means[asked][..., 0] if asked in means else np.full(shape, np.nan)
            second[..., i, j] = second[..., j, i] = told if i != j else (1 + told) / 2
        elif i != j:  # two categories exclude each other: 1 - 2 f - 2 g
            second[..., i, j] = second[..., j, i] = -1 - mean[..., i] - mean[..., j]
    return Moments(mean, second)
