"""Lists to tick: the shares of items, and the question that asks for them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from bcdp.policy import MultipleFeature, Policy
from bcdp.policy.multiple_feature import NONE, sets_of
from bcdp.questions import Question
from bcdp.randomizers import Table
from bcdp.randomizers.ticks import one_item, one_item_moment, padded, padded_moment
from bcdp.statistics.shared.target import Array, Codes, OneFeature, Role
from bcdp.statistics.shared.value_targets import ValueMeans


def item_labels(feature: MultipleFeature) -> tuple[Any, ...]:
    """What is reported of a list: its items, none of them, and what follows its sets."""
    return (*feature.values, NONE, *feature.categories[len(feature.sets) :])


def item_target(name: str, feature: MultipleFeature) -> ValueMeans:
    """The shares of these, and of a follow-up last of all who were asked."""
    labels = len(feature.values)
    rows = [
        [*(float(item in ticked) for item in range(labels)), float(not ticked), *(0.0,) * feature.extras]
        for ticked in feature.sets
    ]
    rows += [[*(0.0,) * (labels + 1), *row] for row in np.eye(feature.extras).tolist()]
    if feature.follows:
        rows = [[*row, float(code < len(feature.sets))] for code, row in enumerate(rows)]
    return ValueMeans(name, tuple(map(tuple, rows)))


@dataclass(frozen=True)
class TickedItems(OneFeature):
    """A list to tick, all items protected equally: asked by the better of two simple tables."""

    role: ClassVar[Role] = Role.VALUES
    feature: str
    items: int
    most: int
    own: bool  # whether no answer is a value, which is then one more item, ticked alone

    def randomizer(self, policy: Policy, budget: float) -> tuple[tuple[int, ...], Table]:
        table = ticked_table(self.items, self.most, self.own, budget)
        return (table.levels,), table

    def size(self, policy: Policy) -> int:
        return self.items + 1 + self.own

    def of(self, policy: Policy, codes: Codes) -> Array:
        raise NotImplementedError  # nobody wants its mean

    def answered_by(self, question: Question) -> bool:
        return False  # estimates ask for the shares themselves

    def at(self, policy: Policy, question: Question) -> Array:
        return np.eye(policy.features[self.feature].joint_inputs)


@lru_cache(maxsize=256)
def ticked_table(items: int, most: int, own: bool, budget: float) -> Table:
    """The table with the smaller error of item shares: padded selection, or one item drawn at random."""
    sets, count = [*sets_of(items, most), *([(items,)] if own else [])], items + own
    if padded_moment(count, most, np.array(budget)) <= one_item_moment(count, np.array(budget)):
        return padded(sets, count, most, budget)
    return one_item(sets, count, budget)


def ticked_information(items: int, most: int, budget: Array) -> Array:
    """One over the second moment of the item shares, per item."""
    return items / np.minimum(padded_moment(items, most, budget), one_item_moment(items, budget))
