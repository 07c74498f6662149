"""The cells of tables of follow-ups, of items of lists and of numbers that not everybody has; how they are asked.

Each feature is an axis: what it is at each input of a question, as shares of its rows. A value or a step is one row; so
is an item, ticked or not; a number is its lower and its upper end. No answer and not applicable are rows of their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from bcdp.policy import Feature, MultipleFeature, Policy
from bcdp.questions import Question
from bcdp.randomizers import Dense, Table
from bcdp.records.encoding import step_of
from bcdp.statistics.shared.block_targets import BlockAim, block_table
from bcdp.statistics.shared.joint_targets import crossed
from bcdp.statistics.shared.target import Codes, Cuts, Role, Target
from bcdp.statistics.shared.value_targets import scale_ends

Array = npt.NDArray[np.float64]

_ROUNDED_TO = (5, 3, 2)  # levels of a number: as many as leave few combinations
_FEW = 40
TICKED = ("not ticked", "ticked")  # the rows of an item


@dataclass(frozen=True)
class TableAxis:
    """One feature of a table: an `item` of it if it is a list, by `cuts` if it is a number in steps.

    Of an ordinal feature that is `scored` the rows are both ends of its scale, as of a number.
    """

    feature: str
    item: int | None = None
    cuts: Cuts | None = None
    scored: bool = False

    def rows(self, policy: Policy) -> tuple[Any, ...]:
        """What its rows are called."""
        feature = policy.features[self.feature]
        if isinstance(feature, MultipleFeature):
            return (*TICKED, *feature.categories[len(feature.sets) :])
        return feature.words_between(self.cuts) if self.cuts else tuple(feature.categories)

    def name(self, policy: Policy) -> str:
        """What estimates call it: the feature, with the item of a list."""
        feature = policy.features[self.feature]
        if self.item is None or not isinstance(feature, MultipleFeature):
            return self.feature
        return f"{self.feature}: {feature.values[self.item]}"

    def size(self, policy: Policy) -> int:
        """How many rows it has."""
        feature = policy.features[self.feature]
        if self.cuts:
            return len(self.cuts) + 1
        two = self.scored or isinstance(feature, MultipleFeature)
        return 2 + feature.extras if two else feature.joint_inputs

    def of(self, policy: Policy, codes: Codes) -> Array:
        """The rows of each record: one, or two shares of a number's ends."""
        feature, own = policy.features[self.feature], codes[self.feature]
        if self.cuts:
            return np.asarray(np.eye(len(self.cuts) + 1)[step_of(feature, self.cuts, own)])
        if isinstance(feature, MultipleFeature):
            return np.asarray(np.eye(self.size(policy))[np.array(feature.has(self.item or 0))[own]])
        return feature.indicators(own) @ self._ends(feature) if self.scored else feature.indicators(own)

    def _ends(self, feature: Feature) -> Array:
        """How far each value is at the lower and at the upper end of its scale; then what follows the values."""
        return np.array(scale_ends(feature))

    def at(self, policy: Policy, question: Question) -> Array:
        """The rows at each input of a question."""
        feature, levels = policy.features[self.feature], question.levels[question.features.index(self.feature)]
        own = np.eye(levels)
        if isinstance(feature, MultipleFeature):
            own = np.eye(self.size(policy))[list(feature.has(self.item or 0))]
        elif self.scored:
            own = self._ends(feature)
        elif feature.is_number and not self.cuts:
            shares = np.linspace(0.0, 1.0, levels - feature.extras)
            own = np.zeros((levels, 2 + feature.extras))
            own[: len(shares), 0], own[: len(shares), 1] = 1 - shares, shares
            own[len(shares) :, 2:] = np.eye(feature.extras)
        return question.at_inputs(policy, self.feature, own)


