"""k-ary randomized response: the truth with one weight, every other value with another."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from bcdp.errors import InputError
from bcdp.exact import TOTAL, Floats, Integers, Words, check_whole, log_up
from bcdp.randomizers.dense import Dense, written_out
from bcdp.randomizers.protocol import (
    Symbols,
    alike,
    check_counts,
    check_input,
    check_inputs,
    check_target,
    undecodable,
)

MOST_INPUTS = 10_000


@dataclass(frozen=True)
class Response:
    """Randomized response: the true input by `keep` of the 2^32 words, each other one by `other` of them.

    Order of sampling: a word below `keep` gives x. Otherwise `i = (word - keep) // other` numbers the other inputs in
    increasing order: the symbol is i if `i < x`, else i + 1.

    >>> Response(levels=2, keep=3 * 2**30, other=2**30).decode([-1, 1])
    array([-2.,  2.])
    """

    levels: int
    keep: int
    other: int

    def __post_init__(self) -> None:
        check_whole("levels", self.levels, 2, MOST_INPUTS)
        check_whole("other", self.other, 1, TOTAL // self.levels)
        check_whole("keep", self.keep, self.other, TOTAL)
        if self.keep + (self.levels - 1) * self.other != TOTAL:
            total = self.keep + (self.levels - 1) * self.other
            raise InputError(f"keep: keep + (levels - 1) other is {total}; accepted: a sum of {TOTAL}")

    @property
    def symbols(self) -> int:
        return self.levels

    @property
    def ratio(self) -> Fraction:
        return Fraction(self.keep, self.other)

    @property
    def level(self) -> float:
        return log_up(self.ratio)

    @property
    def second_moment(self) -> float:
        if self._contrast == 0:
            return math.inf
        # whatever the symbol, one entry of the decoded indicator is a hit and the others are misses
        return ((1 - self._base) ** 2 + (self.levels - 1) * self._base**2) / self._contrast**2

    @property
    def overlaps(self) -> tuple[float, float]:
        same = Fraction(self.keep**2, self.other) + (self.levels - 1) * self.other
        different = 2 * self.keep + (self.levels - 2) * self.other
        return float(same / TOTAL), different / TOTAL

    @property
    def largest_weights(self) -> Integers:
        return np.full(self.symbols, self.keep)

    def row(self, given: int) -> Integers:
        weights = np.full(self.levels, self.other, dtype=np.int64)
        weights[check_input(self, given)] = self.keep
        return weights

    def dense(self) -> Dense:
        return written_out(self)

    def sample(self, inputs: npt.NDArray[Any], words: Words) -> Symbols:
        check_inputs(self, inputs, words)
        truth = inputs.astype(np.uint32)
        keep = np.uint32(self.keep)  # fits, because `other` is at least 1
        lie = words >= keep
        if self.levels == 2:
            return truth ^ lie
        index = (np.maximum(words, keep) - keep) // np.uint32(self.other)
        return np.where(lie, index + (index >= truth), truth).astype(np.uint32)

    def decode(self, target: npt.ArrayLike) -> Floats:
        values = check_target(self, target)
        if self._contrast == 0:
            raise undecodable(self)
        return np.asarray((values - self._base * values.sum(axis=0)) / self._contrast)

    def frequencies(self, counts: npt.ArrayLike) -> Floats:
        checked, total = check_counts(self, counts)
        if self._contrast == 0:
            raise undecodable(self)
        return np.asarray((checked / total - self._base) / self._contrast)

    def indicator_moments(self) -> tuple[Floats, Floats]:
        return alike(self)

    def second_moments(self, target: npt.ArrayLike) -> Floats:
        squares = self.decode(check_target(self, target, dimensions=(1,))) ** 2
        return np.asarray(self._base * squares.sum() + self._contrast * squares)

    def to_dict(self) -> dict[str, Any]:
        return {"family": "response", "levels": self.levels, "keep": self.keep, "other": self.other}

    @property
    def _base(self) -> float:
        """The probability of one given untrue answer."""
        return self.other / TOTAL

    @property
    def _contrast(self) -> float:
        """How much more probable the truth is than any other answer."""
        return (self.keep - self.other) / TOTAL
