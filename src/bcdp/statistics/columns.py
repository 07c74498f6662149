"""The columns of a regression's design, and the moments of them that have to be asked for.

Everything is on the [-1, 1] scale: numbers between their bounds, two values as signs, one category against the others
as a sign. A moment is the mean of a feature or of a product; some are known without asking (docs/theory.md, 4.4).
"""

from __future__ import annotations

import math
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


Design = tuple[Column, ...]  # the outcome last


def design_of(policy: Policy, features: tuple[str, ...], outcome: Column, intercept: bool) -> Design:
    """The columns of some features, the outcome last.

    Of a categorical feature the first value is the reference, which has no column; without an intercept the first
    categorical feature has a column for each value.
    """
    found, reference = [], intercept
    for name in features:
        columns = policy.features[name].columns
        categorical = columns != (None,)
        found += [Column(name, category) for category in columns[int(reference and categorical) :]]
        reference |= categorical
    return (*found, outcome)


def product(policy: Policy, first: Column, second: Column) -> Product | None:
    """The product to ask about for one entry of the second-moment matrix; None where it is known or follows."""
    if first.feature != second.feature:
        one, other = sorted((first, second), key=lambda column: column.feature)  # the same in every copy of a plan
        return Product((one.feature, other.feature), (one.category, other.category))
    if policy.features[first.feature].is_number:
        return Product((first.feature,), (None,))
    return None  # a sign's square is 1; two categories of a feature exclude each other


def moment_weights(policy: Policy, design: Design, intercept: bool, explains: float) -> Iterator[tuple[Target, float]]:
    """What to ask about, and how much its squared error adds to that of the predictions (docs/theory.md, section 4.4).

    Columns are taken as uncorrelated, and each of them to explain an equal part of the share that all explain.
    """
    *columns, outcome = design
    mean, spread = np.array([_typical(policy, column, intercept) for column in design]).T
    each = explains * spread[-1] / (len(columns) * spread[:-1])  # the square of a coefficient
    for (i, first), (j, second) in combinations_with_replacement(enumerate(columns), 2):
        entry = each[j] / spread[i] + (each[i] / spread[j] if i != j else 0.0)
        asked = product(policy, first, second)
        if asked is not None:
            yield asked, entry if i != j else entry / 4  # a square is (1 + v) / 2
        elif i != j:  # 1 - 2 f - 2 g, from the frequencies of the two categories
            yield Single(first.feature), 2 * 4 * entry / _values(policy, first)
    for i, column in enumerate(columns):
        asked = product(policy, column, outcome)
        if asked is not None:
            yield asked, 1 / spread[i]
    square = product(policy, outcome, outcome)
    if square is not None:  # of no use to the coefficients, but the share explained is a share of it
        yield square, explains**2 / (4 * spread[-1])
    if intercept:
        middle = 1 + float((mean / spread)[:-1].sum())
        weights = [*(mean[-1] / spread[:-1] + each * middle), middle]
        for column, weight in zip(design, weights, strict=True):  # a category's mean is 2 f - 1; all f count together
            yield Single(column.feature), weight if column.category is None else 4 * weight / _values(policy, column)


def _typical(policy: Policy, column: Column, intercept: bool) -> tuple[float, float]:
    """The square of the mean and the variance that a column is planned for; about 0 if there is no intercept.

    Categories are equally frequent; of signs and numbers the mean takes a third of the second moment, 1 and 1/3.
    """
    second = 1 / 3 if policy.features[column.feature].is_number else 1.0
    share = 1 / 3 if column.category is None else (1 - 2 / _values(policy, column)) ** 2
    return (share * second, (1 - share) * second) if intercept else (0.0, second)


def typical_means(policy: Policy, design: Design, intercept: bool) -> dict[Target, Array]:
    """The means of the targets in the population that a regression is planned for: columns are uncorrelated."""
    middle = {column: math.sqrt(_typical(policy, column, intercept)[0]) for column in design}
    sign = {
        column: 1.0 if column.category is None else math.copysign(1.0, 2 / _values(policy, column) - 1)
        for column in design
    }
    found: dict[Target, Array] = {}
    for first, second in combinations_with_replacement(design, 2):
        asked = product(policy, first, second)
        if asked is not None:
            square = 2 / 3 - 1  # of a number: 2 x^2 - 1
            found[asked] = np.array(
                [square if first == second else sign[first] * middle[first] * sign[second] * middle[second]]
            )
    for column in design:
        values = _values(policy, column)
        found[Single(column.feature)] = (
            np.array([middle[column]]) if column.category is None else np.full(values, 1 / values)
        )
    return found


def _values(policy: Policy, column: Column) -> int:
    return len(policy.features[column.feature].categories)


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
