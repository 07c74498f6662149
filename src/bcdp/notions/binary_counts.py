"""What the count of one binary question reveals, exactly but for a few people (theory.md, Theorem 15).

Everybody's answer is kept with one probability, and else turned. The others' values are whatever they are: for every
number of ones among them the count has a known distribution. Numbers next to each other are taken together, with the
reports of so many people given away.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from functools import lru_cache

import numpy as np

from bcdp.exact import Floats

MOST_EXACT = 20_000  # people: more count as so many here
_BLOCK = 16  # of the zeros among the others, one in so many is given away

_ROUNDING = 1e-10  # of the distribution's terms: cumulated products and sums of some thousand positive doubles
_LEFT_OUT = 1e-15  # more than the terms that are beyond ten deviations


def binary_excess(factor: float, keep: float, people: int) -> float:
    """How far the chance of any event of the count can be above `factor` times that under the other value.

    `keep` is the probability with which an answer is kept, above 1/2. An upper bound.

    >>> binary_excess(1.3, 0.9, 1_000) > binary_excess(1.3, 0.9, 2_000) > binary_excess(1.3, 0.8, 2_000) > 0
    True
    """
    gains, loses = (keep - factor * (1 - keep)) * (1 + _ROUNDING), (factor * keep - (1 - keep)) * (1 - _ROUNDING)
    if gains <= 0:
        return 0.0
    worst = 0.0
    for ratios, at_least in _tails(keep, min(people, MOST_EXACT)):
        start = bisect_right(ratios, loses / gains)  # from here on a count is in excess: chances are log-concave
        worst = max(worst, gains * at_least[start] - loses * at_least[start + 1])
    return min(1.0, worst + _LEFT_OUT)


@lru_cache(maxsize=64)
def _tails(keep: float, people: int) -> tuple[tuple[list[float], list[float]], ...]:
    """Of how many of the others answer 1, for each block of numbers of ones among them.

    The chance of each number over that of the next, and the chance of at least each. Both begin one below the least.
    """
    tails, most = [], people - 1
    while most >= 0:
        least = max(0, most - (people - 1 - most) // _BLOCK)
        ones, zeros = _binomial(least, keep), _binomial(people - 1 - most, 1 - keep)
        tails.append(_tail(np.convolve(ones, zeros)))
        most = least - 1
    return tuple(tails)


def _tail(chances: Floats) -> tuple[list[float], list[float]]:
    enclosed = np.concatenate([[0.0], chances, [0.0]])
    with np.errstate(divide="ignore"):
        ratios = enclosed[:-1] / enclosed[1:]
    return ratios.tolist(), [*enclosed[::-1].cumsum()[::-1].tolist(), 0.0]


def _binomial(n: int, chance: float) -> Floats:
    """The chances of the numbers within ten deviations and forty of the mode, each from the one before."""
    spread, mode = math.sqrt(n * chance * (1 - chance)), min(n, math.floor((n + 1) * chance))
    reach = math.ceil(10 * spread) + 40
    up = np.arange(mode, min(n, mode + reach), dtype=np.float64)
    down = np.arange(mode, max(0, mode - reach), -1, dtype=np.float64)
    odds = chance / (1 - chance)
    above = np.cumprod((n - up) / (up + 1) * odds)
    below = np.cumprod(down / (n - down + 1) / odds)
    weights = np.concatenate([below[::-1], [1.0], above])
    return np.asarray(weights / weights.sum())
