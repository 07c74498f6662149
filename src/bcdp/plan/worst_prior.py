"""The worst of all priors within q and odds, exactly (theory.md, section 4, the exact certificate).

Two distributions of the other features that differ by at most q, at no place by more than a factor of odds, are sums
of three parts: of one the first distribution has odds times as much as the second, of one the second as the first,
of one
both have the same. Each part is worst at one place.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from fractions import Fraction
from itertools import product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bcdp.exact import NEARLY, Integers

Array = npt.NDArray[np.float64]
Ratio = Fraction | float  # a float only where it is infinite
Point = tuple[int, int]  # the weights of an output in the numerator and in the denominator, at one place


class Within(NamedTuple):
    """How far the others may move with a feature: `q` in total variation, and the odds that knowing them could move."""

    q: float
    odds: float = math.inf

    @property
    def odds_q(self) -> float:
        """The largest q that the odds allow."""
        return 1.0 if math.isinf(self.odds) else (self.odds - 1) / (self.odds + 1)

    @property
    def masses(self) -> tuple[tuple[Fraction, Fraction], ...]:
        """The mass that the first distribution and the second have of each part, where it is as large as it can be.

        >>> [tuple(map(str, part)) for part in Within(0.25, 2.0).masses]
        [('1/2', '1/4'), ('1/4', '1/2'), ('1/4', '1/4')]
        """
        q = Fraction(self.q)
        if math.isinf(self.odds):
            most, least = q, Fraction(0)
        elif self.odds == 1:
            most = least = Fraction(0)
        else:
            odds = Fraction(self.odds)
            least = min(q / (odds - 1), 1 / (odds + 1))
            most = odds * least
        common = 1 - most - least
        return (most, least), (least, most), (common, common)


def independent_ratio(own: Ratio, rest: Ratio, within: Within) -> Ratio:
    """What a feature's own question of ratio `own` and others of ratio `rest` reveal about it: Theorem 8 in rationals.

    >>> str(independent_ratio(Fraction(1), Fraction(3), Within(1.0, 3.0)))
    '5/3'
    """
    (most, least), *_ = within.masses
    low, high = _ends(rest)
    if own == math.inf or most == 0:
        return own
    bottom = low + least * (high - low)
    return own * (low + most * (high - low)) / bottom if bottom else math.inf


def joint_ratio(above: Integers, below: Integers, rest: Ratio, within: Within, equal_pairs: Collection[int]) -> Ratio:
    """The largest ratio of one output of a table, with questions of ratio `rest`, over all distributions within the
    bounds.

    `above` and `below`: the most and the least weight by own value, others and output. Two own values are different,
    or one of the `equal_pairs`. Doubles find the outputs and pairs of values that may be the worst, and these are
    computed exactly.
    """
    scale = math.lcm(*(mass.denominator for part in within.masses for mass in part))
    parts = [(int(first * scale), int(second * scale)) for first, second in within.masses if first or second]
    ends, worst = _ends(rest), Fraction(1)
    for points in _candidates(above, below, float(Fraction(ends[0], ends[1])), within, equal_pairs):
        exact = _exactly(points, worst, parts, ends)
        if isinstance(exact, float):
            return math.inf
        worst = exact
    return worst


def _ends(rest: Ratio) -> tuple[int, int]:
    """The least and the most that other questions say, up to a common factor."""
    return (0, 1) if isinstance(rest, float) else (rest.denominator, rest.numerator)


def _candidates(
    above: Integers, below: Integers, low: float, within: Within, equal_pairs: Collection[int]
) -> Iterable[list[Point]]:
    """The places of every output and pair of values whose ratio is nearly the largest, as doubles find it."""
    parts = [(float(first), float(second)) for first, second in within.masses if first or second]
    size, _, symbols = above.shape
    pairs = [(a, b) for a, b in product(range(size), repeat=2) if a != b or a in equal_pairs]
    left = dict.fromkeys(pairs, np.arange(symbols))
    worst, reached = 0.0, 1.0
    while reached > worst * (1 + 1e-9):
        worst = reached
        for (a, b), outputs in left.items():
            ups, downs = above[a][:, outputs].astype(np.float64), below[b][:, outputs].astype(np.float64)
            top, bottom = _roughly(ups, downs, worst * NEARLY, parts, low)
            with np.errstate(divide="ignore", invalid="ignore"):
                ratios = np.where(top > 0, top / bottom, 0.0)
            left[a, b] = outputs[ratios >= worst * NEARLY]
            reached = max(reached, float(ratios.max(initial=0.0)))
        if reached == math.inf:
            break
    candidates = {
        points: (a, b, output)
        for (a, b), outputs in left.items()
        for points, output in zip(_alike(above[a][:, outputs], below[b][:, outputs]), outputs, strict=True)
    }
    return (
        list(set(zip(above[a][:, y].tolist(), below[b][:, y].tolist(), strict=True))) for a, b, y in candidates.values()
    )


def _alike(ups: Integers, downs: Integers) -> Iterable[bytes]:
    """For each output its points in a fixed order: outputs that have the same need to be looked at once."""
    order = np.lexsort((downs, ups), axis=0)
    points = np.concatenate([np.take_along_axis(weights, order, axis=0) for weights in (ups, downs)])
    return (column.tobytes() for column in np.ascontiguousarray(points.T))


def _roughly(
    ups: Array, downs: Array, ratio: float, parts: list[tuple[float, float]], low: float
) -> tuple[Array, Array]:
    """Of each output the numerator and the denominator whose surplus over the ratio is the largest."""
    top, bottom = np.zeros(ups.shape[1]), np.zeros(ups.shape[1])
    outputs = np.arange(ups.shape[1])
    for first, second in parts:
        surplus = first * ups - ratio * second * downs
        position = surplus.argmax(axis=0)
        heard = np.where(surplus[position, outputs] > 0, 1.0, low)
        top += first * heard * ups[position, outputs]
        bottom += second * heard * downs[position, outputs]
    return top, bottom


def _exactly(points: list[Point], start: Fraction, parts: list[tuple[int, int]], ends: tuple[int, int]) -> Ratio:
    """The largest ratio of one output, or `start` if that is larger.

    For a given ratio the place of each part that has the largest surplus over it makes a larger one, until none does.
    """
    low, high = ends
    worst = start
    while True:
        over, under = worst.as_integer_ratio()
        top = bottom = 0
        for first, second in parts:
            surplus, up, down = max((first * up * under - second * down * over, up, down) for up, down in points)
            heard = high if surplus > 0 else low
            top += first * heard * up
            bottom += second * heard * down
        if top * under <= bottom * over:
            return worst
        if bottom == 0:
            return math.inf
        worst = Fraction(top, bottom)
