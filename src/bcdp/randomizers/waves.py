"""Folded square waves: the answer about the distribution of a number, whose inputs are the bins in their order."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bcdp.errors import InputError, refuse
from bcdp.exact import MOST_CELLS, TOTAL, Floats, Integers, Words, check_whole, log_up
from bcdp.randomizers.dense import Dense, written_out
from bcdp.randomizers.protocol import Symbols, check_input, check_inputs

MOST_BINS = 256


class Wave(NamedTuple):
    """Answers on a circle: from input x, answer j has weight `high` if `(step x + j) mod answers < width`, else `low`.

    Every input has `width` answers of the one weight and the others of the other, so that all rows sum to the same.
    """

    answers: int
    step: int
    width: int
    high: int
    low: int

    @property
    def words(self) -> int:
        """How many words belong to the wave, whatever the input is."""
        return self.width * self.high + (self.answers - self.width) * self.low


@dataclass(frozen=True)
class Waves:
    """One of several waves, drawn whatever the input is, and an answer on its circle.

    Order of sampling: the waves have their words one after the other. In a wave, with `o` counted from its first word,
    `i = o // high` below `width high`, else `i = width + (o - width high) // low`, and the answer is
    `(i - step x) mod answers`. Symbols are the answers of the first wave, those of the second, and so on; the last
    symbol is silence, which words that belong to no wave give at every input.

    >>> table = Waves(levels=2, waves=[[4, 1, 1, 3 * 2**28, 2**28]])
    >>> table.row(0).tolist() == [3 * 2**28, 2**28, 2**28, 2**28, 2**32 - 6 * 2**28]
    True
    """

    levels: int
    waves: tuple[Wave, ...]

    def __post_init__(self) -> None:
        check_whole("levels", self.levels, 2, MOST_BINS)
        if not isinstance(self.waves, list | tuple) or not self.waves:
            raise refuse("waves", self.waves, "a list of waves")
        object.__setattr__(self, "waves", tuple(map(self._wave, self.waves)))
        words = sum(wave.words for wave in self.waves)
        if words > TOTAL:
            raise InputError(f"waves: their words are {words}; accepted: at most {TOTAL} in all")
        if self.levels * self.symbols > MOST_CELLS:
            raise refuse("waves", f"{self.levels} x {self.symbols} weights", f"at most {MOST_CELLS} weights")

    def _wave(self, stated: Any) -> Wave:
        if not isinstance(stated, list | tuple) or len(stated) != len(Wave._fields):
            raise refuse("waves", stated, f"the five numbers {', '.join(Wave._fields)} of each wave")
        wave = Wave(*stated)
        check_whole("answers", wave.answers, 2, 2 * self.levels)
        check_whole("step", wave.step, 1, wave.answers - 1)
        check_whole("width", wave.width, 1, wave.answers - 1)
        check_whole("low", wave.low, 1, TOTAL)
        check_whole("high", wave.high, wave.low, TOTAL)
        return wave

    @property
    def symbols(self) -> int:
        return sum(wave.answers for wave in self.waves) + 1

    @property
    def ratio(self) -> Fraction:
        # inputs 0 and 1 are a step apart, which moves an arc of the circle that is not the whole one
        return max(Fraction(wave.high, wave.low) for wave in self.waves)

    @property
    def level(self) -> float:
        return log_up(self.ratio)

    @property
    def second_moment(self) -> float:
        return self._written.second_moment

    @property
    def overlaps(self) -> tuple[float, float]:
        return self._written.overlaps

    @property
    def largest_weights(self) -> Integers:
        return self._written.largest_weights

    def row(self, given: int) -> Integers:
        x = check_input(self, given)
        weights = [
            np.where((wave.step * x + np.arange(wave.answers)) % wave.answers < wave.width, wave.high, wave.low)
            for wave in self.waves
        ]
        silence = TOTAL - sum(wave.words for wave in self.waves)
        return np.concatenate([*weights, [silence]]).astype(np.int64)

    def dense(self) -> Dense:
        return self._written

    def sample(self, inputs: npt.NDArray[Any], words: Words) -> Symbols:
        check_inputs(self, inputs, words)
        ends = np.array(list(accumulate(wave.words for wave in self.waves)), dtype=np.int64)
        drawn = np.searchsorted(ends, words, side="right")
        silent = drawn == len(self.waves)
        number = np.where(silent, 0, drawn)
        answers, step, width, high, low = np.array(self.waves, dtype=np.int64).T[:, number]
        offset = words - (ends - np.array([wave.words for wave in self.waves]))[number]
        likely = width * high
        within = np.where(offset < likely, offset // high, width + (offset - likely) // low)
        first = np.cumsum([0, *(wave.answers for wave in self.waves[:-1])])[number]
        symbol = first + (within - step * inputs.astype(np.int64)) % answers
        return np.where(silent, self.symbols - 1, symbol).astype(np.uint32)

    def decode(self, target: npt.ArrayLike) -> Floats:
        return self._written.decode(target)

    def frequencies(self, counts: npt.ArrayLike) -> Floats:
        return self._written.frequencies(counts)

    def indicator_moments(self) -> tuple[Floats, Floats]:
        return self._written.indicator_moments()

    def second_moments(self, target: npt.ArrayLike) -> Floats:
        return self._written.second_moments(target)

    def to_dict(self) -> dict[str, Any]:
        return {"family": "waves", "levels": self.levels, "waves": [list(wave) for wave in self.waves]}

    @cached_property
    def _written(self) -> Dense:
        return written_out(self)
