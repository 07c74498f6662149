"""Questions about a block: features that depend on each other, of which not all combinations can occur."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import TYPE_CHECKING

from bcdp.errors import refuse
from bcdp.policy import Feature
from bcdp.policy.blocks import MOST_DIGITS, Integers, blocks_of, combinations
from bcdp.questions.values import ValuesKind

if TYPE_CHECKING:
    from bcdp.questions.document import Question


class BlockKind(ValuesKind):
    """Each feature is a digit; the input is the number of the combination among those that can occur."""

    own_keys = frozenset({"kind"})
    joiner = " with "
    asks_blocks = True

    def check(self, path: str, question: Question, features: Mapping[str, Feature]) -> None:
        """All features of a block, each with as many levels as it has values; numbers are rounded."""
        super().check(path, question, features)
        block = blocks_of(features).get(question.features[0], ())
        if question.cuts or sorted(question.features) != sorted(block):
            raise refuse(f"{path}.features", question.features, "all features that depend on each other, and no cuts")
        if prod(question.levels) > MOST_DIGITS:
            raise refuse(f"{path}.levels", question.levels, f"at most {MOST_DIGITS} combinations")

    def combinations(self, question: Question, features: Mapping[str, Feature]) -> Integers | None:
        """Those that can occur."""
        return combinations(features, question.features, question.levels)
