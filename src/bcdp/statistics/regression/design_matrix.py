"""The columns of a regression's design, and the moments of them that have to be asked for.

Everything is on the [-1, 1] scale: numbers between their bounds, two values as signs, one category against the others
as a sign. A moment is the mean of a feature or of a product; some are known without asking (theory.md, 4.4).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement, product

import numpy as np
import numpy.typing as npt

from bcdp.policy import Policy
from bcdp.statistics.regression.default_population import Monomial, typical
from bcdp.statistics.shared.protocol import Means
from bcdp.statistics.shared.target import Product, Single, Target

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Column:
    """A column of the design: a feature, one category of a categorical one, or the product of two such columns."""

    feature: str
    category: int | None = None
    other: Column | None = None

    @property
    def factors(self) -> Monomial:
        """What is multiplied."""
        return ((self.feature, self.category), *(self.other.factors if self.other else ()))

    @property
    def features(self) -> tuple[str, ...]:
        """The features that it is made of."""
        return tuple(name for name, _ in self.factors)

    @property
    def term(self) -> str:
        """The feature, or the two that interact: several columns may have the same."""
        return " x ".join(self.features)

    def name(self, policy: Policy) -> str:
        """What results call it: the feature, with the value in brackets for a category."""
        return " x ".join(
            name if category is None else f"{name}[{policy.features[name].categories[category]}]"
            for name, category in self.factors
        )


Design = tuple[Column, ...]  # the outcome last


def design_of(
    policy: Policy,
    features: tuple[str, ...],
    outcome: Column,
    intercept: bool,
    interactions: tuple[tuple[str, ...], ...] = (),
) -> Design:
    """The columns of some features, then those of two that interact, the outcome last.

    Of a categorical feature the first value is the reference, which has no column; without an intercept the first
    categorical feature has a column for each value.
    """
    design, reference = [], intercept
    for name in features:
        columns = policy.features[name].columns
        categorical = columns != (None,)
        design += [Column(name, category) for category in columns[int(reference and categorical) :]]
        reference |= categorical
    for first_name, second_name in interactions:
        columns_of = [[column for column in design if column.term == name] for name in (first_name, second_name)]
        design += [replace(first, other=second) for first, second in product(*columns_of)]
    return (*design, outcome)


def without(columns: Design, terms: Collection[str]) -> npt.NDArray[np.bool_]:
    """Which columns are left if some features, or interactions of two, are left out."""
    return np.array([not {column.term, *column.features} & set(terms) for column in columns])


def expanded(policy: Policy, first: Column, second: Column) -> dict[Monomial, float]:
    """The product of two columns as a sum of monomials that can be asked for, with the factor of each.

    The square of a sign is 1. Two categories of a feature exclude each other: their signs multiply to `-1 - s - t`.
    """
    total: dict[Monomial, float] = {first.factors: 1.0}
    for name, category in second.factors:
        before, total = total, {}
        for monomial, factor in before.items():
            rest = tuple(known_factor for known_factor in monomial if known_factor[0] != name)
            mine = [known_factor for known_factor in monomial if known_factor[0] == name]
            if not mine:
                terms = {(*rest, (name, category)): 1.0}
            elif policy.features[name].is_number:
                terms = {rest: 0.5, (*rest, *mine, *mine): 0.5}  # x^2 = (1 + v) / 2 with v = 2 x^2 - 1
            elif mine[0][1] == category:
                terms = {rest: 1.0}
            else:
                terms = {rest: -1.0, (*rest, mine[0]): -1.0, (*rest, (name, category)): -1.0}
            for known_factor, more in terms.items():
                ordered = tuple(sorted(known_factor, key=lambda factor: factor[0]))
                total[ordered] = total.get(ordered, 0.0) + factor * more
    return {monomial: factor for monomial, factor in total.items() if factor}


def target_of(monomial: Monomial) -> Target:
    """What to ask for the mean of a monomial that is not constant."""
    if len(monomial) == 1:
        return Single(monomial[0][0])
    once = sorted(dict.fromkeys(monomial), key=lambda factor: factor[0])  # the same in every copy of a plan
    return Product(tuple(name for name, _ in once), tuple(category for _, category in once))


def _value_of(monomial: Monomial, means: Means) -> Array | float:
    """The mean of a monomial from those of the targets; not a number where it was not answered."""
    if not monomial:
        return 1.0
    mean = means.get(target_of(monomial))
    if mean is None:
        return math.nan
    category = monomial[0][1]
    return mean[..., 0] if len(monomial) > 1 or category is None else 2 * mean[..., category] - 1


def _counts(policy: Policy, monomial: Monomial) -> float:
    """How much the squared error of a monomial counts for that of its target: a category's mean is `2 f - 1`."""
    if len(monomial) > 1 or monomial[0][1] is None:
        return 1.0
    return 4 / len(policy.features[monomial[0][0]].categories)  # all f count together


