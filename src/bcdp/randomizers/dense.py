"""A table with all its weights written out."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from bcdp.exact import TOTAL, Floats, Integers, Words, check_weights, log_up
from bcdp.randomizers.intervals import Intervals
from bcdp.randomizers.protocol import (
    Symbols,
    Table,
    check_cells,
    check_counts,
    check_input,
    check_inputs,
    check_target,
    undecodable,
)

LARGEST_BIAS = 1e-8
MOST_OVERLAPS = 512  # rows whose overlaps are computed one by one
_SMALLEST_SINGULAR_VALUE = 1e-12  # weights that differ by one unit leave singular values near 1e-10; noise is at 1e-16


@dataclass(frozen=True, eq=False)
class Dense:
    """Any table: `weights[x, y]` of the 2^32 words send input x to symbol y.

    Order of sampling: a word gives symbol 0 below `weights[x, 0]`, else symbol 1 below `weights[x, 0] + weights[x, 1]`,
    and so on.

    >>> table = Dense([[3 * 2**30, 2**30], [2**30, 3 * 2**30]])
    >>> table.ratio, table.decode([-1, 1])
    (Fraction(3, 1), array([-2.,  2.]))
    """

    weights: Integers

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", check_weights(self.weights))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Dense) and np.array_equal(self.weights, other.weights)

    def __hash__(self) -> int:
        return hash((self.weights.shape, self.weights.tobytes()))

    @property
    def levels(self) -> int:
        return int(self.weights.shape[0])

    @property
    def symbols(self) -> int:
        return int(self.weights.shape[1])

    @cached_property
    def ratio(self) -> Fraction | float:
        extremes = np.stack([self.weights.max(axis=0), self.weights.min(axis=0)], axis=1)
        pairs = np.unique(extremes[extremes[:, 0] > 0], axis=0).tolist()  # symbols that are never given say nothing
        return max(Fraction(most, least) if least else math.inf for most, least in pairs)

    @cached_property
    def level(self) -> float:
        return log_up(self.ratio)

    @cached_property
    def second_moment(self) -> float:
        if self._indicators is None:
            return math.inf
        return float(self._average @ (self._indicators**2).sum(axis=1))

    @cached_property
    def overlaps(self) -> tuple[float, float]:
        if self.levels > MOST_OVERLAPS:
            return float(self.ratio), 1.0  # W <= ratio w, and W >= w
        products = overlap_matrix(self.weights)
        return float(products.diagonal().max()), float(products.min())

    @cached_property
    def largest_weights(self) -> Integers:
        return np.asarray(self.weights.max(axis=0))

    def row(self, given: int) -> Integers:
        weights: Integers = self.weights[check_input(self, given)]
        return weights

    def dense(self) -> Dense:
        return self

    def sample(self, inputs: npt.NDArray[Any], words: Words) -> Symbols:
        check_inputs(self, inputs, words)
        return self._intervals.find(inputs, words)

    def decode(self, target: npt.ArrayLike) -> Floats:
        values = self._solve(check_target(self, target))
        if values is None:
            raise undecodable(self)
        return values

    def frequencies(self, counts: npt.ArrayLike) -> Floats:
        checked, total = check_counts(self, counts)
        return np.asarray(checked / total @ self._decodable_indicators())

    def indicator_moments(self) -> tuple[Floats, Floats]:
        at = self._probabilities @ self._decodable_indicators() ** 2
        true = at.diagonal().copy()
        np.fill_diagonal(at, -np.inf)
        return true, at.max(axis=0)

    def second_moments(self, target: npt.ArrayLike) -> Floats:
        values = self.decode(check_target(self, target, dimensions=(1,)))
        return self._probabilities @ values**2

    def to_dict(self) -> dict[str, Any]:
        return {"family": "dense", "weights": self.weights.tolist()}

    @cached_property
    def _intervals(self) -> Intervals:
        return Intervals(self.weights)

    @cached_property
    def _probabilities(self) -> Floats:
        return np.asarray(self.weights / TOTAL, dtype=np.float64)

    @cached_property
    def _average(self) -> Floats:
        return np.asarray(self._probabilities.mean(axis=0), dtype=np.float64)

    @cached_property
    def _indicators(self) -> Floats | None:
        return self._solve(np.eye(self.levels))

    def _decodable_indicators(self) -> Floats:
        if self._indicators is None:
            raise undecodable(self)
        return self._indicators

    @cached_property
    def _factors(self) -> tuple[Floats, Floats, Floats]:
        """`U`, and `D^-1/2 V` and `S` of the decomposition `W D^-1/2 = U S V^T`, D the average output probabilities."""
        scale = np.sqrt(np.where(self._average > 0, self._average, 1.0))
        left, singular, right = np.linalg.svd(self._probabilities / scale, full_matrices=False)
        return left, right.T / scale[:, None], singular

    def _solve(self, target: Floats) -> Floats | None:
        """The unbiased values of least second moment, `D^-1 W^T (W D^-1 W^T)^+ target`, or None.

        Only as many singular vectors are used as the target needs, largest first: rounding to integers leaves tiny
        singular values behind, which carry noise and no part of the target.
        """
        left, right, singular = self._factors
        columns = target.reshape(self.levels, -1)
        coefficients = left.T @ columns
        outside = ((columns - left @ coefficients) ** 2).sum(axis=0)
        tails = np.flip(np.cumsum(np.flip(coefficients**2, axis=0), axis=0), axis=0)  # what rank 0, 1, .. leaves out
        bias = np.sqrt(np.vstack([tails, np.zeros_like(outside)]) + outside).max(axis=1)
        enough = np.flatnonzero(bias <= LARGEST_BIAS * max(1.0, float(np.abs(target).max(initial=0.0))))
        if len(enough) == 0:
            return None
        rank = int(enough[0])
        if rank and singular[rank - 1] < _SMALLEST_SINGULAR_VALUE:
            return None
        values = right[:, :rank] @ (coefficients[:rank] / singular[:rank, None])
        return values.reshape((self.symbols, *target.shape[1:]))


def overlap_matrix(weights: Integers) -> Floats:
    """`sum_y W(x,y) W(x',y) / w(y)` of every two rows, w being the least weight of each symbol; infinite if that is 0.

    It is at least 1, and wrong by at most a few units in the last place for each symbol.

    >>> overlap_matrix(np.array([[3 * 2**30, 2**30], [2**30, 3 * 2**30]]))
    array([[2.5, 1.5],
           [1.5, 2.5]])
    """
    given = weights[:, weights.max(axis=0) > 0]
    least = given.min(axis=0)
    if not least.all():
        return np.full((len(weights),) * 2, np.inf)
    scaled = given / np.sqrt(least.astype(np.float64))
    return np.asarray(scaled @ scaled.T / TOTAL)


def written_out(table: Table) -> Dense:
    """The same table with all its weights written out, if they are not too many."""
    check_cells(table)
    return Dense(np.stack([table.row(given) for given in range(table.levels)]))
