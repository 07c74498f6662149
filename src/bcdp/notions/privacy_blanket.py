"""What the counts of many people's answers reveal about one of them: the privacy blanket, in numbers (theory.md, 4.8).

Every answer `y` is given with at least the chance `w(y)`, whatever the record: so many people's answers hide this
person's. Let this person's answer have the distribution `A` or `B`. What counts is the variable that is `(A(y) - f
B(y)) / w(y)` with chance `w(y)` for each answer, and else 0; its mean is `1 - f`. Of it two numbers are enough, both
upper bounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Context, Decimal
from functools import lru_cache, reduce
from typing import NamedTuple

import numpy as np

from bcdp.errors import refuse

MOST_PEOPLE = 10**8  # with more people the counts reveal no more, and no claim here counts more
SMALLEST_CHANCE = 1e-15

_CONTEXT = Context(prec=45, Emax=10**9, Emin=-(10**9))
_LOG_TWO_PI = _CONTEXT.ln(Decimal("6.28318530717958647692528676655900576838"))  # from below
_ROUNDING = 1 + 1e-9  # a sum of up to 10^6 positive terms, made one from the other by five operations each
_STEPS = 40  # of bisection
_LEAST_GAIN = 1e-12  # over 1: factors are not searched closer to it


class Surplus(NamedTuple):
    """Of `(A - f B) / w` under the blanket: at least its second moment, at least its largest value."""

    second_moment: float
    largest: float


Excess = Callable[[float], float]  # at each factor f
Surpluses = Callable[[float], Surplus]  # at each factor f, over all pairs of distributions that are possible


class CountsLevel(NamedTuple):
    """What counts reveal about two distributions of one answer, except with a small chance; both in nats, rounded up.

    `epsilon`: no event of the counts has a chance above `e^epsilon` times its chance under the other distribution, plus
    `chance`: (epsilon, chance)-differential privacy. `odds`: except with that chance the counts raise no odds by more
    than `e^odds`; that is larger, because the first counts only what is in excess.
    """

    epsilon: float
    odds: float


def excess(factor: float, surplus: Surplus, people: int) -> float:
    """How far the chance of any event of the counts of `people` can be above `factor` times that under the other
    distribution.

    An upper bound (theory.md, Theorem 11): the mean of `(S + h)^2 / 4h` where `S + h > 0`, S being a sum of
    `people` variables of two values with the given second moment and largest value.

    >>> excess(1.05, Surplus(0.1, 0.3), 1_000) > excess(1.05, Surplus(0.1, 0.3), 10_000) > 0
    True
    >>> excess(1.5, Surplus(0.5, 0.0), 10)
    0.0
    """
    if surplus.largest <= 0:
        return 0.0
    if not math.isfinite(surplus.second_moment) or not math.isfinite(surplus.largest):
        return 1.0
    n, c = min(people, MOST_PEOPLE), _CONTEXT
    drift = c.subtract(Decimal(factor), Decimal(1))
    reach = c.add(Decimal(surplus.largest), drift)
    square = c.multiply(reach, reach)
    variance = max(
        c.subtract(Decimal(surplus.second_moment), c.multiply(drift, drift)), c.multiply(square, Decimal("1e-30"))
    )
    both = c.add(square, variance)
    chance, step = c.divide(variance, both), c.divide(both, reach)  # of the upper value, and between the two
    beyond = c.divide(c.multiply(n, drift), step)  # from the mean of a binomial to where the sum is 0
    spread = math.sqrt(n * float(chance) * (1 - float(chance)))
    h = spread * min(1.0, spread / float(beyond)) if beyond else spread
    start = c.subtract(c.add(c.multiply(n, chance), beyond), Decimal(h))
    mean = _mean_square_above(n, chance, start)
    return min(1.0, mean * float(step) / (4 * n * h) * _ROUNDING)


def _mean_square_above(n: int, chance: Decimal, start: Decimal) -> float:
    """An upper bound of the mean of `(B - start)^2` where `B > start`, B being binomial(n, chance)."""
    first = max(0, math.floor(start) + 1)
    if first > n:
        return 0.0
    odds = float(_CONTEXT.divide(chance, _CONTEXT.subtract(1, chance)))
    below = math.nextafter(float(start), -math.inf)
    spread = math.sqrt(n * float(chance) * (1 - float(chance)))
    length = 64 + int(16 * spread)
    while True:
        k = np.arange(first, min(n, first + length) + 1, dtype=np.float64)
        shares = np.concatenate([[1.0], np.cumprod((n - k[:-1]) / (k[:-1] + 1) * odds)])
        terms = shares * (k - below) ** 2
        total, last = float(terms.sum()), k[-1]
        ratio = float((n - last) / (last + 1) * odds * ((last + 1 - below) / (last - below)) ** 2)  # falls from here on
        if ratio < 0.999 and terms[-1] * ratio / (1 - ratio) <= 1e-9 * total:
            return float(_chance_of(n, first, chance)) * (total + float(terms[-1]) * ratio / (1 - ratio))
        length *= 2


def _chance_of(n: int, k: int, chance: Decimal) -> Decimal:
    """An upper bound, to within 1/(12 k), of a binomial's chance of k: Stirling's formula with Robbins' bounds."""
    c = _CONTEXT
    log = c.add(_times(k, c.ln(chance)), _times(n - k, c.ln(c.subtract(1, chance))))
    if 0 < k < n:
        logs = [(size, sign, _log(size)) for size, sign in ((n, 1), (k, -1), (n - k, -1))]
        for size, sign, own in logs:
            log = c.add(log, c.multiply(sign * size, own))
        halves = [c.multiply(sign, own) for _, sign, own in logs]
        log = c.add(log, c.divide(c.subtract(reduce(c.add, halves), _LOG_TWO_PI), Decimal(2)))
        for part in (c.divide(1, 12 * n), c.divide(-1, 12 * k + 1), c.divide(-1, 12 * (n - k) + 1)):
            log = c.add(log, part)
    return c.multiply(c.exp(log), Decimal("1.00000000000000000001"))


