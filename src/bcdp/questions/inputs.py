"""The input of a question's table, as mixed-radix digits that a record has for certain or by chance."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from bcdp.randomness import RecordWords  # which imports AES, and reading a plan needs none

Array = npt.NDArray[np.float64]
Digits = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Coordinate:
    """One digit of a table's input for each record: `below`, or the next digit with probability `chance`."""

    size: int
    below: Digits
    chance: Array | None = None  # None where the digit is certain

    @classmethod
    def rounded(cls, numbers: Array, size: int, extras: int = 0) -> Coordinate:
        """Numbers in [-1, 1] as one of their two neighbours among equally spaced levels, unbiased.

        The last digits are `extras`, such as no answer, whose codes are 2, 3, ..

        >>> Coordinate.rounded(np.array([-1.0, 0.5, 1.0]), 2).chance.tolist()
        [0.0, 0.75, 1.0]
        """
        levels = size - extras
        position = (np.minimum(numbers, 1.0) + 1) / 2 * (levels - 1)
        below = np.minimum(np.floor(position), levels - 2)
        chance = position - below
        if extras:
            beyond = numbers > 1
            below, chance = np.where(beyond, levels - 2 + numbers, below), np.where(beyond, 0.0, chance)
        return cls(size, below.astype(np.int64), chance)

    def drawn(self, words: npt.NDArray[np.uint32]) -> Digits:
        """The digit of each record, rounded by one random word."""
        return self.below if self.chance is None else self.below + (words < self.chance * 2.0**32)

    @property
    def outcomes(self) -> list[tuple[Digits, Array | float]]:
        """The digits that records may have, each with its probability."""
        if self.chance is None:
            return [(self.below, 1.0)]
        # where the upper digit is impossible it need not exist
        above = np.where(self.chance > 0, self.below + 1, self.below)
        return [(self.below, 1 - self.chance), (above, self.chance)]

    @property
    def distribution(self) -> Array:
        """The probability of each digit for each record, shape (records, size)."""
        rows = np.arange(len(self.below))
        result = np.zeros((len(rows), self.size))
        for digit, chance in self.outcomes:
            result[rows, digit] += chance
        return result


def input_of(
    coordinates: Iterable[Coordinate], words: RecordWords, position: int, ranks: Digits | None = None
) -> npt.NDArray[np.int32]:
    """The input of each record: every coordinate takes the next random word, whether it needs it or not.

    `ranks`: the input of each combination of digits, where not all of them are one.
    """
    result: npt.NDArray[np.int32] | None = None
    for column, coordinate in zip(count(position), coordinates, strict=False):
        digit = coordinate.below if coordinate.chance is None else coordinate.drawn(words.column(column))
        result = digit.astype(np.int32) if result is None else result * np.int32(coordinate.size) + digit
    assert result is not None
    return result if ranks is None else ranks[result].astype(np.int32)


def ranked(combinations: Digits, sizes: tuple[int, ...]) -> Digits:
    """The number of each combination of digits among those that are listed; -1 for all others.

    >>> ranked(np.array([[0, 2], [1, 0], [1, 1]]), (2, 3)).tolist()
    [-1, -1, 0, 1, 2, -1]
    """
    ranks = np.full(math.prod(sizes), -1, dtype=np.int64)
    ranks[np.ravel_multi_index(tuple(combinations.T), sizes)] = np.arange(len(combinations))
    return ranks


def input_shares(coordinates: Iterable[Coordinate], shares: Array) -> Array:
    """The share of the people with each input, of records that so many of them have.

    As devices compute inputs, with a probability in the place of each random word.

    >>> input_shares([Coordinate(2, np.array([0, 1])), Coordinate.rounded(np.array([0.0, 1.0]), 2)], np.full(2, 0.5))
    array([0.25, 0.25, 0.  , 0.5 ])
    """
    likely: list[tuple[Digits, Array | float]] = [(np.zeros(len(shares), dtype=np.int64), 1.0)]
    total = 1
    for coordinate in coordinates:
        total *= coordinate.size
        likely = [
            (inputs * coordinate.size + digit, chance * more)
            for inputs, chance in likely
            for digit, more in coordinate.outcomes
        ]
    counted = [np.bincount(inputs, np.broadcast_to(chance * shares, len(shares)), total) for inputs, chance in likely]
    return np.asarray(sum(counted))
