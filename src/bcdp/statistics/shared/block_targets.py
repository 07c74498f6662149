"""Blocks and lists to tick as they are asked: one question, aimed at the numbers that tasks want."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from bcdp.errors import InputError
from bcdp.policy import Feature, MultipleFeature, Policy
from bcdp.policy.blocks import combinations
from bcdp.policy.multiple_feature import NONE, sets_of
from bcdp.questions import Question
from bcdp.randomizers import Table, categorical, least_moment, optimal
from bcdp.randomizers.ticks import one_item, one_item_moment, padded, padded_moment
from bcdp.statistics.shared.target import Array, Codes, Cuts, OneFeature, Role, Target
from bcdp.statistics.shared.value_targets import Rows, ValueMeans, runs

_ROUNDED_TO = (5, 3, 2)  # levels of a number in a block: as many as leave few combinations
_FEW = 64
_CROSSED = 3  # sets that are crossed with all others
_PAIRED = 24  # combinations up to which sets are crossed with two others


@dataclass(frozen=True, order=True)
class BlockAim:
    """What the question about a block is designed for, at the combinations of answers.

    `criterion` is `sum w T T^t` over targets T with weights w. `limits`: the largest logarithm of the ratio of two
    combinations' weights that the demands of the features allow; or several such matrices, of which every symbol keeps
    one. `sets`: where a column of a good table may be high. `raised`: logarithms of weights, and by how much each may
    be raised, which a symbol may keep in place of limits.
    """

    criterion: Rows
    limits: Rows | tuple[Rows, ...]
    sets: tuple[tuple[bool, ...], ...]
    raised: tuple[tuple[tuple[float, ...], tuple[float, ...]], ...] = ()

    def within(self, budget: float) -> Array:
        """The limits of a question with this budget."""
        return np.asarray(np.minimum(np.array(self.limits), budget))

    @property
    def further(self) -> list[npt.NDArray[np.bool_]]:
        """What the first sets have in common with others, each without the other; of few combinations also with two."""
        known = np.array(self.sets)
        both = np.concatenate([known, ~known])
        first = np.concatenate([known[:_CROSSED], ~known[:_CROSSED]])
        if known.shape[1] <= _PAIRED:
            pairs = both[:, None] & both
            both = np.unique(np.concatenate([pairs, ~pairs]).reshape(-1, known.shape[1]), axis=0)
        return list(np.unique((first[:, None] & both).reshape(-1, known.shape[1]), axis=0))

    @property
    def largest(self) -> float:
        """The budget beyond which no more is allowed."""
        return float(np.max(self.limits))


@lru_cache(maxsize=4096)
def block_moment(aim: BlockAim, budget: float) -> float:
    """The least criterion within a budget, before rounding."""
    return least_moment(np.array(aim.criterion), aim.within(budget), map(np.array, aim.sets), aim.further, aim.raised)


@lru_cache(maxsize=256)
def block_table(aim: BlockAim, budget: float) -> Table:
    """The table with the least criterion within a budget; a plain one where integers are too coarse for that."""
    limits = aim.within(budget)
    try:
        return optimal(np.array(aim.criterion), limits, map(np.array, aim.sets), aim.further, aim.raised)
    except InputError:
        different = ~np.eye(len(aim.criterion), dtype=np.bool_)
        budget = float(np.max(np.min(limits[..., different], axis=-1)))
        return categorical(len(different), budget, geometries=False)


@dataclass(frozen=True)
class BlockValues:
    """All features of a block, asked together for the numbers that tasks want of them."""

    role: ClassVar[Role] = Role.VALUES
    features: tuple[str, ...]
    aim: BlockAim

    @property
    def cuts_by_feature(self) -> Mapping[str, Cuts]:
        return {}

    @property
    def margins(self) -> tuple[Target, ...]:
        return (self,)

    @property
    def question_keys(self) -> Mapping[str, Any]:
        return {"kind": "block"} if len(self.features) > 1 else {}

    def randomizer(self, policy: Policy, budget: float) -> tuple[tuple[int, ...], Table]:
        return block_question(policy, self.features).levels, block_table(self.aim, budget)

    def size(self, policy: Policy) -> int:
        return len(self.aim.criterion)

    def of(self, policy: Policy, codes: Codes) -> Array:
        raise NotImplementedError  # nobody wants its mean

    def answered_by(self, question: Question) -> bool:
        return False  # estimates ask for the numbers themselves

    def at(self, policy: Policy, question: Question) -> Array:
        return np.eye(len(self.aim.criterion))


def block_question(policy: Policy, features: tuple[str, ...]) -> Question:
    """The question about a block, but for its table."""
    for rounded in _ROUNDED_TO:
        levels = tuple(
            rounded + feature.extras if feature.is_number else feature.joint_inputs
            for feature in (policy.features[name] for name in features)
        )
        if len(features) == 1 or len(combinations(policy.features, features, levels)) <= _FEW:
            break
    return Question(features=features, levels=levels, table=0, kind="block" if len(features) > 1 else "values")


def suggested_sets(policy: Policy, question: Question) -> tuple[tuple[bool, ...], ...]:
    """Sets of combinations that a column of a good table may be high at: those with certain codes of one feature."""
    rows = question.digits(policy)
    sets = [
        np.isin(codes, np.flatnonzero(inside))
        for name, size, codes in zip(question.features, question.levels, rows.T, strict=True)
        for inside in _of_feature(policy.features[name], size)
    ]
    return tuple(tuple(inside.tolist()) for inside in sets)


def _of_feature(feature: Feature, size: int) -> list[Any]:
    """Sets of codes: runs of values that follow each other; of a list to tick those with an item, and by their size."""
    if not isinstance(feature, MultipleFeature):
        return runs(size)
    sets = feature.sets
    strict = [number for number, _ in feature.strict_items.values()]
    order = [*strict, *(number for number in range(len(feature.values)) if number not in strict)]
    items = [[number in ticked for ticked in sets] for number in order]
    sizes = [[len(ticked) == count for ticked in sets] for count in range(len(sets[-1]) + 1)]
    extras = np.eye(feature.extras, size, len(sets), dtype=np.bool_).tolist()
    return [np.array([*inside, *[False] * (size - len(inside))]) for inside in (*items, *sizes, *extras)]


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
