"""Which of several intervals a 32-bit word falls into: exact for every word, and quick for many words."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bcdp.exact import TOTAL, Integers, Words

_GUIDE_CELLS = 2**15  # the guide then fits in the fastest cache
_WORD_BITS = 32


class Intervals:
    """Rows of integer weights, each row dividing the 2^32 words into intervals in their order.

    A guide reveals the interval from a word's first bits, where these decide; every other word is searched for among
    the boundaries, so that the answer never depends on the guide.

    >>> halves = Intervals(np.array([[2**31, 2**31], [0, 2**32]]))
    >>> halves.find(np.array([0, 0, 1]), np.array([5, 2**31, 5], dtype=np.uint32))
    array([0, 1, 1], dtype=uint32)
    """

    def __init__(self, weights: Integers) -> None:
        rows, self._size = weights.shape
        ends = weights.cumsum(axis=1).astype(np.uint64)
        # all rows on one line, row x from x * 2^32, so that one search serves every row
        starts = np.arange(rows, dtype=np.uint64) << np.uint64(_WORD_BITS)
        self._boundaries = (ends + starts[:, None]).ravel()
        bits = max(0, min(12, (_GUIDE_CELLS // rows).bit_length() - 1))
        self._shift = np.uint32(_WORD_BITS - bits)
        self._guide = self._make_guide(rows, bits) if self._size * 8 <= 2**bits else None

    def _make_guide(self, rows: int, bits: int) -> npt.NDArray[np.uint16]:
        first = np.arange(2**bits, dtype=np.int64) << (_WORD_BITS - bits)
        row = np.repeat(np.arange(rows), 2**bits)
        ends = (first, first + (TOTAL >> bits) - 1)
        low, high = (self._search(row, np.tile(word, rows).astype(np.uint32)) for word in ends)
        return np.where(low == high, low, self._size).astype(np.uint16)

    def _search(self, rows: npt.NDArray[Any], words: Words) -> npt.NDArray[np.uint32]:
        start = rows.astype(np.uint64)
        position = np.searchsorted(self._boundaries, (start << np.uint64(_WORD_BITS)) | words, side="right")
        return (position.astype(np.uint64) - start * np.uint64(self._size)).astype(np.uint32)

    def find(self, rows: npt.NDArray[Any], words: Words) -> npt.NDArray[np.uint32]:
        """The number of the interval that each word falls into, among the intervals of its row.

        `rows` has one number for each word, or is 0 for all of them.
        """
        if self._guide is None:
            return self._search(rows, words)
        cells = words >> self._shift
        if rows.ndim:
            cells |= rows.astype(np.uint32) << (np.uint32(_WORD_BITS) - self._shift)
        symbols = self._guide.take(cells).astype(np.uint32)
        unsure = np.nonzero(symbols == self._size)
        symbols[unsure] = self._search(rows[unsure] if rows.ndim else rows, words[unsure])
        return symbols
