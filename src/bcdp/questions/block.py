"""Questions about blocks: features that depend on each other, of which not all combinations can occur.

With them a question may ask others, outside: for a table of a follow-up, or of an item of a list, with another feature.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import TYPE_CHECKING

from bcdp.errors import refuse
from bcdp.policy import Feature, MultipleFeature
from bcdp.policy.blocks import MOST_DIGITS, Integers, blocks_of, combinations
from bcdp.questions.values import ValuesKind

if TYPE_CHECKING:
    from bcdp.questions.document import Question


class BlockKind(ValuesKind):
    """Each feature is a digit; the input is the number of the combination among those that can occur."""

    own_keys = frozenset({"kind", "cuts"})
    joiner = " with "
    asks_blocks = True

    def check(self, path: str, question: Question, features: Mapping[str, Feature]) -> None:
        """All features of a block, or a list to tick with others; numbers may enter by steps."""
        super().check(path, question, features)
        blocks = blocks_of(features)
        asked = [name for name in question.features if name in blocks]
        lists = [name for name in question.features if isinstance(features[name], MultipleFeature)]
        complete = all(set(blocks[name]) <= set(question.features) for name in asked)
        if not complete or (not asked and not (lists and len(question.features) > 1)):
            accepted = "all features that depend on each other, or a list to tick, perhaps with others"
            raise refuse(f"{path}.features", question.features, accepted)
        if prod(question.levels) > MOST_DIGITS:
            raise refuse(f"{path}.levels", question.levels, f"at most {MOST_DIGITS} combinations")

    def combinations(self, question: Question, features: Mapping[str, Feature]) -> Integers | None:
        """Those that can occur."""
        return combinations(features, question.features, question.levels)