def moment_weights(policy: Policy, design: Design, intercept: bool, explains: float) -> Iterator[tuple[Target, float]]:
    """What to ask about, and how much its squared error adds to that of the predictions (theory.md, section 4.4).

    Columns are taken as uncorrelated, and each of them to explain an equal part of the share that all explain.
    """
    *columns, outcome = design
    mean, spread = np.array([typical(policy, column.factors, intercept) for column in design]).T
    each = explains * spread[-1] / (len(columns) * spread[:-1])  # the square of a coefficient
    entries = [
        (first, second, each[j] / spread[i] + (each[i] / spread[j] if i != j else 0.0))
        for (i, first), (j, second) in combinations_with_replacement(enumerate(columns), 2)
    ]
    entries += [(column, outcome, 1 / spread[i]) for i, column in enumerate(columns)]
    # the outcome's square is of no use to the coefficients, but the share explained is a share of it
    entries.append((outcome, outcome, explains**2 / spread[-1]))
    for first, second, entry in entries:
        for monomial, factor in expanded(policy, first, second).items():
            if monomial:
                yield target_of(monomial), entry * factor**2 * _counts(policy, monomial)
    if intercept:
        middle = 1 + float((mean / spread)[:-1].sum())
        weights = [*(mean[-1] / spread[:-1] + each * middle), middle]
        for column, weight in zip(design, weights, strict=True):
            yield target_of(column.factors), weight * _counts(policy, column.factors)


def _monomials(policy: Policy, design: Design, intercept: bool) -> list[Monomial]:
    """All that the moments are made of, but the constant."""
    monomials: dict[Monomial, None] = {}
    for first, second in combinations_with_replacement(design, 2):
        monomials |= dict.fromkeys(expanded(policy, first, second))
    if intercept:
        monomials |= dict.fromkeys(column.factors for column in design)
    return [monomial for monomial in monomials if monomial]


@dataclass(frozen=True)
class Moments:
    """The means (.., columns) and second moments (.., columns, columns) of a design's columns, in [-1, 1] units.

    Unbiased, so that they may lie outside of what is possible; NaN for what was not answered.
    """

    mean: Array
    second: Array


def moment_targets(policy: Policy, design: Design, intercept: bool) -> set[Target]:
    """The targets whose means give the moments."""
    return set(map(target_of, _monomials(policy, design, intercept)))


def by_target(policy: Policy, targets: Sequence[Target], numbers: Array) -> Means:
    """The numbers of several targets, one after the other in the last axis, by target."""
    ends = np.cumsum([target.size(policy) for target in targets])
    return dict(zip(targets, np.split(numbers, ends[:-1], axis=-1), strict=True))


def moments(policy: Policy, design: Design, means: Means) -> Moments:
    """The moments from the means of their targets."""
    shape = next(iter(means.values())).shape[:-1] if means else ()
    mean = np.zeros((*shape, len(design)))
    second = np.zeros((*shape, len(design), len(design)))
    for i, column in enumerate(design):
        mean[..., i] = _value_of(column.factors, means)
    for (i, first), (j, other) in combinations_with_replacement(enumerate(design), 2):
        entry = sum(factor * _value_of(monomial, means) for monomial, factor in expanded(policy, first, other).items())
        second[..., i, j] = second[..., j, i] = entry
    return Moments(mean, second)
