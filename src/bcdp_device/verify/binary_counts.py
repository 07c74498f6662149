"""What the count of one binary question reveals, exactly but for a few people (theory.md, Theorem 15)."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate

from bcdp_device.verify.questions import TOTAL, Menu
from bcdp_device.verify.values import neighbours

MOST_EXACT = 20_000  # people in the count of one binary question: more count as so many there
BLOCK = 16
UNIT = 256  # bits of a chance
DIGIT_BYTES = 66  # of a sum of products of two chances


def kept_bit(menus: Sequence[Menu]) -> float:
    """With which probability one binary answer, all that is asked, is kept; 0 for other menus."""
    if len(menus) > 1 or len(menus[0]) > 1 or (menus[0][0].table.levels, menus[0][0].table.symbols) != (2, 2):
        return 0.0
    (a, b), (c, d) = menus[0][0].table.columns()
    return max(a, b) / TOTAL if (a, b) == (d, c) else 0.0


def binary_excess(factor: float, keep: float, people: int) -> float:
    """Theorem 15: the largest excess of the count of one binary question, over the numbers of ones among the others.

    Numbers next to each other are taken together: one in 16 of the zeros is given away.
    """
    gains, loses = (keep - factor * (1 - keep)) * (1 + 1e-10), (factor * keep - (1 - keep)) * (1 - 1e-10)
    if gains <= 0:
        return 1e-15
    worst = 0.0
    for ratios, at_least in _tails(keep, min(people, MOST_EXACT) - 1):
        start = bisect_left(ratios, loses / gains)  # from here on a count is in excess: chances are log-concave
        worst = max(worst, gains * at_least[max(start - 1, 0)] - loses * at_least[start])
    return worst + 1e-15


@lru_cache(maxsize=32)
def _tails(keep: float, others: int) -> list[tuple[list[float], list[float]]]:
    """For each block of numbers of ones: how the chances of neighbouring counts compare, and those of at least each."""
    tails, most = [], others
    while most >= 0:
        least = max(0, most - (others - most) // BLOCK)
        count = [*_sum_of(_window(least, keep), _window(others - most, 1 - keep)), 0.0]
        ratios = [0.0, *(less / same if same else math.inf for less, same in neighbours(count))]
        tails.append((ratios, list(accumulate(reversed(count)))[::-1]))
        most = least - 1
    return tails


def _window(n: int, chance: float) -> list[float]:
    """The binomial chances of the numbers near the mode, in order; those beyond are below 1e-15 together."""
    mode = min(n, math.floor((n + 1) * chance))
    reach = math.ceil(10 * math.sqrt(n * chance * (1 - chance))) + 40
    above, below = [1.0], [1.0]
    for k in range(mode, min(n, mode + reach)):
        above.append(above[-1] * (n - k) / (k + 1) * chance / (1 - chance))
    for k in range(mode, max(0, mode - reach), -1):
        below.append(below[-1] * k / (n - k + 1) * (1 - chance) / chance)
    whole = math.fsum(above) + math.fsum(below[1:])
    return [weight / whole for weight in (*below[:0:-1], *above)]


def _sum_of(one: Sequence[float], other: Sequence[float]) -> list[float]:
    """The chances of the sum of two independent numbers, given those of each.

    As one product of two integers, whose digits are the chances in units of 2^-256.
    """
    size = DIGIT_BYTES
    product = _joined(one) * _joined(other)
    digits = product.to_bytes((len(one) + len(other)) * size, "little")
    return [
        int.from_bytes(digits[start : start + size], "little") * 2.0 ** (-2 * UNIT)
        for start in range(0, (len(one) + len(other) - 1) * size, size)
    ]


def _joined(chances: Sequence[float]) -> int:
    """An integer whose digits, of 66 bytes each, are the chances: room for 2^16 products of two of them."""
    return int.from_bytes(b"".join(_scaled(chance).to_bytes(DIGIT_BYTES, "little") for chance in chances), "little")


def _scaled(chance: float) -> int:
    top, bottom = chance.as_integer_ratio()
    return (top << UNIT) // bottom


def dot(one: Sequence[float], other: Sequence[float]) -> float:
    """The sum of the products of neighbours."""
    return sum([a * b for a, b in zip(one, other)])
