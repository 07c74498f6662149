"""What the count of one binary question reveals, exactly but for a few people (theory.md, Theorem 15).

Everybody's answer is kept with one probability, and else turned. The others' values are whatever they are: for every
number of ones among them the count has a known distribution. Numbers next to each other are taken together, with the
reports of so many people given away.
"""

from __future__ import annotations

import math
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
    gains, loses = keep - factor * (1 - keep), factor * keep - (1 - keep)
    if gains <= 0:
        return 0.0
    n = min(people, MOST_EXACT)
    terms = (
        gains * (1 + _ROUNDING) * others[:-1] - loses * (1 - _ROUNDING) * others[1:] for others in _others(keep, n)
    )
    return min(1.0, max(float(term[term > 0].sum()) for term in terms) + _LEFT_OUT)


@lru_cache(maxsize=4)
def _others(keep: float, people: int) -> tuple[Floats, ...]:
    """The distributions of how many of the others answer 1, one for each block of numbers of ones among them.

    Between two zeros: the chance of one less than the least and of one more than the largest number.
    """
    profiles, most = [], people - 1
    while most >= 0:
        least = max(0, most - (people - 1 - most) // _BLOCK)
        ones, zeros = _binomial(least, keep), _binomial(people - 1 - most, 1 - keep)
        profiles.append(np.concatenate([[0.0], np.convolve(ones, zeros), [0.0]]))
        most = least - 1
    return tuple(profiles)


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
