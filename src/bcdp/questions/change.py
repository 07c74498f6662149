"""Questions about one feature in two waves of a panel: how it was in an earlier wave, and how it is now."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bcdp.errors import InputError, refuse
from bcdp.policy import Feature, Policy
from bcdp.questions.inputs import Coordinate
from bcdp.questions.kind import QuestionKind

if TYPE_CHECKING:
    from bcdp.questions.document import Question
    from bcdp.randomness import RecordWords


def earlier(name: str, wave: int) -> str:
    """The name under which records of two waves have the value of the earlier one.

    >>> earlier("smoker", 2)
    'smoker in wave 2'
    """
    return f"{name} in wave {wave}"


def unchanged(questions: Iterable[Question], codes: Mapping[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[Any]]:
    """The codes of records of one wave, with the same values in every earlier wave that a question is about."""
    changes = (question for question in questions if question.since is not None)
    return {**codes, **{question.rules.reads(question)[1]: codes[question.features[0]] for question in changes}}


class ChangeKind(QuestionKind):
    """The value in wave `since` is the first digit of the input, and the value now is the second.

    It reads one random word for each value that the feature may have now, and the one of its value draws the symbol.
    A device draws a symbol with each of them in the earlier wave. It need not keep the earlier value.
    """

    reads_values = False
    own_keys = frozenset({"kind", "since"})
    joiner = " then "

    def check(self, path: str, question: Question, features: Mapping[str, Feature]) -> None:
        """One feature that has values, the number of its values twice, and an earlier wave."""
        if question.categories or question.cuts or len(question.features) != 1 or question.since is None:
            raise refuse(path, question.features, "one feature and the earlier wave, no categories and no cuts")
        feature = features[question.features[0]]
        if feature.is_number or question.levels != (len(feature.categories),) * 2:
            raise refuse(f"{path}.levels", question.levels, "twice the number of values of a feature that is no number")

    def words(self, question: Question) -> int:
        """One for each value that the feature may have now."""
        return question.levels[1]

    def table_words(
        self, question: Question, codes: Mapping[str, npt.NDArray[Any]], words: RecordWords, end: int
    ) -> npt.NDArray[np.uint32]:
        """That of the value now."""
        now, size = codes[question.features[0]], question.levels[1]
        each = np.stack([words.column(end - size + value) for value in range(size)])
        return np.asarray(each[now, np.arange(len(now))])

    def reads(self, question: Question) -> tuple[str, ...]:
        """The value now, and the earlier one."""
        (name,) = question.features
        assert question.since is not None
        return name, earlier(name, question.since)

    def coordinates(
        self, policy: Policy, question: Question, codes: Mapping[str, npt.NDArray[Any]]
    ) -> Iterator[Coordinate]:
        """The earlier value, then the value now."""
        now, before = self.reads(question)
        if before not in codes:
            raise InputError(
                f"records: no values of {before}; accepted: the values of both waves, which a person's device has"
            )
        yield Coordinate(question.levels[0], codes[before])
        yield Coordinate(question.levels[1], codes[now])

    def rounding_levels(self, question: Question) -> tuple[int, ...]:
        """As many as the feature has values."""
        return question.levels[:1]

    def multiplies(self, question: Question, numbers: frozenset[str]) -> bool:
        """Values are never multiplied."""
        return False
