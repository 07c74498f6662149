"""One bit about a public random row of the Hadamard matrix: the answer for very many inputs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from bcdp.errors import refuse
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

LARGEST_ORDER = 2**14


@dataclass(frozen=True)
class Hadamard:
    """Randomized response about one random row of the Sylvester-Hadamard matrix `(-1)^popcount(row & x)`.

    Order of sampling, with `cell = 2^32 / order`: the row is `word // cell`, the true bit is `popcount(row & x) mod 2`,
    and it is kept if `word mod cell < keep`, else flipped. The symbol is `2 row + bit`.

    A target's mean over the inputs is known without asking: only the rest is decoded from bits. Row 0 is the same for
    all inputs and decodes to that mean. With `levels < order` the missing inputs count as the mean, which is unbiased;
    with `levels = order` no unbiased decoding has a smaller second moment.

    >>> Hadamard(levels=2, order=2, keep=3 * 2**29).decode([-1, 1])
    array([ 0.,  0., -4.,  4.])
    """

    levels: int
    order: int
    keep: int

    def __post_init__(self) -> None:
        check_whole("levels", self.levels, 2, LARGEST_ORDER)
        check_whole("order", self.order, self.levels, LARGEST_ORDER)
        if self.order & (self.order - 1):
            raise refuse("order", self.order, f"a power of 2 of at most {LARGEST_ORDER}")
        check_whole("keep", self.keep, self.cell // 2, self.cell - 1)

    @property
    def cell(self) -> int:
        """How many words each row has: `2^32 / order`, which is `keep + flip`."""
        return TOTAL // self.order

    @property
    def flip(self) -> int:
        """How many of a row's words give the wrong bit; at least 1."""
        return self.cell - self.keep

    @property
    def symbols(self) -> int:
        return 2 * self.order

    @property
    def ratio(self) -> Fraction:
        return Fraction(self.keep, self.flip)

    @property
    def level(self) -> float:
        return log_up(self.ratio)

    @property
    def second_moment(self) -> float:
        if self._contrast == 0:
            return math.inf
        return (self.levels - 1) / self._contrast**2 + 1 / self.levels

    @property
    def overlaps(self) -> tuple[float, float]:
        same = Fraction(self.keep**2, self.flip) + self.flip
        return float(same / self.cell), float((same + 2 * self.keep) / 2 / self.cell)  # inputs agree in half the rows

    @property
    def largest_weights(self) -> Integers:
        return np.append([self.keep, self.flip], np.full(self.symbols - 2, self.keep))  # row 0 has the same bit for all

    def row(self, given: int) -> Integers:
        rows = np.arange(self.order)
        weights = np.full((self.order, 2), self.flip, dtype=np.int64)
        weights[rows, np.bitwise_count(rows & check_input(self, given)) & 1] = self.keep
        return weights.ravel()

    def dense(self) -> Dense:
        return written_out(self)

    def sample(self, inputs: npt.NDArray[Any], words: Words) -> Symbols:
        check_inputs(self, inputs, words)
        rows = words >> np.uint32(self.cell.bit_length() - 1)
        flipped = (words & np.uint32(self.cell - 1)) >= np.uint32(self.keep)
        bits = (np.bitwise_count(rows & inputs.astype(np.uint32)) & 1) ^ flipped
        return np.asarray((rows << np.uint32(1)) | bits)

    def decode(self, target: npt.ArrayLike) -> Floats:
        values = check_target(self, target)
        mean = values.mean(axis=0)
        plus = self._transform(values - mean) / self._decodable_contrast()
        return np.stack([mean + plus, mean - plus], axis=1).reshape((self.symbols, *values.shape[1:]))

    def frequencies(self, counts: npt.ArrayLike) -> Floats:
        checked, total = check_counts(self, counts)
        contrast = self._decodable_contrast()
        zeros, ones = checked.reshape(self.order, 2).T / total
        sums = walsh_hadamard(zeros - ones)[: self.levels] / contrast
        excess = sums - sums.mean()  # over the known mean 1 / levels; centring also removes row 0
        return np.asarray(1 / self.levels + excess)

    def indicator_moments(self) -> tuple[Floats, Floats]:
        return alike(self)

    def second_moments(self, target: npt.ArrayLike) -> Floats:
        values = check_target(self, target, dimensions=(1,))
        mean = values.mean()
        plus = self._transform(values - mean) / self._decodable_contrast()
        return np.asarray(mean**2 + 2 * mean * (values - mean) + (plus**2).mean())

    def to_dict(self) -> dict[str, Any]:
        return {"family": "hadamard", "levels": self.levels, "order": self.order, "keep": self.keep}

    @property
    def _contrast(self) -> float:
        """How much more often the true bit is kept than flipped, from 0 to 1."""
        return (self.keep - self.flip) / self.cell

    def _decodable_contrast(self) -> float:
        if self._contrast == 0:
            raise undecodable(self)
        return self._contrast

    def _transform(self, values: Floats) -> Floats:
        """The sums of the values, one for each input, against every row; values of mean 0 leave row 0 at 0."""
        padded = np.zeros((self.order, *values.shape[1:]))
        padded[: self.levels] = values
        return walsh_hadamard(padded)


def walsh_hadamard(values: Floats) -> Floats:
    """The sums `sum_x (-1)^popcount(row & x) values[x]` for every row, along the first axis, in n log n steps."""
    result = values.copy()
    length, half = len(result), 1
    while half < length:
        pairs = result.reshape(length // (2 * half), 2, half, *result.shape[1:])
        result = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).reshape(result.shape)
        half *= 2
    return result
