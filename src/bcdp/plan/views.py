"""What the answer to a question about a block reveals of one of its features (theory.md, section 4.17).

A feature is a view of the block: it divides the combinations of answers into parts. Inside a part they may be
distributed in any way. So the largest weight of one part over the smallest of another is reached by some distribution,
and exceeded by none.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from bcdp.exact import NEARLY, Integers
from bcdp.plan.worst_prior import Ratio, Within, joint_ratio
from bcdp.policy import Feature, MultipleFeature, NumericFeature, Policy
from bcdp.questions import Question
from bcdp.randomizers import Table
from bcdp.records.encoding import codes_of, imputed_code


def shared_codes(feature: Feature, size: int) -> frozenset[int]:
    """The codes, out of so many, that two different values may have: a number's, and what no answer counts as.

    >>> from bcdp.policy import BinaryFeature
    >>> shared_codes(BinaryFeature(type="binary", missing=0), 2), shared_codes(BinaryFeature(type="binary"), 2)
    (frozenset({0}), frozenset())
    """
    if isinstance(feature, NumericFeature):
        return frozenset(range(size - feature.extras))
    return frozenset({imputed_code(feature, codes_of(feature.values), 0)}) if feature.imputes else frozenset()


class View(NamedTuple):
    """What may be guessed of a question's input: a feature, or one `item` of a list to tick.

    `parts`: which value it has at each input. Two values of a `shared` part may each go with anything in it.
    `outside`: at each input the number of what is asked outside the feature's block; always 0 where nothing is.
    """

    feature: str
    item: str | None
    delta: float
    parts: tuple[int, ...]
    shared: frozenset[int]
    outside: tuple[int, ...]

    @property
    def is_crossed(self) -> bool:
        """Whether the question asks anything outside the feature's block."""
        return max(self.outside) > 0

    @property
    def of_any_number(self) -> View:
        """The view that does not distinguish numbers: in a range of them each may go with something else outside."""
        parts = tuple(-1 if part in self.shared else part for part in self.parts)
        return self._replace(parts=parts, shared=frozenset({-1}))

    def ratio(self, table: Table) -> Ratio:
        """The largest ratio of the probabilities of one answer between two values, whatever goes with them inside."""
        return _ratio(table, self.parts, self.shared)

    def crossed_ratio(self, table: Table, rest: Ratio, within: Within) -> Ratio:
        """The same where what is asked outside moves with the value, and so do other questions of ratio `rest`."""
        return _crossed_ratio(table, self, rest, within)


def views_of(policy: Policy, question: Question) -> Iterator[View]:
    """The views of a question about blocks, lists to tick and features by themselves."""
    rows = question.digits(policy)
    for name, size, codes in zip(question.features, question.levels, rows.T, strict=True):
        feature = policy.features[name]
        others = [digit for digit, other in enumerate(question.features) if policy.outside(name, frozenset({other}))]
        outside = tuple(np.unique(rows[:, others], axis=0, return_inverse=True)[1].ravel().tolist())
        yield View(name, None, feature.delta, tuple(codes.tolist()), shared_codes(feature, size), outside)
        if isinstance(feature, MultipleFeature):
            for item, (number, delta) in feature.strict_items.items():
                ticked = np.array(feature.has(number))[codes]
                yield View(name, item, delta, tuple(ticked.tolist()), frozenset(), outside)


@lru_cache(maxsize=4096)
def _ratio(table: Table, codes: tuple[int, ...], shared: frozenset[int]) -> Ratio:
    weights, own = table.dense().weights, np.array(codes)
    values = np.unique(own)
    parts = [weights[own == value] for value in values]
    most, least = np.array([part.max(axis=0) for part in parts]), np.array([part.min(axis=0) for part in parts])
    worst: Ratio = Fraction(1)
    for number, value in enumerate(values.tolist()):
        others = [other for other in range(len(values)) if other != number or value in shared]
        if not others:
            continue
        above, below = most[number], least[others].min(axis=0)
        pairs = np.stack([above, below], axis=1)[above > 0]  # symbols that are never given say nothing
        if not pairs[:, 1].all():
            return math.inf
        ratios = pairs[:, 0] / pairs[:, 1]
        near = pairs[ratios >= ratios.max() * NEARLY].tolist()
        worst = max([worst, *(Fraction(high, low) for high, low in near)])
    return worst


@lru_cache(maxsize=4096)
def _crossed_ratio(table: Table, view: View, rest: Ratio, within: Within) -> Ratio:
    weights = table.dense().weights
    values, own = np.unique(np.array(view.parts), return_inverse=True)
    outside = np.array(view.outside)
    shape = (len(values), max(view.outside) + 1, weights.shape[1])
    above: Integers = np.zeros(shape, dtype=np.int64)
    below: Integers = np.full(shape, np.iinfo(np.int64).max)
    np.maximum.at(above, (own, outside), weights)
    np.minimum.at(below, (own, outside), weights)
    alike = frozenset(number for number, value in enumerate(values.tolist()) if value in view.shared)
    return joint_ratio(above, below, rest, within, alike)
