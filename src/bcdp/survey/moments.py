"""What a regression needs to know: the columns of its design, and the moments that have to be asked for.

Everything is on the [-1, 1] scale: numbers between their bounds, two values as signs, one category against the others
as a sign. A moment is the mean of a feature or of a product; some are known without asking (docs/theory.md, 4.4).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from bcdp.policy import CategoricalFeature, Policy, Regression


@dataclass(frozen=True)
class Product:
    """The product of two features, or the square of one as `2 x^2 - 1`; a category's number where one is meant."""

    features: tuple[str, ...]
    categories: tuple[int | None, ...]


Target = str | Product  # a feature stands for its mean or its frequencies


@dataclass(frozen=True)
class Column:
    """A column of the design: a feature, or one category of a categorical one."""

    feature: str
    category: int | None = None

    def name(self, policy: Policy) -> str:
        """What results call it: the feature, with the value in brackets for a category."""
        if self.category is None:
            return self.feature
        return f"{self.feature}[{_values(policy, self.feature)[self.category]}]"


def _values(policy: Policy, name: str) -> tuple[object, ...]:
    feature = policy.features[name]
    return feature.values if isinstance(feature, CategoricalFeature) else ()


def columns(policy: Policy, regression: Regression) -> tuple[Column, ...]:
    """The design's columns, the target last.

    Of a categorical feature the first value is the reference, which has no column; without an intercept the first
    categorical feature has a column for each value.
    """
    found, reference = [], regression.intercept
    for name in regression.features:
        feature = policy.features[name]
        if feature.type == "categorical":
            found += [Column(name, number) for number in range(int(reference), len(feature.values))]
            reference = True
        else:
            found.append(Column(name))
    return (*found, Column(regression.target))


def product(policy: Policy, first: Column, second: Column) -> Product | None:
    """The product to ask about for one entry of the second-moment matrix; None where it is known or follows."""
    if first.feature != second.feature:
        one, other = sorted((first, second), key=lambda column: column.feature)  # the same in every copy of a plan
        return Product((one.feature, other.feature), (one.category, other.category))
    if policy.features[first.feature].type == "numeric":
        return Product((first.feature,), (None,))
    return None  # a sign's square is 1; two categories of a feature exclude each other


def moment_weights(policy: Policy, regression: Regression) -> Iterator[tuple[Target, float]]:
    """What to ask about, and how often its squared error counts in that of the second moments (Frobenius).

    Entries off the diagonal count twice. With an intercept the moments are centred: a mean counts as an entry of the
    constant column and, times another column's mean, in every entry of its own; a mean's square is taken as 1/3.
    """
    design = columns(policy, regression)
    for first, second in itertools.combinations_with_replacement(design, 2):
        asked = product(policy, first, second)
        if asked is not None:
            yield asked, 2.0 if first != second else 0.25  # a square is (1 + v) / 2
        elif first != second:  # 1 - 2 f - 2 g, from the frequencies of the two categories
            yield first.feature, 2 * 4.0 * 2 / len(_values(policy, first.feature))
    each = 2 * (1 + len(design) / 3)
    for column in design if regression.intercept else ():  # a category's mean is 2 f - 1, and all f count together
        yield column.feature, each if column.category is None else 4 * each / len(_values(policy, column.feature))
