"""Questions about the values of one or several features: each feature is a digit of the input."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from bcdp.errors import refuse
from bcdp.policy import Feature, Policy
from bcdp.questions.inputs import Coordinate
from bcdp.questions.kind import QuestionKind
from bcdp.records.encoding import step_of

if TYPE_CHECKING:
    from bcdp.questions.document import Question

MOST_STEPS = 256  # of a number that enters a question by steps


class ValuesKind(QuestionKind):
    """A value is its number; a number is rounded at random to one of its levels, or enters by steps at public cuts."""

    reads_values = True
    own_keys = frozenset({"cuts"})
    joiner = " and "

    def check(self, path: str, question: Question, features: Mapping[str, Feature]) -> None:
        """One entry of `levels` for each feature, as many as it has values."""
        if question.categories or len(question.levels) != len(question.features):
            raise refuse(f"{path}.levels", question.levels, "one number for each feature, and no categories")
        for name, levels in zip(question.features, question.levels, strict=True):
            if not features[name].is_number and levels != len(features[name].categories):
                raise refuse(f"{path}.levels", levels, f"the number of values of {name}")
            if levels < 2 + (features[name].extras if features[name].is_number else 0):
                raise refuse(f"{path}.levels", levels, f"at least two for the numbers of {name}, and one for no answer")
        if question.cuts:
            _check_cuts(path, question, features)

    def coordinates(
        self, policy: Policy, question: Question, codes: Mapping[str, npt.NDArray[Any]]
    ) -> Iterator[Coordinate]:
        """One digit for each feature, the first most significant."""
        for name, size in zip(question.features, question.levels, strict=True):
            code, cuts, feature = codes[name], question.cuts_of(name), policy.features[name]
            if cuts is not None:
                yield Coordinate(size, step_of(feature, cuts, code))
            elif code.dtype.kind == "i":
                yield Coordinate(size, code)
            else:
                yield Coordinate.rounded(code, size, feature.extras)

    def rounding_levels(self, question: Question) -> tuple[int, ...]:
        """Each feature has levels of its own."""
        return question.levels

    def multiplies(self, question: Question, numbers: frozenset[str]) -> bool:
        """Values are never multiplied."""
        return False


def _check_cuts(path: str, question: Question, features: Mapping[str, Feature]) -> None:
    """Each number that enters by steps has one cut less than levels, rising and inside its bounds."""
    if len(question.cuts) != len(question.features) or not any(question.cuts):
        raise refuse(f"{path}.cuts", question.cuts, "null or cuts for each feature, cuts for at least one")
    for name, levels, cuts in zip(question.features, question.levels, question.cuts, strict=True):
        if cuts is None:
            continue
        ends = (features[name].span[0], *map(float, cuts), features[name].span[1])
        rising = all(lower < upper for lower, upper in pairwise(ends))
        steps = levels - features[name].extras
        if not features[name].is_number or not rising or not len(cuts) == steps - 1 < MOST_STEPS:
            stated = f"for a number of at most {MOST_STEPS} levels as many as these less one, rising inside its bounds"
            raise refuse(f"{path}.cuts", cuts, stated)
