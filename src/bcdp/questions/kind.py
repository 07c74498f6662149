"""The kind of a question: how records become inputs, what its document may hold, what its certificate rests on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from bcdp.policy import Feature, Policy
from bcdp.questions.inputs import Coordinate

if TYPE_CHECKING:
    from bcdp.questions.document import Question
    from bcdp.randomness import RecordWords


class QuestionKind(ABC):
    """One kind of question; a question of a plan names it."""

    reads_values: ClassVar[bool]  # whether each feature is a digit of the input, rather than one number for all
    own_keys: ClassVar[frozenset[str]]  # of a question's document, beyond features, levels and table
    joiner: ClassVar[str]  # between the features, in words
    asks_blocks: ClassVar[bool] = (
        False  # whether it may be about features that depend on each other, and lists with others
    )

    @abstractmethod
    def check(self, path: str, question: Question, features: Mapping[str, Feature]) -> None:
        """Raises `InputError` where the question does not fit the features that it names."""

    @abstractmethod
    def coordinates(
        self, policy: Policy, question: Question, codes: Mapping[str, npt.NDArray[Any]]
    ) -> Iterator[Coordinate]:
        """The digits of the table's input for records with these codes."""

    def combinations(self, question: Question, features: Mapping[str, Feature]) -> npt.NDArray[np.int64] | None:
        """The digits of each input, one row for each; None where every combination of digits is one."""
        return None

    def words(self, question: Question) -> int:
        """How many random words a device reads: one for each feature, and one for the table."""
        return len(question.features) + 1

    def reads(self, question: Question) -> tuple[str, ...]:
        """The names of the codes that the input is computed from."""
        return question.features

    def table_words(
        self, question: Question, codes: Mapping[str, npt.NDArray[Any]], words: RecordWords, end: int
    ) -> npt.NDArray[np.uint32]:
        """The word with which the table answers each record, given where the question's words end: the last of them."""
        return words.column(end - 1)

    @abstractmethod
    def rounding_levels(self, question: Question) -> tuple[int, ...]:
        """For each feature the number of levels to which a number is rounded."""

    @abstractmethod
    def multiplies(self, question: Question, numbers: frozenset[str]) -> bool:
        """Whether the input is a product of nothing but these numbers."""
