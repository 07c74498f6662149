"""The boxes into which the search for the best menu cuts its space."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass
class Boxes:
    """Boxes of the search, one per row: counts at the cap, who is asked below it, ranges of the total and the part."""

    counts: Integers
    partial: Integers
    low: Array
    high: Array
    part_low: Array
    part_high: Array

    def __len__(self) -> int:
        return len(self.counts)

    def take(self, rows: Integers) -> Boxes:
        return Boxes(*(getattr(self, f.name)[rows] for f in fields(Boxes)))

    def middle(self) -> Boxes:
        total, part = (self.low + self.high) / 2, (self.part_low + self.part_high) / 2
        return Boxes(self.counts, self.partial, total, total, part, part)

    def corner(self) -> Boxes:
        return Boxes(self.counts, self.partial, self.high, self.high, self.part_high, self.part_high)

    def halves(self) -> Boxes:
        """Each box cut in two along its total, or along its part where that is relatively longer."""
        along = (self.part_high - self.part_low) > (self.high - self.low) / self.high
        total, part = (self.low + self.high) / 2, (self.part_low + self.part_high) / 2
        high, part_high = np.where(along, self.high, total), np.where(along, part, self.part_high)
        low, part_low = np.where(along, self.low, total), np.where(along, part, self.part_low)
        first = Boxes(self.counts, self.partial, self.low, high, self.part_low, part_high)
        second = Boxes(self.counts, self.partial, low, self.high, part_low, self.part_high)
        return Boxes.joined([first, second])

    @staticmethod
    def joined(pieces: list[Boxes]) -> Boxes:
        return Boxes(*(np.concatenate([getattr(piece, f.name) for piece in pieces]) for f in fields(Boxes)))

    @staticmethod
    def totals(low: Array, high: Array, classes: int) -> Boxes:
        """Boxes of the total alone, nothing asked."""
        nobody = np.full(len(low), -1)
        return Boxes(np.zeros((len(low), classes), dtype=np.int64), nobody, low, high, 0 * low, 0 * low)
