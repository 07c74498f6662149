"""Exact arithmetic behind every claim: weights are integers out of 2^32, and levels round up.

A decimal context of 60 digits (of a ratio near 1, after its zeros) carries the two functions that are not rational,
`exp` and `log`; Python's `decimal` rounds both correctly, so stepping one unit in the safe direction gives a bound
(theory.md, 4.2).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from bcdp.errors import InputError, refuse

TOTAL = 2**32
MOST_CELLS = 2**22

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Words = npt.NDArray[np.uint32]  # of 32 random bits

NEARLY = 1 - 1e-6  # of the largest double: whatever is larger in truth is among these, and is computed exactly

_CONTEXT = Context(prec=60, rounding=ROUND_CEILING, Emax=10**9, Emin=-(10**9))
_MOST_ODDS = 30.0  # nats: beyond, a double cannot distinguish hundredths of the factor, and nobody is protected
_LARGEST_EXPONENT = 64.0  # weights are at most 2^32, so no ratio of them needs a larger budget than log(2^32) = 22.2


def log_up(ratio: Fraction | float) -> float:
    """The natural logarithm of a positive ratio, rounded up: the least double that is not below it.

    >>> log_up(Fraction(1)), log_up(math.inf)
    (0.0, inf)
    """
    if ratio == math.inf:
        return math.inf
    if not ratio > 0:
        raise refuse("ratio", ratio, "a positive number")
    exact = Fraction(ratio)
    if exact == 1:
        return 0.0
    top, bottom = exact.as_integer_ratio()
    context = _CONTEXT.copy()
    context.prec += max(0, bottom.bit_length() - abs(top - bottom).bit_length()) // 3
    bound = context.next_plus(context.ln(context.divide(Decimal(top), Decimal(bottom))))
    nearest = float(bound)
    return nearest if Decimal(nearest) >= bound else math.nextafter(nearest, math.inf)


def odds_up(level: float) -> float:
    """The factor by which a level lets odds grow, in hundredths, rounded up: the least n / 100 whose level reaches it.

    A level is a logarithm rounded up to the next double, and so is that of n / 100: no other rounding is forgiven.
    Infinite beyond 30 nats. `web/device/exact.js` has the same rule, `vectors/words/odds.json` its numbers.

    >>> odds_up(0.2), odds_up(log_up(Fraction(123, 100))), odds_up(math.log(1.23 + 5e-10))
    (1.23, 1.23, 1.24)
    """
    if level > _MOST_ODDS:
        return math.inf
    near = int(100 * math.exp(level))  # at most 2 off
    nearby = range(max(100, near - 2), near + 4)
    return nearby[bisect_left(nearby, level, key=lambda n: log_up(Fraction(n, 100)))] / 100


def small_odds_up(level: float) -> tuple[float, int]:
    """The same factor where it is close to 1: with as many decimals as show two digits of what is over 1, at least two.

    >>> small_odds_up(0.2), small_odds_up(0.0167), small_odds_up(0.0), small_odds_up(log_up(Fraction(1017, 1000)))
    ((1.23, 2), (1.017, 3), (1.0, 2), (1.017, 3))
    """
    decimals = max(2, 1 - math.floor(math.log10(math.expm1(level)))) if 1e-12 < level < 0.1 else 2
    unit = 10**decimals
    if decimals == 2:
        return odds_up(level), 2
    near = int(unit * math.expm1(level)) + unit
    nearby = range(max(unit, near - 2), near + 4)
    return nearby[bisect_left(nearby, level, key=lambda n: log_up(Fraction(n, unit)))] / unit, decimals


def chance_up(level: float, before: Fraction = Fraction(1, 2)) -> float:
    """How probable, in percent, a guess can become under a level; rounded up to tenths by the rule of `odds_up`.

    >>> chance_up(0.2), chance_up(0.0), chance_up(0.2, Fraction(1, 100)), chance_up(math.inf)
    (55.0, 50.0, 1.3, 100.0)
    """

    def reached(tenths: int) -> float:
        if tenths == 1000:
            return math.inf
        return log_up(Fraction(tenths, 1000 - tenths) * (1 - before) / before)

    tenths = range(math.ceil(1000 * before), 1001)
    return tenths[bisect_left(tenths, level, key=reached)] / 10


def exp_down(budget: float) -> Fraction:
    """A rational lower bound of `exp(min(budget, 64))`, below it by a factor of at most 1 - 1e-58; 1 at budget 0.

    >>> import math
    >>> float(exp_down(1.0)) == math.e
    True
    """
    if budget == 0:
        return Fraction(1)
    power = _CONTEXT.exp(Decimal(min(budget, _LARGEST_EXPONENT)))
    return max(Fraction(1), Fraction(_CONTEXT.next_minus(power)))


def check_budget(budget: float) -> float:
    """The budget as a float, if it is a finite number of at least 0."""
    number = isinstance(budget, int | float | np.integer | np.floating) and not isinstance(budget, bool)
    if not number or not math.isfinite(budget) or budget < 0:
        raise refuse("budget", budget, "a finite number of at least 0")
    return float(budget)


def check_whole(name: str, value: object, least: int, most: int) -> int:
    """The value itself, if it is an int (and not a bool) from `least` to `most`."""
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise refuse(name, value, f"a whole number from {least} to {most}")
    return value


def smallest_other(levels: int, budget: float) -> int:
    """The least weight of an untrue answer that keeps `levels`-ary randomized response within the budget.

    With `keep = 2^32 - (levels - 1) other`, the level is within the budget exactly when
    `other >= 2^32 / (e^budget + levels - 1)`; rounding up is the safe side.
    """
    other = math.ceil(TOTAL / (exp_down(budget) + levels - 1))
    if other * levels > TOTAL:
        raise refuse("budget", budget, f"a budget large enough to tell {levels} levels apart with integer weights")
    return other


def round_rows(ideal: Floats, budget: float) -> Integers:
    """Integer weights within a few units of `2^32 * ideal`, rows summing to 2^32, level within the budget.

    Each column gets a floor `low` and a ceiling `high <= e^budget * low` that contain its ideal entries up to one
    unit; every entry is kept between them while the rows are filled up, so the level holds by construction.
    """
    scaled = ideal * float(TOTAL)
    bound = exp_down(budget)
    low = np.array([max(1, math.ceil(Fraction(float(top)) / bound)) for top in scaled.max(axis=0)], dtype=np.int64)
    high = np.array([min(TOTAL, math.floor(bound * int(floor))) for floor in low], dtype=np.int64)
    if low.sum() > TOTAL or high.sum() < TOTAL:
        raise refuse("budget", budget, f"a budget large enough for integer weights over {len(low)} symbols")
    weights = np.clip(np.floor(scaled).astype(np.int64), low, high)
    for weight, wanted in zip(weights, scaled, strict=True):
        while missing := TOTAL - int(weight.sum()):
            step = 1 if missing > 0 else -1
            free = np.flatnonzero(weight < high if step > 0 else weight > low)
            most_wanted = np.argsort(step * (weight - wanted)[free], kind="stable")
            weight[free[most_wanted[: abs(missing)]]] += step
    return weights


def check_weights(weights: npt.ArrayLike) -> Integers:
    """The weights as a read-only integer array of shape (levels, symbols), if every row sums to 2^32."""
    array = np.asarray(weights)
    if array.ndim != 2 or array.dtype.kind not in "iu" or not 1 <= array.size <= MOST_CELLS:
        shown = f"an array of shape {array.shape} and type {array.dtype.name}"
        raise refuse("weights", shown, f"rows of integers, all of one length, at most {MOST_CELLS} in all")
    if array.min() < 0 or array.max() > TOTAL:
        raise refuse("weights", int(array.min() if array.min() < 0 else array.max()), "integers from 0 to 2^32")
    array = np.array(array, dtype=np.int64)
    sums = array.sum(axis=1)
    if (sums != TOTAL).any():
        row = int(np.flatnonzero(sums != TOTAL)[0])
        raise InputError(f"weights: row {row} sums to {sums[row]}; accepted: rows that sum to {TOTAL}")
    array.flags.writeable = False
    return array
