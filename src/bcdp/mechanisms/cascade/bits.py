"""Exact randomized response on signs: an integer weight out of 2^32, compared with a 32-bit word.

The guarantee is about the integers (theory.md, sections 3 and 4.2). Budgets are one way to choose them.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np

from bcdp.exact import TOTAL, Words, log_up, smallest_other
from bcdp.mechanisms.cascade.checks import Array

RESOLUTION = 2.0**-29  # below this budget hardly any integer weight differs from a fair coin's


@lru_cache(maxsize=4096)
def keep_weight(budget: float) -> int:
    """The largest weight out of 2^32 with which a bit may be kept at this LDP level; at least 1 is left to flipping.

    >>> round(keep_weight(2.0) / TOTAL, 6), TOTAL - keep_weight(40.0)
    (0.880797, 1)
    """
    return TOTAL - smallest_other(2, budget)


@lru_cache(maxsize=4096)
def bit_level(keep: int) -> float:
    """The LDP level of a bit kept with weight `keep` out of 2^32, rounded up.

    >>> bit_level(TOTAL // 2), round(bit_level(TOTAL - 1), 6), bit_level(keep_weight(2.0)) <= 2.0
    (0.0, 22.18071, True)
    """
    return log_up(Fraction(keep, TOTAL - keep))


def tilt(keep: int) -> float:
    """The factor in [0, 1) by which randomized response shrinks a sign's mean: tanh(level / 2) of the integers."""
    return (2 * keep - TOTAL) / TOTAL


def randomized_signs(signs: Array, keep: int, words: Words) -> Array:
    """The signs, each kept with weight `keep` out of 2^32 and flipped otherwise."""
    return np.where(words < np.uint32(keep), signs, -signs)


def rounded_signs(means: Array, words: Words) -> Array:
    """Signs -1 or 1 with the given means in [-1, 1], to within 2^-31.

    This happens before the randomized response, so its rounding touches no guarantee; the bias would show only with
    some 2^60 people.
    """
    return np.where(words < (0.5 + means / 2) * TOTAL, 1.0, -1.0)