def _times(size: int, log: Decimal) -> Decimal:
    return _CONTEXT.multiply(size, log) if size else Decimal(0)


@lru_cache(maxsize=2**16)
def _log(number: int) -> Decimal:
    return _CONTEXT.ln(Decimal(number))


def check_counts(people: int, chance: float) -> None:
    """Refuses what is no number of people, or no chance."""
    if not isinstance(people, int) or isinstance(people, bool) or people < 1:
        raise refuse("people", people, "a whole number of at least 1")
    if not isinstance(chance, float) or not SMALLEST_CHANCE <= chance < 1:
        raise refuse("chance", chance, f"a number from {SMALLEST_CHANCE:g} to below 1, such as 1e-6")


def counts_factor(surpluses: Surpluses, people: int, chance: float, most: float) -> float:
    """The least factor of a search, at most `most`, whose excess is at most `chance` in the counts of `people`.

    `most`: what a single answer reveals, under which nothing is in excess.

    >>> flat = lambda factor: Surplus(0.1, 1.5 - factor)
    >>> 1 < counts_factor(flat, 100_000, 1e-6, 1.5) < counts_factor(flat, 1_000, 1e-6, 1.5) < 1.5
    True
    """
    check_counts(people, chance)
    return least_factor(lambda factor: excess(factor, surpluses(factor), people), chance, most)


def least_factor(excess_at: Excess, chance: float, most: float) -> float:
    """The least factor of a search, at most `most`, whose excess is at most `chance`."""
    return _least(lambda factor: is_factor(factor, excess_at, chance), most)


def is_factor(factor: float, excess_at: Excess, chance: float) -> bool:
    """Whether the excess at a factor is at most `chance`."""
    return excess_at(factor) <= chance


def counts_odds(surpluses: Surpluses, people: int, chance: float, most: float) -> float:
    """The least factor of a search that odds exceed with at most this chance, by `P(A > F B) <= excess(f) / (1 - f/F)`.

    >>> flat = lambda factor: Surplus(0.1, 1.5 - factor)
    >>> counts_odds(flat, 10_000, 1e-6, 1.5) > counts_factor(flat, 10_000, 1e-6, 1.5)
    True
    """
    check_counts(people, chance)
    return least_odds(lambda factor: excess(factor, surpluses(factor), people), chance, most)


def least_odds(excess_at: Excess, chance: float, most: float) -> float:
    """The least factor of a search, at most `most`, that odds exceed with at most this chance."""
    return _least(lambda factor: are_odds(factor, excess_at, chance), most)


def are_odds(factor: float, excess_at: Excess, chance: float) -> bool:
    """Whether odds rise by more than a factor with at most this chance."""
    smaller = 1 + (factor - 1) * (1 - 1 / (_squared_quantile(chance) + 1))  # any would do; this one is nearly the best
    return excess_at(smaller) <= chance * (1 - smaller / factor) * (1 - 1e-9)


def _squared_quantile(chance: float) -> float:
    """About the square of the number that a standard normal variable exceeds with this chance, at least 1."""
    twice = -2 * math.log(chance)
    return max(1.0, twice - math.log(2 * math.pi * twice))


def _least(kept: Callable[[float], bool], most: float) -> float:
    """By bisection of the factor's logarithm over 1; only factors that were checked are given."""
    low, high = math.log(_LEAST_GAIN), math.log(most - 1) if most > 1 + _LEAST_GAIN else -math.inf
    if high <= low:
        return most
    least = most
    for _ in range(_STEPS):
        if high - low < 1e-4:
            break
        middle = 1 + math.exp((low + high) / 2)
        if kept(middle):
            least, high = middle, math.log(middle - 1)
        else:
            low = math.log(middle - 1)
    return least
