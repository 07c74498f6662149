"""The words of a feature whose values are all whole numbers from one to another, of which there may be a million."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

_WHOLE = re.compile(r"(0|-?[1-9][0-9]{0,15})(\.0)?")
LARGEST_WHOLE = 2**53 - 1  # that every device can distinguish from its neighbours
UNKNOWN = -1  # the code of a word that is no value


class WholeWords(Mapping[str, int]):
    """The number of each value by its word, as a dictionary would have it, found by subtraction; and other words.

    >>> words = WholeWords(range(10, 1_000_010))
    >>> words["12"], words.get("12.0"), words.get("012"), words.get("9")
    (2, 2, None, None)
    """

    def __init__(self, values: range, others: Mapping[str, int] | None = None) -> None:
        self.values_listed, self.others = values, dict(others or {})

    def __getitem__(self, word: str) -> int:
        if word in self.others:
            return self.others[word]
        read = _WHOLE.fullmatch(word)
        if read is None or int(read[1]) not in self.values_listed:
            raise KeyError(word)
        return int(read[1]) - self.values_listed.start

    def __iter__(self) -> Iterator[str]:
        yield from map(str, self.values_listed)
        yield from self.others

    def __len__(self) -> int:
        return len(self.values_listed) + len(self.others)

    def __or__(self, others: Mapping[str, int]) -> WholeWords:
        return WholeWords(self.values_listed, {**self.others, **others})

    def coded(self, numbers: pa.Array) -> npt.NDArray[np.int32]:
        """The code of each whole number; a missing one has the code of the empty word."""
        offsets = np.asarray(numbers.fill_null(0), dtype=np.int64) - self.values_listed.start
        codes = np.where((offsets >= 0) & (offsets < len(self.values_listed)), offsets, UNKNOWN).astype(np.int32)
        codes[np.asarray(numbers.is_null())] = self.others.get("", UNKNOWN)
        return codes


def joined(known: Mapping[str, int], others: Mapping[str, int]) -> Any:
    """Words and more words."""
    return known | others if isinstance(known, WholeWords) else {**others, **known}


def whole_numbers(known: Mapping[str, int]) -> dict[int, int]:
    """The codes of the words that are whole numbers."""
    short = (word for word in known if len(word) <= 17 and word.removeprefix("-").isdecimal())
    return {int(word): known[word] for word in short if str(int(word)) == word and abs(int(word)) <= LARGEST_WHOLE}
