"""Correlation models: assumed numbers and listed bounds."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from bcdp.errors import InputError

Array = npt.NDArray[np.float64]
Sets = Iterable[tuple[str, frozenset[str]]]  # a feature and a set of others
Bounds = Mapping[tuple[str, frozenset[str]], float]
Rows = tuple[tuple[float, ...], ...]
Ranges = Mapping[str, tuple[float, ...]]  # of each number, where its ranges begin, the first apart

ROUNDING = 1e-12  # a distance or a ratio is made of sums of at most as many rounded terms as the prior has entries


class Correlation(Protocol):
    """Two bounds for every feature and every set of others, on a distance and on odds; both may be without limit.

    Where a policy states a `missing` rule, "missing" is one more value of the feature that is given.
    """

    @property
    def rounded(self) -> frozenset[str]:
        """The numbers of which the bounds, as others, see one random rounding to 17 inputs only (theory, 4.5)."""

    @property
    def products(self) -> Bounds:
        """For a feature and two of these numbers, or one: bounds for one rounding of their product, or its square."""

    @property
    def ranges(self) -> Ranges:
        """The numbers, as features that are given, of which the bounds see no more than a range, and its cuts (4.5)."""

    @property
    def cuts(self) -> Ranges:
        """Of rounded numbers, as others: cuts between which `q` distinguishes them, besides the 17 inputs (4.5)."""

    @property
    def alike(self) -> bool:
        """Whether a feature's bounds are the same for all sets of others but the empty one, and no distributions are
        known.
        """

    def q(self, feature: str, others: Collection[str]) -> float:
        """A bound on the distance between the distributions of `others` given two values of `feature`; 0 for no
        others.
        """

    def odds(self, feature: str, others: Collection[str]) -> float:
        """How many times knowing `others` could move the odds of a guess about `feature`: at least 1, 1 for no others.

        A bound on `P(z | x_i = a) / P(z | x_i = a')` over all values; infinite where nothing is stated.
        """

    def laws(self, feature: str, other: str) -> Array | None:
        """Distributions of `other`, one per row: given any value of `feature`, its distribution is a mixture of
        them; None if unknown.
        """

    def restricted(self, sets: Sets) -> Correlation:
        """The same bounds for the given features and sets, as a model that can be written down."""

    def to_dict(self) -> dict[str, Any]:
        """The model in plain JSON."""


class Unrounded:
    """A model whose bounds are about the features themselves, and so about everything that is computed from them."""

    @property
    def alike(self) -> bool:
        return False

    @property
    def rounded(self) -> frozenset[str]:
        return frozenset()

    @property
    def products(self) -> Bounds:
        return {}

    @property
    def ranges(self) -> Ranges:
        return {}

    cuts = ranges


@dataclass(frozen=True)
class PerFeature(Unrounded):
    """One q for each feature, whatever the others, `default` for the features not named; and one number of odds.

    >>> model = PerFeature(0.1, {"smoker": 0.3}, named_odds={"smoker": 2.0})
    >>> model.q("smoker", {"age"}), model.q("age", {"smoker"})
    (0.3, 0.1)
    >>> model.odds("smoker", {"age"}), model.odds("age", {"smoker"})
    (2.0, inf)
    """

    default: float
    named: Mapping[str, float]
    source: str = "assumed"
    default_odds: float = math.inf
    named_odds: Mapping[str, float] = field(default_factory=dict)

    @property
    def alike(self) -> bool:
        return True

    def q(self, feature: str, others: Collection[str]) -> float:
        return self.named.get(feature, self.default) if others else 0.0

    def odds(self, feature: str, others: Collection[str]) -> float:
        return self.named_odds.get(feature, self.default_odds) if others else 1.0

    def laws(self, feature: str, other: str) -> None:
        return None

    def restricted(self, sets: Sets) -> Correlation:
        return self

    def to_dict(self) -> dict[str, Any]:
        default = {} if math.isinf(self.default_odds) else {"default": self.default_odds}
        odds = {**default, **({"named": dict(self.named_odds)} if self.named_odds else {})}
        stated = {"default": self.default, "named": dict(self.named), **({"odds": odds} if odds else {})}
        return {"kind": "per feature", **stated, "source": self.source}


@dataclass(frozen=True)
class Listed:
    """Bounds for the sets that are listed, 1 for every other set: pairs, or the sets that a plan asks together.

    `rows` has, for some pairs, the distributions of the second feature given the first (theory.md, section 4.5).
    `listed_odds` holds for every subset of a listed set too.

    >>> pair = ("smoker", frozenset({"age"}))
    >>> model = Listed({pair: 0.1}, source="assumed", listed_odds={pair: 2.0})
    >>> model.q("smoker", {"age"}), model.q("smoker", {"age", "sex"})
    (0.1, 1.0)
    >>> model.odds("smoker", {"age"}), model.odds("smoker", {"age", "sex"})
    (2.0, inf)
    """

    bounds: Bounds
    source: str
    rows: Mapping[tuple[str, str], Rows] = field(default_factory=dict)
    rounded: frozenset[str] = frozenset()
    products: Bounds = field(default_factory=dict)
    ranges: Ranges = field(default_factory=dict)
    listed_odds: Bounds = field(default_factory=dict)
    cuts: Ranges = field(default_factory=dict)

    @property
    def alike(self) -> bool:
        return False

    def q(self, feature: str, others: Collection[str]) -> float:
        return self.bounds.get((feature, frozenset(others)), 1.0) if others else 0.0

    def odds(self, feature: str, others: Collection[str]) -> float:
        if not others:
            return 1.0
        stated = self._odds_of.get(feature, {}).items()
        return min((most for known, most in stated if known.issuperset(others)), default=math.inf)

    @cached_property
    def _odds_of(self) -> dict[str, dict[frozenset[str], float]]:
        odds: dict[str, dict[frozenset[str], float]] = {}
        for (feature, others), most in self.listed_odds.items():
            odds.setdefault(feature, {})[others] = most
        return odds

    def laws(self, feature: str, other: str) -> Array | None:
        row = self.rows.get((feature, other))
        return None if row is None else np.array(row)

    def restricted(self, sets: Sets) -> Correlation:
        known = [question for question in sets if question in self.bounds or self.odds(*question) < math.inf]
        return listed(self, known, self.source)

    def to_dict(self) -> dict[str, Any]:
        bounds, products, odds = (
            sorted([feature, sorted(others), most] for (feature, others), most in stated.items())
            for stated in (self.bounds, self.products, self.listed_odds)
        )
        laws = sorted([feature, other, [list(row) for row in rows]] for (feature, other), rows in self.rows.items())
        ranges, cuts = ({name: list(ends) for name, ends in known.items()} for known in (self.ranges, self.cuts))
        further = {"laws": laws, "rounded": sorted(self.rounded), "products": products, "ranges": ranges, "odds": odds}
        stated = {key: value for key, value in {**further, "cuts": cuts}.items() if value}
        return {"kind": "listed", "bounds": bounds, "source": self.source, **stated}


def listed(model: Correlation, sets: Sets, source: str) -> Listed:
    """What a model says about the given sets, written down."""
    wanted = list(sets)
    laws = {(feature, next(iter(others))): others for feature, others in wanted if len(others) == 1}
    known = {pair: model.laws(*pair) for pair in laws}
    rows = {pair: tuple(map(tuple, array.tolist())) for pair, array in known.items() if array is not None}
    bounds = {(feature, others): model.q(feature, others) for feature, others in wanted}
    products = {key: q for key, q in model.products.items() if key in bounds}
    odds = {question: most for question in wanted if (most := model.odds(*question)) < math.inf}
    return Listed(
        bounds,
        source,
        rows,
        rounded=model.rounded,
        products=products,
        ranges=model.ranges,
        listed_odds=odds,
        cuts=model.cuts,
    )


def pairwise(
    matrix: Mapping[str, Mapping[str, float]],
    source: str,
    ranges: Ranges | None = None,
    odds: Mapping[str, Mapping[str, float]] | None = None,
) -> Listed:
    """A model from a matrix `matrix[i][j]`: how far the distribution of feature j can move with feature i.

    `ranges`: of which numbers it was measured, rounded once at random, or known by their range. `odds`: by how much
    knowing j can move the odds of a guess about i.

    >>> model = pairwise({"smoker": {"age": 0.1}, "age": {"smoker": 0.2}}, source="assumed")
    >>> model.q("age", {"smoker"})
    0.2
    """

    def listed_pairs(stated: Mapping[str, Mapping[str, float]]) -> Bounds:
        return {(i, frozenset({j})): most for i, row in stated.items() for j, most in row.items() if i != j}

    limits = {key: most for key, most in listed_pairs(odds or {}).items() if most < math.inf}
    about = frozenset(ranges or ())
    return Listed(listed_pairs(matrix), source, rounded=about, ranges=ranges or {}, listed_odds=limits)


def product_q(model: Correlation, feature: str, numbers: frozenset[str]) -> float:
    """A bound for one rounding of the product of two rounded numbers, or of the square of one, to 17 levels.

    >>> squares = Listed({}, "a sample", products={("smoker", frozenset({"age"})): 0.1})
    >>> product_q(squares, "smoker", frozenset({"age"}))
    0.1
    """
    return model.products.get((feature, numbers), 1.0)


def unrounded_q(model: Correlation, feature: str, others: Collection[str]) -> float:
    """A bound for answers that may depend on the others in any way: 1 if the model saw one of them rounded only.

    >>> unrounded_q(PerFeature(0.1, {}), "smoker", {"age"})
    0.1
    >>> seen_rounded = pairwise({"smoker": {"age": 0.1}}, "a sample", {"age": (40.0, 65.0)})
    >>> unrounded_q(seen_rounded, "smoker", {"age"})
    1.0
    """
    return model.q(feature, others) if model.rounded.isdisjoint(others) else 1.0


def unrounded_odds(model: Correlation, feature: str, others: Collection[str]) -> float:
    """How far answers that may depend on the others in any way move the odds: no limit if one was seen rounded only.

    >>> unrounded_odds(PerFeature(0.1, {}, default_odds=2.0), "smoker", {"age"})
    2.0
    """
    return model.odds(feature, others) if model.rounded.isdisjoint(others) else math.inf


@dataclass(frozen=True)
class Stronger:
    """Another model's numbers times a factor, q at most 1: what if the assumption was too optimistic?

    An infinite factor assumes nothing: every q is 1, and odds have no limit.

    >>> [Stronger(PerFeature(0.1, {}), factor).q("smoker", {"age"}) for factor in (2, math.inf)]
    [0.2, 1.0]
    >>> [Stronger(PerFeature(0.1, {}, default_odds=1.5), factor).odds("smoker", {"age"}) for factor in (2, math.inf)]
    [3.0, inf]
    """

    model: Correlation
    factor: float

    @property
    def alike(self) -> bool:
        return self.model.alike or math.isinf(self.factor)

    @property
    def rounded(self) -> frozenset[str]:
        return self.model.rounded

    @property
    def ranges(self) -> Ranges:
        return {} if math.isinf(self.factor) else self.model.ranges

    @property
    def cuts(self) -> Ranges:
        return self.model.cuts

    @property
    def products(self) -> Bounds:
        known = {} if math.isinf(self.factor) else self.model.products
        return {key: min(1.0, self.factor * q) for key, q in known.items()}

    def q(self, feature: str, others: Collection[str]) -> float:
        if math.isinf(self.factor):
            return 1.0 if others else 0.0
        return min(1.0, self.factor * self.model.q(feature, others))

    def odds(self, feature: str, others: Collection[str]) -> float:
        return self.factor * self.model.odds(feature, others) if others else 1.0

    def laws(self, feature: str, other: str) -> None:
        return None

    def restricted(self, sets: Sets) -> Correlation:
        return Stronger(self.model.restricted(sets), self.factor)

    def to_dict(self) -> dict[str, Any]:
        raise InputError("a stronger correlation is a question about a plan, not the assumption of one")