@dataclass(frozen=True)
class TableCells:
    """The share of the people in each cell of a table; the first axis changes slowest."""

    role: ClassVar[Role] = Role.CELLS
    axes: tuple[TableAxis, ...]

    @cached_property
    def features(self) -> tuple[str, ...]:
        return tuple(axis.feature for axis in self.axes)

    @property
    def cuts_by_feature(self) -> Mapping[str, Cuts]:
        return {axis.feature: axis.cuts for axis in self.axes if axis.cuts}

    @property
    def margins(self) -> tuple[Target, ...]:
        return (self,)

    def shape(self, policy: Policy) -> tuple[int, ...]:
        """How many rows, columns and layers there are."""
        return tuple(axis.size(policy) for axis in self.axes)

    def size(self, policy: Policy) -> int:
        return int(np.prod(self.shape(policy)))

    def of(self, policy: Policy, codes: Codes) -> Array:
        return crossed(axis.of(policy, codes) for axis in self.axes)

    def answered_by(self, question: Question) -> bool:
        return question.reads_values and all(
            axis.feature in question.features and question.cuts_of(axis.feature) == axis.cuts for axis in self.axes
        )

    def at(self, policy: Policy, question: Question) -> Array:
        return crossed(axis.at(policy, question) for axis in self.axes)


@dataclass(frozen=True)
class CrossedValues:
    """Features of different blocks, asked together; `merged`: for each input the input of the aim that it counts as."""

    role: ClassVar[Role] = Role.VALUES
    features: tuple[str, ...]
    levels: tuple[int, ...]
    aim: BlockAim
    merged: tuple[int, ...]
    cuts: tuple[Cuts | None, ...]
    kind: Literal["values", "product", "block", "change"]

    @property
    def cuts_by_feature(self) -> Mapping[str, Cuts]:
        return {name: cuts for name, cuts in zip(self.features, self.cuts, strict=False) if cuts}

    @property
    def margins(self) -> tuple[Target, ...]:
        return (self,)

    @property
    def question_keys(self) -> Mapping[str, Any]:
        return {"kind": "block"} if self.kind == "block" else {}

    def randomizer(self, policy: Policy, budget: float) -> tuple[tuple[int, ...], Table]:
        return self.levels, _expanded(self.aim, self.merged, budget)

    def size(self, policy: Policy) -> int:
        return len(self.aim.criterion)

    def of(self, policy: Policy, codes: Codes) -> Array:
        raise NotImplementedError  # nobody wants its mean

    def answered_by(self, question: Question) -> bool:
        return False  # estimates ask for the cells themselves

    def at(self, policy: Policy, question: Question) -> Array:
        return np.eye(len(self.aim.criterion))[list(self.merged)]


@lru_cache(maxsize=256)
def _expanded(aim: BlockAim, merged: tuple[int, ...], budget: float) -> Table:
    """The table of an aim with a row for each input; inputs that are not told apart have the same one."""
    return Dense(block_table(aim, budget).dense().weights[list(merged)])


def crossed_question(policy: Policy, features: tuple[str, ...], wanted: Sequence[TableCells]) -> Question:
    """The question about features of different blocks that some cells are asked by, but for its table."""
    linked = any(name in policy.blocks or isinstance(policy.features[name], MultipleFeature) for name in features)
    read = {axis.feature: axis for target in wanted for axis in target.axes}
    cuts = tuple(axis.cuts if (axis := read.get(name)) else None for name in features)

    def levels(name: str, rounded: int) -> int:
        feature, axis = policy.features[name], read.get(name)
        if axis and axis.cuts:
            return len(axis.cuts) + 1
        return (rounded if axis else 2) + feature.extras if feature.is_number else feature.joint_inputs

    for rounded in _ROUNDED_TO:
        sizes = tuple(levels(name, rounded) for name in features)
        question = Question(
            features=features, levels=sizes, table=0, kind="block" if linked else "values",
            cuts=cuts if any(cuts) else (),
        )  # fmt: skip
        if question.inputs(policy) <= _FEW:
            break
    return question
