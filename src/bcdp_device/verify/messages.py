"""Several messages of one person, each counted by itself: what their counts reveal together (theory.md, 4.19).

The excess of a message's counts is known at the points of a grid, and convex between them. Whatever lies below the
lower hull of the points is the excess of a pair of distributions whose ratios are on the grid, so those of independent
counts are multiplied by adding places.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache

from bcdp_device.verify.values import neighbours

MOST_MESSAGES = 32
FINENESS = 64
MOST_STEPS = 768
NEGLIGIBLE = 1e-13
LOST = 1e-11  # by rounding

Excess = Callable[[float], float]
Point = tuple[float, float]


def together(single: Sequence[Excess]) -> Excess:
    """The excess of independent counts at each factor, from that of each."""

    @cache
    def excess(factor: float) -> float:
        if factor <= 1:
            return 1.0
        step = 2.0 ** math.floor(math.log2(math.log(factor) / FINENESS))
        known: dict[int, tuple[list[float], float]] = {}
        chances, beyond = [1.0], 0.0
        for each in single:
            if id(each) not in known:
                known[id(each)] = _pair(each, step)
            chances = _product(chances, known[id(each)][0])
            beyond += known[id(each)][1]
        middle = len(chances) // 2
        over = (
            chance * (1 - factor * math.exp(-step * (place - middle)))
            for place, chance in enumerate(chances)
            if step * (place - middle) > math.log(factor)
        )
        return min(1.0, math.fsum(over) + beyond + LOST)

    return excess


def _pair(excess: Excess, step: float) -> tuple[list[float], float]:
    """The chances of the ratios `e^(k step)` for k from -n to n, and of one that is larger than any."""
    right: list[Point] = [(1.0, min(1.0, excess(1.0)))]
    while right[-1][1] > NEGLIGIBLE and len(right) <= MOST_STEPS:
        factor = math.exp(step * len(right))
        right.append((factor, min(right[-1][1], excess(factor * (1 - 1e-12)))))
    left = [(1 / factor, 1 - (1 - value) / factor) for factor, value in right[:0:-1]]
    beyond = right[-1][1]
    ratios = [factor for factor, _ in (*left, *right)]
    slopes = [beyond - 1, *_slopes([*left, *right]), 0.0]
    gains = (after - before for before, after in neighbours(slopes))
    return [max(0.0, gain) * ratio for gain, ratio in zip(gains, ratios)], beyond


def _slopes(points: Sequence[Point]) -> list[float]:
    """The slopes of the lower hull of points, one between each two neighbours: of rising blocks the average slope."""
    blocks: list[list[float]] = []  # width, rise and how many gaps
    for (left, low), (right, high) in neighbours(points):
        blocks.append([right - left, high - low, 1])
        while len(blocks) > 1 and blocks[-2][1] * blocks[-1][0] >= blocks[-1][1] * blocks[-2][0]:
            width, rise, gaps = blocks.pop()
            blocks[-1] = [blocks[-1][0] + width, blocks[-1][1] + rise, blocks[-1][2] + gaps]
    return [rise / width for width, rise, gaps in blocks for _ in range(int(gaps))]


def _product(one: Sequence[float], other: Sequence[float]) -> list[float]:
    """The chances of the product of two ratios."""
    total = [0.0] * (len(one) + len(other) - 1)
    for place, chance in enumerate(one):
        if chance:
            for shift, more in enumerate(other):
                total[place + shift] += chance * more
    return total


def own_factor(factor: float, whole: float, moved: tuple[float, float]) -> float:
    """The factor left to a feature's own message, if all messages together have `whole`; below 1 if none is left."""
    more, less = moved
    if more in (0, 1):
        return 0.0 if more else factor
    b, c = more * whole - factor * (1 - less), factor * less * whole
    root = math.sqrt(b * b + 4 * (1 - more) * c)
    return (2 * c / (b + root) if b > 0 else (root - b) / (2 * (1 - more))) * (1 - 1e-12)
